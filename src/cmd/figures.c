/* Options of pictures, and drawing grids into files that appear together. */
#include "cmd/figures.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/terminal.h"
#include "draw/heatmap/wording.h"
#include "draw/image/image.h"
#include "tokens/sentence.h"
#include "util/buffer.h"
#include "util/memory.h"
#include "util/utf8.h"

/* The options whose values are a few words. */
static const struct choice {
	int id;
	const char *words[3]; /* in the order of the enum; NULL: no more */
	const char *expected;
} choices[] = {
    {OPTION_RANGE, {"shared", "fixed", "head"}, "'shared', 'fixed' or 'head'"},
    {OPTION_TRANSFORM, {"linear", "sqrt", "log"}, "'linear', 'sqrt' or 'log'"},
    {OPTION_NUMBERS, {"auto", "on", "off"}, "'auto', 'on' or 'off'"},
    {OPTION_REDUCE, {"max", "mean", NULL}, "'max' or 'mean'"},
};

static enum attn_status choice_option(struct figure_options *f, int id, const struct options *o,
				      struct attn_error *err)
{
	const struct choice *choice = choices;
	size_t chosen = 0;
	while (choice->id != id)
		choice++;
	while (chosen < 3 && choice->words[chosen] && strcmp(choice->words[chosen], o->value) != 0)
		chosen++;
	if (chosen == 3 || !choice->words[chosen])
		return option_fail(o, choice->expected, err);
	if (id == OPTION_RANGE)
		f->heatmap.range = (enum heatmap_range)chosen;
	else if (id == OPTION_TRANSFORM)
		f->heatmap.transform = (enum scale_transform)chosen;
	else if (id == OPTION_NUMBERS)
		f->heatmap.numbers = (enum heatmap_numbers)chosen;
	else
		f->reduction = (enum grid_reduction)chosen;
	return ATTN_OK;
}

static enum attn_status colormap_option(struct figure_options *f, const struct options *o,
					struct attn_error *err)
{
	char expected[300];
	f->list = f->may_list && strcmp(o->value, "list") == 0;
	if (f->list)
		return ATTN_OK;
	f->heatmap.colormap = colormap_find(o->value);
	if (f->heatmap.colormap)
		return ATTN_OK;
	snprintf(expected, sizeof expected, "one of %s", colormap_names());
	return option_fail(o, expected, err);
}

