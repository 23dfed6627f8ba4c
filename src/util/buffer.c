#include "util/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/utf8.h"

void buffer_release(struct buffer *buf)
{
	free(buf->data);
	*buf = (struct buffer)BUFFER_INIT;
}

void buffer_clear(struct buffer *buf)
{
	buf->length = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

/* Make room for `more` bytes and a NUL. */
static bool reserve(struct buffer *buf, size_t more)
{
	size_t needed;
	if (buf->failed)
		return false;
	if (!size_add(buf->length, more, &needed) || !size_add(needed, 1, &needed)) {
		buf->failed = true;
		return false;
	}
	if (needed <= buf->capacity)
		return true;
	size_t capacity = buf->capacity ? buf->capacity : 64;
	while (capacity < needed)
		capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
	char *data = realloc(buf->data, capacity);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

void buffer_add(struct buffer *buf, const void *bytes, size_t length)
{
	if (!reserve(buf, length))
		return;
	if (length > 0)
		memcpy(buf->data + buf->length, bytes, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void buffer_add_string(struct buffer *buf, const char *text)
{
	buffer_add(buf, text, strlen(text));
}

void buffer_add_char(struct buffer *buf, char c)
{
	buffer_add(buf, &c, 1);
}

void buffer_printf(struct buffer *buf, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		buf->failed = true;
	else if (reserve(buf, (size_t)length)) {
		vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
		buf->length += (size_t)length;
	}
	va_end(again);
}

void buffer_add_json_string(struct buffer *buf, const char *text)
{
	size_t length = strlen(text);
	buffer_add_char(buf, '"');
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		unsigned char c = (unsigned char)text[i];
		if (step == 0) {
			buffer_add_string(buf, "\xef\xbf\xbd"); /* U+FFFD */
			step = 1;
		} else if (c == '"' || c == '\\') {
			buffer_add_char(buf, '\\');
			buffer_add_char(buf, (char)c);
		} else if (c == '\n') {
			buffer_add_string(buf, "\\n");
		} else if (c == '\t') {
			buffer_add_string(buf, "\\t");
		} else if (c == '\r') {
			buffer_add_string(buf, "\\r");
		} else if (utf8_is_control(code)) {
			buffer_printf(buf, "\\u%04x", code);
		} else {
			buffer_add(buf, text + i, step);
		}
		i += step;
	}
	buffer_add_char(buf, '"');
}

void buffer_add_clean(struct buffer *buf, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		if (step > 0 && !utf8_is_control(code))
			buffer_add(buf, text + i, step);
		else if (step == 0 || code < 0x100)
			buffer_printf(buf, "\\x%02x", step ? code : (uint32_t)(unsigned char)text[i]);
		else
			buffer_printf(buf, "\\u%04x", code);
		i += step ? step : 1;
	}
}

void buffer_add_tsv(struct buffer *buf, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '\t':
			buffer_add_string(buf, "\\t");
			break;
		case '\n':
			buffer_add_string(buf, "\\n");
			break;
		case '\r':
			buffer_add_string(buf, "\\r");
			break;
		case '\\':
			buffer_add_string(buf, "\\\\");
			break;
		default:
			buffer_add_char(buf, *text);
		}
	}
}

void buffer_add_float(struct buffer *buf, float value)
{
	char text[40];
	if (value == 0) {
		buffer_add_string(buf, signbit(value) ? "-0" : "0");
		return;
	}
	/* Six digits are always honest, nine always enough. */
	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, (double)value);
		if (strtof(text, NULL) == value)
			break;
	}
	buffer_add_string(buf, text);
}

void buffer_add_size(struct buffer *buf, double bytes)
{
	static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;
	for (; bytes >= 1024 && i < 4; i++)
		bytes /= 1024;
	buffer_printf(buf, i ? "%.1f %s" : "%.0f %s", bytes, names[i]);
}

char *buffer_detach(struct buffer *buf)
{
	if (!buf->data)
		buffer_add(buf, "", 0);
	char *data = buf->failed ? NULL : buf->data;
	if (buf->failed)
		free(buf->data);
	*buf = (struct buffer)BUFFER_INIT;
	return data;
}
