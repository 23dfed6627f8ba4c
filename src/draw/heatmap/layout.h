/* Where everything in a figure goes: arithmetic only, on sizes that a measure
 * reports, so that it can be tested without fonts.
 *
 * All lengths are pixels; "scaled" ones are given at 96 dpi and multiplied by
 * the request's scale.  From left to right: row axis title, row labels, panels,
 * colour bar.  From top to bottom: title, panels (each under its own title),
 * column labels, column axis title, notes.  Where the panels are too low for a
 * vertical colour bar, a horizontal one is below the column axis title.
 */
#ifndef ATTN_DRAW_HEATMAP_LAYOUT_H
#define ATTN_DRAW_HEATMAP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/image/rect.h"
#include "draw/text/text.h"

enum layout_axis {
	LAYOUT_ROWS,
	LAYOUT_COLS
};

/* Texts that are measured once their place, and so their width, is known. */
enum layout_text {
	LAYOUT_TITLE,       /* wrapped at `limit`; nothing = no title */
	LAYOUT_NOTES,       /* wrapped at `limit`; may depend on the labels' steps */
	LAYOUT_ROW_TITLE,   /* shortened to `limit` */
	LAYOUT_COL_TITLE,   /* shortened to `limit` */
	LAYOUT_BAR_TITLE,   /* "weight" */
	LAYOUT_BAR_TICK,    /* the largest tick label on a bar of length `limit` */
	LAYOUT_PANEL_TITLE, /* the largest one, shortened to `limit`; nothing = none */
	LAYOUT_TOP_TITLE,   /* the largest title of a column of panels, shortened to `limit` */
	LAYOUT_SIDE_TITLE,  /* the largest title of a row of panels, shortened to `limit` */
	LAYOUT_MASKED       /* the legend's "masked" */
};

enum label_direction {
	LABELS_NONE,
	LABELS_HORIZONTAL,
	LABELS_UPWARDS /* rotated by 90 degrees counter-clockwise */
};

/* How an axis is labelled. */
struct layout_axis_labels {
	enum label_direction direction;
	size_t step; /* cells 0, step, 2 step, ... are labelled */
	int size;    /* of the font */
	struct text_box box;
	int limit; /* labels are shortened to this width */
};

struct heatmap_layout;

struct layout_measure {
	void *context;
	/* The label of cell `i` of an axis, in a font of `size`, shortened to
	 * `limit`. */
	struct text_box (*label)(void *context, enum layout_axis axis, size_t i, int size, int limit);
	/* The other texts; in `partial` the labels are chosen. */
	struct text_box (*text)(void *context, enum layout_text which, const struct heatmap_layout *partial,
				int limit);
};

struct layout_request {
	size_t rows, cols; /* cells a panel */
	size_t panels;
	size_t panel_columns; /* 0: automatic */
	double scale;         /* of text and distances: dpi / 96, and more for larger text */
	double cell_scale;    /* of automatic cells: dpi / 96; 0: `scale` */
	double line;          /* pixels of frames and ticks; 0: as `cell_scale` says */
	size_t cell;          /* 0: automatic */
	size_t size;          /* longer side, exact; 0: automatic */
	size_t width;         /* exact width, instead of `size`; 0: automatic */
	size_t largest;       /* side of all panels together; 0: as pixels allow */
	bool horizontal_bar;  /* the colour bar is below, however high the panels are */
	bool no_bar;          /* there is none, nor a legend for masked cells */
	bool keep_text;       /* text has the size it is given, in large pictures too */
	int least_cell;       /* automatic cells are no smaller: for numbers in them */
	bool row_numbers;     /* labels are numbers, which may be thinned freely */
	bool col_numbers;
	bool masked;       /* there is a legend for masked cells */
	bool outer_titles; /* columns of panels have titles above the first row, rows to the left */
};

struct heatmap_layout {
	int width, height;
	double scale; /* of text, lines and distances: the request's, more for large pictures */
	int cell;
	int line; /* of frames and ticks: at least 1 */
	int panel_columns, panel_rows;
	int panel_width, panel_height; /* cells only: the frame is outside */
	int pitch_x, pitch_y;          /* from one panel's corner to the next one's */
	int first_x, first_y;          /* corner of the first panel's cells */
	int panel_title_above;         /* from a panel's top up to its title's baseline */
	int panel_title_limit;
	int top_title_above;  /* the same of titles of columns of panels */
	int side_title_x;     /* left edge of the titles of rows of panels */
	int side_title_limit; /* which are shortened to this */
	struct layout_axis_labels row, col;
	int row_label_right; /* from a panel's left edge to its labels' right end: negative */
	int col_label_top;   /* from a panel's bottom to its labels' top end */
	int label_shift;     /* from a cell's centre to its label's baseline */
	bool bar_vertical;
	struct rect bar;           /* of colours, frame outside */
	struct rect bar_title;     /* as painted */
	struct rect masked_swatch; /* empty: none */
	struct rect masked_text;
	struct rect title, notes;
	struct rect row_title, col_title; /* as painted: the row title runs upwards */
	/* Widths that these texts were measured for: they are painted so too. */
	int title_limit, notes_limit, row_title_limit, col_title_limit, bar_title_limit;
	int text_size, small_size, title_size; /* of fonts */
};

/* The number of columns that makes a figure of `panels` panels, each
 * width x height with its share of the gaps, neither long nor tall. */
size_t layout_columns(size_t panels, double width, double height);

/* A round step, 1, 2, 5, 10, 20, ..., that is at least `least`. */
size_t layout_step(size_t least);

/* Fill *out.  False when the request's size is too small for it. */
bool layout_make(const struct layout_request *request, const struct layout_measure *measure,
		 struct heatmap_layout *out);

#endif
