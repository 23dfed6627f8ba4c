#include "attention/latent.h"

#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "attention/matrix.h"
#include "util/memory.h"

/* --- down ----------------------------------------------------------------------- */

/* Batch items that share their tokens share their latents. */
static size_t latent_batch(const struct attention *a, const struct sequence *x)
{
	return x->batch_stride > 0 ? a->batch : 1;
}

/* RMS norm of `count` vectors in place.  Its eps is that of the norm of Q and K. */
static enum attn_status norm_latents(const struct attention *a, float *x, const struct sequence *shape,
				     size_t count, const float *gain, const char *what,
				     struct attn_error *err)
{
	const struct vector_norm norm = {.kind = VECTOR_NORM_RMS, .eps = a->q_norm.eps};
	for (size_t i = 0; i < count; i++, x += shape->cols)
		if (!vector_normalize(&norm, gain, x, shape->cols))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "the normalised %s of batch item %zu, token %zu overflows float32",
					 what, i / shape->rows, i % shape->rows);
	return ATTN_OK;
}

/* *out = norm(x w); a missing w leaves x as it is. */
static enum attn_status project_down(const struct latents *l, const struct sequence *x,
				     const struct matrix *w, const float *gain, const char *what,
				     struct sequence *out, float **memory, struct attn_error *err)
{
	size_t batch = latent_batch(l->attention, x);
	*out = *x;
	if (!w->data)
		return ATTN_OK;
	float *data = *memory = floats_alloc4(batch, x->rows, w->cols, 1);
	if (!data)
		return attn_fail_memory(err);
	*out = (struct sequence){data, x->rows, w->cols, batch > 1 ? x->rows * w->cols : 0};
	struct heads_place to = {data, x->rows * w->cols, 0, w->cols, 0};
	enum attn_status status = engine_project(l->kernels, x, batch, w, NULL, what, &to, err);
	if (status != ATTN_OK || !gain)
		return status;
	return norm_latents(l->attention, data, out, batch * x->rows, gain, what, err);
}

enum attn_status latents_init(struct latents *l, const struct kernels *kernels, const struct attention *a,
			      struct attn_error *err)
{
	const struct latent *w = &a->latent;
	*l = (struct latents){.kernels = kernels, .attention = a};
	if (!w->down_kv.data)
		return ATTN_OK;
	TRY(project_down(l, &a->embeddings, &w->down_q, w->q_gain, "query latent", &l->query, &l->memory[0],
			 err));
	return project_down(l, &a->source, &w->down_kv, w->kv_gain, "key and value latent", &l->key_value,
			    &l->memory[1], err);
}

void latents_release(struct latents *l)
{
	free(l->memory[0]);
	free(l->memory[1]);
	*l = (struct latents){0};
}

/* --- up --------------------------------------------------------------------------- */

/* Each head's columns of w, to the dimensions of its vectors from `first` on. */
static enum attn_status project_up(const struct latents *l, const struct sequence *x,
				   const struct head_columns *w, const struct head_set *set, const char *what,
				   const struct heads_place *to, size_t first, struct attn_error *err)
{
	const struct attention *a = l->attention;
	if (!w->w.data)
		return ATTN_OK;
	/* Heads whose columns lie as the vectors do are projected together. */
	bool whole = w->step == to->size && w->w.cols == to->size;
	for (size_t slot = 0, run; slot < set->count; slot += run) {
		run = whole ? head_set_run(set, slot) : 1;
		struct matrix columns = matrix_columns(&w->w, set->heads[slot] * w->step, run * w->w.cols);
		struct heads_place heads = {to->data + slot * to->head_stride + first, to->batch_stride,
					    whole ? to->head_stride : 0, to->size, to->first_token};
		TRY(engine_project(l->kernels, x, a->batch, &columns, NULL, what, &heads, err));
	}
	return ATTN_OK;
}

/* The rotary part of keys: made once, at the first head, and copied to the others. */
static enum attn_status share_rotary(const struct latents *l, const struct head_set *set,
				     const struct heads_place *to, size_t first, struct attn_error *err)
{
	const struct attention *a = l->attention;
	const struct matrix *w = &a->latent.rotary_k;
	if (!w->data || set->count == 0)
		return ATTN_OK;
	struct heads_place part = {to->data + first, to->batch_stride, 0, to->size, to->first_token};
	TRY(engine_project(l->kernels, &a->source, a->batch, w, NULL, "key", &part, err));
	for (size_t b = 0; b < a->batch; b++) {
		float *from = part.data + b * part.batch_stride + part.first_token * part.size;
		for (size_t slot = 1; slot < set->count; slot++)
			for (size_t t = 0; t < a->source.rows; t++)
				memcpy(from + slot * to->head_stride + t * to->size, from + t * to->size,
				       w->cols * sizeof *from);
	}
	return ATTN_OK;
}

enum attn_status latents_project(const struct latents *l, enum latent_target target,
				 const struct head_set *set, const struct heads_place *to,
				 struct attn_error *err)
{
	const struct latent *w = &l->attention->latent;
	size_t plain = to->size - w->rotary_size; /* of Q and K */
	enum attn_status status;
	switch (target) {
	case LATENT_QUERY:
		status = project_up(l, &l->query, &w->up_q, set, "query", to, 0, err);
		return status == ATTN_OK
			   ? project_up(l, &l->query, &w->rotary_q, set, "query", to, plain, err)
			   : status;
	case LATENT_KEY:
		status = project_up(l, &l->key_value, &w->up_k, set, "key", to, 0, err);
		return status == ATTN_OK ? share_rotary(l, set, to, plain, err) : status;
	case LATENT_VALUE:
		break;
	}
	return project_up(l, &l->key_value, &w->up_v, set, "value", to, 0, err);
}

/* --- cost and memory --------------------------------------------------------------- */

size_t latents_bytes(const struct attention *a)
{
	const struct latent *w = &a->latent;
	size_t query = latent_batch(a, &a->embeddings) * a->embeddings.rows * w->down_q.cols;
	size_t key_value = latent_batch(a, &a->source) * a->source.rows * w->down_kv.cols;
	return (query + key_value) * sizeof(float);
}

/* Multiply-adds of `tokens` vectors times `heads` such matrices. */
static double work(double tokens, const struct matrix *w, size_t heads)
{
	return tokens * (double)w->rows * (double)w->cols * (double)heads;
}

double latent_cost(const struct plan *plan)
{
	const struct attention *a = plan->attention;
	const struct latent *w = &a->latent;
	double queries = (double)a->batch * (double)a->queries, keys = (double)a->batch * (double)a->keys.own;
	double cost = work((double)(latent_batch(a, &a->embeddings) * a->embeddings.rows), &w->down_q, 1) +
		      work((double)(latent_batch(a, &a->source) * a->source.rows), &w->down_kv, 1);
	cost += work(queries, &w->up_q.w, plan->queries.count) +
		work(queries, &w->rotary_q.w, plan->queries.count);
	cost += work(keys, &w->rotary_k, 1) + work(keys, &w->up_k.w, plan->keys.count);
	return plan->want.values ? cost + work(keys, &w->up_v.w, plan->values.count) : cost;
}
