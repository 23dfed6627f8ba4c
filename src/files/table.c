/* Text: matrices with or without labels, and tokens a line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/formats.h"
#include "files/table_internal.h"
#include "util/utf8.h"

/* Where the numbers of a matrix are among the cells. */
struct matrix {
	size_t first_row, first_column; /* 1 after a row or column of labels */
	size_t rows, columns;           /* of numbers */
	size_t short_header;            /* 1 where the row of labels has no cell above their column */
	bool triangular;                /* row r has r + 1 numbers, and 0 for the rest */
};

static bool is_number(const struct cells *cells, size_t row, size_t column)
{
	double value;
	return cell_as_number(cell(cells, row, column), &value);
}

/* Whether `count` cells, along a row or a column from (row, column) on, are 0, 1, 2...: labels
 * that pandas makes up. */
static bool counts_up(const struct cells *cells, size_t row, size_t column, bool down, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t value;
		if (!cell_index(cell(cells, row + (down ? i : 0), column + (down ? 0 : i)), &value) ||
		    value != i)
			return false;
	}
	return true;
}

static bool has_header_row(const struct cells *cells, size_t width)
{
	size_t first = cells_width(cells, 0);
	if (cells->row_count < 2)
		return false;
	if (first + 1 == width || (width > 1 && !*cell(cells, 0, 0)))
		return true;
	for (size_t c = width > 1; c < width; c++)
		if (!is_number(cells, 0, c))
			return true;
	return width > 2 && cells->row_count == width + 1 && counts_up(cells, 0, 0, false, width);
}

static bool has_header_column(const struct cells *cells, size_t width, bool header_row)
{
	size_t rows = cells->row_count - header_row;
	if (width < 2)
		return false;
	if (header_row && (cells_width(cells, 0) + 1 == width || !*cell(cells, 0, 0)))
		return true;
	for (size_t r = header_row; r < cells->row_count; r++)
		if (!is_number(cells, r, 0))
			return true;
	return rows > 2 && width == rows + 1 && counts_up(cells, header_row, 0, true, rows);
}

static bool all_numbers(const struct cells *cells, const struct matrix *m)
{
	for (size_t r = 0; r < m->rows; r++)
		for (size_t c = 0; c < (m->triangular ? r + 1 : m->columns); c++)
			if (!is_number(cells, m->first_row + r, m->first_column + c))
				return false;
	return true;
}

/* The lower triangle of a causal matrix, three rows or more, each a number longer than the one
 * before; with or without a column of labels, and a row of them above. */
static bool find_triangle(const struct cells *cells, struct matrix *m)
{
	size_t header = cells->row_count > 3 && cells_width(cells, 0) >= cells->row_count - 1;
	size_t rows = cells->row_count - header;
	size_t column = rows > 0 && cells_width(cells, header) == 2, width = cells_width(cells, 0);
	if (rows < 3 || (header && width != rows && width != rows + column))
		return false;
	for (size_t r = 0; r < rows; r++)
		if (cells_width(cells, header + r) != column + r + 1)
			return false;
	*m = (struct matrix){header, column, rows, rows, header && width == rows && column, true};
	return all_numbers(cells, m);
}

/* Find the labels and the numbers; false where the cells are no matrix. */
static bool find_matrix(const struct cells *cells, struct matrix *m)
{
	if (cells->row_count == 0)
		return false;
	if (find_triangle(cells, m))
		return true;
	size_t width = cells_width(cells, cells->row_count - 1);
	size_t first = cells_width(cells, 0);
	if (first != width && first + 1 != width)
		return false;
	for (size_t r = 1; r < cells->row_count; r++)
		if (cells_width(cells, r) != width)
			return false;
	if (width == 1 && strpbrk(cell(cells, 0, 0), ",;\t"))
		return false; /* of other columns */
	m->first_row = has_header_row(cells, width);
	m->first_column = has_header_column(cells, width, m->first_row);
	m->short_header = m->first_row && first + 1 == width;
	if (first != width && !m->short_header)
		return false;
	m->rows = cells->row_count - m->first_row;
	m->columns = width - m->first_column;
	m->triangular = false;
	return all_numbers(cells, m);
}

enum attn_status table_add_labels(struct bundle *out, const char *name, const char *origin,
				  struct string_list *list, struct attn_error *err)
{
	enum attn_status status = bundle_add_text(out, name, origin, list, err);
	if (status == ATTN_OK)
		out->texts[out->text_count - 1].implied = true;
	return status;
}

