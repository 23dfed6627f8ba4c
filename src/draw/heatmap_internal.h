/* Shared by heatmap.c, heatmap_text.c and heatmap_paint.c. */
#ifndef ATTN_DRAW_HEATMAP_INTERNAL_H
#define ATTN_DRAW_HEATMAP_INTERNAL_H

#include "draw/canvas.h"
#include "draw/heatmap.h"
#include "draw/layout.h"
#include "draw/text.h"
#include "draw/ticks.h"

enum {
	/* Steps of the colour scale.  With the 16 greys of text they keep a
	 * picture within a palette of 256. */
	HEAT_LEVELS = 232,
	NUMBER_SIZE = 8 /* bytes of a cell's number: ".17", "1.00", "1e+05" */
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
	double top;      /* of the colour scale */
	double highest;  /* of the cells */
	int number_size; /* font of the numbers in cells; 0: none */
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

/* heatmap_text.c */

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

/* Ticks of a bar `length` pixels long. */
size_t drawing_ticks(const struct drawing *d, const struct layout *layout, int length, struct tick *ticks);

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
