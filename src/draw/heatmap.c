#include "draw/heatmap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "draw/fonts.h"
#include "draw/heatmap_internal.h"
#include "util/minmax.h"

enum {
	SINGLE_CELLS = 2048,   /* a side of one heatmap, when nobody asks */
	GRID_PIXELS = 1800,    /* a side of a grid of panels, at 96 dpi */
	LEAST_PANEL = 16,      /* cells a side that a small panel still has */
	RESERVED = 260,        /* pixels for labels, bar and margins, at 96 dpi */
	PANEL_GAP = 20,        /* pixels between panels, at 96 dpi */
	NUMBERS_CELL = 26,     /* pixels a cell from which numbers are drawn unasked, at 96 dpi */
	NUMBERS_CELLS = 1000,  /* and at most so many in a figure */
	MOST_NUMBERS = 250000, /* asked for: what a picture can hold */
	DEFAULT_POINTS = 9,    /* of labels: 12 pixels */
	VECTOR_DETAIL = 3      /* cells a pixel at 96 dpi, where the size is given: about 300 an inch */
};

struct heatmap_painter {
	struct text_engine *text;
	char *other_font;
};

enum attn_status heatmap_painter_new(struct heatmap_painter **painter, struct attn_error *err)
{
	*painter = calloc(1, sizeof **painter);
	if (!*painter)
		return attn_fail_memory(err);
	enum attn_status status = text_engine_new(&(*painter)->text, err);
	if (status != ATTN_OK) {
		free(*painter);
		*painter = NULL;
	}
	return status;
}

void heatmap_painter_free(struct heatmap_painter *painter)
{
	if (!painter)
		return;
	text_engine_free(painter->text);
	free(painter->other_font);
	free(painter);
}

const char *heatmap_missing_glyphs(const struct heatmap_painter *painter, const char **package)
{
	uint32_t code;
	const char *text = text_missing_glyphs(painter->text, &code);
	if (package)
		*package = font_package(code);
	return text;
}

const char *heatmap_other_font(const struct heatmap_painter *painter)
{
	return painter->other_font;
}

/* Lengths of the layout a pixel at 96 dpi. */
static double units_of(const struct heatmap_options *options)
{
	if (options->format != HEATMAP_PNG)
		return CANVAS_UNITS;
	return (options->dpi > 0 ? options->dpi : 96.0) / 96.0;
}

/* How much larger text is than it would be. */
static double font_factor(const struct heatmap_options *options)
{
	return options->font_size > 0 ? options->font_size / DEFAULT_POINTS : 1.0;
}

/* The longest side of a picture, in the layout's lengths. */
static double most_side(const struct heatmap_options *options)
{
	return options->format == HEATMAP_PNG ? IMAGE_MAX_SIDE : (double)IMAGE_MAX_SIDE * CANVAS_UNITS;
}

static enum attn_status check_options(const struct heatmap_options *options, struct attn_error *err)
{
	if (options->dpi != 0 && !(options->dpi >= 24.0 && options->dpi <= 2400.0))
		return attn_fail(err, ATTN_USAGE, "--dpi %g is out of range, expected 24 to 2400",
				 options->dpi);
	if (options->cell > IMAGE_MAX_SIDE)
		return attn_fail(err, ATTN_USAGE, "--cell %zu is too large, expected at most %d pixels",
				 options->cell, IMAGE_MAX_SIDE);
	double most = most_side(options) / units_of(options);
	if ((double)options->size > most)
		return attn_fail(err, ATTN_USAGE,
				 "--size %zu at %g dpi is too large, expected at most %d pixels",
				 options->size, options->dpi > 0 ? options->dpi : 96.0, (int)most);
	if (options->width.value > 0 && (options->size || options->cell))
		return attn_fail(err, ATTN_USAGE, "--width and --%s are both given, expected one",
				 options->size ? "size" : "cell");
	if (length_pixels(options->width) > most)
		return attn_fail(err, ATTN_USAGE, "--width %g%s is too large, expected at most %g%s",
				 options->width.value, length_unit_name(options->width.unit),
				 floor(most * length_per_pixel(options->width.unit)),
				 length_unit_name(options->width.unit));
	if (!(options->scale_max >= 0) || options->scale_max > 1e30)
		return attn_fail(err, ATTN_USAGE,
				 "the top of the colour scale is %g, expected a number above 0",
				 options->scale_max);
	return ATTN_OK;
}

/* Cells that one side of a panel may have, where `across` panels stand side by
 * side: of the picture's width, or of its height. */
