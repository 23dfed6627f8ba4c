#include "model/model_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/context.h"
#include "model/forward.h"
#include "util/memory.h"
#include "util/minmax.h"

struct model_rows {
	struct row_source source; /* first: a source is cast to its rows */
	struct model *model;
	struct forward forward;
	struct rows_want want;
	bool *heads;  /* (heads), owned: those asked for; NULL: all */
	bool *layers; /* (layers), owned: likewise */
	size_t run;   /* layers that are run at least for their context */
	bool hidden_wanted, logits_wanted, last_wanted, to_end;
	bool started;

	size_t alone; /* the layer of model_rows_attention */

	/* The layer whose rows can be read, forward.layer, where it is open. */
	bool open;
	struct attention attention;
	struct plan plan;
	struct row_source *engine;
	bool keeps_context;  /* a later layer needs it */
	unsigned char *done; /* (heads, queries), owned: rows whose context is there */

	float *hidden, *logits; /* owned; or NULL */
};

static bool chosen_layer(const struct model_rows *r, size_t layer)
{
	return rows_chosen(r->layers, layer);
}

/* --- one layer -------------------------------------------------------------------------------- */

static void close_layer(struct model_rows *r)
{
	if (r->engine)
		r->engine->free(r->engine);
	r->engine = NULL;
	plan_release(&r->plan);
	attention_release(&r->attention);
	r->open = false;
}

/* Whether something follows the layer. */
static bool goes_on(const struct model_rows *r, size_t layer)
{
	return layer + 1 < r->run || r->to_end;
}

/* Plan the layer's rows: of the chosen heads as they are wanted, and of all where the next layer
 * needs their contexts. */
static enum attn_status plan_layer(struct model_rows *r, size_t layer, struct attn_error *err)
{
	struct rows_want want = r->want;
	const struct rows_selection some = {.heads = r->heads};
	if (!chosen_layer(r, layer))
		want = (struct rows_want){0};
	want.context |= goes_on(r, layer);
	TRY(forward_attention(&r->forward, layer, &r->attention, err));
	return plan_init(&r->plan, &r->attention, goes_on(r, layer) ? NULL : &some, want, err);
}

/* What went wrong in a layer says in which, and of which weight, if one is no number. */
static enum attn_status in_layer(const struct model_rows *r, enum attn_status status, struct attn_error *err)
{
	char place[60];
	if (status != ATTN_BAD_INPUT || !err)
		return status;
	if (r->forward.layer < r->run)
		TRY(model_check_weights(r->model, r->forward.layer, err));
	snprintf(place, sizeof place, "layer %zu", r->forward.layer);
	attn_error_prefix(err, place);
	return status;
}

/* Make the rows of layer forward.layer ready to be read. */
static enum attn_status open_layer(struct model_rows *r, struct attn_error *err)
{
	r->keeps_context = goes_on(r, r->forward.layer);
	memset(r->done, 0, r->source.shape.heads * r->source.shape.queries);
	TRY(forward_norm(&r->forward, err));
	enum attn_status status = plan_layer(r, r->forward.layer, err);
	if (status == ATTN_OK)
		status = plan_run(&r->plan, &r->engine, err);
	if (status == ATTN_OK)
		status = r->engine->start(r->engine, err);
	r->open = status == ATTN_OK;
	if (!r->open)
		close_layer(r);
	return in_layer(r, status, err);
}

/* Contexts of the heads that were not read whole. */
static enum attn_status complete_context(struct model_rows *r, struct attn_error *err)
{
	const struct rows_shape *shape = &r->source.shape;
	size_t size = r->model->a.head_size;
	bool *missing = array_alloc(shape->heads, sizeof *missing), any = false;
	if (!missing)
		return attn_fail_memory(err);
	for (size_t h = 0; h < shape->heads; h++)
		any |= missing[h] = memchr(r->done + h * shape->queries, 0, shape->queries) != NULL;
	const struct rows_selection selection = {.heads = missing};
	struct context_consumer contexts;
	context_consumer_into(&contexts, &r->engine->shape, size, r->forward.context);
	struct row_consumer *consumers[] = {&contexts.consumer};
	enum attn_status status = any ? rows_stream(r->engine, &selection, consumers, 1, err) : ATTN_OK;
	free(missing);
	return status;
}

