#include "model/forward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "attention/row_norm.h"
#include "model/experts.h"
#include "model/forward_internal.h"
#include "util/memory.h"
#include "util/minmax.h"

/* Rows that lie a multiple of a page apart would share few places of the caches. */
static size_t inner_stride(const struct architecture *a)
{
	enum {
		LINE = 64 / sizeof(float)
	};
	size_t inner = size_max(a->inner, a->expert_inner);
	size_t lines = (inner + LINE - 1) / LINE;
	return (lines | 1) * LINE;
}

/* Angles are the same in all layers that have the rope.  False: no memory. */
static bool make_rotations(const struct rope *rope, const struct text_ids *text, float **table)
{
	const struct rotary rotary = rope_rotary(rope, text->first + text->count);
	if (rotary.dims == 0)
		return true;
	double *positions = positions_count(text->first, text->count);
	if (!*table)
		*table = floats_alloc4(text->count, rotary.dims, 1, 1);
	if (positions && *table)
		rotary_table(&rotary, positions, text->count, *table);
	free(positions);
	return positions && *table;
}

/* Whether what is added to the stream waits in memory of its own. */
static bool needs_beside(const struct architecture *a)
{
	const struct tensor_names *names = &a->family->names;
	return a->order == RESIDUAL_PARALLEL || names->attention_scale || names->attention_output_norm ||
	       names->mlp_output_norm;
}

enum attn_status forward_init(struct forward *f, const struct model *m, const struct text_ids *text,
			      struct attn_error *err)
{
	const struct architecture *a = &m->a;
	*f = (struct forward){.model = m, .kernels = kernels_best(), .text = *text};
	f->x = floats_alloc4(text->count, a->width, 1, 1);
	f->normed =
	    floats_alloc4(text->count, a->width > a->embedding_width ? a->width : a->embedding_width, 1, 1);
	f->context = floats_alloc4(text->count, a->heads, a->head_size, 1);
	f->inner = floats_alloc4(text->count, inner_stride(a), 1, 1);
	bool ok = f->x && f->normed && f->context && f->inner &&
		  make_rotations(&a->rope, text, &f->rotations) &&
		  make_rotations(&a->local_rope, text, &f->local_rotations);
	if (ok && needs_beside(a))
		ok = (f->beside = floats_alloc4(text->count, a->width, 1, 1)) != NULL;
	if (ok && a->family->names.fused && a->family->fused_order == FUSED_BY_HEAD)
		ok = (f->fused = floats_alloc4(text->count, 3 * a->heads, a->head_size, 1)) != NULL;
	if (ok)
		return ATTN_OK;
	forward_release(f);
	return attn_fail_memory(err);
}

void forward_release(struct forward *f)
{
	free(f->x);
	free(f->normed);
	free(f->context);
	free(f->inner);
	free(f->rotations);
	free(f->local_rotations);
	free(f->beside);
	free(f->fused);
	*f = (struct forward){0};
}

enum attn_status forward_continue(struct forward *f, const struct text_ids *text, struct attn_error *err)
{
	const struct architecture *a = &f->model->a;
	f->text = *text;
	return make_rotations(&a->rope, text, &f->rotations) &&
		       make_rotations(&a->local_rope, text, &f->local_rotations)
		   ? ATTN_OK
		   : attn_fail_memory(err);
}

double forward_bytes(const struct model *m, size_t tokens)
{
	const struct architecture *a = &m->a;
	return (double)tokens * sizeof(float) *
	       (double)(2 * a->width + a->heads * a->head_size + inner_stride(a));
}

double forward_finish_cost(const struct model *m, size_t tokens, bool before_crossing)
{
	const struct architecture *a = &m->a;
	const struct tensor_names *names = &a->family->names;
	bool gated = (names->gate && !a->ungated) || names->gate_up || names->expert_gate;
	double matrices = gated ? 3 : 2;
	if (before_crossing)
		return (double)tokens * (double)a->width * (double)(a->heads * a->head_size);
	double inner = a->experts > 0 ? (double)a->token_experts * (double)a->expert_inner : (double)a->inner;
	return (double)tokens * (double)a->width * ((double)(a->heads * a->head_size) + matrices * inner);
}

/* --- the parts of a layer ------------------------------------------------------------- */

/* out (rows, width) = the norm of x (rows, width). */
static enum attn_status normalise(const struct forward *f, const struct norm *norm, const float *x,
				  size_t width, float *out, struct attn_error *err)
{
	const struct row_norm n = {
	    .kind = f->model->a.family->norm == MODEL_LAYER_NORM ? ROW_NORM_LAYER : ROW_NORM_RMS,
	    .eps = f->model->a.eps,
	    .gain = norm->gain,
	    .bias = norm->bias,
	};
	return norm_rows(f->kernels, &n, x, f->text.count, width, out, err);
}

