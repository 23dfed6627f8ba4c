/* A view of all layers as one: rollout and flow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/rollout.h"
#include "result/view_internal.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/threads.h"

struct rollout_view {
	struct view_base base;
	struct row_consumer keeper; /* of the inner source's rows */
	enum layers_over over;
	size_t layers, batch, tokens;
	float *mixed;           /* (batch, tokens, tokens) of the layer that comes; of a flow (batch, layers,
				 * tokens, tokens); owned */
	float *total, *scratch; /* rollout: (batch, tokens, tokens), (tokens, tokens); owned */
	struct flow_work *work; /* (threads_count()), owned; or NULL */
	bool ready;
};

static struct rollout_view *of_keeper(struct row_consumer *keeper)
{
	return (struct rollout_view *)((char *)keeper - offsetof(struct rollout_view, keeper));
}

static float *mixed_of(struct rollout_view *v, size_t batch, size_t layer)
{
	size_t square = v->tokens * v->tokens;
	return v->mixed + (v->over == LAYERS_FLOW ? batch * v->layers + layer : batch) * square;
}

static void rollout_free(struct row_source *source)
{
	struct rollout_view *v = (struct rollout_view *)source;
	for (size_t i = 0; v->work && i < threads_count(); i++)
		flow_work_release(&v->work[i]);
	free(v->work);
	free(v->mixed);
	free(v->total);
	free(v->scratch);
	view_base_release(&v->base);
	free(v);
}

static enum attn_status keep(struct row_consumer *keeper, const struct row_block *block,
			     struct attn_error *err)
{
	struct rollout_view *v = of_keeper(keeper);
	float *mixed = mixed_of(v, block->batch, block->layer);
	(void)err;
	rollout_mix(block->weights, block->query, block->count, v->tokens, mixed + block->query * v->tokens);
	return ATTN_OK;
}

static bool allocate(struct rollout_view *v)
{
	size_t square = v->tokens * v->tokens;
	if (v->over == LAYERS_FLOW) {
		v->mixed = floats_alloc4(v->batch, v->layers, v->tokens, v->tokens);
		v->work = array_alloc(threads_count(), sizeof *v->work);
		return v->mixed && v->work;
	}
	v->mixed = floats_alloc4(v->batch, v->tokens, v->tokens, 1);
	v->scratch = floats_alloc4(v->tokens, v->tokens, 1, 1);
	v->total = floats_alloc4(v->batch, v->tokens, v->tokens, 1);
	if (!v->mixed || !v->scratch || !v->total)
		return false;
	memset(v->total, 0, v->batch * square * sizeof *v->total);
	for (size_t b = 0; b < v->batch; b++)
		for (size_t i = 0; i < v->tokens; i++)
			v->total[b * square + i * (v->tokens + 1)] = 1;
	return true;
}

/* A layer's rows, then what follows from them: threads that read rows cannot share a product. */
static enum attn_status add_layer(struct rollout_view *v, bool *layers, size_t layer, struct attn_error *err)
{
	const struct rows_selection selection = {.layers = layers};
	struct row_consumer *consumers[] = {&v->keeper};
	enum attn_status status = ATTN_OK;
	size_t square = v->tokens * v->tokens;
	layers[layer] = true;
	TRY(rows_stream(v->base.inner, &selection, consumers, 1, err));
	layers[layer] = false;
	for (size_t b = 0; b < v->batch && v->over == LAYERS_ROLLOUT && status == ATTN_OK; b++)
		status =
		    rollout_step(v->mixed + b * square, v->total + b * square, v->scratch, v->tokens, err);
	return status;
}

/* Read all layers. */
static enum attn_status rollout_start(struct row_source *source, struct attn_error *err)
{
	struct rollout_view *v = (struct rollout_view *)source;
	const struct flow_network network = {v->layers, v->tokens, NULL};
	enum attn_status status = ATTN_OK;
	if (v->ready)
		return ATTN_OK;
	bool *layers = array_alloc(v->layers, sizeof *layers);
	if (!layers || !allocate(v))
		status = attn_fail_memory(err);
	for (size_t layer = 0; layer < v->layers && status == ATTN_OK; layer++)
		status = add_layer(v, layers, layer, err);
	free(layers);
	for (size_t i = 0; i < threads_count() && v->over == LAYERS_FLOW && status == ATTN_OK; i++)
		status = flow_work_init(&v->work[i], &network, err);
	v->ready = status == ATTN_OK;
	return status;
}

static enum attn_status find_flows(struct rollout_view *v, size_t worker, const struct row_block *block,
				   float *to, struct attn_error *err)
{
	const struct flow_network network = {v->layers, v->tokens, mixed_of(v, block->batch, 0)};
	for (size_t r = 0; r < block->count; r++)
		for (size_t k = 0; k < v->tokens; k++) {
			double flow = flow_between(&v->work[worker], &network, block->query + r, k);
			if (isnan(flow))
				return attn_fail_memory(err);
			to[r * v->tokens + k] = (float)flow;
		}
	return ATTN_OK;
}

