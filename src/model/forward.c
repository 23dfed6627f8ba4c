#include "model/forward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "attention/row_norm.h"
#include "model/experts.h"
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
static bool make_rotations(const struct rope *rope, size_t tokens, float **table)
{
	const struct rotary rotary = rope_rotary(rope, tokens);
	if (rotary.dims == 0)
		return true;
	double *positions = positions_count(0, tokens);
	*table = floats_alloc4(tokens, rotary.dims, 1, 1);
	if (positions && *table)
		rotary_table(&rotary, positions, tokens, *table);
	free(positions);
	return positions && *table;
}

/* Whether what is added to the stream waits in memory of its own. */
static bool needs_beside(const struct architecture *a)
{
	const struct tensor_names *names = &a->family->names;
	return a->order == RESIDUAL_PARALLEL || names->attention_output_norm || names->mlp_output_norm;
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
		  make_rotations(&a->rope, text->count, &f->rotations) &&
		  make_rotations(&a->local_rope, text->count, &f->local_rotations);
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

double forward_bytes(const struct model *m, size_t tokens)
{
	const struct architecture *a = &m->a;
	return (double)tokens * sizeof(float) *
	       (double)(2 * a->width + a->heads * a->head_size + inner_stride(a));
}

double forward_finish_cost(const struct model *m, size_t tokens)
{
	const struct architecture *a = &m->a;
	const struct tensor_names *names = &a->family->names;
	double matrices = names->gate || names->gate_up || names->expert_gate ? 3 : 2;
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
	return apply(f, &f->model->layers[f->layer].output, f->context, f->text.count, &end, out, err);
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
	float *sums = norm->gain || projects ? f->normed : f->x; /* the last step writes x */
	TRY(model_embed(m, &f->text, sums, err));
	if (norm->gain)
		TRY(normalise(f, norm, sums, width, projects ? sums : f->x, err));
	if (!projects)
		return ATTN_OK;
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	return apply(f, &m->embedding_projection, sums, f->text.count, &plain, f->x, err);
}

/* What a layer's attention reads: x, or the norm of it. */
static const float *attention_input(const struct forward *f, size_t layer)
{
	bool behind = f->model->a.order == RESIDUAL_POST;
	return behind || !f->model->layers[layer].attention_norm.gain ? f->x : f->normed;
}

enum attn_status forward_norm(struct forward *f, struct attn_error *err)
{
	static const struct projection_end plain = {.activation = ACTIVATION_LINEAR};
	const struct layer *layer = &f->model->layers[f->layer];
	const float *in = attention_input(f, f->layer);
	if (in != f->x)
		TRY(normalise(f, &layer->attention_norm, f->x, f->model->a.width, f->normed, err));
	return f->fused ? apply(f, &layer->fused, in, f->text.count, &plain, f->fused, err) : ATTN_OK;
}

static enum attn_status finish_post(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	size_t width = f->model->a.width;
	TRY(attention_output(f, f->x, f->normed, err));
	TRY(normalise(f, &layer->attention_norm, f->normed, width, f->x, err));
	TRY(feed_forward(f, f->x, f->x, f->normed, err));
	return normalise(f, &layer->mlp_norm, f->normed, width, f->x, err);
}

static enum attn_status finish_pre(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const float *in = f->x;
	if (layer->attention_output_norm.gain) {
		TRY(attention_output(f, NULL, f->beside, err));
		TRY(add_normalised(f, &layer->attention_output_norm, err));
	} else {
		TRY(attention_output(f, f->x, f->x, err));
	}
	if (layer->mlp_norm.gain) {
		TRY(normalise(f, &layer->mlp_norm, f->x, f->model->a.width, f->normed, err));
		in = f->normed;
	}
	if (!layer->mlp_output_norm.gain)
		return feed_forward(f, in, f->x, f->x, err);
	TRY(feed_forward(f, in, NULL, f->beside, err));
	return add_normalised(f, &layer->mlp_output_norm, err);
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

enum attn_status forward_finish(struct forward *f, struct attn_error *err)
{
	enum residual_order order = f->model->a.order;
	TRY(order == RESIDUAL_POST       ? finish_post(f, err)
	    : order == RESIDUAL_PARALLEL ? finish_parallel(f, err)
					 : finish_pre(f, err));
	f->layer++;
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
	double cap = f->model->a.head_softcap;
	for (size_t i = 0; i < count * head->out.w.cols && cap > 0 && status == ATTN_OK; i++)
		logits[i] = (float)(cap * tanh((double)logits[i] / cap));
	free(rows);
	return status;
}

/* --- attention ---------------------------------------------------------------------------- */

static void set_masking(struct attention *a, const struct architecture *arch, size_t layer)
{
	a->masking.causal = arch->family->causal;
	if (!architecture_slides(arch, layer))
		return;
	a->masking.left_bound = true;
	a->masking.left = arch->family->causal ? arch->window - 1 : arch->window;
	a->masking.right_bound = !arch->family->causal;
	a->masking.right = arch->window;
}

static struct vector_norm vector_norm_of(const struct architecture *arch, const struct norm *norm)
{
	bool whole = arch->family->whole_query_norm;
	return (struct vector_norm){.kind = norm->gain ? VECTOR_NORM_RMS : VECTOR_NORM_NONE,
				    .eps = arch->eps,
				    .gain = norm->gain,
				    .gain_stride = whole ? arch->head_size : 0,
				    .whole = whole};
}

/* Queries, keys and values: projected by the engine, or taken from where they were made at once. */
static void set_vectors(const struct forward *f, size_t layer, struct attention *a)
{
	const struct architecture *arch = &f->model->a;
	const struct layer *w = &f->model->layers[layer];
	size_t d = arch->head_size, row = 3 * arch->heads * d;
	if (!a->projected) {
		a->q = (struct heads_view){f->fused, 0, 3 * d, row};
		a->k = (struct heads_view){f->fused + d, 0, 3 * d, row};
		a->v = (struct heads_view){f->fused + 2 * d, 0, 3 * d, row};
		return;
	}
	a->embeddings = (struct sequence){attention_input(f, layer), f->text.count, arch->width, 0};
	a->source = a->source_values = a->embeddings;
	a->wq = w->query.w;
	a->wk = w->key.w;
	a->wv = w->value.w;
	a->bq = w->query.bias;
	a->bk = w->key.bias;
	a->bv = w->value.bias;
}

/* Biases by distance. */
static enum attn_status set_relative(const struct forward *f, struct attention *a, struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	const struct relative_rules rules = {.alibi = arch->alibi,
					     .bias = f->model->relative_bias,
					     .buckets = arch->buckets,
					     .bidirectional = !arch->family->causal,
					     .max_distance = 128};
	return arch->alibi || arch->buckets > 0 ? relative_init(&a->relative, &rules, &a->masking, err)
						: ATTN_OK;
}

static enum attn_status set_rotary(const struct forward *f, size_t layer, struct attention *a,
				   struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	bool local = arch->two_ropes && architecture_slides(arch, layer);
	size_t tokens = f->text.count;
	if (arch->family->scheme != POSITIONS_ROTARY || (arch->unrotated && arch->unrotated[layer]))
		return ATTN_OK;
	a->rotary = rope_rotary(local ? &arch->local_rope : &arch->rope, tokens);
	a->rotary.table = local ? f->local_rotations : f->rotations;
	if (a->rotary.dims == 0)
		return ATTN_OK;
	a->positions = (struct positions){positions_count(0, tokens), positions_count(0, tokens), 1, 1};
	return a->positions.queries && a->positions.keys ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status forward_attention(const struct forward *f, size_t layer, struct attention *a,
				   struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	const struct layer *w = &f->model->layers[layer];
	size_t tokens = f->text.count;
	*a = (struct attention){.batch = 1,
				.heads = arch->heads,
				.kv_heads = arch->kv_heads,
				.queries = tokens,
				.keys = {.own = tokens},
				.head_size = arch->head_size,
				.value_size = arch->head_size,
				.has_values = true,
				.projected = f->fused == NULL};
	attention_set_plain(a);
	set_vectors(f, layer, a);
	a->q_norm = vector_norm_of(arch, &w->query_norm);
	a->k_norm = vector_norm_of(arch, &w->key_norm);
	a->score.scale = architecture_scale(arch, layer);
	a->score.softcap = arch->softcap;
	a->output.wo = w->output.w;
	a->output.bo = w->output.bias;
	set_masking(a, arch, layer);
	TRY(set_relative(f, a, err));
	return set_rotary(f, layer, a, err);
}
