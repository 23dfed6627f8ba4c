/* A view of some heads and layers, or of their mean or maximum. */
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/threads.h"

struct heads_view {
	struct view_base base;
	size_t *heads, *layers; /* (head_count), (layer_count): which of the inner source's, owned */
	size_t head_count, layer_count;
	bool join_heads, join_layers, largest;
	double **sums; /* for each worker of a mean (ROWS_BLOCK, keys), owned; else NULL */

	/* Layers that are joined, of a source which has them ready one at a time: all rows
	 * (batch, heads, queries, keys), read when the view is started. */
	struct kept_rows {
		struct row_consumer consumer;
		struct heads_view *view;
		double *sums;         /* of a mean, owned; or */
		float *weights;       /* the largest so far, owned */
		unsigned char *cells; /* owned */
		bool ready;
	} kept;
};

static void kept_release(struct kept_rows *kept)
{
	free(kept->sums);
	free(kept->weights);
	free(kept->cells);
	*kept = (struct kept_rows){0};
}

static void heads_free(struct row_source *source)
{
	struct heads_view *v = (struct heads_view *)source;
	for (size_t i = 0; v->sums && i < threads_count(); i++)
		free(v->sums[i]);
	free(v->sums);
	kept_release(&v->kept);
	view_base_release(&v->base);
	free(v->heads);
	free(v->layers);
	free(v);
}

/* Heads that are chosen and no more: the inner block, under another number. */
static enum attn_status choose_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct heads_view *v = (struct heads_view *)source;
	size_t head = block->head, layer = block->layer;
	block->head = v->heads[head];
	block->layer = v->layers[layer];
	enum attn_status status = v->base.inner->read(v->base.inner, worker, block, err);
	block->head = head;
	block->layer = layer;
	return status;
}

static enum attn_status choose_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct heads_view *v = (struct heads_view *)source;
	return v->base.inner->begin_layer(v->base.inner, v->layers[layer], err);
}

/* Join `count` cells of one head to those of the heads before it. */
static void join_cells(unsigned char *to, const unsigned char *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cell_has_weight(from[i]) && !cell_has_weight(to[i]))
			to[i] = from[i];
}

static void add_weights(double *sums, const float *weights, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sums[i] += (double)weights[i];
}

/* The larger of two weights, where only one attends that one's: a weight below 0 is more
 * than none. */
static void raise_weights(float *to, const unsigned char *to_cells, const struct row_block *inner,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cell_has_weight(inner->cells[i]) &&
		    (!cell_has_weight(to_cells[i]) || inner->weights[i] > to[i]))
			to[i] = inner->weights[i];
}

/* One of the heads that are joined: its rows are read, and added to what there is. */
static enum attn_status join_one(struct heads_view *v, size_t worker, const struct row_block *block,
				 size_t layer, size_t head, struct attn_error *err)
{
	struct view_worker *w = &v->base.workers[worker];
	size_t count = block->count * block->keys;
	struct row_block inner = {.batch = block->batch,
				  .layer = layer,
				  .head = head,
				  .query = block->query,
				  .count = block->count,
				  .keys = block->keys};
	TRY(v->base.inner->read(v->base.inner, worker, &inner, err));
	if (v->largest)
		raise_weights(w->weights, w->cells, &inner, count);
	else
		add_weights(v->sums[worker], inner.weights, count);
	join_cells(w->cells, inner.cells, count);
	return ATTN_OK;
}

static enum attn_status join_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct heads_view *v = (struct heads_view *)source;
	struct view_worker *w = &v->base.workers[worker];
	size_t count = block->count * block->keys;
	size_t heads = v->join_heads ? v->head_count : 1, layers = v->join_layers ? v->layer_count : 1;
	const size_t *head = v->heads + (v->join_heads ? 0 : block->head);
	const size_t *layer = v->layers + (v->join_layers ? 0 : block->layer);
	memset(w->cells, CELL_MASKED, count);
	memset(w->weights, 0, count * sizeof *w->weights);
	if (v->sums)
		memset(v->sums[worker], 0, count * sizeof **v->sums);
	for (size_t l = 0; l < layers; l++)
		for (size_t h = 0; h < heads; h++)
			TRY(join_one(v, worker, block, layer[l], head[h], err));
	for (size_t i = 0; v->sums && i < count; i++)
		w->weights[i] = (float)(v->sums[worker][i] / (double)(heads * layers));
	block->weights = w->weights;
	block->cells = w->cells;
	block->masked = view_count_masked(block);
	return ATTN_OK;
}

/* --- layers that come one at a time ------------------------------------------------------- */

/* Where the rows of the view's head begin among those that are kept. */
static size_t kept_at(const struct heads_view *v, size_t batch, size_t head, size_t query)
{
	const struct rows_shape *shape = &v->base.source.shape;
	return ((batch * shape->heads + head) * shape->queries + query) * shape->keys;
}

