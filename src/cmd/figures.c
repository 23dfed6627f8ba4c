#include "cmd/figures.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "util/buffer.h"

enum attn_status figure_option(struct figure_options *f, int id, const struct options *o,
			       struct attn_error *err)
{
	char expected[300];
	switch (id) {
	case OPTION_COLORMAP:
		f->heatmap.colormap = colormap_find(o->value);
		if (f->heatmap.colormap)
			return ATTN_OK;
		snprintf(expected, sizeof expected, "one of %s", colormap_names());
		return option_fail(o, expected, err);
	case OPTION_CELL:
		return option_count(o, 1, 1000, &f->heatmap.cell, err);
	case OPTION_SIZE:
		return option_count(o, 32, IMAGE_MAX_SIDE, &f->heatmap.size, err);
	case OPTION_DPI:
		return option_number(o, 24, 1200, &f->heatmap.dpi, err);
	case OPTION_MAX:
		if (option_number(o, 1e-30, 1e30, &f->heatmap.scale_max, NULL) == ATTN_OK)
			return ATTN_OK;
		return option_fail(o, "a number above 0", err);
	case OPTION_TITLE:
		f->title = o->value;
		return ATTN_OK;
	case OPTION_TRANSPOSE:
		f->heatmap.transpose = true;
		return ATTN_OK;
	case OPTION_REDUCE:
		if (strcmp(o->value, "max") != 0 && strcmp(o->value, "mean") != 0)
			return option_fail(o, "'max' or 'mean'", err);
		f->reduction = strcmp(o->value, "max") == 0 ? GRID_MAXIMUM : GRID_MEAN;
		return ATTN_OK;
	default: /* OPTION_NUMBERS */
		if (strcmp(o->value, "auto") == 0)
			f->heatmap.numbers = HEATMAP_NUMBERS_AUTO;
		else if (strcmp(o->value, "on") == 0)
			f->heatmap.numbers = HEATMAP_NUMBERS_ON;
		else if (strcmp(o->value, "off") == 0)
			f->heatmap.numbers = HEATMAP_NUMBERS_OFF;
		else
			return option_fail(o, "'auto', 'on' or 'off'", err);
		return ATTN_OK;
	}
}

enum attn_status figure_sink(struct grid_sink *sink, const struct figure_options *f,
			     const struct rows_info *info, const struct selection *selection, size_t panels,
			     struct attn_error *err)
{
	struct grid_options grid = {.reduction = f->reduction};
	struct rows_selection rows = selection_rows(selection);
	enum attn_status status = heatmap_limits(info->queries, info->keys, panels, &f->heatmap,
						 &grid.max_rows, &grid.max_cols, err);
	return status == ATTN_OK ? grid_sink_init(sink, info, &rows, &grid, err) : status;
}

enum attn_status figures_init(struct figures *f, const struct command *self, const struct inputs *in,
			      const struct figure_options *options, struct attn_error *err)
{
	*f = (struct figures){.self = self, .in = in, .options = options};
	return heatmap_painter_new(&f->painter, err);
}

void figures_release(struct figures *f)
{
	const char *missing = f->painter ? heatmap_missing_glyphs(f->painter) : NULL;
	if (missing)
		report_note(f->self,
			    "no installed font has all characters of '%s': install one that does (Debian: "
			    "fonts-noto-core, fonts-noto-cjk, fonts-noto-color-emoji)",
			    missing);
	heatmap_painter_free(f->painter);
	*f = (struct figures){0};
}

/* "batch 0, layer 1" as far as there are several or they are known, and a head. */
static void add_place(struct buffer *text, const struct rows_info *info, const struct grid *grid,
		      bool with_head)
{
	char name[200];
	if (info->has_batch)
		buffer_printf(text, "batch %zu, ", grid->batch);
	if (info->layer_known)
		buffer_printf(text, "layer %zu, ", info->first_layer + grid->layer);
	if (with_head)
		buffer_printf(text, "head %s", head_text(info, grid->head, name, sizeof name));
	else
		buffer_printf(text, "%zu heads", info->heads);
}

