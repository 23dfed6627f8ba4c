#include "util/base64.h"

#include <stdint.h>

void buffer_add_base64(struct buffer *buf, const void *bytes, size_t length)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = bytes;
	char out[4096];
	size_t used = 0;
	for (size_t i = 0; i < length; i += 3) {
		size_t rest = length - i;
		uint32_t three = (uint32_t)in[i] << 16;
		three |= rest > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		three |= rest > 2 ? in[i + 2] : 0;
		out[used++] = letters[three >> 18];
		out[used++] = letters[three >> 12 & 63];
		out[used++] = rest > 1 ? letters[three >> 6 & 63] : '=';
		out[used++] = rest > 2 ? letters[three & 63] : '=';
		if (used == sizeof out) {
			buffer_add(buf, out, used);
			used = 0;
		}
	}
	buffer_add(buf, out, used);
}
