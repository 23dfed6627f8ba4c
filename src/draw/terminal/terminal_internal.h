/* Shared by terminal.c, terminal_cells.c and terminal_labels.c. */
#ifndef ATTN_DRAW_TERMINAL_TERMINAL_INTERNAL_H
#define ATTN_DRAW_TERMINAL_TERMINAL_INTERNAL_H

#include <stdint.h>

#include "draw/heatmap/heatmap_internal.h"
#include "draw/terminal/terminal.h"

enum {
	TERMINAL_LEVELS = 256,   /* of the colour scale */
	TERMINAL_LONGEST = 10,   /* characters of a stacked label */
	TERMINAL_GAP = 2,        /* columns between panels */
	TERMINAL_NO_COLOUR = -1, /* the terminal's own */
};

/* Rows or columns of the cells that are drawn. */
struct terminal_axis {
	const struct string_list *labels; /* or NULL: numbers */
	size_t cells, factor;             /* weights a cell */
	size_t step;                      /* cells 0, step, 2 step, ... are labelled */
	bool numbers;                     /* labels are numbers */
};

/* Where a text stands in its columns. */
enum terminal_fill {
	TERMINAL_ANY, /* not filled */
	TERMINAL_LEFT,
	TERMINAL_RIGHT
};

/* How columns are labelled. */
enum terminal_columns {
	TERMINAL_TICKS,   /* numbers, level */
	TERMINAL_STACKED, /* tokens, a character below the other */
	TERMINAL_KEYED    /* numbers, which a list below resolves */
};

struct terminal_drawing {
	const struct heatmap_figure *figure;
	const struct terminal *terminal;
	struct buffer *out;
	struct terminal_axis rows, cols;
	struct drawing scale; /* of values: only what find_scale fills */
	struct rgb table[TERMINAL_LEVELS];

	/* The plan. */
	size_t cell;        /* columns a cell */
	bool halves;        /* two rows a line */
	bool numbers;       /* in cells */
	size_t label_width; /* of rows */
	size_t pitch;       /* columns a panel takes, without the gap */
	size_t across;      /* panels side by side */
	enum terminal_columns columns;
	size_t column_lines; /* what column labels take */

	/* What has been sent to the terminal: colours as they are sent, or NO_COLOUR. */
	int32_t ink, ground;
};

/* Where a cell's value is on the scale, 0 to 1, and the value that has a share. */
double terminal_share(const struct terminal_drawing *d, const struct grid *g, float value);
double terminal_value(const struct terminal_drawing *d, double share);

/* terminal_cells.c */

/* A line of a panel's cells: row `line`, or two rows of half cells. */
void terminal_add_cells(struct terminal_drawing *d, const struct grid *g, size_t line);

/* The scale with its numbers, and what masked cells look like. */
void terminal_add_legend(struct terminal_drawing *d);

/* terminal_labels.c */

void terminal_add_spaces(struct buffer *out, size_t count);

/* End a line without spaces at its end. */
void terminal_end_line(struct buffer *out);

/* The label of a cell as it may be shown, appended to `out`: the empty and the
 * invisible made visible, cut to `width` columns by an ellipsis, and to the right of
 * them (0: neither). */
void terminal_add_label(struct buffer *out, const struct terminal_axis *axis, size_t cell, size_t width);

/* `text` likewise, and filled to `width` columns by spaces on the other side. */
void terminal_add_text(struct buffer *out, const char *text, size_t width, enum terminal_fill fill);

/* A paragraph in lines of at most `width` columns. */
void terminal_add_paragraph(struct buffer *out, const char *text, size_t width);

/* The widest label of an axis, at most `most` columns. */
size_t terminal_label_width(const struct terminal_axis *axis, size_t most);

/* How the columns of panels are labelled: their number of lines, and the axis' step. */
void terminal_plan_columns(struct terminal_drawing *d);

/* A line of column labels of one panel, filled to the panel's width. */
void terminal_add_column_labels(const struct terminal_drawing *d, size_t line);

/* The list of TERMINAL_KEYED. */
void terminal_add_key(const struct terminal_drawing *d);

#endif
