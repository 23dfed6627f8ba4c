/* Heatmaps as text: for a terminal with colours, or in plain characters for a pipe.
 *
 * The same figure as a picture file: rows are queries, row 0 on top.  A cell is two
 * columns of a line where there is room, so that it looks square; else, with colours,
 * one column of half a line (U+2580), or in plain characters one column of a line.
 * Nothing in a label can steer the terminal; right-to-left ones stand between U+2068
 * and U+2069, so that a terminal that orders text leaves the cells beside them alone.
 */
#ifndef ATTN_DRAW_TERMINAL_TERMINAL_H
#define ATTN_DRAW_TERMINAL_TERMINAL_H

#include "draw/heatmap/heatmap.h"
#include "draw/terminal/terminal_colours.h"
#include "tokens/rows_info.h"
#include "util/buffer.h"

struct terminal {
	enum terminal_colours colours;
	size_t columns; /* at least 20 */
	size_t lines;   /* 0: not known, such as in a pipe */
};

/* How many cells `panels` panels of these rows may have: the max_rows and
 * max_cols of their grids (before transposing). */
void terminal_limits(const struct terminal *terminal, const struct rows_info *info, size_t panels,
		     const struct heatmap_options *options, size_t *max_rows, size_t *max_cols);

/* Append the figure, in lines of at most terminal->columns.  Of its options, cell,
 * size, width, dpi, fonts and panel_columns have no meaning here, and numbers are drawn only where
 * they are asked for.  ATTN_USAGE when these do not fit, ATTN_FAILED without memory. */
enum attn_status terminal_draw(const struct terminal *terminal, const struct heatmap_figure *figure,
			       struct buffer *out, struct attn_error *err);

#endif
