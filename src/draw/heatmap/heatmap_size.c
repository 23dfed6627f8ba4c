/* The size of a figure: what the options ask for, how many cells fit, and what to say when
 * it does not fit. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "draw/heatmap/heatmap_internal.h"
#include "util/minmax.h"

enum {
	SINGLE_CELLS = 2048,   /* a side of one heatmap, where no size is given */
	GRID_PIXELS = 1800,    /* a side of a grid of panels, at 96 dpi */
	LEAST_PANEL = 16,      /* cells a side that a small panel still has */
	RESERVED = 260,        /* pixels for labels, bar and margins, at 96 dpi */
	PANEL_GAP = 20,        /* pixels between panels, at 96 dpi */
	NUMBERS_CELL = 26,     /* pixels a cell from which numbers are drawn automatically, at 96 dpi */
	NUMBERS_CELLS = 1000,  /* and at most so many in a figure */
	MOST_NUMBERS = 250000, /* with --numbers on: what a picture can hold */
	DEFAULT_POINTS = 9,    /* of labels: 12 pixels */
	VECTOR_DETAIL = 3      /* cells a pixel at 96 dpi, where the size is given: about 300 an inch */
};

/* Lengths of the layout a pixel at 96 dpi. */
double heatmap_units(const struct heatmap_options *options)
{
	return canvas_units(options->format, options->dpi);
}

/* How much larger text is than it would be. */
double heatmap_font_factor(const struct heatmap_options *options)
{
	return options->font_size > 0 ? options->font_size / DEFAULT_POINTS : 1.0;
}

/* The longest side of a picture, in the layout's lengths. */
static double most_side(const struct heatmap_options *options)
{
	return options->format == CANVAS_PNG ? IMAGE_MAX_SIDE : (double)IMAGE_MAX_SIDE * CANVAS_UNITS;
}

