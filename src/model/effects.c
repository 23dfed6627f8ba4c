#include "model/effects.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/forward.h"
#include "model/model_rows.h"
#include "util/checked.h"
#include "util/memory.h"

struct head_effects {
	struct model *model;
	struct forward forward;
	struct row_source *encoder; /* or NULL */
	bool crossing, causal, picture;
	size_t tokens, rows; /* rows: of logits; 0: there are none */
	size_t next;
	bool *without; /* (layers, heads), owned: taken out for good */

	float *entering;      /* (layers, tokens, width), owned: what enters each layer without those */
	float *contexts;      /* (tokens, H e), owned: of the attention of layer `contexts_of`, all heads */
	size_t contexts_of;   /* SIZE_MAX: none */
	float *before;        /* (tokens, width), owned: x before that attention, where it is a crossing */
	float *last;          /* (tokens, width), owned: of the whole model, what leaves the last layer */
	float *logits, *some; /* (rows, outputs), owned: of the whole model, and of a try */
	struct effect whole;
};

/* --- figures -------------------------------------------------------------------------------- */

static double log_sum(const float *logits, size_t count)
{
	double highest = -INFINITY, sum = 0;
	for (size_t i = 0; i < count; i++)
		highest = fmax(highest, (double)logits[i]);
	for (size_t i = 0; i < count; i++)
		sum += exp((double)logits[i] - highest);
	return highest + log(sum);
}

static double change_of_states(const float *x, const float *last, size_t count)
{
	double change = 0, size = 0;
	for (size_t i = 0; i < count; i++) {
		double difference = (double)x[i] - (double)last[i];
		change += difference * difference;
		size += (double)last[i] * (double)last[i];
	}
	return size > 0 ? sqrt(change / size) : change > 0 ? (double)INFINITY : 0;
}

/* KL(p || p') of a row, in bits; *largest grows to the largest change of a logit. */
static double divergence_of(const float *logits, const float *some, size_t outputs, double *largest)
{
	double whole = log_sum(logits, outputs), part = log_sum(some, outputs), sum = 0;
	for (size_t i = 0; i < outputs; i++) {
		double p = (double)logits[i] - whole, q = (double)some[i] - part;
		double change = fabs((double)some[i] - (double)logits[i]);
		sum += exp(p) * (p - q);
		*largest = fmax(*largest, change);
	}
	return fmax(sum, 0) / M_LN2;
}

/* What logits of all tokens say. */
static void read_logits(const struct head_effects *e, const float *logits, struct effect *effect)
{
	size_t outputs = model_outputs(e->model);
	const float *end = logits + (e->rows - 1) * outputs;
	double loss = 0;
	effect->probability = exp((double)end[e->next] - log_sum(end, outputs));
	for (size_t t = 0; e->causal && t + 1 < e->tokens; t++) {
		const float *row = logits + t * outputs;
		size_t id = e->forward.text.ids[t + 1];
		loss -= (id < outputs ? (double)row[id] : -INFINITY) - log_sum(row, outputs);
	}
	if (e->causal && e->tokens > 1)
		effect->loss = loss / M_LN2 / (double)(e->tokens - 1);
	if (!e->causal && !e->picture)
		effect->probability = (double)NAN; /* it predicts no next token */
}

