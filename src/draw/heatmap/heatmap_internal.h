/* A heatmap while it is drawn.  Each file below uses those above it: text, notes, marks,
 * measure, size and paint, which heatmap_write.c joins. */
#ifndef ATTN_DRAW_HEATMAP_HEATMAP_INTERNAL_H
#define ATTN_DRAW_HEATMAP_HEATMAP_INTERNAL_H

#include "draw/canvas/canvas.h"
#include "draw/heatmap/heatmap.h"
#include "draw/heatmap/heatmap_scale.h"
#include "draw/heatmap/layout.h"
#include "draw/heatmap/theme.h"
#include "draw/heatmap/ticks.h"
#include "draw/heatmap/wording.h"
#include "draw/text/text.h"

enum {
	PANEL_TITLE_SIZE = 300 /* bytes of a panel's title with what is added to it */
};

/* A figure while it is drawn: rows and columns are those of the picture, so
 * they are keys and queries when it is transposed. */
struct drawing {
	const struct heatmap_figure *figure;
	struct text_engine *text;
	const struct theme *theme;
	struct heatmap_scale scale;
	double units;      /* the layout's lengths a pixel at 96 dpi */
	double text_scale; /* of text and distances: units, times what font_size says */
	size_t rows, cols, row_factor, col_factor;
	const struct string_list *row_labels, *col_labels;
	bool row_numbers, col_numbers; /* labels are numbers */
	int number_size;               /* font of the numbers in cells; 0: none */
	struct heatmap_layout layout;
};

/* heatmap_text.c */

/* What stands over a panel, for one of several: its title, with the top of its own
 * scale.  Where rows have titles it is that top alone, or "". */
const char *panel_title(const struct drawing *d, size_t panel, char text[PANEL_TITLE_SIZE]);

/* After which queries or keys a line is drawn, and whether there are few enough lines for
 * the cells to show. */
const bool *drawing_ends(const struct drawing *d, enum layout_axis axis);
bool ends_fit(const struct drawing *d, enum layout_axis axis);

/* How many titles rows or columns of panels have, and whether all fit into the style's
 * width. */
size_t outer_title_count(const struct drawing *d, enum layout_axis axis);
bool outer_titles_fit(const struct drawing *d, enum layout_axis axis, struct text_style style);

/* The title of a row or column of panels: without its first word, "head", where
 * not all fit into the style's width with it. */
const char *outer_title(const struct drawing *d, enum layout_axis axis, size_t i, struct text_style style);

/* The label of a row or column of cells; `number` is where it is written when
 * there is no list. */
const char *drawing_label(const struct drawing *d, enum layout_axis axis, size_t i, char number[24]);

struct text_style label_style(const struct layout_axis_labels *plan);
struct text_style plain_style(int size, int limit);
struct text_style title_style(const struct heatmap_layout *layout, int limit);
struct text_style notes_style(const struct heatmap_layout *layout, int limit);

const char *row_title(const struct drawing *d);
const char *col_title(const struct drawing *d);
const char *bar_title(const struct drawing *d);

/* Ticks of a bar `length` long: ticks[TICKS_MAX].  Returns how many. */
size_t drawing_ticks(const struct drawing *d, const struct heatmap_layout *layout, int length,
		     struct tick *ticks);

/* heatmap_notes.c */

/* Append what the picture does not say by itself: reduction, labels left out,
 * colours beyond the scale, and the caller's note. */
void heatmap_notes(struct buffer *notes, const struct drawing *d, const struct heatmap_layout *layout);

/* heatmap_marks.c */

/* Whether cells are large enough for marks. */
bool marks_fit(const struct heatmap_layout *layout);

/* Paint the marks of the panel whose upper left corner is there, on cells whose last `gap` is a line. */
void paint_marks(const struct drawing *d, struct canvas *canvas, int x0, int y0, int gap);

/* heatmap_measure.c */

/* The layout's measure, with a drawing as context. */
struct text_box measure_label(void *context, enum layout_axis axis, size_t i, int size, int limit);
struct text_box measure_text(void *context, enum layout_text which, const struct heatmap_layout *partial,
			     int limit);

/* The font for numbers in cells of `cell` pixels, or 0 when none fits.
 * `least_cell`, unless NULL, gets the cell that the smallest font needs. */
int number_font(const struct drawing *d, int cell, int *least_cell);

/* heatmap_size.c */

/* Lengths of the layout a pixel at 96 dpi, and how much larger text is than it would
 * be. */
double heatmap_units(const struct heatmap_options *options);
double heatmap_font_factor(const struct heatmap_options *options);

/* ATTN_USAGE for options out of range, or that cannot be combined. */
enum attn_status heatmap_check(const struct heatmap_options *options, struct attn_error *err);

/* Rows and columns of the picture for so many queries and keys a cell. */
void drawing_set_cells(struct drawing *d, size_t query_factor, size_t key_factor);

/* Lay out, with numbers in cells where they are wanted and fit.  ATTN_USAGE, with a
 * size that would do, where the one asked for is too small. */
enum attn_status drawing_lay_out(struct drawing *d, struct attn_error *err);

/* Refuse what overflows or is too large for a picture, and name the option to change: width
 * and height in the layout's lengths. */
enum attn_status drawing_check_extent(const struct drawing *d, double width, double height,
				      struct attn_error *err);

/* heatmap_paint.c */

/* Paint the whole figure on an empty canvas of the layout's size. */
void paint_figure(const struct drawing *d, struct canvas *canvas);

#endif
