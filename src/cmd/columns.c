#include "cmd/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/minmax.h"
#include "util/width.h"

static bool is_number(const char *cell)
{
	return *cell == '-' || (*cell >= '0' && *cell <= '9');
}

void column_measure(struct column *c, const char *cell)
{
	if (c->left || !is_number(cell)) {
		c->width = size_max(c->width, text_width(cell));
		return;
	}
	size_t before = strcspn(cell, ".");
	c->before = size_max(c->before, before);
	c->after = size_max(c->after, strlen(cell) - before);
	c->width = size_max(c->width, c->before + c->after);
}

static void add_spaces(struct buffer *text, size_t count)
{
	while (count-- > 0)
		buffer_add_char(text, ' ');
}

void column_add(const struct column *c, struct buffer *text, const char *cell)
{
	size_t width = text_width(cell), left = c->left ? 0 : c->width - width;
	if (!c->left && is_number(cell))
		left = c->width - c->after - strcspn(cell, ".");
	add_spaces(text, 2 + left);
	buffer_add_string(text, cell);
	add_spaces(text, c->width - left - width);
}

void column_add_rule(const struct column *c, struct buffer *text)
{
	add_spaces(text, 2);
	for (size_t i = 0; i < c->width; i++)
		buffer_add_char(text, '-');
}

void columns_end(struct buffer *text)
{
	while (text->length > 0 && text->data[text->length - 1] == ' ')
		text->length--;
	buffer_add_char(text, '\n');
}

static void drop_zeros(char *digits)
{
	size_t length = strlen(digits);
	if (!strchr(digits, '.'))
		return;
	while (digits[length - 1] == '0')
		digits[--length] = '\0';
	if (digits[length - 1] == '.')
		digits[length - 1] = '\0';
}

void figure_format(double value, char text[static FIGURE_SIZE])
{
	snprintf(text, FIGURE_SIZE, "%.3e", value);
	char *e = strchr(text, 'e');
	if (!e || value == 0) {
		snprintf(text, FIGURE_SIZE, "%g", fabs(value));
		return;
	}
	/* The exponent after rounding: 9.9996 is 10 in four digits. */
	int exponent = atoi(e + 1);
	if (exponent < -4 || exponent > 6) {
		char tail[8];
		snprintf(tail, sizeof tail, "%s", e);
		*e = '\0';
		drop_zeros(text);
		snprintf(text + strlen(text), FIGURE_SIZE - strlen(text), "%s", tail);
		return;
	}
	snprintf(text, FIGURE_SIZE, "%.*f", exponent < 3 ? 3 - exponent : 0, value);
	drop_zeros(text);
}