/* Of where the pass has come to, its end. */
static enum attn_status measure(struct head_effects *e, float *logits, struct effect *effect,
				struct attn_error *err)
{
	struct forward *f = &e->forward;
	*effect = (struct effect){(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
	effect->hidden = change_of_states(f->x, e->last, e->tokens * e->model->a.width);
	if (e->rows == 0)
		return ATTN_OK;
	TRY(forward_final(f, err));
	TRY(forward_logits(f, 0, e->rows, logits, err));
	if (logits == e->logits)
		return ATTN_OK;
	size_t outputs = model_outputs(e->model);
	effect->divergence = effect->logit = 0;
	for (size_t r = 0; r < e->rows; r++)
		effect->divergence +=
		    divergence_of(e->logits + r * outputs, logits + r * outputs, outputs, &effect->logit) /
		    (double)e->rows;
	read_logits(e, logits, effect);
	return ATTN_OK;
}

/* --- the pass --------------------------------------------------------------------------------- */

static float *entering_of(const struct head_effects *e, size_t layer)
{
	return e->entering + layer * e->tokens * e->model->a.width;
}

/* Go on to the end; `keeps`: what enters layers is kept. */
static enum attn_status run_on(struct head_effects *e, bool keeps, struct attn_error *err)
{
	struct forward *f = &e->forward;
	size_t bytes = e->tokens * e->model->a.width * sizeof *f->x;
	while (f->layer < e->model->a.layers) {
		if (keeps && !f->crossing)
			memcpy(entering_of(e, f->layer), f->x, bytes);
		TRY(forward_attend(f, err));
		TRY(forward_finish(f, err));
	}
	return ATTN_OK;
}

/* Come to the attention of a layer, with the contexts of all its heads. */
static enum attn_status come_to(struct head_effects *e, size_t layer, struct attn_error *err)
{
	struct forward *f = &e->forward;
	size_t states = e->tokens * e->model->a.width * sizeof *f->x;
	size_t contexts = e->tokens * e->model->a.heads * e->model->a.head_size * sizeof *f->context;
	bool there = e->contexts_of == layer;
	f->layer = layer;
	f->crossing = e->crossing && there;
	memcpy(f->x, there ? e->before : entering_of(e, layer), states);
	if (there) {
		TRY(forward_norm(f, err)); /* layers side by side read it later */
		memcpy(f->context, e->contexts, contexts);
		return ATTN_OK;
	}
	TRY(forward_attend(f, err));
	if (e->crossing) {
		TRY(forward_finish(f, err));
		TRY(forward_attend(f, err));
	}
	memcpy(e->contexts, f->context, contexts);
	memcpy(e->before, f->x, states);
	e->contexts_of = layer;
	return ATTN_OK;
}

/* The first layer that loses a head which was not taken out before; the number of layers: none. */
static size_t first_layer(const struct head_effects *e, const bool *without)
{
	size_t heads = e->model->a.heads, count = e->model->a.layers * heads;
	for (size_t i = 0; i < count; i++)
		if (without[i] != e->without[i])
			return i / heads;
	return e->model->a.layers;
}

enum attn_status head_effects_try(struct head_effects *e, const bool *without, struct effect *effect,
				  struct attn_error *err)
{
	size_t layer = first_layer(e, without);
	if (layer == e->model->a.layers)
		layer--;
	TRY(come_to(e, layer, err));
	e->forward.without = without;
	enum attn_status status = forward_finish(&e->forward, err);
	if (status == ATTN_OK)
		status = run_on(e, false, err);
	if (status == ATTN_OK)
		status = measure(e, e->some, effect, err);
	e->forward.without = e->without;
	return status;
}

enum attn_status head_effects_take_out(struct head_effects *e, const bool *without, struct attn_error *err)
{
	size_t layer = first_layer(e, without);
	if (layer == e->model->a.layers)
		return ATTN_OK;
	TRY(come_to(e, layer, err));
	memcpy(e->without, without, e->model->a.layers * e->model->a.heads * sizeof *without);
	if (e->contexts_of != layer)
		e->contexts_of = SIZE_MAX;
	TRY(forward_finish(&e->forward, err));
	return run_on(e, true, err);
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum attn_status allocate(struct head_effects *e, struct attn_error *err)
{
	const struct architecture *a = &e->model->a;
	size_t outputs = e->rows > 0 ? model_outputs(e->model) : 0;
	e->without = array_alloc(a->layers, a->heads);
	e->entering = floats_alloc4(a->layers, e->tokens, a->width, 1);
	e->contexts = floats_alloc4(e->tokens, a->heads, a->head_size, 1);
	e->before = floats_alloc4(e->tokens, a->width, 1, 1);
	e->last = floats_alloc4(e->tokens, a->width, 1, 1);
	bool ok = e->without && e->entering && e->contexts && e->before && e->last;
	if (outputs > 0) {
		e->logits = floats_alloc4(e->rows, outputs, 1, 1);
		e->some = floats_alloc4(e->rows, outputs, 1, 1);
		ok = ok && e->logits && e->some;
	}
	return ok ? ATTN_OK : attn_fail_memory(err);
}

double head_effects_bytes(const struct model *m, size_t tokens)
{
	const struct architecture *a = &m->a;
	return (double)tokens * sizeof(float) *
	       ((double)(a->layers + 2) * (double)a->width + (double)(a->heads * a->head_size));
}

/* Whether it has logits is seen where its head is looked for. */
static enum attn_status find_tensors(struct head_effects *e, struct attn_error *err)
{
	struct model *m = e->model;
	TRY(model_find_layers(m, m->a.layers, err));
	if (model_find_end(m, true, NULL) == ATTN_OK)
		e->rows = e->picture ? 1 : e->tokens;
	return e->rows > 0 ? ATTN_OK : model_find_end(m, false, err);
}

static enum attn_status encode(struct head_effects *e, const struct text_ids *source, struct attn_error *err)
{
	static const struct model_want want = {.to_end = true};
	TRY(model_rows_new(&e->encoder, e->model->encoder, source, &want, err));
	e->forward.memory_count = source->count;
	return model_rows_states(e->encoder, &e->forward.memory, err);
}

/* The likeliest, or the one that was given, which there must be. */
static enum attn_status choose_next(struct head_effects *e, size_t *next, struct attn_error *err)
{
	size_t outputs = model_outputs(e->model), best = 0;
	const float *end = e->logits + (e->rows - 1) * outputs;
	for (size_t i = 1; i < outputs; i++)
		best = end[i] > end[best] ? i : best;
	if (*next == SIZE_MAX)
		*next = best;
	e->next = *next;
	return *next < outputs ? ATTN_OK
			       : attn_fail(err, ATTN_BAD_INPUT,
					   "token %zu is not among the %zu that the model "
					   "predicts",
					   *next, outputs);
}

static enum attn_status run_whole(struct head_effects *e, size_t *next, struct attn_error *err)
{
	struct forward *f = &e->forward;
	TRY(forward_begin(f, err));
	TRY(run_on(e, true, err));
	memcpy(e->last, f->x, e->tokens * e->model->a.width * sizeof *f->x);
	TRY(measure(e, e->logits, &e->whole, err));
	if (e->rows == 0)
		return ATTN_OK;
	TRY(choose_next(e, next, err));
	read_logits(e, e->logits, &e->whole);
	e->whole.divergence = e->whole.logit = 0;
	return ATTN_OK;
}

enum attn_status head_effects_open(struct head_effects **out, struct model *m, const struct text_ids *text,
				   const struct text_ids *source, bool crossing, size_t *next,
				   struct attn_error *err)
{
	struct head_effects *e = *out = calloc(1, sizeof *e);
	if (!e)
		return attn_fail_memory(err);
	e->model = m;
	e->crossing = crossing;
	e->picture = m->a.family->pictures;
	e->causal = m->a.family->causal && !e->picture;
	e->tokens = text->count;
	e->contexts_of = SIZE_MAX;
	enum attn_status status = model_check_text(m, text, err);
	if (status == ATTN_OK)
		status = find_tensors(e, err);
	if (status == ATTN_OK)
		status = allocate(e, err);
	if (status == ATTN_OK)
		status = forward_init(&e->forward, m, text, err);
	if (status == ATTN_OK && source)
		status = encode(e, source, err);
	e->forward.without = e->without;
	e->forward.without_crossing = crossing;
	if (status == ATTN_OK)
		status = run_whole(e, next, err);
	if (status != ATTN_OK) {
		head_effects_free(e);
		*out = NULL;
	}
	return status;
}

void head_effects_free(struct head_effects *e)
{
	if (!e)
		return;
	if (e->encoder)
		e->encoder->free(e->encoder);
	forward_release(&e->forward);
	free(e->without);
	free(e->entering);
	free(e->contexts);
	free(e->before);
	free(e->last);
	free(e->logits);
	free(e->some);
	free(e);
}

struct effect head_effects_whole(const struct head_effects *e)
{
	return e->whole;
}
