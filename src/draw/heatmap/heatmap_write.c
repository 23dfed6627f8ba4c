/* Painters, and heatmaps as files: from a figure to the bytes of its format. */
#include "draw/heatmap/heatmap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap/heatmap_internal.h"
#include "draw/text/fonts.h"
#include "util/minmax.h"

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

static bool all_numbers(const struct string_list *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		size_t length = strlen(list->items[i]);
		if (length == 0 || length > 9 || strspn(list->items[i], "0123456789") != length)
			return false;
	}
	return true;
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
	    .units = heatmap_units(&figure->options),
	    .text_scale = heatmap_units(&figure->options) * heatmap_font_factor(&figure->options),
	};
	drawing_set_cells(d, g->row_factor, g->col_factor);
	d->row_labels = transpose ? figure->key_labels : figure->query_labels;
	d->col_labels = transpose ? figure->query_labels : figure->key_labels;
	d->row_numbers = all_numbers(d->row_labels);
	d->col_numbers = all_numbers(d->col_labels);
}

/* Take the figure's font, and note where there is none of that name. */
static enum attn_status choose_font(struct heatmap_painter *painter, const struct heatmap_options *options,
				    struct attn_error *err)
{
	text_engine_trim(painter->text);
	enum attn_status status = text_engine_set(
	    painter->text, options->font, options->format == CANVAS_PNG ? TEXT_PIXELS : TEXT_VECTOR, err);
	if (status != ATTN_OK || !options->font || painter->other_font)
		return status;
	const char *used = text_used_family(painter->text);
	if (!used || font_is_asked(options->font, used))
		return ATTN_OK;
	painter->other_font = strdup(used);
	return painter->other_font ? ATTN_OK : attn_fail_memory(err);
}

/* Everything before the first stroke. */
static enum attn_status prepare(struct drawing *d, struct heatmap_painter *painter,
				const struct heatmap_figure *figure, struct attn_error *err)
{
	TRY(heatmap_check(&figure->options, err));
	TRY(choose_font(painter, &figure->options, err));
	drawing_init(d, painter, figure);
	/* Before the layout, whose lengths are ints: no side beyond what a picture has. */
	double across = figure->options.panel_columns ? (double)figure->options.panel_columns : 1.0;
	double cell = figure->options.cell ? (double)figure->options.cell : 1.0;
	if (figure->options.format != CANVAS_PNG)
		cell *= CANVAS_UNITS;
	if (figure->options.width.value > 0 || figure->options.size)
		cell = 1.0;
	TRY(drawing_check_extent(d, (double)d->cols * cell * across, (double)d->rows * cell, err));
	TRY(heatmap_scale_init(&d->scale, d->figure, err));
	TRY(drawing_lay_out(d, err));
	TRY(drawing_check_extent(d, (double)d->layout.width, (double)d->layout.height, err));
	return text_engine_status(painter->text, err);
}

static void paint(void *context, struct canvas *canvas)
{
	paint_figure(context, canvas);
}

enum attn_status heatmap_write(struct heatmap_painter *painter, const struct heatmap_figure *figure,
			       FILE *stream, struct attn_error *err)
{
	const struct heatmap_options *options = &figure->options;
	struct drawing d = {0};
	enum attn_status status = prepare(&d, painter, figure, err);
	const struct canvas_page page = {
	    .format = options->format,
	    .dpi = options->dpi,
	    .sheet = {.width = d.layout.width,
		      .height = d.layout.height,
		      .title = figure->title,
		      .background = options->transparent ? NULL : &d.theme->background,
		      .asked = options->width},
	    .text = painter->text,
	    .paint = paint,
	    .context = &d,
	};
	if (status == ATTN_OK)
		status = canvas_write(&page, stream, err);
	heatmap_scale_release(&d.scale);
	return status;
}
