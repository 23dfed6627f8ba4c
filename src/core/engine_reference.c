/* Rows by plain float64 loops. */
#include <math.h>
#include <string.h>

#include "core/engine_internal.h"
#include "kernels/reference.h"

/* Where row r of the block keeps its scores, if `stage` is the one that is wanted.  Only
 * a masked one may be infinite. */
static enum attn_status keep_scores(const struct engine *engine, const struct workspace *w,
				    const struct row_block *block, size_t r, enum score_stage stage,
				    struct attn_error *err)
{
	if (engine->want.stage != stage)
		return ATTN_OK;
	float *out = w->out_scores + r * engine->keys;
	for (size_t j = 0; j < engine->keys; j++) {
		out[j] = (float)w->row[j];
		if (!isfinite(out[j]) && w->row[j] != -INFINITY)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "the score of batch item %zu, head %zu, query %zu, key %zu overflows float32",
			    block->batch, block->head, block->query + r, j);
	}
	return ATTN_OK;
}

/* One query's scores, stage by stage, and weights. */
static enum attn_status compute_row(const struct engine *engine, struct workspace *w,
				    const struct row_block *block, size_t r, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, query = block->query + r,
	       kv_head = block->head / (p->heads / p->kv_heads);
	const float *q = head_start(&engine->q, block->batch, block->head) + query * engine->q.token_stride;
	const float *k = head_start(&engine->k, block->batch, kv_head);
	unsigned char *visible = w->visible + r * keys;
	double *row = w->row;

	visibility_row(&p->visibility, block->batch, block->head, query, visible);
	reference_scores(row, q, k, engine->k.token_stride, p->head_size, keys, p->scale);
	enum attn_status status = keep_scores(engine, w, block, r, SCORES_RAW, err);
	if (p->softcap > 0)
		reference_softcap(row, keys, p->softcap);
	if (status == ATTN_OK)
		status = keep_scores(engine, w, block, r, SCORES_CAPPED, err);
	for (size_t j = 0; j < keys; j++)
		row[j] = visible[j] ? row[j] + (double)visibility_bias(&p->visibility, block->batch,
								       block->head, query, j)
				    : -INFINITY;
	if (status == ATTN_OK)
		status = keep_scores(engine, w, block, r, SCORES_MASKED, err);
	reference_softmax(w->out_weights + r * keys, row, keys);
	return status;
}

enum attn_status engine_reference(const struct engine *engine, struct workspace *w, struct row_block *block,
				  struct attn_error *err)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, e = p->value_size, kv_head = block->head / (p->heads / p->kv_heads);
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++) {
		enum attn_status status = compute_row(engine, w, block, r, err);
		if (status != ATTN_OK)
			return status;
		block->masked += memchr(w->visible + r * keys, 1, keys) == NULL;
		if (engine->want.context)
			reference_weighted_sum(w->out_context + r * e, w->out_weights + r * keys,
					       head_start(&engine->v, block->batch, kv_head),
					       engine->v.token_stride, keys, e, w->sums);
	}
	block->weights = w->out_weights;
	block->visible = w->visible;
	block->scores = w->out_scores;
	block->context = engine->want.context ? w->out_context : NULL;
	return ATTN_OK;
}
