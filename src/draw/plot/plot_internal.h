/* A plot while it is drawn.  Each file below uses those above it: axis, layout and paint, which plot.c
 * joins. */
#ifndef ATTN_DRAW_PLOT_PLOT_INTERNAL_H
#define ATTN_DRAW_PLOT_PLOT_INTERNAL_H

#include "draw/heatmap/ticks.h"
#include "draw/plot/plot.h"
#include "draw/text/text.h"

/* plot_axis.c */

enum {
	AXIS_TICKS = 64, /* at most */
};

struct axis_tick {
	double share; /* where on the axis: 0 to 1 */
	char text[24];
	bool labelled; /* the label has room */
};

/* An axis in numbers: what its ends are, and where it is marked. */
struct axis {
	double low, high; /* low < high; above 0 where it is logarithmic */
	bool logarithmic;
	double margin; /* share of the length that is left free at either end */
	struct axis_tick ticks[AXIS_TICKS];
	size_t tick_count;
};

/* The axis that holds all points of a panel, with about `most` marks; values are y where `upright`, else
 * x. */
void axis_make(struct axis *axis, const struct plot_panel *panel, bool upright, size_t most);

/* Where a value is, 0 to 1; NAN where it cannot be shown. */
double axis_share(const struct axis *axis, double value);

/* Whether both coordinates of a point can be shown. */
bool point_shown(const struct plot_panel *panel, const struct plot_series *series, size_t i);

/* plot_layout.c */

struct panel_layout {
	struct rect area; /* between the axes */
	struct axis x, y;
	int title_y; /* the baseline of its title */
};

struct legend_entry {
	const struct plot_series *series;
	int x, y; /* left end of the sample, and the baseline */
	int text_x;
};

enum {
	LEGEND_ENTRIES = 64, /* at most; further series are not named */
};

struct plot_layout {
	int width, height;
	double unit; /* the layout's lengths a pixel at 96 dpi, in proportion to text */
	int title_size, label_size;
	int title_y, note_y; /* baselines */
	int text_width;      /* of title and caption */
	int sample;          /* length of a legend's line */
	struct legend_entry legend[LEGEND_ENTRIES];
	size_t legend_count;
	struct panel_layout panels[PLOT_PANELS];
};

/* A figure with the theme and the caption that it gets. */
struct plot_drawing {
	const struct plot_figure *figure;
	struct text_engine *text;
	const struct theme *theme;
	const char *note; /* or "" */
	struct plot_layout layout;
};

struct text_style plot_style(int size, int width);

/* ATTN_USAGE where the width has no room. */
enum attn_status plot_lay_out(struct plot_drawing *d, struct attn_error *err);

/* plot_paint.c */

void plot_paint(const struct plot_drawing *d, struct canvas *canvas);

#endif
