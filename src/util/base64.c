#include "util/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buffer_add_base64(struct buffer *buf, const void *bytes, size_t length)
{
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

bool buffer_add_from_base64(struct buffer *buf, const char *text, size_t length)
{
	signed char values[256];
	memset(values, -1, sizeof values);
	for (int i = 0; i < 64; i++)
		values[(unsigned char)letters[i]] = (signed char)i;
	if (length % 4 != 0)
		return false;
	size_t padding = length == 0 || text[length - 1] != '=' ? 0 : text[length - 2] == '=' ? 2 : 1;
	unsigned char out[3072];
	size_t used = 0;
	for (size_t i = 0; i < length; i += 4) {
		size_t given = i + 4 == length ? 4 - padding : 4;
		uint32_t four = 0;
		for (size_t j = 0; j < 4; j++) {
			int value = j < given ? values[(unsigned char)text[i + j]] : 0;
			if (value < 0)
				return false;
			four = four << 6 | (uint32_t)value;
		}
		for (size_t j = 0; j + 1 < given; j++)
			out[used++] = (unsigned char)(four >> (16 - 8 * j));
		if (used + 3 > sizeof out) {
			buffer_add(buf, out, used);
			used = 0;
		}
	}
	buffer_add(buf, out, used);
	return !buf->failed;
}