static size_t side_limit(const struct heatmap_options *options, size_t panels, size_t across, bool height)
{
	bool vector = options->format != HEATMAP_PNG;
	double scale = vector ? 1.0 : units_of(options);
	double cell = options->cell ? (double)options->cell : 1.0;
	double size = (double)options->size * scale;
	if (options->width.value > 0) /* a page is half as high again as it is wide */
		size = length_pixels(options->width) * scale * (height ? 1.5 : 1.0);
	if (size > 0) {
		double pixels = size - RESERVED * scale * font_factor(options);
		pixels = pixels > 0.4 * size ? pixels : 0.4 * size;
		pixels -= (double)(across - 1) * PANEL_GAP * scale;
		pixels /= (double)across * cell;
		if (vector && !options->cell)
			pixels *= VECTOR_DETAIL;
		return pixels > 1.0 ? (size_t)pixels : 1;
	}
	if (options->cell)
		return SIZE_MAX; /* as large as it gets: see check_cell */
	if (panels == 1)
		return SINGLE_CELLS;
	return size_max(GRID_PIXELS / across, LEAST_PANEL);
}

/* With --cell alone nothing is reduced: refuse what cannot be a picture. */
static enum attn_status check_cell(size_t rows, size_t cols, size_t down, size_t across,
				   const struct heatmap_options *options, struct attn_error *err)
{
	size_t longer = size_max(rows, cols);
	if (!options->cell || options->size)
		return ATTN_OK;
	size_t most = IMAGE_MAX_SIDE / size_max(down, across);
	if (longer <= most / options->cell)
		return ATTN_OK;
	if (longer > most)
		return attn_fail(
		    err, ATTN_USAGE,
		    "%zu cells of --cell %zu make a picture wider than %d pixels: leave --cell out, "
		    "and several weights share a cell",
		    longer * (rows > cols ? down : across), options->cell, IMAGE_MAX_SIDE);
	return attn_fail(
	    err, ATTN_USAGE,
	    "%zu cells of --cell %zu make a picture wider than %d pixels: give --cell %zu or less",
	    longer * (rows > cols ? down : across), options->cell, IMAGE_MAX_SIDE,
	    size_max(most * 9 / 10 / longer, 1));
}

enum attn_status heatmap_limits(size_t queries, size_t keys, size_t panels,
				const struct heatmap_options *options, size_t *max_rows, size_t *max_cols,
				struct attn_error *err)
{
	size_t rows = options->transpose ? keys : queries, cols = options->transpose ? queries : keys;
	enum attn_status status = check_options(options, err);
	if (status != ATTN_OK)
		return status;
	/* Panels as they will be: no longer than a side of the whole figure. */
	double side = (double)size_min(size_max(rows, cols), panels == 1 ? SINGLE_CELLS : GRID_PIXELS);
	size_t across = options->panel_columns
			    ? size_min(options->panel_columns, panels)
			    : layout_columns(panels, (double)size_min(cols, (size_t)side) + 0.1 * side,
					     (double)size_min(rows, (size_t)side) + 0.2 * side);
	size_t down = (panels + across - 1) / across;
	status = check_cell(rows, cols, down, across, options, err);
	if (status != ATTN_OK)
		return status;
	size_t limit_rows = side_limit(options, panels, down, true);
	size_t limit_cols = side_limit(options, panels, across, false);
	if (rows == cols) /* keep what is square so */
		limit_rows = limit_cols = size_min(limit_rows, limit_cols);
	*max_rows = options->transpose ? limit_cols : limit_rows;
	*max_cols = options->transpose ? limit_rows : limit_cols;
	return ATTN_OK;
}

static bool all_numbers(const struct string_list *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		size_t length = strlen(list->items[i]);
		if (length == 0 || length > 9 || strspn(list->items[i], "0123456789") != length)
			return false;
	}
	return true;
}

/* The largest value drawn, the top of the scale, and whether a cell is masked. */
static void survey(struct drawing *d)
{
	double top = 0; /* without what does not count for the scale */
	for (size_t i = 0; i < d->figure->panel_count; i++) {
		const struct grid *g = d->figure->panels[i].grid;
		d->any_masked |= g->any_masked;
		top = (double)g->top > top ? (double)g->top : top;
		for (size_t k = 0; k < g->rows * g->cols; k++)
			if ((double)g->values[k] > d->highest)
				d->highest = (double)g->values[k];
	}
	d->top = d->figure->options.scale_max;
	if (d->top == 0)
		d->top = top;
	if (d->top == 0)
		d->top = d->highest > 0 ? d->highest : 1.0;
}

