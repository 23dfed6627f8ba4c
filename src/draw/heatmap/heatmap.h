/* Heatmaps: grids of attention weights drawn as a picture that a paper can
 * print.
 *
 * Rows are queries, row 0 on top; columns are keys, left to right (the other
 * way round with `transpose`).  Cells are square and whole pixels.  One panel
 * makes a single heatmap, several make a grid of panels with one colour scale.
 * A command draws in three steps: heatmap_limits says how many cells fit, the
 * grid consumer (consumers/grid.h) collects them, heatmap_write draws them.
 */
#ifndef ATTN_DRAW_HEATMAP_HEATMAP_H
#define ATTN_DRAW_HEATMAP_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "consumers/grid.h"
#include "draw/canvas/canvas_write.h"
#include "draw/canvas/length.h"
#include "draw/heatmap/colormap.h"
#include "draw/heatmap/scale.h"
#include "draw/heatmap/theme.h"
#include "util/error.h"
#include "util/strings.h"

enum heatmap_numbers {
	HEATMAP_NUMBERS_AUTO, /* where they fit into every cell */
	HEATMAP_NUMBERS_ON,   /* cells grow until they fit; ATTN_USAGE when --cell or --size forbids */
	HEATMAP_NUMBERS_OFF
};

/* Where the colour scale ends. */
enum heatmap_range {
	HEATMAP_RANGE_SHARED, /* at the largest magnitude that counts, in all panels */
	HEATMAP_RANGE_FIXED,  /* at 1 */
	HEATMAP_RANGE_HEAD    /* at each panel's own largest */
};

/* {0} is the default of every option.  "Pixels" of the vector formats are those at
 * 96 dpi. */
struct heatmap_options {
	const struct colormap *colormap; /* NULL: the default map; diverging, if values are signed */
	const struct theme *theme;       /* NULL: light */
	enum canvas_format format;
	size_t cell;         /* pixels a cell, as given (not scaled by dpi), and not reduced; 0: automatic */
	size_t size;         /* longer side of the picture, exactly, pixels at 96 dpi; 0: automatic */
	struct length width; /* of the picture, exactly, without `size` and `cell`; 0: automatic */
	double dpi;          /* of pixels: scales text, lines, automatic cells, `size` and `width`; 0: 96 */
	double font_size; /* points of labels, and other text in proportion; 0: 9, more in large pictures */
	const char *font; /* family; NULL: "Sans" */
	bool transparent; /* no background */
	bool no_bar;      /* no colour bar, and no legend of masked cells beside it */
	bool no_notes;    /* no caption under the picture */
	bool transpose;   /* rows are keys, columns are queries */
	enum heatmap_range range;
	enum scale_transform transform;
	double scale_max;     /* top of the colour scale; 0: as `range` says */
	double clip;          /* a percentile of the cells that count as the top, in percent; 0: none */
	size_t panel_columns; /* panels side by side (heads, for layers as rows); 0: automatic */
	enum heatmap_numbers numbers;
};

/* A mark on the cell of a query and a key. */
enum heatmap_mark_kind {
	HEATMAP_SQUARE, /* a small one in its middle, or in a corner where it has a number */
	HEATMAP_FRAME,  /* around it */
	HEATMAP_DASHES  /* the same with gaps */
};

struct heatmap_mark {
	size_t query, key; /* of those that the grid covers */
	enum heatmap_mark_kind kind;
};

struct heatmap_panel {
	const struct grid *grid;
	const char *title; /* "head 3"; NULL: none.  Not drawn over a single panel */
};

/* All pointers are the caller's and only read. */
struct heatmap_figure {
	const struct heatmap_panel *panels; /* all of one shape */
	size_t panel_count;
	const struct string_list *query_labels; /* UTF-8, as shown, one for each of a grid's `queries` (those
						   selected); NULL: numbers */
	const struct string_list *key_labels;   /* the same for its `keys`; a reduced grid shows every n-th */
	const char *title;                      /* "layer 1, head 3"; NULL: none */
	const char *query_title, *key_title;    /* axis titles; NULL: "query" and "key"; "": none */
	bool scores;                            /* values are scores, and not weights */
	const char *statistic;                  /* values are these, of heads: "entropy in bits"; NULL: no */
	bool difference;                        /* values are A - B of weights, or of scores */
	const char *note;                       /* one more line under the picture; NULL: none */
	const char *order;                      /* a line that says what panels are ordered by; NULL: none */
	bool signed_values;                     /* the scale goes to both sides of 0 */

	/* Rows of panels with a title each, left of them: then the titles of the first row of panels
	 * stand over the columns, those of the others are not drawn, and options.panel_columns
	 * says how many there are.  NULL: each panel has its title. */
	const struct string_list *row_titles;

	/* One for each of a grid's `queries` and `keys`: a line is drawn after it; NULL: none. */
	const bool *query_ends, *key_ends;

	const struct heatmap_mark *marks; /* on every panel; where cells are too small they are left out, and
					   * a line under the picture says so */
	size_t mark_count;
	const char *mark_note; /* what they mean: a line under the picture */
	struct heatmap_options options;
};

/* How many cells a panel may have for `panels` panels of queries x keys weights
 * (before transposing): the max_rows and max_cols of their grids.  ATTN_USAGE when
 * the options ask for more than a picture can hold; the message names the
 * option. */
enum attn_status heatmap_limits(size_t queries, size_t keys, size_t panels,
				const struct heatmap_options *options, size_t *max_rows, size_t *max_cols,
				struct attn_error *err);

/* Fonts and labels already drawn, kept over the figures of a run.  A new painter
 * loads Pango, and fails (ATTN_FAILED, with what to install) when it is not
 * there: make it before slow work, both to learn of that in time and to let
 * fonts be found meanwhile.  Not for use by two threads at once. */
struct heatmap_painter;

enum attn_status heatmap_painter_new(struct heatmap_painter **painter, struct attn_error *err);
void heatmap_painter_free(struct heatmap_painter *painter); /* NULL is fine */

/* Draw in the figure's format and write that to `stream`, which is neither flushed
 * nor closed, and gets nothing when drawing fails.  ATTN_USAGE when options cannot be met,
 * ATTN_FAILED without memory.  A failed write is the stream's to tell, as with
 * image_write_png. */
enum attn_status heatmap_write(struct heatmap_painter *painter, const struct heatmap_figure *figure,
			       FILE *stream, struct attn_error *err);

/* The first label drawn by this painter that has characters which no installed
 * font has, or NULL: worth a warning.  Owned by the painter.  *package, unless NULL,
 * gets the Debian package that has a font for the first of them. */
const char *heatmap_missing_glyphs(const struct heatmap_painter *painter, const char **package);

/* The family that was drawn with instead of the one asked for, or NULL where there is
 * no such difference: worth a warning. */
const char *heatmap_other_font(const struct heatmap_painter *painter);

#endif
