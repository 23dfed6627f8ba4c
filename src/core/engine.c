#include "core/engine.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reference.h"
#include "util/checked.h"

struct engine {
	struct row_source source; /* first: a source is cast to its engine */
	const struct problem *problem;
	enum score_stage stage;
	size_t keys;
	float *q;      /* (B, H, N, d) */
	float *keys_t; /* (B, G, d, keys): transposed, so that a row of scores is a plain loop over keys */
	float *values; /* (B, G, keys, e) */

	/* One block of rows, (ROWS_BLOCK, keys), and scratch of a row. */
	float *weights, *scores;
	unsigned char *visible;
	double *row;
};

static void engine_free(struct row_source *source)
{
	struct engine *engine = (struct engine *)source;
	free(engine->q);
	free(engine->keys_t);
	free(engine->values);
	free(engine->weights);
	free(engine->scores);
	free(engine->visible);
	free(engine->row);
	free(engine);
}

static float *alloc_floats(size_t a, size_t b, size_t c, size_t d)
{
	size_t count;
	if (!size_mul(a, b, &count) || !size_mul(count, c, &count) || !size_mul(count, d, &count))
		return NULL;
	return array_alloc(count, sizeof(float));
}

static enum attn_status fail_overflow(const char *what, size_t batch, size_t row, struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT, "the %s of batch item %zu, token %zu overflows float32", what,
			 batch, row);
}

/* projected (rows, cols) = x W + b for one batch item, checked for overflow. */
static enum attn_status project(const struct sequence *x, const struct matrix *w, const float *bias,
				size_t batch, const char *what, float *projected, struct attn_error *err)
{
	double *sums = array_alloc(w->cols, sizeof *sums);
	if (!sums)
		return attn_fail_memory(err);
	reference_matmul(projected, w->cols, x->data + batch * x->batch_stride, x->cols, w->data, w->stride,
			 bias, x->rows, x->cols, w->cols, sums);
	free(sums);
	for (size_t i = 0; i < x->rows * w->cols; i++)
		if (!isfinite(projected[i]))
			return fail_overflow(what, batch, i / w->cols, err);
	return ATTN_OK;
}

/* Where a head's vectors go: element (token, c) at out[token * token_stride + c * stride]. */
struct placement {
	float *out;
	size_t token_stride, stride;
};

static void place(const struct placement *to, size_t first, const struct heads_view *from, size_t batch,
		  size_t head, size_t tokens, size_t size)
{
	const float *in = from->data + batch * from->batch_stride + head * from->head_stride;
	for (size_t t = 0; t < tokens; t++)
		for (size_t c = 0; c < size; c++)
			to->out[(first + t) * to->token_stride + c * to->stride] =
			    in[t * from->token_stride + c];
}

/* One of Q, K, V of a batch item as heads side by side: ready-made, or projected
 * into *memory, which the caller frees. */
static enum attn_status own_heads(const struct problem *p, const struct heads_view *ready,
				  const struct sequence *x, const struct matrix *w, const float *bias,
				  size_t size, const char *what, size_t batch, float **memory,
				  struct heads_view *view, struct attn_error *err)
{
	*memory = NULL;
	if (!p->projected) {
		*view = *ready;
		return ATTN_OK;
	}
	*memory = alloc_floats(x->rows, w->cols, 1, 1);
	if (!*memory)
		return attn_fail_memory(err);
	*view = (struct heads_view){*memory, 0, size, w->cols};
	return project(x, w, bias, batch, what, *memory, err);
}

static enum attn_status prepare_queries(struct engine *engine, size_t batch, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	struct heads_view view;
	float *memory;
	enum attn_status status = own_heads(p, &p->q, &p->embeddings, &p->wq, p->bq, p->head_size, "query",
					    batch, &memory, &view, err);
	for (size_t h = 0; h < p->heads && status == ATTN_OK; h++) {
		struct placement to = {engine->q + (batch * p->heads + h) * p->queries * p->head_size,
				       p->head_size, 1};
		place(&to, 0, &view, batch, h, p->queries, p->head_size);
	}
	free(memory);
	return status;
}

/* Past, own and appended keys (or values) of a kv head, one after the other. */
static void place_all(const struct problem *p, const struct placement *to, const struct heads_view *past,
		      const struct heads_view *own, const float *bias, size_t batch, size_t head, size_t size)
{
	if (p->keys.past > 0)
		place(to, 0, past, batch, head, p->keys.past, size);
	place(to, p->keys.past, own, batch, head, p->keys.own, size);
	if (p->keys.bias) {
		struct heads_view view = {bias, 0, size, 0};
		place(to, p->keys.past + p->keys.own, &view, batch, head, 1, size);
	}
	/* add_zero_attn's key and value stay the zeros that they were allocated as. */
}

static enum attn_status prepare_keys(struct engine *engine, size_t batch, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	struct heads_view view;
	float *memory;
	enum attn_status status =
	    own_heads(p, &p->k, &p->source, &p->wk, p->bk, p->head_size, "key", batch, &memory, &view, err);
	for (size_t g = 0; g < p->kv_heads && status == ATTN_OK; g++) {
		struct placement to = {engine->keys_t +
					   (batch * p->kv_heads + g) * p->head_size * engine->keys,
				       1, engine->keys};
		place_all(p, &to, &p->past_k, &view, p->bias_k, batch, g, p->head_size);
	}
	free(memory);
	return status;
}