/* Rows and columns of the picture for so many queries and keys a cell. */
static void set_cells(struct drawing *d, size_t query_factor, size_t key_factor)
{
	const struct grid *g = d->figure->panels[0].grid;
	size_t queries = grid_factor(g->queries, query_factor), keys = grid_factor(g->keys, key_factor);
	bool transpose = d->figure->options.transpose;
	d->rows = transpose ? keys : queries;
	d->cols = transpose ? queries : keys;
	d->row_factor = transpose ? key_factor : query_factor;
	d->col_factor = transpose ? query_factor : key_factor;
}

static void drawing_init(struct drawing *d, struct heatmap_painter *painter,
			 const struct heatmap_figure *figure)
{
	const struct grid *g = figure->panels[0].grid;
	bool transpose = figure->options.transpose;
	*d = (struct drawing){
	    .figure = figure,
	    .text = painter->text,
	    .theme = figure->options.theme ? figure->options.theme : theme_default(),
	    .units = units_of(&figure->options),
	    .scale = units_of(&figure->options) * font_factor(&figure->options),
	};
	set_cells(d, g->row_factor, g->col_factor);
	d->row_labels = transpose ? figure->key_labels : figure->query_labels;
	d->col_labels = transpose ? figure->query_labels : figure->key_labels;
	d->row_numbers = all_numbers(d->row_labels);
	d->col_numbers = all_numbers(d->col_labels);
	survey(d);
}

/* Lay out as `options` say, which may differ from the figure's in the size. */
static bool lay_out(struct drawing *d, const struct heatmap_options *options, int least_cell)
{
	const struct layout_measure measure = {d, measure_label, measure_text};
	bool vector = options->format != HEATMAP_PNG;
	struct layout_request request = {
	    .rows = d->rows,
	    .cols = d->cols,
	    .panels = d->figure->panel_count,
	    .panel_columns = options->panel_columns,
	    .scale = d->scale,
	    .cell_scale = d->units,
	    .cell = options->cell * (vector ? CANVAS_UNITS : 1),
	    .size = (size_t)((double)options->size * d->units + 0.5),
	    .width = (size_t)(length_pixels(options->width) * d->units + 0.5),
	    .largest = vector ? (size_t)IMAGE_MAX_SIDE * 9 / 10 * CANVAS_UNITS : 0,
	    .keep_text = options->font_size > 0 || options->width.value > 0,
	    .least_cell = least_cell,
	    .row_numbers = d->row_numbers,
	    .col_numbers = d->col_numbers,
	    .masked = d->any_masked,
	};
	return layout_make(&request, &measure, &d->layout);
}

/* Whether the figure would fit into another size, which may have other cells. */
static bool fits_size(const struct drawing *d, size_t size)
{
	const struct grid *g = d->figure->panels[0].grid;
	struct heatmap_options options = d->figure->options;
	struct drawing trial = *d;
	if (options.size)
		options.size = size;
	else
		options.width = (struct length){(double)size, LENGTH_PX};
	size_t max_rows, max_cols;
	if (heatmap_limits(g->queries, g->keys, d->figure->panel_count, &options, &max_rows, &max_cols,
			   NULL) != ATTN_OK)
		return false;
	set_cells(&trial, grid_factor(g->queries, max_rows), grid_factor(g->keys, max_cols));
	return lay_out(&trial, &options, 0);
}

/* The smallest size that would do, in pixels at 96 dpi, or 0. */
static size_t find_size(const struct drawing *d, size_t size)
{
	size_t most = (size_t)(most_side(&d->figure->options) / d->units), low = size, high = size;
	while (high < most) {
		high = size_min(high + high / 8 + 1, most);
		if (fits_size(d, high))
			break;
		low = high;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (fits_size(d, middle))
			high = middle;
		else
			low = middle;
	}
	return high > low ? high : 0;
}

