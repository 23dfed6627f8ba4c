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
	struct row_source *encoder; /* owned: of a decoder that has one */
	struct rows_want want;
	bool crossing; /* whose rows they are */
	bool *heads;   /* (heads), owned: those asked for; NULL: all */
	bool *layers;  /* (layers), owned: likewise */
	size_t run;    /* layers that are run at least for their context */
	bool hidden_wanted, logits_wanted, last_wanted, to_end;
	bool started;

	size_t alone; /* the layer of model_rows_attention, and that */
	struct attention *alone_attention;

	/* The attention whose rows can be read, that which forward comes to, where it is open. */
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

/* Whether something follows an attention of the layer. */
static bool goes_on(const struct model_rows *r, size_t layer, bool crossing)
{
	return layer + 1 < r->run || r->to_end || (r->crossing && !crossing);
}

/* Plan the layer's rows: of the chosen heads as they are wanted, and of all where the next layer
 * needs their contexts. */
static enum attn_status plan_layer(struct model_rows *r, size_t layer, bool crossing, struct attn_error *err)
{
	struct rows_want want = r->want;
	const struct rows_selection some = {.heads = r->heads};
	bool more = goes_on(r, layer, crossing);
	if (!chosen_layer(r, layer) || crossing != r->crossing)
		want = (struct rows_want){0};
	want.context |= more;
	TRY(forward_attention(&r->forward, layer, crossing, &r->attention, err));
	return plan_init(&r->plan, &r->attention, more ? NULL : &some, want, err);
}

/* What went wrong in a layer says in which, and of which weight, if one is no number. */
static enum attn_status in_layer(const struct model_rows *r, enum attn_status status, struct attn_error *err)
{
	char place[60];
	if (status != ATTN_BAD_INPUT || !err)
		return status;
	if (r->forward.layer < r->run)
		TRY(model_check_weights(r->model, r->forward.layer, err));
	snprintf(place, sizeof place, "%slayer %zu", r->model->inner ? "encoder, " : "", r->forward.layer);
	attn_error_prefix(err, place);
	return status;
}

/* Make the rows of the attention that forward comes to ready to be read. */
static enum attn_status open_layer(struct model_rows *r, struct attn_error *err)
{
	struct forward *f = &r->forward;
	r->keeps_context = goes_on(r, f->layer, f->crossing);
	memset(r->done, 0, r->source.shape.heads * r->source.shape.queries);
	TRY(forward_norm(f, err));
	enum attn_status status = plan_layer(r, f->layer, f->crossing, err);
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

/* What enters a layer. */
static void keep_hidden(struct model_rows *r)
{
	size_t count = r->source.shape.queries * r->model->a.width;
	if (r->hidden && !r->forward.crossing)
		memcpy(r->hidden + r->forward.layer * count, r->forward.x, count * sizeof *r->hidden);
}

/* Run the attention to its end, and what follows it up to the next. */
static enum attn_status pass_attention(struct model_rows *r, struct attn_error *err)
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
	if (r->encoder && !r->started)
		TRY(model_rows_states(r->encoder, &r->forward.memory, err));
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
static enum attn_status come_to(struct model_rows *r, size_t layer, struct attn_error *err)
{
	const struct forward *f = &r->forward;
	if (!r->started || layer < f->layer || (layer == f->layer && f->crossing && !r->crossing))
		TRY(begin(r, err));
	while (f->layer < layer || f->crossing != r->crossing)
		TRY(pass_attention(r, err));
	return ATTN_OK;
}

static enum attn_status rows_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	TRY(come_to(r, layer, err));
	return r->open ? ATTN_OK : open_layer(r, err);
}

/* The context of a head that is taken out. */
static void clear_context(struct row_block *block, size_t size)
{
	for (size_t i = 0; i < block->count; i++)
		memset(block->context_place + i * block->context_stride, 0, size * sizeof(float));
	block->context = block->context_place;
}

static enum attn_status rows_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	size_t size = r->model->a.head_size, stride = source->shape.heads * size;
	float *own = r->forward.context + block->query * stride + block->head * size;
	const bool *without = r->forward.without;
	bool taken_out = without && without[block->layer * source->shape.heads + block->head];
	if (!r->keeps_context && !taken_out)
		return r->engine->read(r->engine, worker, block, err);
	if (r->keeps_context)
		block->no_context = false;
	if (!block->context_place) {
		block->context_place = own;
		block->context_stride = stride;
	}
	TRY(r->engine->read(r->engine, worker, block, err));
	if (taken_out && block->context)
		clear_context(block, size);
	if (!block->context)
		return ATTN_OK;
	for (size_t i = 0; i < block->count && block->context != own; i++)
		memcpy(own + i * stride, block->context + i * block->context_stride, size * sizeof *own);
	memset(r->done + block->head * source->shape.queries + block->query, 1, block->count);
	return ATTN_OK;
}

/* Of a head that is taken out nothing is added. */
static enum attn_status rows_value_norms(struct row_source *source, size_t batch, size_t head, float *norms,
					 struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	const bool *without = r->forward.without;
	if (!without || !without[r->forward.layer * source->shape.heads + head])
		return r->engine->value_norms(r->engine, batch, head, norms, err);
	memset(norms, 0, source->shape.keys * sizeof *norms);
	return ATTN_OK;
}

static size_t rows_query_work(const struct row_source *source, size_t batch, size_t query)
{
	(void)batch;
	const struct model_rows *r = (const struct model_rows *)source;
	return r->model->a.family->causal && !r->crossing ? query + 1 : source->shape.keys;
}

