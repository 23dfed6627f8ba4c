#include "cmd/head_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/progress.h"
#include "util/memory.h"

enum attn_status head_picture_check(const struct figure_options *figure, const struct view_request *view,
				    bool scores, bool image, struct attn_error *err)
{
	const char *option = scores                                        ? "scores"
			     : image                                       ? "image"
			     : figure->ordered                             ? "order"
			     : figure->sentences                           ? "sentences"
			     : figure->keep_markers                        ? "markers"
			     : figure->heatmap.range == HEATMAP_RANGE_HEAD ? "range head"
			     : view->top_keys > 0                          ? "top-keys"
									   : NULL;
	if (option)
		return attn_fail(err, ATTN_USAGE,
				 "'--%s' and '--statistic' cannot be combined: it is for pictures of "
				 "queries and keys, and this one has layers and heads",
				 option);
	return view_check_numbers(view, "a statistic", err);
}

/* The figures of the heads as if they were rows of weights: queries are layers, keys are heads. */
struct picture {
	struct inputs in; /* only what pictures ask for, and nothing of it owned but labels */
	struct rows_info info;
	float *values;        /* (layers, heads) */
	unsigned char *cells; /* (layers, heads): CELL_MASKED where there is no figure */
	struct grid_consumer grids;
	struct figures figures;
};

static bool add_number(struct string_list *list, size_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%zu", number);
	return string_list_add(list, text);
}

/* Labels are numbers, or "mean" where heads or layers are joined. */
static bool label(struct picture *p, const struct rows_info *info, const struct selection *selection)
{
	bool ok = true;
	for (size_t i = 0; i < info->shape.layers && ok; i++)
		if (rows_chosen(selection->layers, i))
			ok = info->joined_layers ? string_list_add(&p->in.shown_queries, info->joined_layers)
						 : add_number(&p->in.shown_queries, layer_number(info, i));
	for (size_t i = 0; i < info->shape.heads && ok; i++)
		if (rows_chosen(selection->heads, i))
			ok = info->joined_heads ? string_list_add(&p->in.shown_keys, info->joined_heads)
						: add_number(&p->in.shown_keys, head_number(info, i));
	p->info.shape = (struct rows_shape){.batch = 1,
					    .layers = 1,
					    .heads = 1,
					    .queries = p->in.shown_queries.count,
					    .keys = p->in.shown_keys.count};
	p->in.info = &p->info;
	return ok;
}

/* The cells, from the statistics of the selected batch item's heads. */
static bool fill(struct picture *p, const struct head_figure *statistic, const struct rows_shape *shape,
		 const struct selection *selection, const struct head_consumer *heads)
{
	size_t batch = 0, at = 0, count = p->info.shape.queries * p->info.shape.keys;
	p->values = array_alloc(count, sizeof *p->values);
	p->cells = array_alloc(count, sizeof *p->cells);
	if (!p->values || !p->cells)
		return false;
	while (!rows_chosen(selection->batch, batch))
		batch++;
	for (size_t layer = 0; layer < shape->layers; layer++) {
		for (size_t head = 0; head < shape->heads; head++) {
			if (!rows_chosen(selection->layers, layer) || !rows_chosen(selection->heads, head))
				continue;
			struct head_statistics s = head_statistics_of(heads, batch, layer, head);
			double value = head_figure_value(statistic, &s);
			p->cells[at] = isnan(value) ? CELL_MASKED : CELL_ATTENDED;
			p->values[at] = isnan(value) ? 0 : (float)value;
			p->info.shape.signed_weights |= value < 0;
			at++;
		}
	}
	return true;
}

/* Blocks of rows to the grid, as a source would give them. */
static enum attn_status feed(struct picture *p, struct attn_error *err)
{
	const struct rows_shape *shape = &p->info.shape;
	for (size_t first = 0; first < shape->queries; first += ROWS_BLOCK) {
		size_t left = shape->queries - first;
		struct row_block block = {.query = first,
					  .count = left < ROWS_BLOCK ? left : ROWS_BLOCK,
					  .keys = shape->keys,
					  .weights = p->values + first * shape->keys,
					  .cells = p->cells + first * shape->keys};
		TRY(p->grids.consumer.consume(&p->grids.consumer, &block, err));
	}
	return ATTN_OK;
}

static enum attn_status draw(struct picture *p, const struct figure_options *options, const char *path,
			     const struct command *self, struct attn_error *err)
{
	static const struct selection all = {0};
	TRY(figure_grids(&p->grids, options, &p->info, &all, 1, err));
	TRY(figures_init(&p->figures, self, &p->in, options, err));
	TRY(feed(p, err));
	TRY(figures_draw(&p->figures, p->grids.grids, 1, path, err));
	return figures_commit(&p->figures, err);
}

/* "Batch 1: entropy in bits, 144 heads" */
static void add_title(struct buffer *title, const struct head_figure *statistic, const struct picture *p,
		      const struct rows_info *info, const struct selection *selection)
{
	size_t batch = 0, heads = p->info.shape.queries * p->info.shape.keys;
	while (!rows_chosen(selection->batch, batch))
		batch++;
	if (info->has_batch)
		buffer_printf(title, "batch %zu: ", batch);
	buffer_printf(title, "%s of %zu head%s", statistic->title, heads, heads == 1 ? "" : "s");
}

/* The statistics of the selected heads, after streaming. */
static enum attn_status look(struct head_consumer *heads, struct head_places *places, const struct inputs *in,
			     const struct selection *selection, const struct command *self,
			     struct attn_error *err)
{
	struct rows_selection rows = selection_rows(selection);
	struct row_consumer *consumers[] = {&heads->consumer};
	TRY(head_places_init(places, in->info, &in->shown_keys, err));
	TRY(head_consumer_init(heads, &in->info->shape, places, err));
	return progress_stream(self, in->rows.source, &rows, consumers, 1, err);
}

enum attn_status head_picture_write(const struct head_figure *statistic, const struct figure_options *figure,
				    const struct inputs *in, const struct selection *selection,
				    const char *path, const struct command *self, struct attn_error *err)
{
	struct picture p = {.in = {.note = in->note}};
	struct head_places places = {0};
	struct head_consumer heads = {0};
	struct figure_options options = *figure;
	struct buffer title = BUFFER_INIT;
	enum attn_status status = label(&p, in->info, selection) ? ATTN_OK : attn_fail_memory(err);
	if (status == ATTN_OK)
		status = look(&heads, &places, in, selection, self, err);
	if (status == ATTN_OK && !fill(&p, statistic, &in->info->shape, selection, &heads))
		status = attn_fail_memory(err);
	add_title(&title, statistic, &p, in->info, selection);
	options.statistic = statistic->title;
	options.title = figure->title ? figure->title : title.data;
	options.xlabel = figure->xlabel ? figure->xlabel : figure->heatmap.transpose ? "layer" : "head";
	options.ylabel = figure->ylabel ? figure->ylabel : figure->heatmap.transpose ? "head" : "layer";
	if (status == ATTN_OK)
		status = title.failed ? attn_fail_memory(err) : draw(&p, &options, path, self, err);
	figures_release(&p.figures);
	grid_consumer_release(&p.grids);
	head_consumer_release(&heads);
	head_places_release(&places);
	string_list_release(&p.in.shown_queries);
	string_list_release(&p.in.shown_keys);
	free(p.values);
	free(p.cells);
	buffer_release(&title);
	return status;
}