/* Say what size would do. */
static enum attn_status fail_size(const struct drawing *d, struct attn_error *err)
{
	const struct grid *g = d->figure->panels[0].grid;
	const struct heatmap_options *options = &d->figure->options;
	struct length width = options->width;
	char panels[40] = "", asked[60], advice[80] = "draw fewer heads at a time";
	size_t least = find_size(d, options->size ? options->size : (size_t)length_pixels(width));
	double wider = ceil((double)least * length_per_pixel(width.unit) * 100.0) / 100.0;
	if (options->size)
		snprintf(asked, sizeof asked, "--size %zu", options->size);
	else
		snprintf(asked, sizeof asked, "--width %g%s", width.value, length_unit_name(width.unit));
	if (least && options->size)
		snprintf(advice, sizeof advice, "give --size %zu or more%s", least,
			 options->cell ? ", or a smaller --cell" : "");
	else if (least)
		snprintf(advice, sizeof advice, "give --width %g%s or more%s", wider,
			 length_unit_name(width.unit),
			 options->font_size > DEFAULT_POINTS ? ", or a smaller --font-size" : "");
	if (d->figure->panel_count > 1)
		snprintf(panels, sizeof panels, " in %zu panels", d->figure->panel_count);
	return attn_fail(err, ATTN_USAGE, "%zu queries x %zu keys%s do not fit into %s: %s", g->queries,
			 g->keys, panels, asked, advice);
}

static enum attn_status place(struct drawing *d, struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	double unit = options->format == HEATMAP_PNG ? 1 : CANVAS_UNITS;
	size_t cells = d->rows * d->cols * d->figure->panel_count;
	int least_cell = 0;
	if (options->numbers == HEATMAP_NUMBERS_ON) {
		if (cells > MOST_NUMBERS)
			return attn_fail(err, ATTN_USAGE, "numbers in %zu cells do not fit into a picture",
					 cells);
		number_font(d, 0, &least_cell);
	}
	if (!lay_out(d, options, least_cell))
		return fail_size(d, err);
	if (options->numbers == HEATMAP_NUMBERS_OFF)
		return ATTN_OK;
	if (options->numbers == HEATMAP_NUMBERS_ON ||
	    (cells <= NUMBERS_CELLS && d->layout.cell >= (int)(NUMBERS_CELL * d->scale)))
		d->number_size = number_font(d, d->layout.cell, NULL);
	if (options->numbers == HEATMAP_NUMBERS_ON && d->number_size == 0)
		return attn_fail(
		    err, ATTN_USAGE,
		    "numbers do not fit into cells of %.4g pixels: give %s%.0f or more, or a larger --%s",
		    d->layout.cell / unit, options->width.value > 0 ? "cells of " : "--cell ",
		    ceil(least_cell / unit), options->width.value > 0 ? "width" : "size");
	return ATTN_OK;
}

/* Refuse what would wrap or be no picture, naming the option to change. */
static enum attn_status check_extent(const struct drawing *d, double width, double height,
				     struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	bool vector = options->format != HEATMAP_PNG;
	double most = most_side(options), unit = vector ? CANVAS_UNITS : 1;
	if (width <= most && height <= most && (vector || width * height * 3 <= IMAGE_MAX_BYTES))
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "the picture would be %.0f x %.0f pixels (at most %d a side and %d MiB): %s",
			 width / unit, height / unit, IMAGE_MAX_SIDE, IMAGE_MAX_BYTES / (1024 * 1024),
			 options->cell                    ? "give a smaller --cell"
			 : !vector && options->dpi > 96.0 ? "give a smaller --dpi"
							  : "give a --size");
}

/* Whether what Pango calls its font is one of those asked for, or stands for a name
 * that any font may. */
static bool is_asked(const char *asked, const char *used)
{
	static const char *const generic[] = {"sans", "sans-serif", "serif",   "monospace",
					      "mono", "cursive",    "fantasy", "system-ui"};
	for (const char *at = asked; *at; at += *at == ',') {
		at += strspn(at, " ");
		size_t length = strcspn(at, ","), name = length;
		while (name > 0 && at[name - 1] == ' ')
			name--;
		if (strncasecmp(at, used, name) == 0 && used[name] == '\0')
			return true;
		for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
			if (strncasecmp(at, generic[i], name) == 0 && generic[i][name] == '\0')
				return true;
		at += length;
	}
	return false;
}

/* Take the figure's font, and note where there is none of that name. */
static enum attn_status choose_font(struct heatmap_painter *painter, const struct heatmap_options *options,
				    struct attn_error *err)
{
	text_engine_trim(painter->text);
	enum attn_status status =
	    text_engine_set(painter->text, options->font, options->format != HEATMAP_PNG, err);
	if (status != ATTN_OK || !options->font || painter->other_font)
		return status;
	const char *used = text_used_family(painter->text);
	if (!used || is_asked(options->font, used))
		return ATTN_OK;
	painter->other_font = strdup(used);
	return painter->other_font ? ATTN_OK : attn_fail_memory(err);
}

