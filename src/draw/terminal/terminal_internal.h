/* A figure while it is drawn as text: terminal_draw.c decides what fits, terminal_cells.c and
 * terminal_labels.c write it. */
#ifndef ATTN_DRAW_TERMINAL_TERMINAL_INTERNAL_H
#define ATTN_DRAW_TERMINAL_TERMINAL_INTERNAL_H

#include <stdint.h>

#include "draw/heatmap/colormap.h"
#include "draw/heatmap/heatmap_scale.h"
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
enum terminal_column_labels {
	TERMINAL_NUMBERS, /* horizontal */
	TERMINAL_STACKED, /* tokens, one character below the other */
	TERMINAL_KEYED    /* numbers, which a list below explains */
};

struct terminal_drawing {
	const struct heatmap_figure *figure;
	const struct terminal *terminal;
	struct buffer *out;
	struct terminal_axis rows, cols;
	struct heatmap_scale scale;
	struct rgb table[TERMINAL_LEVELS];

	/* What terminal_draw.c decides. */
	size_t cell;        /* columns a cell */
	bool halves;        /* two rows a line */
	bool numbers;       /* in cells */
	size_t label_width; /* of rows */
	size_t pitch;       /* columns a panel takes, without the gap */
	size_t across;      /* panels side by side */
	enum terminal_column_labels column_labels;
	size_t column_lines; /* what column labels take */

	/* What has been sent to the terminal: colours as they are sent, or
	 * TERMINAL_NO_COLOUR. */
	int32_t foreground, background;
};

/* terminal_cells.c */

/* A line of a panel's cells: row `line`, or two rows of half cells. */
void terminal_add_cells(struct terminal_drawing *d, const struct grid *g, size_t line);

/* The scale with its numbers, and what masked cells look like. */
void terminal_add_legend(struct terminal_drawing *d);

/* terminal_labels.c */

void terminal_add_spaces(struct buffer *out, size_t count);

/* End a line without spaces at its end. */
void terminal_end_line(struct buffer *out);

/* Append the label of a cell: with what is empty or invisible made visible, cut to `width`
 * columns by an ellipsis, and right-aligned in them (0: neither). */
void terminal_add_label(struct buffer *out, const struct terminal_axis *axis, size_t cell, size_t width);

/* Append `text` likewise, aligned as `fill` says. */
void terminal_add_text(struct buffer *out, const char *text, size_t width, enum terminal_fill fill);

/* A paragraph in lines of at most `width` columns. */
void terminal_add_paragraph(struct buffer *out, const char *text, size_t width);

/* The widest label of an axis, at most `most` columns. */
size_t terminal_label_width(const struct terminal_axis *axis, size_t most);

/* Decide how the columns of panels are labelled: d->column_labels, d->column_lines and the
 * axis' step. */
void terminal_choose_column_labels(struct terminal_drawing *d);

/* A line of column labels of one panel, filled to the panel's width. */
void terminal_add_column_labels(const struct terminal_drawing *d, size_t line);

/* The list of TERMINAL_KEYED. */
void terminal_add_key(const struct terminal_drawing *d);

#endif