static enum attn_status keep_block(struct row_consumer *consumer, const struct row_block *block,
				   struct attn_error *err)
{
	struct kept_rows *kept = (struct kept_rows *)consumer;
	const struct heads_view *v = kept->view;
	size_t head = 0, count = block->count * block->keys;
	(void)err;
	while (!v->join_heads && v->heads[head] != block->head)
		head++;
	size_t at = kept_at(v, block->batch, head, block->query);
	if (v->largest)
		raise_weights(kept->weights + at, kept->cells + at, block, count);
	else
		add_weights(kept->sums + at, block->weights, count);
	join_cells(kept->cells + at, block->cells, count);
	return ATTN_OK;
}

static bool kept_allocate(struct heads_view *v)
{
	const struct rows_shape *shape = &v->base.source.shape;
	size_t count;
	if (!size_mul(shape->batch, shape->heads, &count) || !size_mul(count, shape->queries, &count) ||
	    !size_mul(count, shape->keys, &count))
		return false;
	v->kept.cells = calloc(count, 1);
	if (v->largest)
		v->kept.weights = calloc(count, sizeof *v->kept.weights);
	else
		v->kept.sums = calloc(count, sizeof *v->kept.sums);
	return v->kept.cells && (v->kept.weights || v->kept.sums);
}

/* Add them up in the order of the rows, as join_read does. */
static enum attn_status kept_start(struct row_source *source, struct attn_error *err)
{
	struct heads_view *v = (struct heads_view *)source;
	const struct rows_shape *inner = &v->base.inner->shape;
	struct row_consumer *consumers[] = {&v->kept.consumer};
	if (v->kept.ready)
		return ATTN_OK;
	v->kept.consumer = (struct row_consumer){.consume = keep_block, .no_context = true};
	v->kept.view = v;
	bool *heads = calloc(inner->heads, sizeof *heads), *layers = calloc(inner->layers, sizeof *layers);
	bool ok = heads && layers && kept_allocate(v);
	for (size_t i = 0; i < v->head_count && ok; i++)
		heads[v->heads[i]] = true;
	for (size_t i = 0; i < v->layer_count && ok; i++)
		layers[v->layers[i]] = true;
	const struct rows_selection chosen = {.heads = heads, .layers = layers};
	enum attn_status status =
	    ok ? rows_stream(v->base.inner, &chosen, consumers, 1, err) : attn_fail_memory(err);
	free(heads);
	free(layers);
	v->kept.ready = status == ATTN_OK;
	if (!v->kept.ready)
		kept_release(&v->kept);
	return status;
}

static enum attn_status kept_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct heads_view *v = (struct heads_view *)source;
	size_t at = kept_at(v, block->batch, block->head, block->query);
	double joined = (double)((v->join_heads ? v->head_count : 1) * v->layer_count);
	float *weights = v->base.workers[worker].weights;
	(void)err;
	for (size_t i = 0; !v->largest && i < block->count * block->keys; i++)
		weights[i] = (float)(v->kept.sums[at + i] / joined);
	block->weights = v->largest ? v->kept.weights + at : weights;
	block->cells = v->kept.cells + at;
	block->masked = view_count_masked(block);
	return ATTN_OK;
}

/* --- what they are ------------------------------------------------------------------------ */

/* The chosen of `count`: their indices, and how many. */
static bool find_chosen(const bool *chosen, size_t count, size_t **indices, size_t *found)
{
	*indices = array_alloc(count, sizeof **indices);
	*found = 0;
	for (size_t i = 0; i < count && *indices; i++)
		if (rows_chosen(chosen, i))
			(*indices)[(*found)++] = i;
	return *indices != NULL;
}

/* "heads 0-3, 7", by the numbers that users know. */
static void add_numbers(struct buffer *text, const size_t *numbers, size_t count)
{
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && numbers[i + run] == numbers[i] + run; run++)
			;
		run = run == 2 ? 1 : run; /* "3, 4" is as short as "3-4" */
		buffer_printf(text, i ? ", %zu" : " %zu", numbers[i]);
		if (run > 1)
			buffer_printf(text, "-%zu", numbers[i + run - 1]);
	}
}

/* "mean of heads 3, 7", "max of 12 layers", "mean of 40 of 64 heads"; NULL: no memory left. */
static char *joined_name(const struct heads_view *v, const char *things, const size_t *numbers, size_t count,
			 size_t all)
{
	enum {
		LONGEST = 40
	};
	struct buffer text = BUFFER_INIT, list = BUFFER_INIT;
	const char *how = v->largest ? "max" : "mean";
	add_numbers(&list, numbers, count);
	if (count == all && count > 1)
		buffer_printf(&text, "%s of %zu %ss", how, count, things);
	else if (list.length > LONGEST)
		buffer_printf(&text, "%s of %zu of %zu %ss", how, count, all, things);
	else if (!list.failed)
		buffer_printf(&text, "%s of %s%s%s", how, things, count > 1 ? "s" : "", list.data);
	text.failed |= list.failed;
	buffer_release(&list);
	return text.failed ? NULL : buffer_detach(&text);
}