static void keep_hidden(struct model_rows *r)
{
	size_t count = r->source.shape.queries * r->model->a.width;
	if (r->hidden)
		memcpy(r->hidden + r->forward.layer * count, r->forward.x, count * sizeof *r->hidden);
}

/* Run the layer to its end. */
static enum attn_status pass_layer(struct model_rows *r, struct attn_error *err)
{
	enum attn_status status = r->open ? ATTN_OK : open_layer(r, err);
	if (status == ATTN_OK)
		status = complete_context(r, err);
	close_layer(r);
	if (status == ATTN_OK)
		status = in_layer(r, forward_finish(&r->forward, err), err);
	if (status == ATTN_OK)
		keep_hidden(r);
	return status;
}

/* --- the source --------------------------------------------------------------------------------- */

static enum attn_status begin(struct model_rows *r, struct attn_error *err)
{
	close_layer(r);
	TRY(forward_begin(&r->forward, err));
	keep_hidden(r);
	r->started = true;
	return ATTN_OK;
}

static enum attn_status rows_start(struct row_source *source, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	return r->started ? ATTN_OK : begin(r, err);
}

/* Rows may be streamed more than once: then the pass begins anew. */
static enum attn_status rows_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	if (layer < r->forward.layer)
		TRY(begin(r, err));
	while (r->forward.layer < layer)
		TRY(pass_layer(r, err));
	return r->open ? ATTN_OK : open_layer(r, err);
}

static enum attn_status rows_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	size_t size = r->model->a.head_size, stride = source->shape.heads * size;
	float *own = r->forward.context + block->query * stride + block->head * size;
	if (!r->keeps_context)
		return r->engine->read(r->engine, worker, block, err);
	block->no_context = false;
	if (!block->context_place) {
		block->context_place = own;
		block->context_stride = stride;
	}
	TRY(r->engine->read(r->engine, worker, block, err));
	for (size_t i = 0; i < block->count && block->context != own; i++)
		memcpy(own + i * stride, block->context + i * block->context_stride, size * sizeof *own);
	memset(r->done + block->head * source->shape.queries + block->query, 1, block->count);
	return ATTN_OK;
}

static size_t rows_query_work(const struct row_source *source, size_t batch, size_t query)
{
	(void)batch;
	return ((const struct model_rows *)source)->model->a.family->causal ? query + 1
									    : source->shape.queries;
}

static void rows_free(struct row_source *source)
{
	struct model_rows *r = (struct model_rows *)source;
	close_layer(r);
	forward_release(&r->forward);
	free(r->heads);
	free(r->layers);
	free(r->done);
	free(r->hidden);
	free(r->logits);
	free(r);
}

static bool *copy_chosen(const bool *chosen, size_t count, bool *ok)
{
	bool *copy = chosen ? array_alloc(count, sizeof *copy) : NULL;
	if (copy)
		memcpy(copy, chosen, count * sizeof *copy);
	*ok &= !chosen || copy;
	return copy;
}

/* One more than the last layer asked for, or all. */
static size_t layers_to_run(const struct model_rows *r)
{
	size_t run = r->model->a.layers;
	if (r->to_end)
		return run;
	while (run > 1 && !chosen_layer(r, run - 1))
		run--;
	return run;
}

