/* JSON lines. */
#include <string.h>

#include "files/json_internal.h"

/* Whether a line of text[length], white space around it left out, is an array or object as it
 * stands; *blank where nothing is left. */
static bool is_value(const char *text, size_t length, bool *blank)
{
	while (length > 0 && strchr(" \t\r", text[length - 1]))
		length--;
	while (length > 0 && strchr(" \t\r", *text)) {
		text++;
		length--;
	}
	*blank = length == 0;
	return length > 1 &&
	       ((text[0] == '[' && text[length - 1] == ']') || (text[0] == '{' && text[length - 1] == '}'));
}

bool json_lines(const unsigned char *data, size_t length, struct buffer *array)
{
	const char *text = (const char *)data, *end = text + length;
	size_t values = 0;
	if (length >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	buffer_add_char(array, '[');
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line = (size_t)((newline ? newline : end) - text);
		bool blank, value = is_value(text, line, &blank);
		if (!value && !blank)
			return false;
		buffer_add_string(array, value && values++ ? "," : "");
		buffer_add(array, text, line);
		buffer_add_char(array, '\n');
		text += line + (newline != NULL);
	}
	buffer_add_char(array, ']');
	return values > 1;
}