/* The numbers of the chosen, which become those of the view, or its one name.  `plain`: they
 * are those of their places, unless some are left out. */
static bool name_items(const struct heads_view *v, bool join, const char *things, size_t *numbers, bool plain,
		       size_t count, size_t all, size_t **out_numbers, char **out_name, size_t *length)
{
	if (!join) {
		*length = count;
		if (count < all || !plain)
			*out_numbers = numbers;
		else
			free(numbers);
		return true;
	}
	*out_name = joined_name(v, things, numbers, count, all);
	free(numbers);
	*length = 1;
	return *out_name != NULL;
}

/* What is not about heads and layers stays. */
static bool copy_info(struct rows_info *info, const struct rows_info *from)
{
	*info = *from;
	info->query_labels = info->key_labels = info->head_names = (struct string_list){0};
	info->query_numbers = info->key_numbers = info->head_numbers = info->layer_numbers = NULL;
	info->joined_heads = info->joined_layers = NULL;
	return string_list_copy(&info->query_labels, &from->query_labels) &&
	       string_list_copy(&info->key_labels, &from->key_labels);
}

static bool name_heads(const struct heads_view *v, struct rows_info *info, const struct rows_info *from)
{
	size_t *heads = array_alloc(v->head_count, sizeof *heads);
	size_t *layers = array_alloc(v->layer_count, sizeof *layers);
	if (!heads || !layers) {
		free(heads);
		free(layers);
		return false;
	}
	for (size_t i = 0; i < v->head_count; i++)
		heads[i] = head_number(from, v->heads[i]);
	for (size_t i = 0; i < v->layer_count; i++)
		layers[i] = layer_number(from, v->layers[i]);
	bool ok = name_items(v, v->join_heads, "head", heads, !from->head_numbers, v->head_count,
			     from->shape.heads, &info->head_numbers, &info->joined_heads, &info->shape.heads);
	ok &= name_items(v, v->join_layers, "layer", layers, !from->layer_numbers, v->layer_count,
			 from->shape.layers, &info->layer_numbers, &info->joined_layers, &info->shape.layers);
	for (size_t i = 0; i < v->head_count && ok && from->head_names.count && !v->join_heads; i++)
		ok = string_list_add(&info->head_names, from->head_names.items[v->heads[i]]);
	if (v->join_layers)
		info->has_layers = false;
	return ok;
}

static bool get_sums(struct heads_view *v)
{
	v->sums = array_alloc(threads_count(), sizeof *v->sums);
	for (size_t i = 0; v->sums && i < threads_count(); i++) {
		v->sums[i] = array_alloc(ROWS_BLOCK, v->base.source.shape.keys * sizeof **v->sums);
		if (!v->sums[i])
			return false;
	}
	return v->sums != NULL;
}

static bool heads_init(struct heads_view *v, struct rows_info *info, const struct rows_info *from,
		       const struct view_heads *options)
{
	bool joined = options->join_heads || options->join_layers;
	v->join_heads = options->join_heads;
	v->join_layers = options->join_layers;
	v->largest = options->largest;
	bool ok = copy_info(info, from) &&
		  find_chosen(options->heads, from->shape.heads, &v->heads, &v->head_count) &&
		  find_chosen(options->layers, from->shape.layers, &v->layers, &v->layer_count) &&
		  name_heads(v, info, from);
	v->base.source.shape = info->shape;
	v->base.source.row_cost = v->base.inner->row_cost;
	if (!ok || !joined)
		return ok;
	v->base.source.row_cost = (v->base.inner->row_cost + 4 * from->shape.keys) *
				  (options->join_heads ? v->head_count : 1) *
				  (options->join_layers ? v->layer_count : 1);
	return view_base_workers(&v->base) && (v->largest || get_sums(v));
}

enum attn_status view_heads_open(struct named_rows *view, const struct named_rows *inner,
				 const struct view_heads *options, struct attn_error *err)
{
	struct heads_view *v = calloc(1, sizeof *v);
	bool joined = options->join_heads || options->join_layers;
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->base.source = (struct row_source){
	    .start = view_base_start,
	    .begin_layer = choose_begin_layer,
	    .read = joined ? join_read : choose_read,
	    .free = heads_free,
	};
	v->base.inner = inner->source;
	if (options->join_layers && inner->source->begin_layer) {
		v->base.source.start = kept_start;
		v->base.source.begin_layer = NULL;
		v->base.source.read = kept_read;
	}
	return view_base_finish(&v->base, heads_init(v, &view->info, &inner->info, options), view, err);
}