static void rows_free(struct row_source *source)
{
	struct model_rows *r = (struct model_rows *)source;
	close_layer(r);
	if (r->encoder)
		r->encoder->free(r->encoder);
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
	bool one = (r->last_wanted && !r->logits_wanted) || a->family->pictures;
	size_t tokens = one ? 1 : text->count;
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

/* Rows of `tokens` queries and as many keys, or of another sequence. */
static struct row_source source_of(const struct architecture *a, size_t tokens, size_t keys, bool crossing)
{
	return (struct row_source){
	    .shape = {.batch = 1,
		      .layers = a->layers,
		      .heads = a->heads,
		      .queries = tokens,
		      .keys = keys,
		      .cross = crossing},
	    .row_cost = keys * 2 * a->head_size,
	    .query_work = rows_query_work,
	    .start = rows_start,
	    .begin_layer = rows_begin_layer,
	    .read = rows_read,
	    .value_norms = rows_value_norms,
	    .free = rows_free,
	};
}

static enum attn_status open_encoder(struct model_rows *r, const struct text_ids *source,
				     struct attn_error *err)
{
	const struct model_want want = {.to_end = true};
	r->forward.memory_count = source->count;
	return model_rows_new(&r->encoder, r->model->encoder, source, &want, err);
}

enum attn_status model_rows_new(struct row_source **source, struct model *m, const struct text_ids *text,
				const struct model_want *want, struct attn_error *err)
{
	struct model_rows *r = calloc(1, sizeof *r);
	bool ok = true;
	*source = NULL;
	if (!r)
		return attn_fail_memory(err);
	r->source =
	    source_of(&m->a, text->count, want->crossing ? want->source->count : text->count, want->crossing);
	r->crossing = want->crossing;
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
	r->forward.without = want->without;
	r->forward.without_crossing = want->crossing;
	if (status == ATTN_OK && m->encoder)
		status = open_encoder(r, want->source, err);
	if (status == ATTN_OK)
		*source = &r->source;
	else
		rows_free(&r->source);
	return status;
}

static enum attn_status arrive(void *arriving, struct attn_error *err)
{
	struct model_rows *r = arriving;
	TRY(come_to(r, r->alone, err));
	/* The states are there only now. */
	if (r->crossing)
		r->alone_attention->source.data = r->alone_attention->source_values.data = r->forward.memory;
	return forward_norm(&r->forward, err);
}

enum attn_status model_rows_attention(struct row_source *source, size_t layer, struct attention *a,
				      struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	TRY(forward_attention(&r->forward, layer, r->crossing, a, err));
	r->alone = layer;
	r->alone_attention = a;
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
		TRY(pass_attention(r, err));
	if (!r->logits)
		return ATTN_OK;
	size_t tokens = source->shape.queries, first = r->logits_wanted ? 0 : tokens - 1;
	TRY(forward_final(&r->forward, err));
	return r->model->a.family->pictures
		   ? forward_logits(&r->forward, 0, 1, r->logits, err) /* its first token stands for it */
		   : forward_logits(&r->forward, first, tokens - first, r->logits, err);
}

enum attn_status model_rows_states(struct row_source *source, const float **states, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	TRY(model_rows_finish(source, err));
	TRY(forward_final(&r->forward, err));
	*states = r->forward.normed;
	return ATTN_OK;
}

const float *model_rows_hidden(const struct row_source *source)
{
	return ((const struct model_rows *)source)->hidden;
}

const float *model_rows_logits(const struct row_source *source)
{
	return ((const struct model_rows *)source)->logits;
}

/* *most: what the largest attention so far projects. */
static enum attn_status add_layer_cost(struct model_rows *r, size_t layer, struct plan_cost *cost,
				       size_t *most, struct attn_error *err)
{
	size_t tokens = r->source.shape.queries;
	for (int crossing = 0; crossing <= (r->encoder != NULL); crossing++) {
		if (crossing && !r->crossing && !goes_on(r, layer, false))
			break;
		enum attn_status status = plan_layer(r, layer, crossing, err);
		const struct plan_cost *one = &r->plan.cost;
		if (status == ATTN_OK) {
			cost->projections += one->projections;
			cost->attention += one->attention;
			if (goes_on(r, layer, crossing))
				cost->output +=
				    forward_finish_cost(r->model, tokens, r->encoder && !crossing);
			cost->workspace = size_max(cost->workspace, one->workspace);
			*most = size_max(*most, one->projected);
		}
		close_layer(r);
		TRY(status);
	}
	return ATTN_OK;
}

static enum attn_status add_encoder_cost(struct model_rows *r, struct plan_cost *cost, struct attn_error *err)
{
	struct plan_cost encoder;
	TRY(model_rows_cost(r->encoder, &encoder, err));
	cost->projections += encoder.projections;
	cost->attention += encoder.attention;
	cost->output += encoder.output;
	cost->projected += encoder.projected;
	cost->workspace = size_max(cost->workspace, encoder.workspace);
	return ATTN_OK;
}

enum attn_status model_rows_cost(struct row_source *source, struct plan_cost *cost, struct attn_error *err)
{
	struct model_rows *r = (struct model_rows *)source;
	size_t tokens = source->shape.queries;
	*cost = (struct plan_cost){.projected = (size_t)forward_bytes(r->model, tokens)};
	close_layer(r);
	size_t most = 0;
	for (size_t layer = 0; layer < r->run; layer++)
		TRY(add_layer_cost(r, layer, cost, &most, err));
	cost->projected += most;
	return r->encoder ? add_encoder_cost(r, cost, err) : ATTN_OK;
}