/* Options that say two things of one scale, or nothing about these values. */
static enum attn_status check_scale(const struct figure_options *f, const struct rows_info *info,
				    struct attn_error *err)
{
	const struct heatmap_options *h = &f->heatmap;
	const char *range = h->range == HEATMAP_RANGE_FIXED ? "fixed" : "head";
	if (h->scale_max > 0 && h->range != HEATMAP_RANGE_SHARED)
		return attn_fail(err, ATTN_USAGE,
				 "'--max' and '--range %s' cannot be combined: both say where the scale ends",
				 range);
	if (h->clip > 0 && h->range == HEATMAP_RANGE_FIXED)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--clip' and '--range fixed' cannot be combined: both say where the scale ends");
	if (h->clip > 0 && h->scale_max > 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--clip' and '--max' cannot be combined: both say where the scale ends");
	if (info->shape.signed_weights && h->colormap && !colormap_diverging(h->colormap))
		return attn_fail(err, ATTN_USAGE,
				 "these are %s, and '--colormap %s' does not show signs: give one of %s",
				 f->difference ? "differences"
				 : f->scores   ? "scores"
					       : "signed weights",
				 colormap_name_of(h->colormap), colormap_diverging_names());
	return ATTN_OK;
}

enum attn_status figure_option(struct figure_options *f, int id, const struct options *o,
			       struct attn_error *err)
{
	switch (id) {
	case OPTION_RANGE:
	case OPTION_TRANSFORM:
	case OPTION_NUMBERS:
	case OPTION_REDUCE:
		f->reduce_given = true;
		return choice_option(f, id, o, err);
	case OPTION_CLIP:
		return option_number(o, 50, 100, &f->heatmap.clip, err);
	case OPTION_SENTENCES:
		f->sentences = true;
		return ATTN_OK;
	case OPTION_COLORMAP:
		return colormap_option(f, o, err);
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
	case OPTION_XLABEL:
		return option_once(o, &f->xlabel, err);
	case OPTION_YLABEL:
		return option_once(o, &f->ylabel, err);
	case OPTION_NO_COLORBAR:
		f->heatmap.no_bar = true;
		return ATTN_OK;
	case OPTION_NO_CAPTION:
		f->heatmap.no_notes = true;
		return ATTN_OK;
	case OPTION_MARKERS:
		return option_markers(o, &f->keep_markers, err);
	case OPTION_TRANSPOSE:
		f->heatmap.transpose = true;
		return ATTN_OK;
	case OPTION_THEME:
		f->heatmap.theme = theme_find(o->value);
		return f->heatmap.theme ? ATTN_OK : option_fail(o, "'light' or 'dark'", err);
	case OPTION_TRANSPARENT:
		f->heatmap.transparent = true;
		return ATTN_OK;
	case OPTION_FONT:
		f->heatmap.font = o->value;
		if (*o->value && utf8_valid(o->value, strlen(o->value)))
			return ATTN_OK;
		return option_fail(o, "the name of a font family", err);
	case OPTION_FONT_SIZE:
		return option_number(o, 4, 100, &f->heatmap.font_size, err);
	default: /* OPTION_WIDTH */
		if (length_parse(o->value, &f->heatmap.width) && length_pixels(f->heatmap.width) >= 32)
			return ATTN_OK;
		return option_fail(
		    o, "a length from a third of an inch up, such as 3.3in, 84mm, 240pt or 320px", err);
	}
}

/* What a grid may hold where `panels` of them share a picture. */
static enum attn_status grid_limits(struct grid_options *grid, const struct figure_options *f,
				    const struct rows_info *info, size_t panels, struct attn_error *err)
{
	*grid = (struct grid_options){.reduction = f->reduction};
	if (check_scale(f, info, err) != ATTN_OK)
		return ATTN_USAGE;
	if (f->terminal) {
		terminal_limits(f->terminal, info, panels, &f->heatmap, &grid->max_rows, &grid->max_cols);
		return ATTN_OK;
	}
	return heatmap_limits(info->shape.queries, info->shape.keys, panels, &f->heatmap, &grid->max_rows,
			      &grid->max_cols, err);
}

enum attn_status figure_grids(struct grid_consumer *grids, const struct figure_options *f,
			      const struct rows_info *info, const struct selection *selection, size_t panels,
			      struct attn_error *err)
{
	struct grid_options grid;
	struct rows_selection rows = selection_rows(selection);
	TRY(grid_limits(&grid, f, info, panels, err));
	return grid_consumer_init(grids, &info->shape, &rows, &grid, err);
}

enum attn_status figures_init(struct figures *f, const struct command *self, const struct inputs *in,
			      const struct figure_options *options, struct attn_error *err)
{
	*f = (struct figures){.self = self, .in = in, .options = options};
	if (options->sentences) {
		f->query_ends = sentence_ends(&in->shown_queries);
		f->key_ends = sentence_ends(&in->shown_keys);
		if (!f->query_ends || !f->key_ends)
			return attn_fail_memory(err);
	}
	return options->terminal ? ATTN_OK : heatmap_painter_new(&f->painter, err);
}

void figures_release(struct figures *f)
{
	const char *package = NULL, *missing = NULL, *other = NULL;
	if (f->painter) {
		missing = heatmap_missing_glyphs(f->painter, &package);
		other = heatmap_other_font(f->painter);
	}
	if (missing)
		report_missing_glyphs(f->self, missing, package);
	if (other)
		report_other_font(f->self, f->options->heatmap.font, other);
	heatmap_painter_free(f->painter);
	free(f->query_ends);
	free(f->key_ends);
	for (size_t i = 0; i < f->waiting_count; i++)
		output_abort(&f->waiting[i]);
	*f = (struct figures){0};
}

enum attn_status figures_commit(struct figures *f, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < f->waiting_count; i++) {
		struct output *out = &f->waiting[i];
		char *path = status == ATTN_OK ? strdup(out->path) : NULL;
		if (status == ATTN_OK)
			status = path ? output_commit(out, err) : attn_fail_memory(err);
		if (status == ATTN_OK)
			report_written(f->self, path);
		free(path);
		output_abort(out);
	}
	f->waiting_count = 0;
	return status;
}

