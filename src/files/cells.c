#include "files/cells_internal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void cells_release(struct cells *cells)
{
	buffer_release(&cells->text);
	free(cells->starts);
	free(cells->rows);
	*cells = (struct cells){0};
}

/* Append to an array that doubles; false when memory is out. */
static bool append(size_t **items, size_t *count, size_t *capacity, size_t value)
{
	if (*count == *capacity) {
		size_t larger = *capacity ? *capacity * 2 : 64;
		size_t *grown = reallocarray(*items, larger, sizeof **items);
		if (!grown)
			return false;
		*items = grown;
		*capacity = larger;
	}
	(*items)[(*count)++] = value;
	return true;
}

/* Read a quoted cell, whose quote is at *at; it must be ended by the separator or the line. */
static bool read_quoted(struct cells *cells, const char **at, const char *end, char separator)
{
	for ((*at)++; *at < end; (*at)++) {
		if (**at == '"') {
			if (*at + 1 == end || (*at)[1] != '"')
				break;
			(*at)++;
		} else if (**at == '\n' && separator != ',' && separator != ';') {
			return false;
		}
		buffer_add_char(&cells->text, **at);
	}
	if (*at == end)
		return false;
	(*at)++;
	bool space = separator == ' ';
	return *at == end || **at == '\n' || **at == '\r' || **at == separator || (space && **at == '\t');
}

/* With semicolons between them, numbers may have a decimal comma. */
static void point_for_comma(char *text)
{
	size_t sign = *text == '-' || *text == '+', whole = strspn(text + sign, "0123456789");
	char *comma = text + sign + whole;
	if (whole > 0 && *comma == ',' && comma[1] && !comma[1 + strspn(comma + 1, "0123456789eE+-")])
		*comma = '.';
}

/* Read the cell at *at, and step to what ended it. */
static bool read_cell(struct cells *cells, const char **at, const char *end, char separator, bool quoted)
{
	const char *ends = separator == ' ' ? " \t\n" : (char[]){separator, '\n', '\0'};
	if (!append(&cells->starts, &cells->count, &cells->capacity, cells->text.length)) {
		cells->text.failed = true;
		return false;
	}
	if (quoted && *at < end && **at == '"') {
		if (!read_quoted(cells, at, end, separator))
			return false;
		if (*at < end && **at == '\r')
			(*at)++;
	} else {
		const char *start = *at;
		while (*at < end && !strchr(ends, **at))
			(*at)++;
		size_t length = (size_t)(*at - start);
		bool last = *at == end || **at == '\n';
		length -= last && length > 0 && start[length - 1] == '\r';
		buffer_add(&cells->text, start, length);
	}
	buffer_add_char(&cells->text, '\0');
	if (separator == ';' && !cells->text.failed)
		point_for_comma(cells->text.data + cells->starts[cells->count - 1]);
	return !cells->text.failed;
}

static void skip_spaces(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		(*at)++;
}

/* Whether the line at `at` holds no cells. */
static bool is_empty(const char *at, const char *end)
{
	bool comment = at < end && *at == '#' && (at + 1 == end || at[1] == ' ' || at[1] == '\n');
	skip_spaces(&at, end);
	return comment || at == end || *at == '\n';
}

bool cells_split(struct cells *cells, const char *data, size_t length, char separator, bool quoted)
{
	const char *at = data, *end = data + length;
	bool space = separator == ' ';
	*cells = (struct cells){0};
	while (at < end) {
		if (is_empty(at, end)) {
			const char *newline = memchr(at, '\n', (size_t)(end - at));
			at = newline ? newline + 1 : end;
			continue;
		}
		if (!append(&cells->rows, &cells->row_count, &cells->row_capacity, cells->count)) {
			cells->text.failed = true;
			return false;
		}
		for (bool more = true; more;) {
			if (space)
				skip_spaces(&at, end);
			if (!read_cell(cells, &at, end, separator, quoted))
				return false;
			if (space)
				skip_spaces(&at, end);
			more = at < end && *at != '\n';
			at += at < end && (!space || !more);
		}
	}
	if (!append(&cells->rows, &cells->row_count, &cells->row_capacity, cells->count)) {
		cells->text.failed = true;
		return false;
	}
	cells->row_count--;
	return true;
}

size_t cells_width(const struct cells *cells, size_t row)
{
	return cells->rows[row + 1] - cells->rows[row];
}

const char *cell(const struct cells *cells, size_t row, size_t column)
{
	return cells->text.data + cells->starts[cells->rows[row] + column];
}

bool cell_as_number(const char *text, double *value)
{
	static const char *const words[] = {"nan", "inf", "infinity"};
	char *end;
	text += strspn(text, " ");
	size_t length = strlen(text);
	while (length > 0 && text[length - 1] == ' ')
		length--;
	*value = NAN;
	if (length == 0)
		return true;
	size_t sign = *text == '-' || *text == '+';
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (length - sign == strlen(words[i]) &&
		    strncasecmp(text + sign, words[i], length - sign) == 0) {
			*value = i == 0 ? (double)NAN : *text == '-' ? -INFINITY : (double)INFINITY;
			return true;
		}
	}
	if (strspn(text, "+-.0123456789eE") != length)
		return false;
	*value = strtod(text, &end);
	return end == text + length;
}

bool cell_index(const char *text, size_t *value)
{
	char *end;
	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	*value = (size_t)number;
	return errno == 0 && number < SIZE_MAX;
}