static enum attn_status prepare_values(struct engine *engine, size_t batch, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	struct heads_view view;
	float *memory;
	enum attn_status status = own_heads(p, &p->v, &p->source_values, &p->wv, p->bv, p->value_size,
					    "value", batch, &memory, &view, err);
	for (size_t g = 0; g < p->kv_heads && status == ATTN_OK; g++) {
		struct placement to = {engine->values +
					   (batch * p->kv_heads + g) * engine->keys * p->value_size,
				       p->value_size, 1};
		place_all(p, &to, &p->past_v, &view, p->bias_v, batch, g, p->value_size);
	}
	free(memory);
	return status;
}

static void copy_scores(float *out, const double *row, size_t keys)
{
	for (size_t j = 0; j < keys; j++)
		out[j] = (float)row[j];
}

/* One query's scores, stage by stage, and weights. */
static void compute_row(struct engine *engine, const struct row_block *block, size_t r)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, query = block->query + r;
	size_t kv_head = block->head / (p->heads / p->kv_heads);
	const float *q =
	    engine->q + ((block->batch * p->heads + block->head) * p->queries + query) * p->head_size;
	const float *keys_t = engine->keys_t + (block->batch * p->kv_heads + kv_head) * p->head_size * keys;
	unsigned char *visible = engine->visible + r * keys;
	float *scores = engine->scores ? engine->scores + r * keys : NULL;
	double *row = engine->row;

	visibility_row(&p->visibility, block->batch, block->head, query, visible);
	reference_scores(row, q, keys_t, p->head_size, keys, p->scale);
	if (engine->stage == SCORES_RAW)
		copy_scores(scores, row, keys);
	if (p->softcap > 0)
		reference_softcap(row, keys, p->softcap);
	if (engine->stage == SCORES_CAPPED)
		copy_scores(scores, row, keys);
	for (size_t j = 0; j < keys; j++)
		row[j] = visible[j] ? row[j] + (double)visibility_bias(&p->visibility, block->batch,
								       block->head, query, j)
				    : -INFINITY;
	if (engine->stage == SCORES_MASKED)
		copy_scores(scores, row, keys);
	reference_softmax(engine->weights + r * keys, row, keys);
}

static enum attn_status engine_read(struct row_source *source, struct row_block *block,
				    struct attn_error *err)
{
	struct engine *engine = (struct engine *)source;
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		compute_row(engine, block, r);
	block->weights = engine->weights;
	block->scores = engine->scores;
	block->visible = engine->visible;
	return ATTN_OK;
}

static bool allocate(struct engine *engine)
{
	const struct problem *p = engine->problem;
	size_t block = p->queries < ROWS_BLOCK ? p->queries : ROWS_BLOCK;
	engine->q = alloc_floats(p->batch, p->heads, p->queries, p->head_size);
	engine->keys_t = alloc_floats(p->batch, p->kv_heads, engine->keys, p->head_size);
	engine->weights = alloc_floats(block, engine->keys, 1, 1);
	engine->visible = array_alloc(block, engine->keys);
	engine->row = array_alloc(engine->keys, sizeof *engine->row);
	if (p->has_values)
		engine->values = alloc_floats(p->batch, p->kv_heads, engine->keys, p->value_size);
	if (engine->stage != SCORES_NONE)
		engine->scores = alloc_floats(block, engine->keys, 1, 1);
	return engine->q && engine->keys_t && engine->weights && engine->visible && engine->row &&
	       (engine->values || !p->has_values) && (engine->scores || engine->stage == SCORES_NONE);
}

enum attn_status engine_new(struct engine **out, const struct problem *p, enum score_stage stage,
			    struct attn_error *err)
{
	struct engine *engine = calloc(1, sizeof *engine);
	*out = NULL;
	if (!engine)
		return attn_fail_memory(err);
	engine->source = (struct row_source){&p->info, &p->visibility, engine_read, engine_free};
	engine->problem = p;
	engine->stage = stage;
	engine->keys = p->info.keys;
	enum attn_status status = allocate(engine) ? ATTN_OK : attn_fail_memory(err);
	for (size_t batch = 0; batch < p->batch && status == ATTN_OK; batch++) {
		status = prepare_queries(engine, batch, err);
		if (status == ATTN_OK)
			status = prepare_keys(engine, batch, err);
		if (status == ATTN_OK && p->has_values)
			status = prepare_values(engine, batch, err);
	}
	if (status != ATTN_OK) {
		engine_free(&engine->source);
		return status;
	}
	*out = engine;
	return ATTN_OK;
}

struct row_source *engine_rows(struct engine *engine)
{
	return &engine->source;
}

const float *engine_values(const struct engine *engine, size_t batch, size_t kv_head)
{
	const struct problem *p = engine->problem;
	return engine->values + (batch * p->kv_heads + kv_head) * engine->keys * p->value_size;
}

enum attn_status engine_output(const struct problem *p, const float *context, size_t rows, float *output,
			       struct attn_error *err)
{
	struct sequence x = {context, rows, p->heads * p->value_size, 0};
	return project(&x, &p->wo, p->bo, 0, "output", output, err);
}