/* out (rows, outputs) = the layer of x (rows, inputs). */
static enum attn_status apply(const struct forward *f, const struct linear *l, const float *x, size_t rows,
			      const struct projection_end *end, float *out, struct attn_error *err)
{
	return project_rows(f->kernels, x, l->w.rows, rows, &l->w, l->bias, end, out, l->w.cols,
			    "hidden states", err);
}

/* out = the feed-forward layer of `in`, added to `residual` where that is not NULL. */
static enum attn_status feed_forward(struct forward *f, const float *in, const float *residual, float *out,
				     struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const struct architecture *a = &f->model->a;
	if (layer->experts) {
		size_t bytes = f->text.count * a->width * sizeof *out;
		if (!residual)
			memset(out, 0, bytes);
		else if (out != residual)
			memcpy(out, residual, bytes);
		return experts_add(f, layer, in, out, err);
	}
	struct projection_end inside = {.activation = a->activation};
	struct projection_end outside = {.activation = ACTIVATION_LINEAR, .residual = residual};
	if (layer->gate.w.data)
		inside.gate = &layer->gate.w, inside.gate_bias = layer->gate.bias;
	const struct linear *up = &layer->up, *down = &layer->down;
	size_t stride = inner_stride(a), rows = f->text.count;
	TRY(project_rows(f->kernels, in, a->width, rows, &up->w, up->bias, &inside, f->inner, stride,
			 "hidden states", err));
	return project_rows(f->kernels, f->inner, stride, rows, &down->w, down->bias, &outside, out, a->width,
			    "hidden states", err);
}

/* out = the layer's output of the contexts, likewise. */
static enum attn_status attention_output(struct forward *f, const float *residual, float *out,
					 struct attn_error *err)
{
	const struct projection_end end = {.activation = ACTIVATION_LINEAR, .residual = residual};
	const struct layer *layer = &f->model->layers[f->layer];
	const struct linear *output = f->crossing ? &layer->cross.output : &layer->output;
	return apply(f, output, f->context, f->text.count, &end, out, err);
}

/* x = x + the norm of what waits. */
static enum attn_status add_normalised(struct forward *f, const struct norm *norm, struct attn_error *err)
{
	size_t width = f->model->a.width;
	TRY(normalise(f, norm, f->beside, width, f->beside, err));
	for (size_t i = 0; i < f->text.count * width; i++)
		f->x[i] += f->beside[i];
	return ATTN_OK;
}

/* --- the pass ----------------------------------------------------------------------------- */

enum attn_status forward_begin(struct forward *f, struct attn_error *err)
{
	const struct model *m = f->model;
	const struct norm *norm = &m->embedding_norm;
	size_t width = m->a.embedding_width;
	bool projects = m->embedding_projection.w.data != NULL;
	f->layer = 0;
	f->crossing = false;
	float *sums = norm->gain || projects ? f->normed : f->x; /* the last step writes x */
	TRY(model_embed(m, &f->text, sums, err));
	if (norm->gain)
		TRY(normalise(f, norm, sums, width, projects ? sums : f->x, err));
	if (!projects)
		return ATTN_OK;
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	return apply(f, &m->embedding_projection, sums, f->text.count, &plain, f->x, err);
}

enum attn_status forward_norm(struct forward *f, struct attn_error *err)
{
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	const struct layer *layer = &f->model->layers[f->layer];
	const float *in = forward_attention_input(f, f->layer, f->crossing);
	if (in != f->x)
		TRY(normalise(f, forward_attention_norm(f, f->layer, f->crossing), f->x, f->model->a.width,
			      f->normed, err));
	if (f->crossing && f->cache && f->cache->crossed)
		return apply(f, &layer->cross.query, in, f->text.count, &plain, f->cache->query, err);
	return f->fused && !f->crossing ? apply(f, &layer->fused, in, f->text.count, &plain, f->fused, err)
					: ATTN_OK;
}

/* Whether the layer's cross-attention comes next. */
static bool before_crossing(const struct forward *f)
{
	return f->model->encoder && !f->crossing;
}

static enum attn_status finish_post(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	size_t width = f->model->a.width;
	TRY(attention_output(f, f->x, f->normed, err));
	TRY(normalise(f, forward_attention_norm(f, f->layer, f->crossing), f->normed, width, f->x, err));
	if (before_crossing(f))
		return ATTN_OK;
	TRY(feed_forward(f, f->x, f->x, f->normed, err));
	return normalise(f, &layer->mlp_norm, f->normed, width, f->x, err);
}

/* x = x + what waits, by factors. */
static void add_scaled(struct forward *f, const float *scale)
{
	size_t width = f->model->a.width;
	for (size_t i = 0; i < f->text.count; i++)
		for (size_t c = 0; c < width; c++)
			f->x[i * width + c] += scale[c] * f->beside[i * width + c];
}