static enum attn_status write_figure(struct figures *f, const struct heatmap_figure *figure, const char *path,
				     struct attn_error *err)
{
	bool binary = f->options->heatmap.format != CANVAS_SVG;
	enum attn_status status = f->waiting_count == FIGURES_WAITING ? figures_commit(f, err) : ATTN_OK;
	if (status != ATTN_OK)
		return status;
	struct output *out = &f->waiting[f->waiting_count];
	status = output_open(out, path, binary, err);
	if (status == ATTN_OK)
		status = heatmap_write(f->painter, figure, out->stream, err);
	if (status == ATTN_OK)
		status = output_finish(out, err);
	if (status == ATTN_OK)
		f->waiting_count++;
	else
		output_abort(out);
	return status;
}

static enum attn_status draw_panels(struct figures *f, const struct heatmap_panel *panels, size_t count,
				    const struct string_list *rows, const char *title, const char *path,
				    struct attn_error *err)
{
	const struct inputs *in = f->in;
	struct buffer note = BUFFER_INIT;
	if (f->options->scores)
		buffer_printf(&note, "%s, before the softmax", f->options->scores);
	note_add(&note, in->note);
	if (note.failed)
		return attn_fail_memory(err);
	struct heatmap_figure figure = {
	    .panels = panels,
	    .panel_count = count,
	    .query_labels = &in->shown_queries,
	    .key_labels = &in->shown_keys,
	    .title = title,
	    .key_title = in->info->shape.cross ? "key (source)" : "key",
	    .query_title = "query",
	    .scores = f->options->scores != NULL,
	    .statistic = f->options->statistic,
	    .difference = f->options->difference,
	    .note = note.data,
	    .order = f->options->order,
	    .signed_values = in->info->shape.signed_weights,
	    .row_titles = rows->count ? rows : NULL,
	    .query_ends = f->query_ends,
	    .key_ends = f->key_ends,
	    .marks = f->options->marks,
	    .mark_count = f->options->mark_count,
	    .mark_note = f->options->mark_note,
	    .options = f->options->heatmap,
	};
	const char *columns = f->options->xlabel, *rows_title = f->options->ylabel;
	bool transpose = figure.options.transpose;
	if (columns)
		*(transpose ? &figure.query_title : &figure.key_title) = columns;
	if (rows_title)
		*(transpose ? &figure.key_title : &figure.query_title) = rows_title;
	enum attn_status status = f->options->terminal
				      ? terminal_print(f->options->terminal, &figure, f->self, err)
				      : write_figure(f, &figure, path, err);
	buffer_release(&note);
	return status;
}

enum attn_status figures_draw(struct figures *f, const struct grid *grids, size_t count, const char *path,
			      struct attn_error *err)
{
	const struct rows_info *info = f->in->info;
	struct heatmap_panel *panels = calloc(count, sizeof *panels);
	struct string_list titles = {0}, rows = {0};
	struct buffer text = BUFFER_INIT;
	bool ok =
	    panels != NULL && (f->options->ordered ? figure_panel_titles(info, grids, count, &titles)
						   : figure_layer_titles(info, grids, count, &titles, &rows));
	figure_place(&text, info, grids, count);
	if (f->options->scores)
		buffer_printf(&text, ": %s", f->options->scores);
	if (f->options->difference)
		buffer_add_string(&text, f->options->scores ? ", A \u2212 B" : ": A \u2212 B");
	enum attn_status status = ok && !text.failed ? ATTN_OK : attn_fail_memory(err);
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		panels[i] = (struct heatmap_panel){&grids[i], titles.items[i]};
	if (status == ATTN_OK)
		status = draw_panels(f, panels, count, &rows,
				     f->options->title ? f->options->title : text.data, path, err);
	free(panels);
	string_list_release(&titles);
	string_list_release(&rows);
	buffer_release(&text);
	return status;
}

/* "mean" of "mean of 12 heads". */
static const char *join_word(const char *joined)
{
	return strncmp(joined, "max", 3) == 0 ? "max" : "mean";
}

/* "DIR/batch0-layer1-heads.png" of grids that share a batch item and a layer, or of joined
 * heads "DIR/heads-mean.png". */
