#include "model/forward.h"

#include <stdlib.h>
#include <string.h>

#include "attention/project.h"
#include "attention/row_norm.h"
#include "util/memory.h"

/* Rows that lie a multiple of a page apart would share few places of the caches. */
static size_t inner_stride(const struct architecture *a)
{
	enum {
		LINE = 64 / sizeof(float)
	};
	size_t lines = (a->inner + LINE - 1) / LINE;
	return (lines | 1) * LINE;
}

/* Angles are the same in all layers.  False: no memory. */
static bool make_rotations(struct forward *f)
{
	const struct rotary rotary = rope_rotary(&f->model->a.rope, f->text.count);
	double *positions = positions_count(0, f->text.count);
	f->rotations = floats_alloc4(f->text.count, rotary.dims, 1, 1);
	if (positions && f->rotations)
		rotary_table(&rotary, positions, f->text.count, f->rotations);
	free(positions);
	return positions && f->rotations;
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
	bool ok = f->x && f->normed && f->context && f->inner;
	if (ok && a->rope.rotary.dims > 0)
		ok = make_rotations(f);
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
	double matrices = a->family->names.gate ? 3 : 2;
	return (double)tokens * (double)a->width *
	       ((double)(a->heads * a->head_size) + matrices * (double)a->inner);
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

/* x = x + the feed-forward layer of `in`; where norms stand behind, x is `in`. */
static enum attn_status feed_forward(struct forward *f, const float *in, float *out, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const struct architecture *a = &f->model->a;
	struct projection_end inside = {.activation = a->activation};
	struct projection_end outside = {.activation = ACTIVATION_LINEAR, .residual = f->x};
	if (layer->gate.w.data)
		inside.gate = &layer->gate.w, inside.gate_bias = layer->gate.bias;
	const struct linear *up = &layer->up, *down = &layer->down;
	size_t stride = inner_stride(a), rows = f->text.count;
	TRY(project_rows(f->kernels, in, a->width, rows, &up->w, up->bias, &inside, f->inner, stride,
			 "hidden states", err));
	return project_rows(f->kernels, f->inner, stride, rows, &down->w, down->bias, &outside, out, a->width,
			    "hidden states", err);
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

enum attn_status forward_norm(struct forward *f, struct attn_error *err)
{
	const struct norm *norm = &f->model->layers[f->layer].attention_norm;
	return f->model->a.family->order == RESIDUAL_PRE
		   ? normalise(f, norm, f->x, f->model->a.width, f->normed, err)
		   : ATTN_OK;
}

enum attn_status forward_finish(struct forward *f, struct attn_error *err)
{
	const struct layer *layer = &f->model->layers[f->layer];
	const struct projection_end add = {.activation = ACTIVATION_LINEAR, .residual = f->x};
	size_t width = f->model->a.width;
	bool behind = f->model->a.family->order == RESIDUAL_POST;
	float *sum = behind ? f->normed : f->x;
	TRY(apply(f, &layer->output, f->context, f->text.count, &add, sum, err));
	if (behind) {
		TRY(normalise(f, &layer->attention_norm, sum, width, f->x, err));
		TRY(feed_forward(f, f->x, sum, err));
		TRY(normalise(f, &layer->mlp_norm, sum, width, f->x, err));
	} else {
		TRY(normalise(f, &layer->mlp_norm, f->x, width, f->normed, err));
		TRY(feed_forward(f, f->normed, f->x, err));
	}
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
	a->masking.left = arch->window - 1;
}

static struct vector_norm vector_norm_of(const struct architecture *arch, const struct norm *norm)
{
	return (struct vector_norm){
	    .kind = norm->gain ? VECTOR_NORM_RMS : VECTOR_NORM_NONE, .eps = arch->eps, .gain = norm->gain};
}

enum attn_status forward_attention(const struct forward *f, size_t layer, struct attention *a,
				   struct attn_error *err)
{
	const struct architecture *arch = &f->model->a;
	const struct layer *w = &f->model->layers[layer];
	size_t tokens = f->text.count;
	const float *in = arch->family->order == RESIDUAL_PRE ? f->normed : f->x;
	*a = (struct attention){.batch = 1,
				.heads = arch->heads,
				.kv_heads = arch->kv_heads,
				.queries = tokens,
				.keys = {.own = tokens},
				.head_size = arch->head_size,
				.value_size = arch->head_size,
				.has_values = true,
				.projected = true};
	attention_set_plain(a);
	a->embeddings = a->source = a->source_values = (struct sequence){in, tokens, arch->width, 0};
	a->wq = w->query.w;
	a->wk = w->key.w;
	a->wv = w->value.w;
	a->bq = w->query.bias;
	a->bk = w->key.bias;
	a->bv = w->value.bias;
	a->q_norm = vector_norm_of(arch, &w->query_norm);
	a->k_norm = vector_norm_of(arch, &w->key_norm);
	a->score.scale = arch->scale_by_layer ? arch->scale / (double)(layer + 1) : arch->scale;
	a->output.wo = w->output.w;
	a->output.bo = w->output.bias;
	set_masking(a, arch, layer);
	if (arch->family->scheme != POSITIONS_ROTARY)
		return ATTN_OK;
	a->rotary = rope_rotary(&arch->rope, tokens);
	a->rotary.table = f->rotations;
	a->positions = (struct positions){positions_count(0, tokens), positions_count(0, tokens), 1, 1};
	return a->positions.queries && a->positions.keys ? ATTN_OK : attn_fail_memory(err);
}
