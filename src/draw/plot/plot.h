/* Plots: a few series of points, as lines or dots, in one panel or some side by side.
 *
 * The title of a panel says what its values are, and stands over the upper end of its axis, so that no
 * text is turned.  A series has one colour in all panels, and the legend says whose.  Colours are those of
 * Okabe and Ito (2008), told apart by the colour-blind; markers are discs and rings by turns, told apart
 * without colours.
 */
#ifndef ATTN_DRAW_PLOT_PLOT_H
#define ATTN_DRAW_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "draw/canvas/canvas_write.h"
#include "draw/heatmap/theme.h"
#include "util/error.h"

struct plot_axis {
	const char *title;   /* of x: under the axis; NULL: none.  Of y: that of the panel says it */
	bool logarithmic;    /* what is not above 0 is left out, and the caption says so */
	double low, high;    /* shown at least, where low < high */
	const double *ticks; /* marked, as far as labels fit, ascending; NULL: round numbers */
	size_t tick_count;
};

enum plot_marks {
	PLOT_LINE = 1,
	PLOT_DOTS = 2,
	PLOT_DASHES = 4, /* a thin line of dashes, without the other two */
};

struct plot_series {
	const char *name;    /* in the legend; NULL: not there */
	const double *x, *y; /* (count) each; where y is NAN the line has a gap */
	size_t count;
	unsigned marks; /* bits of enum plot_marks */
	size_t colour;  /* 0 to PLOT_COLOURS - 1, and again from 0 */
};

enum {
	PLOT_COLOURS = 6,
	PLOT_PANELS = 16, /* at most */
};

struct plot_panel {
	const char *title; /* what the values are, "entropy in bits"; NULL: none */
	struct plot_axis x, y;
	const struct plot_series *series;
	size_t series_count;
};

/* {0} is the default of every option. */
struct plot_options {
	enum canvas_format format;
	const struct theme *theme; /* NULL: light */
	struct length width;       /* of the picture, exactly; 0: automatic */
	double dpi;                /* of pixels; 0: 96 */
	double font_size;          /* points of labels, and other text in proportion; 0: 9 */
	const char *font;          /* family; NULL: "Sans" */
	bool transparent;          /* no background */
	bool no_notes;             /* no caption */
};

/* All pointers are the caller's and only read. */
struct plot_figure {
	const char *title; /* NULL: none */
	const char *note;  /* a caption; NULL: none */
	const struct plot_panel *panels;
	size_t panel_count; /* 1 to PLOT_PANELS */
	struct plot_options options;
};

/* Draw in the figure's format and write that to `stream`, as canvas_write.  ATTN_USAGE where the width has
 * no room, ATTN_FAILED without memory. */
enum attn_status plot_write(struct text_engine *text, const struct plot_figure *figure, FILE *stream,
			    struct attn_error *err);

#endif