/* Labels along a row or a column, unless they only count. */
static enum attn_status add_labels(const struct cells *cells, size_t row, size_t column, bool down,
				   size_t count, const char *origin, struct bundle *out,
				   struct attn_error *err)
{
	struct string_list list = {0};
	if (counts_up(cells, row, column, down, count))
		return ATTN_OK;
	for (size_t i = 0; i < count; i++) {
		if (!string_list_add(&list, cell(cells, row + (down ? i : 0), column + (down ? 0 : i)))) {
			string_list_release(&list);
			return attn_fail_memory(err);
		}
	}
	return table_add_labels(out, down ? "tokens" : "source_tokens", origin, &list, err);
}

static enum attn_status add_matrix(const struct cells *cells, const struct matrix *m, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	struct tensor t;
	enum attn_status status =
	    tensor_init(&t, "", origin, DTYPE_F64, 2, (size_t[]){m->rows, m->columns}, err);
	if (status != ATTN_OK)
		return status;
	double *to = t.owned = reallocarray(NULL, t.count, sizeof *to);
	t.data = t.owned;
	if (!to) {
		tensor_release(&t);
		return attn_fail_memory(err);
	}
	for (size_t r = 0; r < m->rows; r++)
		for (size_t c = 0; c < m->columns; c++, to++) {
			*to = 0;
			if (!m->triangular || c <= r)
				cell_as_number(cell(cells, m->first_row + r, m->first_column + c), to);
		}
	status = bundle_add_tensor(out, &t, err);
	if (status == ATTN_OK && m->first_column)
		status = add_labels(cells, m->first_row, 0, true, m->rows, origin, out, err);
	if (status == ATTN_OK && m->first_row)
		status = add_labels(cells, 0, m->first_column - m->short_header, false, m->columns, origin,
				    out, err);
	return status;
}

/* Read the cells as one kind of table; *found: they are one. */
static enum attn_status read_cells(const struct cells *cells, const char *origin, bool *found,
				   struct bundle *out, struct attn_error *err)
{
	struct matrix m;
	enum attn_status status = long_table_read(cells, origin, found, out, err);
	if (status != ATTN_OK || *found || !find_matrix(cells, &m))
		return status;
	*found = true;
	return add_matrix(cells, &m, origin, out, err);
}

/* Check that it is text without zeros, and step over a mark of byte order. */
static enum attn_status check_text(const unsigned char **data, size_t *length, struct attn_error *err)
{
	if (memchr(*data, '\0', *length) || !utf8_valid((const char *)*data, *length))
		return attn_fail(err, ATTN_BAD_INPUT, "not UTF-8 text");
	if (*length >= 3 && memcmp(*data, "\xef\xbb\xbf", 3) == 0) {
		*data += 3;
		*length -= 3;
	}
	return ATTN_OK;
}

enum attn_status table_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			     struct attn_error *err)
{
	static const char separators[] = "\t,; ";
	bool found = false;
	enum attn_status status = check_text(&data, &length, err);
	for (size_t i = 0; status == ATTN_OK && !found && i < 2 * strlen(separators); i++) {
		struct cells cells;
		char separator = separators[i / 2];
		bool quoted = i % 2 == 0;
		if ((separator != ' ' && !memchr(data, separator, length)) ||
		    (!quoted && !memchr(data, '"', length)))
			continue;
		if (cells_split(&cells, (const char *)data, length, separator, quoted))
			status = read_cells(&cells, origin, &found, out, err);
		else if (cells.text.failed)
			status = attn_fail_memory(err);
		cells_release(&cells);
	}
	if (status != ATTN_OK || found)
		return status;
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "not a table of numbers, expected rows of one length, with or without a row and a column "
	    "of tokens, or one weight a row: query, key, weight");
}

enum attn_status lines_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			     struct attn_error *err)
{
	struct string_list list = {0};
	struct buffer line = BUFFER_INIT;
	enum attn_status status = check_text(&data, &length, err);
	const char *at = (const char *)data, *end = at + length;
	while (status == ATTN_OK && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t used = (size_t)((newline ? newline : end) - at);
		buffer_clear(&line);
		buffer_add(&line, at, used - (used > 0 && at[used - 1] == '\r'));
		if (line.failed || !string_list_add(&list, line.data ? line.data : ""))
			status = attn_fail_memory(err);
		at += used + (newline != NULL);
	}
	buffer_release(&line);
	if (status == ATTN_OK && list.count == 0)
		status = attn_fail(err, ATTN_BAD_INPUT, "text is empty, expected a token a line");
	if (status == ATTN_OK)
		return bundle_add_text(out, "", origin, &list, err);
	string_list_release(&list);
	return status;
}