/* Where no way leads a cell is masked. */
static enum attn_status rollout_read(struct row_source *source, size_t worker, struct row_block *block,
				     struct attn_error *err)
{
	struct rollout_view *v = (struct rollout_view *)source;
	struct view_worker *w = &v->base.workers[worker];
	if (v->over == LAYERS_FLOW)
		TRY(find_flows(v, worker, block, w->weights, err));
	else
		memcpy(w->weights, v->total + (block->batch * v->tokens + block->query) * v->tokens,
		       block->count * v->tokens * sizeof *w->weights);
	for (size_t i = 0; i < block->count * v->tokens; i++)
		w->cells[i] = w->weights[i] > 0 ? CELL_ATTENDED : CELL_MASKED;
	block->weights = w->weights;
	block->cells = w->cells;
	block->masked = 0;
	return ATTN_OK;
}

/* "rollout over layers 0 to 4" */
static char *name_layers(const struct rows_info *inner, enum layers_over over)
{
	struct buffer name = BUFFER_INIT;
	size_t last = inner->shape.layers - 1;
	buffer_printf(&name, "%s over ", over == LAYERS_FLOW ? "flow" : "rollout");
	if (last == 0)
		buffer_printf(&name, "layer %zu", layer_number(inner, 0));
	else if (layer_number(inner, last) - layer_number(inner, 0) == last)
		buffer_printf(&name, "layers %zu to %zu", layer_number(inner, 0), layer_number(inner, last));
	else
		for (size_t i = 0; i <= last; i++)
			buffer_printf(&name, "%s%zu", i > 0 ? ", " : "layers ", layer_number(inner, i));
	return buffer_detach(&name);
}

static bool describe(struct rows_info *info, const struct rows_info *inner, enum layers_over over)
{
	if (!view_info_init(info, inner) || !string_list_copy(&info->query_labels, &inner->query_labels) ||
	    !string_list_copy(&info->key_labels, &inner->key_labels))
		return false;
	free(info->layer_numbers);
	free(info->joined_layers);
	info->layer_numbers = NULL;
	info->joined_layers = name_layers(inner, over);
	info->shape.layers = 1;
	info->shape.signed_weights = false;
	info->other_keys = false;
	return info->joined_layers != NULL;
}

static enum attn_status check(const struct rows_shape *shape, enum layers_over over, struct attn_error *err)
{
	const char *option = over == LAYERS_FLOW ? "--flow" : "--rollout";
	size_t cells, work;
	if (shape->cross || shape->queries != shape->keys)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' goes on from layer to layer, for which queries and keys must be the same "
		    "tokens, found %zu queries and %zu keys%s",
		    option, shape->queries, shape->keys, shape->cross ? " of another text" : "");
	if (shape->signed_weights)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is for weights of at least 0, found those of differential attention",
				 option);
	if (!size_mul(shape->queries, shape->keys, &cells) || !size_mul(cells, shape->batch, &work) ||
	    work > ROLLOUT_CELLS)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' keeps a number for each pair of tokens, found %zu tokens in %zu texts, "
		    "expected at most %zu pairs",
		    option, shape->queries, shape->batch, (size_t)ROLLOUT_CELLS);
	if (over != LAYERS_FLOW || (size_mul(cells, shape->layers, &work) && work <= FLOW_EDGES))
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "'--flow' solves a network for each pair of tokens, found %zu tokens in %zu layers, "
			 "expected at most %zu links; '--rollout' has no such bound",
			 shape->queries, shape->layers, (size_t)FLOW_EDGES);
}

enum attn_status view_rollout_open(struct named_rows *view, const struct named_rows *inner,
				   enum layers_over over, struct attn_error *err)
{
	const struct rows_shape *shape = &inner->info.shape;
	*view = (struct named_rows){0};
	TRY(check(shape, over, err));
	struct rollout_view *v = calloc(1, sizeof *v);
	if (!v)
		return attn_fail_memory(err);
	v->over = over;
	v->layers = shape->layers;
	v->batch = shape->batch;
	v->tokens = shape->queries;
	v->keeper = (struct row_consumer){.consume = keep, .any_order = true, .no_context = true};
	v->base.inner = inner->source;
	v->base.source = (struct row_source){.shape = *shape,
					     .row_cost = v->tokens,
					     .start = rollout_start,
					     .read = rollout_read,
					     .free = rollout_free};
	v->base.source.shape.layers = 1;
	if (over == LAYERS_FLOW)
		v->base.source.row_cost = v->tokens * v->layers * v->tokens * v->tokens;
	bool ok = describe(&view->info, &inner->info, over) && view_base_workers(&v->base);
	return view_base_finish(&v->base, ok, view, err);
}
