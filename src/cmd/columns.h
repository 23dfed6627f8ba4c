/* Columns of a table for people, as wide as what stands in them.  Every cell is measured
 * before the first is added. */
#ifndef ATTN_CMD_COLUMNS_H
#define ATTN_CMD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

struct column {
	bool left;            /* text, else numbers below their points, and words to the right */
	size_t before, after; /* of the numbers: digits before the point, and from it on */
	size_t width;
};

void column_measure(struct column *c, const char *cell);

/* Two spaces, and the cell with spaces around it. */
void column_add(const struct column *c, struct buffer *text, const char *cell);

/* A rule below the column. */
void column_add_rule(const struct column *c, struct buffer *text);

/* End the line without spaces at its end. */
void columns_end(struct buffer *text);

enum {
	FIGURE_SIZE = 32
};

/* A number in four significant digits without zeros at the end: 0.0231, 61.7, 2. */
void figure_format(double value, char text[static FIGURE_SIZE]);

#endif
