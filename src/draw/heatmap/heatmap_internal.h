/* Shared by heatmap.c, heatmap_text.c and heatmap_paint.c. */
#ifndef ATTN_DRAW_HEATMAP_HEATMAP_INTERNAL_H
#define ATTN_DRAW_HEATMAP_HEATMAP_INTERNAL_H

#include "draw/canvas/canvas.h"
#include "draw/heatmap/heatmap.h"
#include "draw/heatmap/layout.h"
#include "draw/heatmap/ticks.h"
#include "draw/text/text.h"

enum {
	/* Steps of the colour scale.  With the 16 greys of text they keep a
	 * picture within a palette of 256. */
	HEAT_LEVELS = 232,
	NUMBER_SIZE = 12, /* bytes of a cell's number: ".17", "1.00", "1e+05", with a minus sign */
	TITLE_SIZE = 300  /* bytes of a panel's title with what is added to it */
};

/* A figure while it is drawn: rows and columns are those of the picture, so
 * they are keys and queries when it is transposed. */
struct drawing {
	const struct heatmap_figure *figure;
	struct text_engine *text;
	const struct theme *theme;
	double units; /* of the layout's lengths, a pixel at 96 dpi */
	double scale; /* of text and distances: units, times what font_size says */
	size_t rows, cols, row_factor, col_factor;
	const struct string_list *row_labels, *col_labels;
	bool row_numbers, col_numbers; /* labels are numbers */
	bool any_masked;
	struct scale colours; /* of values, or where `tops` is there of values over these */
	double *tops;         /* (panels): ends of the panels' own scales, owned; NULL: one scale */
	size_t levels;        /* of colour: an odd number on a diverging scale, whose 0 has one */
	bool clipped;         /* the scale ends at a percentile */
	double highest;       /* magnitude of the cells */
	double lowest;        /* below 0, or 0 */
	int number_size;      /* font of the numbers in cells; 0: none */
	struct layout layout;
};

/* heatmap_size.c */

/* Lengths of the layout a pixel at 96 dpi, and how much larger text is than it would
 * be. */
double heatmap_units(const struct heatmap_options *options);
double heatmap_font_factor(const struct heatmap_options *options);

/* ATTN_USAGE for options out of range, or against each other. */
enum attn_status heatmap_check(const struct heatmap_options *options, struct attn_error *err);

/* Rows and columns of the picture for so many queries and keys a cell. */
void drawing_set_cells(struct drawing *d, size_t query_factor, size_t key_factor);

/* Lay out, with numbers in cells where they are wanted and fit.  ATTN_USAGE, and what
 * would do, where the size asked for is too small. */
enum attn_status drawing_place(struct drawing *d, struct attn_error *err);

/* Refuse, naming the option to change, what would wrap or be no picture: width and
 * height in the layout's lengths. */
enum attn_status drawing_check_extent(const struct drawing *d, double width, double height,
				      struct attn_error *err);

/* heatmap_scale.c */

/* Look at all cells: any_masked, highest, lowest and the scale.  Release d->tops,
 * also after a failure, which is one of memory. */
enum attn_status find_scale(struct drawing *d, struct attn_error *err);

/* The colour of a value in a panel: an entry of a table of d->levels. */
size_t panel_level(const struct drawing *d, size_t panel, float value);

/* The percentile of the magnitudes of all cells that count: the least one that at
 * least `percent` in a hundred do not exceed (the nearest rank).  0 where no cell
 * counts.  `bins` is for its use: 65,536. */
double heatmap_percentile(const struct heatmap_panel *panels, size_t count, double percent, size_t *bins);

/* Ticks of a bar `length` pixels long. */
size_t drawing_ticks(const struct drawing *d, const struct layout *layout, int length, struct tick *ticks);

/* Append what the bar does not say: its transform, and what lies beyond its ends. */
void add_scale_notes(struct buffer *out, const struct drawing *d);

/* heatmap_text.c */

/* Append a note, behind "; " if it is not the first; NULL and "" are none. */
void add_note(struct buffer *out, const char *text);

const char *ordinal(size_t n); /* "st", "nd", "rd" or "th" */

/* What stands over a panel, for one of several: its title, with the top of its own
 * scale.  Where rows have titles it is that top alone, or "". */
const char *panel_title(const struct drawing *d, size_t panel, char text[TITLE_SIZE]);

/* After which queries or keys a line is drawn, and whether so many lines leave
 * something of the cells. */
const bool *drawing_ends(const struct drawing *d, enum layout_axis axis);
bool ends_fit(const struct drawing *d, enum layout_axis axis);

/* The title of a row or column of panels: without its first word, "head", where
 * not all fit into the style's width with it. */
const char *outer_title(const struct drawing *d, enum layout_axis axis, size_t i, struct text_style style);

/* The label of a row or column of cells; `number` is where it is written when
 * there is no list. */
const char *drawing_label(const struct drawing *d, enum layout_axis axis, size_t i, char number[24]);

struct text_style label_style(const struct layout_axis_plan *plan);
struct text_style plain_style(int size, int limit);
struct text_style title_style(const struct layout *layout, int limit);
struct text_style notes_style(const struct layout *layout, int limit);

/* The layout's measure, with a drawing as context. */
struct text_box measure_label(void *context, enum layout_axis axis, size_t i, int size, int limit);
struct text_box measure_text(void *context, enum layout_text which, const struct layout *partial, int limit);

const char *row_title(const struct drawing *d);
const char *col_title(const struct drawing *d);
const char *bar_title(const struct drawing *d);

/* Append what the picture does not say by itself: reduction, labels left out,
 * colours cut off, and the caller's note. */
void add_notes(struct buffer *out, const struct drawing *d, const struct layout *layout);

/* A cell's value with two decimals: ".17", "1.00"; from 10 up with none. */
void number_text(float value, char text[NUMBER_SIZE]);

/* The font for numbers in cells of `cell` pixels, or 0 when none fits.
 * `least_cell`, unless NULL, gets the cell that the smallest font needs. */
int number_font(const struct drawing *d, int cell, int *least_cell);

/* heatmap_paint.c */

/* Paint all on an empty canvas of the layout's size. */
void paint_figure(const struct drawing *d, struct canvas *canvas);

/* Value and mask of a cell of the picture. */
float panel_value(const struct drawing *d, const struct grid *g, size_t row, size_t col);
bool panel_masked(const struct drawing *d, const struct grid *g, size_t row, size_t col);

#endif
