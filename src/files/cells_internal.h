/* Text as rows of cells: CSV, TSV, columns between spaces. */
#ifndef ATTN_FILES_CELLS_INTERNAL_H
#define ATTN_FILES_CELLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/error.h"

struct cells {
	struct buffer text; /* of all cells, each ended by a zero */
	size_t *starts;     /* of each cell in `text` */
	size_t count, capacity;
	size_t *rows; /* the first cell of each row, and after the last one `count` */
	size_t row_count, row_capacity;
};

/* Split data[length] at `separator` (' ': at any white space) and at line ends.  Empty lines and
 * comments ("# ") are left out.  `quoted`: a cell may be in double quotes, and two of them stand
 * for one inside.  False where that does not work out, or memory is out (text.failed); *cells
 * must be released in any case. */
bool cells_split(struct cells *cells, const char *data, size_t length, char separator, bool quoted);
void cells_release(struct cells *cells);

size_t cells_width(const struct cells *cells, size_t row); /* cells of a row */
const char *cell(const struct cells *cells, size_t row, size_t column);

/* The number that a cell is: decimal, or nan or inf; an empty cell is NaN.  False for other text. */
bool cell_as_number(const char *text, double *value);

/* A whole number from 0 in digits alone. */
bool cell_index(const char *text, size_t *value);

#endif