enum attn_status heatmap_check(const struct heatmap_options *options, struct attn_error *err)
{
	if (options->dpi != 0 && !(options->dpi >= 24.0 && options->dpi <= 2400.0))
		return attn_fail(err, ATTN_USAGE, "--dpi %g is out of range, expected 24 to 2400",
				 options->dpi);
	if (options->cell > IMAGE_MAX_SIDE)
		return attn_fail(err, ATTN_USAGE, "--cell %zu is too large, expected at most %d pixels",
				 options->cell, IMAGE_MAX_SIDE);
	double most = most_side(options) / heatmap_units(options);
	if ((double)options->size > most)
		return attn_fail(err, ATTN_USAGE,
				 "--size %zu at %g dpi is too large, expected at most %d pixels",
				 options->size, options->dpi > 0 ? options->dpi : 96.0, (int)most);
	if (options->width.value > 0 && (options->size || options->cell))
		return attn_fail(err, ATTN_USAGE, "--width and --%s cannot be combined",
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

enum side {
	WIDTH,
	HEIGHT
};

/* Cells that one side of a panel may have, where `across` panels stand side by
 * side: of the picture's width, or of its height. */
static size_t side_limit(const struct heatmap_options *options, size_t panels, size_t across, enum side side)
{
	bool vector = options->format != CANVAS_PNG;
	double scale = vector ? 1.0 : heatmap_units(options);
	double cell = options->cell ? (double)options->cell : 1.0;
	double size = (double)options->size * scale;
	if (options->width.value > 0) /* a page is half as high again as it is wide */
		size = length_pixels(options->width) * scale * (side == HEIGHT ? 1.5 : 1.0);
	if (size > 0) {
		double pixels = size - RESERVED * scale * heatmap_font_factor(options);
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
	TRY(heatmap_check(options, err));
	/* Panels as they will be: no longer than a side of the whole figure. */
	double side = (double)size_min(size_max(rows, cols), panels == 1 ? SINGLE_CELLS : GRID_PIXELS);
	size_t across = options->panel_columns
			    ? size_min(options->panel_columns, panels)
			    : layout_columns(panels, (double)size_min(cols, (size_t)side) + 0.1 * side,
					     (double)size_min(rows, (size_t)side) + 0.2 * side);
	size_t down = (panels + across - 1) / across;
	TRY(check_cell(rows, cols, down, across, options, err));
	size_t limit_rows = side_limit(options, panels, down, HEIGHT);
	size_t limit_cols = side_limit(options, panels, across, WIDTH);
	if (rows == cols) /* keep what is square so */
		limit_rows = limit_cols = size_min(limit_rows, limit_cols);
	*max_rows = options->transpose ? limit_cols : limit_rows;
	*max_cols = options->transpose ? limit_rows : limit_cols;
	return ATTN_OK;
}

void drawing_set_cells(struct drawing *d, size_t query_factor, size_t key_factor)
{
	const struct grid *g = d->figure->panels[0].grid;
	size_t queries = grid_factor(g->queries, query_factor), keys = grid_factor(g->keys, key_factor);
	bool transpose = d->figure->options.transpose;
	d->rows = transpose ? keys : queries;
	d->cols = transpose ? queries : keys;
	d->row_factor = transpose ? key_factor : query_factor;
	d->col_factor = transpose ? query_factor : key_factor;
}

/* Lay out as `options` say, which may differ from the figure's in the size. */
static bool try_layout(struct drawing *d, const struct heatmap_options *options, int least_cell)
{
	const struct layout_measure measure = {d, measure_label, measure_text};
	bool vector = options->format != CANVAS_PNG;
	struct layout_request request = {
	    .rows = d->rows,
	    .cols = d->cols,
	    .panels = d->figure->panel_count,
	    .panel_columns = options->panel_columns,
	    .scale = d->text_scale,
	    .cell_scale = d->units,
	    .cell = options->cell * (vector ? CANVAS_UNITS : 1),
	    .size = (size_t)((double)options->size * d->units + 0.5),
	    .width = (size_t)(length_pixels(options->width) * d->units + 0.5),
	    .largest = vector ? (size_t)IMAGE_MAX_SIDE * 9 / 10 * CANVAS_UNITS : 0,
	    .keep_text = options->font_size > 0 || options->width.value > 0,
	    .least_cell = least_cell,
	    .row_numbers = d->row_numbers,
	    .col_numbers = d->col_numbers,
	    .no_bar = options->no_bar,
	    .masked = d->scale.any_masked,
	    .outer_titles = d->figure->row_titles != NULL,
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
	drawing_set_cells(&trial, grid_factor(g->queries, max_rows), grid_factor(g->keys, max_cols));
	return try_layout(&trial, &options, 0);
}

/* The smallest size that is large enough, in pixels at 96 dpi, or 0. */
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

/* Say which size is large enough. */
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

enum attn_status drawing_lay_out(struct drawing *d, struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	double unit = options->format == CANVAS_PNG ? 1 : CANVAS_UNITS;
	size_t cells = d->rows * d->cols * d->figure->panel_count;
	int least_cell = 0;
	if (options->numbers == HEATMAP_NUMBERS_ON) {
		if (cells > MOST_NUMBERS)
			return attn_fail(err, ATTN_USAGE, "numbers in %zu cells do not fit into a picture",
					 cells);
		number_font(d, 0, &least_cell);
	}
	if (!try_layout(d, options, least_cell))
		return fail_size(d, err);
	if (options->numbers == HEATMAP_NUMBERS_OFF)
		return ATTN_OK;
	if (options->numbers == HEATMAP_NUMBERS_ON ||
	    (cells <= NUMBERS_CELLS && d->layout.cell >= (int)(NUMBERS_CELL * d->text_scale)))
		d->number_size = number_font(d, d->layout.cell, NULL);
	if (options->numbers == HEATMAP_NUMBERS_ON && d->number_size == 0)
		return attn_fail(
		    err, ATTN_USAGE,
		    "numbers do not fit into cells of %.4g pixels: give %s%.0f or more, or a larger --%s",
		    d->layout.cell / unit, options->width.value > 0 ? "cells of " : "--cell ",
		    ceil(least_cell / unit), options->width.value > 0 ? "width" : "size");
	return ATTN_OK;
}

enum attn_status drawing_check_extent(const struct drawing *d, double width, double height,
				      struct attn_error *err)
{
	const struct heatmap_options *options = &d->figure->options;
	bool vector = options->format != CANVAS_PNG;
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