static enum attn_status draw_into(struct figures *f, const struct grid *grids, size_t count,
				  const char *directory, struct attn_error *err)
{
	const struct rows_info *info = f->in->info;
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/", directory);
	if (info->has_batch)
		buffer_printf(&path, "batch%zu-", grids[0].batch);
	if (info->joined_layers)
		buffer_printf(&path, "layers-%s-", join_word(info->joined_layers));
	else if (info->layer_known)
		buffer_printf(&path, "layer%zu-", layer_number(info, grids[0].layer));
	if (info->joined_heads)
		buffer_printf(&path, "heads-%s.png", join_word(info->joined_heads));
	else if (count == 1)
		buffer_printf(&path, "head%zu.png", head_number(info, grids[0].head));
	else
		buffer_add_string(&path, "heads.png");
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : figures_draw(f, grids, count, path.data, err);
	buffer_release(&path);
	return status;
}

static enum attn_status begin_grids(struct head_figures *h, struct grid_consumer *grids, const bool *heads,
				    const struct grid_options *options, struct attn_error *err)
{
	struct rows_selection rows = {.batch = h->one.batch, .layers = h->one.layers, .heads = heads};
	return grid_consumer_init(grids, &h->figures->in->info->shape, &rows, options, err);
}

/* Make the grids of a head, and of all with the first one. */
static enum attn_status begin_head(struct head_figures *h, const struct row_block *block,
				   struct attn_error *err)
{
	const struct rows_info *info = h->figures->in->info;
	h->one.batch[block->batch] = h->one.layers[block->layer] = h->one.heads[block->head] = true;
	TRY(begin_grids(h, &h->single, h->one.heads, &h->single_options, err));
	if (block->head == 0 && info->shape.heads > 1)
		TRY(begin_grids(h, &h->overview, NULL, &h->overview_options, err));
	h->one.batch[block->batch] = h->one.layers[block->layer] = h->one.heads[block->head] = false;
	return ATTN_OK;
}

/* Draw the grids of a head, and of all after the last one. */
static enum attn_status end_head(struct head_figures *h, const struct row_block *block,
				 struct attn_error *err)
{
	size_t heads = h->figures->in->info->shape.heads;
	enum attn_status status = draw_into(h->figures, h->single.grids, 1, h->directory, err);
	grid_consumer_release(&h->single);
	if (heads == 1 || block->head < heads - 1)
		return status;
	if (status == ATTN_OK)
		status = draw_into(h->figures, h->overview.grids, heads, h->directory, err);
	grid_consumer_release(&h->overview);
	return status;
}

static enum attn_status draw_head(struct row_consumer *consumer, const struct row_block *block,
				  struct attn_error *err)
{
	struct head_figures *h = (struct head_figures *)consumer;
	const struct rows_info *info = h->figures->in->info;
	TRY(block->query == 0 ? begin_head(h, block, err) : ATTN_OK);
	TRY(h->single.consumer.consume(&h->single.consumer, block, err));
	if (info->shape.heads > 1)
		TRY(h->overview.consumer.consume(&h->overview.consumer, block, err));
	if (block->query + block->count == info->shape.queries)
		TRY(end_head(h, block, err));
	return ATTN_OK;
}

enum attn_status head_figures_init(struct head_figures *h, struct figures *f, const char *directory,
				   struct attn_error *err)
{
	const struct rows_info *info = f->in->info;
	*h = (struct head_figures){.consumer = {.consume = draw_head}, .figures = f, .directory = directory};
	h->one.batch = array_alloc(info->shape.batch, sizeof(bool));
	h->one.layers = array_alloc(info->shape.layers, sizeof(bool));
	h->one.heads = array_alloc(info->shape.heads, sizeof(bool));
	if (!h->one.batch || !h->one.layers || !h->one.heads)
		return attn_fail_memory(err);
	TRY(grid_limits(&h->single_options, f->options, info, 1, err));
	return grid_limits(&h->overview_options, f->options, info, info->shape.heads, err);
}

void head_figures_release(struct head_figures *h)
{
	selection_release(&h->one);
	grid_consumer_release(&h->single);
	grid_consumer_release(&h->overview);
}