/* All before the first stroke. */
static enum attn_status prepare(struct drawing *d, struct heatmap_painter *painter,
				const struct heatmap_figure *figure, struct attn_error *err)
{
	enum attn_status status = check_options(&figure->options, err);
	if (status == ATTN_OK)
		status = choose_font(painter, &figure->options, err);
	if (status != ATTN_OK)
		return status;
	drawing_init(d, painter, figure);
	/* Before the layout, whose lengths are ints: no side beyond what a picture has. */
	double across = figure->options.panel_columns ? (double)figure->options.panel_columns : 1.0;
	double cell = figure->options.cell ? (double)figure->options.cell : 1.0;
	if (figure->options.format != HEATMAP_PNG)
		cell *= CANVAS_UNITS;
	if (figure->options.width.value > 0 || figure->options.size)
		cell = 1.0;
	status = check_extent(d, (double)d->cols * cell * across, (double)d->rows * cell, err);
	if (status == ATTN_OK)
		status = place(d, err);
	if (status == ATTN_OK)
		status = check_extent(d, (double)d->layout.width, (double)d->layout.height, err);
	return status == ATTN_OK ? text_engine_status(painter->text, err) : status;
}

/* What went wrong while painting. */
static enum attn_status painted(const struct canvas *canvas, struct attn_error *err)
{
	enum attn_status status = text_engine_status(canvas->text, err);
	if (status == ATTN_OK && canvas->error.status != ATTN_OK)
		status = attn_fail(err, canvas->error.status, "%s", canvas->error.message);
	return status;
}

static enum attn_status draw_pixels(const struct drawing *d, struct image *out, struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	enum attn_status status = image_init(out, (size_t)d->layout.width, (size_t)d->layout.height, err);
	if (status == ATTN_OK && options->transparent)
		status = image_clear(out, err);
	struct canvas_pixels c;
	canvas_pixels_init(&c, out, d->text);
	if (status == ATTN_OK) {
		if (!options->transparent && d->theme->dark)
			c.canvas.class->fill(&c.canvas,
					     (struct rect){0, 0, d->layout.width, d->layout.height},
					     d->theme->ground);
		paint_figure(d, &c.canvas);
		status = painted(&c.canvas, err);
	}
	if (status != ATTN_OK)
		image_release(out);
	return status;
}

enum attn_status heatmap_draw(struct heatmap_painter *painter, const struct heatmap_figure *figure,
			      struct image *out, struct attn_error *err)
{
	struct heatmap_figure pixels = *figure;
	struct drawing d;
	pixels.options.format = HEATMAP_PNG;
	*out = (struct image){0};
	enum attn_status status = prepare(&d, painter, &pixels, err);
	return status == ATTN_OK ? draw_pixels(&d, out, err) : status;
}

static enum attn_status draw_vector(const struct drawing *d, struct buffer *out, struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	struct canvas_page page = {
	    .width = d->layout.width,
	    .height = d->layout.height,
	    .title = d->figure->title,
	    .ground = options->transparent ? NULL : &d->theme->ground,
	    .asked = options->width,
	};
	if (options->format == HEATMAP_SVG) {
		struct canvas_svg c;
		canvas_svg_begin(&c, out, d->text, &page);
		paint_figure(d, &c.canvas);
		canvas_svg_end(&c);
		return painted(&c.canvas, err);
	}
	struct canvas_pdf c;
	canvas_pdf_begin(&c, out, d->text, &page);
	paint_figure(d, &c.canvas);
	canvas_pdf_end(&c);
	return painted(&c.canvas, err);
}

enum attn_status heatmap_write(struct heatmap_painter *painter, const struct heatmap_figure *figure,
			       FILE *stream, struct attn_error *err)
{
	struct drawing d;
	struct image image = {0};
	struct buffer out = BUFFER_INIT;
	enum attn_status status = prepare(&d, painter, figure, err);
	if (status != ATTN_OK)
		return status;
	if (figure->options.format == HEATMAP_PNG) {
		status = draw_pixels(&d, &image, err);
		if (status == ATTN_OK)
			status = image_write_png(stream, &image, 96.0 * d.units, err);
		image_release(&image);
		return status;
	}
	status = draw_vector(&d, &out, err);
	if (status == ATTN_OK)
		fwrite(out.data, 1, out.length, stream);
	buffer_release(&out);
	return status;
}
