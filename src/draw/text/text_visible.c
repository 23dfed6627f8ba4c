/* Symbols for characters that would be invisible, or would break a label's line: those that
 * tokens/token.c prints, where it has one. */
#include <stdint.h>
#include <string.h>

#include "draw/text/text.h"
#include "util/utf8.h"

static bool only_spaces(const char *text)
{
	return text[strspn(text, " ")] == '\0';
}

/* Characters without ink, shown by number in a label that has nothing else. */
static bool is_inkless(uint32_t code)
{
	return code == 0xa0 || code == 0xad || code == 0x34f || code == 0x61c || code == 0x1680 ||
	       (code >= 0x115f && code <= 0x1160) || (code >= 0x17b4 && code <= 0x17b5) ||
	       (code >= 0x180b && code <= 0x180f) || (code >= 0x2000 && code <= 0x200f) || code == 0x202f ||
	       (code >= 0x205f && code <= 0x206f) || code == 0x2800 || code == 0x3000 || code == 0x3164 ||
	       (code >= 0xfe00 && code <= 0xfe0f) || code == 0xffa0 || (code >= 0xe0000 && code <= 0xe0fff);
}

static bool only_inkless(const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		if (step == 0 || (code != ' ' && !is_inkless(code)))
			return false;
		i += step;
	}
	return true;
}

/* Codes that will never be characters: Cairo and XML refuse them. */
static bool is_noncharacter(uint32_t code)
{
	return (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe;
}

static void add_code(struct buffer *out, uint32_t code)
{
	if (code == '\n')
		buffer_add_string(out, "\u21b5");
	else if (code == '\t')
		buffer_add_string(out, "\u21e5");
	else if (code < 0xa0)
		buffer_printf(out, "\\x%02x", (unsigned int)code);
	else
		buffer_printf(out, "<U+%04X>", (unsigned int)code);
}

void text_visible(struct buffer *out, const char *text)
{
	size_t length = strlen(text);
	bool spaces = only_spaces(text), inkless = !spaces && only_inkless(text);
	if (length == 0)
		buffer_add_string(out, "\"\"");
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		if (step == 0) {
			buffer_printf(out, "\\x%02x", (unsigned int)(unsigned char)text[i]);
			step = 1;
		} else if (code == ' ' && (spaces || inkless)) {
			buffer_add_string(out, "\u2423");
		} else if (inkless || is_noncharacter(code) || utf8_is_control(code)) {
			add_code(out, code);
		} else {
			buffer_add(out, text + i, step);
		}
		i += step;
	}
}