static enum attn_status allocate(struct model_rows *r, const struct text_ids *text, struct attn_error *err)
{
	const struct architecture *a = &r->model->a;
	size_t tokens = r->last_wanted && !r->logits_wanted ? 1 : text->count;
	TRY(forward_init(&r->forward, r->model, text, err));
	r->done = array_alloc(a->heads, text->count);
	if (r->hidden_wanted)
		r->hidden = floats_alloc4(a->layers + 1, text->count, a->width, 1);
	if (r->logits_wanted || r->last_wanted)
		r->logits = floats_alloc4(tokens, model_outputs(r->model), 1, 1);
	bool ok = r->done && (!r->hidden_wanted || r->hidden) &&
		  (!(r->logits_wanted || r->last_wanted) || r->logits);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

static struct row_source source_of(const struct architecture *a, size_t tokens)
{
	return (struct row_source){
	    .shape = {.batch = 1, .layers = a->layers, .heads = a->heads, .queries = tokens, .keys = tokens},
	    .row_cost = tokens * 2 * a->head_size,
	    .query_work = rows_query_work,
	    .start = rows_start,
	    .begin_layer = rows_begin_layer,
	    .read = rows_read,
	    .free = rows_free,
	};
}

enum attn_status model_rows_new(struct row_source **source, struct model *m, const struct text_ids *text,
				const struct model_want *want, struct attn_error *err)
{
	struct model_rows *r = calloc(1, sizeof *r);
	bool ok = true;
	*source = NULL;
	if (!r)
		return attn_fail_memory(err);
	r->source = source_of(&m->a, text->count);
	r->model = m;
	r->want = want->rows;
	r->hidden_wanted = want->hidden;
	r->logits_wanted = want->logits;
	r->last_wanted = want->last_logits;
	r->to_end = want->to_end || want->hidden || want->logits || want->last_logits;
	if (want->selection) {
		r->heads = copy_chosen(want->selection->heads, m->a.heads, &ok);
		r->layers = copy_chosen(want->selection->layers, m->a.layers, &ok);
	}
	r->run = layers_to_run(r);
	enum attn_status status = ok ? model_check_text(m, text, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		status = model_find_layers(m, r->run, err);
	if (status == ATTN_OK && r->run == m->a.layers)
		status = model_find_end(m, want->logits || want->last_logits, err);
	if (status == ATTN_OK)
		status = allocate(r, text, err);
	if (status == ATTN_OK)
		*source = &r->source;
	else
		rows_free(&r->source);
	return status;
}

static enum attn_status arrive(void *arriving, struct attn_error *err)
{
	struct model_rows *r = arriving;
	if (!r->started || r->alone < r->forward.layer)
		TRY(begin(r, err));
	while (r->forward.layer < r->alone)
		TRY(pass_layer(r, err));
	return forward_norm(&r->forward, err);
}

enum attn_status model_rows_attention(struct row_source *source, size_t layer, struct attention *a,
				      struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	TRY(forward_attention(&r->forward, layer, a, err));
	r->alone = layer;
	a->arrive = arrive;
	a->arriving = r;
	return ATTN_OK;
}

enum attn_status model_rows_finish(struct row_source *source, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	if (!r->to_end)
		return ATTN_OK;
	TRY(rows_start(source, err));
	while (r->forward.layer < r->model->a.layers)
		TRY(pass_layer(r, err));
	if (!r->logits)
		return ATTN_OK;
	size_t tokens = source->shape.queries, first = r->logits_wanted ? 0 : tokens - 1;
	TRY(forward_final(&r->forward, err));
	return forward_logits(&r->forward, first, tokens - first, r->logits, err);
}

const float *model_rows_hidden(const struct row_source *source)
{
	return ((const struct model_rows *)source)->hidden;
}

const float *model_rows_logits(const struct row_source *source)
{
	return ((const struct model_rows *)source)->logits;
}

enum attn_status model_rows_cost(struct row_source *source, struct plan_cost *cost, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	size_t tokens = source->shape.queries;
	*cost = (struct plan_cost){.projected = (size_t)forward_bytes(r->model, tokens)};
	close_layer(r);
	size_t most = 0;
	for (size_t layer = 0; layer < r->run; layer++) {
		enum attn_status status = plan_layer(r, layer, err);
		const struct plan_cost *one = &r->plan.cost;
		if (status == ATTN_OK) {
			cost->projections += one->projections;
			cost->attention += one->attention;
			cost->output += goes_on(r, layer) ? forward_finish_cost(r->model, tokens) : 0;
			cost->workspace = size_max(cost->workspace, one->workspace);
			most = size_max(most, one->projected);
		}
		close_layer(r);
		TRY(status);
	}
	cost->projected += most;
	return ATTN_OK;
}