static enum attn_status finish_pre(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const float *in = f->x;
	if (layer->attention_output_norm.gain) {
		TRY(attention_output(f, NULL, f->beside, err));
		TRY(add_normalised(f, &layer->attention_output_norm, err));
	} else if (layer->attention_scale) {
		TRY(attention_output(f, NULL, f->beside, err));
		add_scaled(f, layer->attention_scale);
	} else {
		TRY(attention_output(f, f->x, f->x, err));
	}
	if (before_crossing(f))
		return ATTN_OK;
	if (layer->mlp_norm.gain) {
		TRY(normalise(f, &layer->mlp_norm, f->x, f->model->a.width, f->normed, err));
		in = f->normed;
	}
	if (!layer->mlp_output_norm.gain && !layer->mlp_scale)
		return feed_forward(f, in, f->x, f->x, err);
	TRY(feed_forward(f, in, NULL, f->beside, err));
	if (layer->mlp_output_norm.gain)
		return add_normalised(f, &layer->mlp_output_norm, err);
	add_scaled(f, layer->mlp_scale);
	return ATTN_OK;
}

/* Both read the stream before either is added. */
static enum attn_status finish_parallel(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const float *in = f->normed;
	if (layer->mlp_norm.gain) {
		TRY(normalise(f, &layer->mlp_norm, f->x, f->model->a.width, f->beside, err));
		in = f->beside;
	}
	TRY(attention_output(f, f->x, f->x, err));
	return feed_forward(f, in, f->x, f->x, err);
}

/* Contexts of heads that are taken out. */
static void take_out(struct forward *f)
{
	const struct architecture *a = &f->model->a;
	for (size_t h = 0; h < a->heads && f->without && f->without_crossing == f->crossing; h++)
		for (size_t t = 0; t < f->text.count && f->without[f->layer * a->heads + h]; t++)
			memset(f->context + (t * a->heads + h) * a->head_size, 0,
			       a->head_size * sizeof *f->context);
}

enum attn_status forward_finish(struct forward *f, struct attn_error *err)
{
	take_out(f);
	enum residual_order order = f->model->a.order;
	TRY(order == RESIDUAL_POST       ? finish_post(f, err)
	    : order == RESIDUAL_PARALLEL ? finish_parallel(f, err)
					 : finish_pre(f, err));
	f->crossing = before_crossing(f);
	f->layer += !f->crossing;
	return ATTN_OK;
}

enum attn_status forward_final(struct forward *f, struct attn_error *err)
{
	const struct norm *norm = &f->model->final_norm;
	size_t width = f->model->a.width;
	if (norm->gain)
		return normalise(f, norm, f->x, width, f->normed, err);
	memcpy(f->normed, f->x, f->text.count * width * sizeof *f->x);
	return ATTN_OK;
}

/* The dense layer of a head, its activation and its norm, into rows that are then owned by the
 * caller. */
static enum attn_status head_rows(struct forward *f, size_t first, size_t count, float **rows,
				  struct attn_error *err)
{
	const struct head *head = &f->model->head;
	const struct projection_end end = {.activation = f->model->a.head_activation};
	size_t width = head->dense.w.cols;
	*rows = floats_alloc4(count, width, 1, 1);
	if (!*rows)
		return attn_fail_memory(err);
	TRY(apply(f, &head->dense, f->normed + first * f->model->a.width, count, &end, *rows, err));
	if (!head->norm.gain)
		return ATTN_OK;
	const struct row_norm n = {
	    .kind = ROW_NORM_LAYER, .eps = f->model->a.eps, .gain = head->norm.gain, .bias = head->norm.bias};
	return norm_rows(f->kernels, &n, *rows, count, width, *rows, err);
}

/* What follows the last matrix. */
static void finish_logits(const struct forward *f, size_t count, float *logits)
{
	const struct head *head = &f->model->head;
	double scale = f->model->a.head_scale, cap = f->model->a.head_softcap;
	size_t outputs = head->out.w.cols;
	for (size_t i = 0; i < count * outputs && scale > 0; i++)
		logits[i] = (float)(scale * (double)logits[i]);
	for (size_t i = 0; i < count * outputs && head->shift; i++)
		logits[i] += head->shift[i % outputs];
	for (size_t i = 0; i < count * outputs && cap > 0; i++)
		logits[i] = (float)(cap * tanh((double)logits[i] / cap));
}

enum attn_status forward_logits(struct forward *f, size_t first, size_t count, float *logits,
				struct attn_error *err)
{
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	const struct head *head = &f->model->head;
	float *rows = NULL;
	enum attn_status status = ATTN_OK;
	if (head->dense.w.data)
		status = head_rows(f, first, count, &rows, err);
	if (status == ATTN_OK)
		status = apply(f, &head->out, rows ? rows : f->normed + first * f->model->a.width, count,
			       &plain, logits, err);
	if (status == ATTN_OK)
		finish_logits(f, count, logits);
	free(rows);
	return status;
}
