#include "util/utf8.h"

size_t utf8_decode(const char *text, size_t length, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	if (length == 0)
		return 0;
	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	size_t step = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || length < step)
		return 0;
	uint32_t value = s[0] & (0xffu >> (step + 1));
	for (size_t i = 1; i < step; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3fu);
	}
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	if (value < smallest[step] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return step;
}

size_t utf8_step(const char *text, size_t length)
{
	uint32_t code;
	return utf8_decode(text, length, &code);
}

size_t utf8_encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

bool utf8_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

bool utf8_valid(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t step = utf8_step(text + i, length - i);
		if (step == 0)
			return false;
		i += step;
	}
	return true;
}