static enum attn_status write_image(const struct figures *f, const struct image *image, const char *path,
				    struct attn_error *err)
{
	struct output out = {0};
	double dpi = f->options->heatmap.dpi > 0 ? f->options->heatmap.dpi : 96;
	enum attn_status status = output_open(&out, path, true, err);
	if (status == ATTN_OK)
		status = image_write_png(out.stream, image, dpi, err);
	if (status == ATTN_OK)
		status = output_commit(&out, err);
	else
		output_abort(&out);
	if (status == ATTN_OK)
		report_written(f->self, path);
	return status;
}

static enum attn_status draw_panels(struct figures *f, const struct heatmap_panel *panels, size_t count,
				    const char *title, const char *path, struct attn_error *err)
{
	const struct inputs *in = f->in;
	struct heatmap_figure figure = {
	    .panels = panels,
	    .panel_count = count,
	    .query_labels = &in->shown_queries,
	    .key_labels = &in->shown_keys,
	    .title = title,
	    .key_title = in->info->cross ? "key (source)" : "key",
	    .query_title = "query",
	    .options = f->options->heatmap,
	};
	struct image image = {0};
	enum attn_status status = heatmap_draw(f->painter, &figure, &image, err);
	if (status == ATTN_OK)
		status = write_image(f, &image, path, err);
	image_release(&image);
	return status;
}

enum attn_status figures_draw(struct figures *f, const struct grid *grids, size_t count, const char *path,
			      struct attn_error *err)
{
	const struct rows_info *info = f->in->info;
	struct heatmap_panel *panels = calloc(count, sizeof *panels);
	struct string_list titles = {0};
	struct buffer text = BUFFER_INIT;
	char name[200];
	bool ok = panels != NULL;
	for (size_t i = 0; i < count && ok; i++) {
		snprintf(name, sizeof name, "head ");
		head_text(info, grids[i].head, name + 5, sizeof name - 5);
		ok = string_list_add(&titles, name);
	}
	add_place(&text, info, &grids[0], count == 1);
	enum attn_status status = ok && !text.failed ? ATTN_OK : attn_fail_memory(err);
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		panels[i] = (struct heatmap_panel){&grids[i], titles.items[i]};
	if (status == ATTN_OK)
		status = draw_panels(f, panels, count, f->options->title ? f->options->title : text.data,
				     path, err);
	free(panels);
	string_list_release(&titles);
	buffer_release(&text);
	return status;
}

/* "DIR/batch0-layer1-heads.png" of grids that share a batch item and a layer. */
static enum attn_status draw_into(struct figures *f, const struct grid *grids, size_t count,
				  const char *directory, struct attn_error *err)
{
	const struct rows_info *info = f->in->info;
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/", directory);
	if (info->has_batch)
		buffer_printf(&path, "batch%zu-", grids[0].batch);
	if (info->layer_known)
		buffer_printf(&path, "layer%zu-", info->first_layer + grids[0].layer);
	if (count == 1)
		buffer_printf(&path, "head%zu.png", grids[0].head);
	else
		buffer_add_string(&path, "heads.png");
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : figures_draw(f, grids, count, path.data, err);
	buffer_release(&path);
	return status;
}

enum attn_status figures_draw_all(struct figures *f, const struct grid_sink *single,
				  const struct grid_sink *overview, const char *directory,
				  struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	size_t heads = f->in->info->heads;
	for (size_t i = 0; i < single->grid_count && status == ATTN_OK; i++)
		status = draw_into(f, &single->grids[i], 1, directory, err);
	for (size_t i = 0; i < overview->grid_count && status == ATTN_OK; i += heads)
		status = draw_into(f, &overview->grids[i], heads, directory, err);
	return status;
}
