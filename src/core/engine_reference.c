/* Rows by plain float64 loops. */
#include <math.h>
#include <string.h>

#include "core/engine_internal.h"
#include "kernels/reference.h"

static void copy_scores(float *out, const double *row, size_t keys)
{
	for (size_t j = 0; j < keys; j++)
		out[j] = (float)row[j];
}

/* One query's scores, stage by stage, and weights. */
static void compute_row(const struct engine *engine, struct workspace *w, const struct row_block *block,
			size_t r)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, query = block->query + r,
	       kv_head = block->head / (p->heads / p->kv_heads);
	const float *q = head_start(&engine->q, block->batch, block->head) + query * engine->q.token_stride;
	const float *k = head_start(&engine->k, block->batch, kv_head);
	unsigned char *visible = w->visible + r * keys;
	float *scores = w->out_scores ? w->out_scores + r * keys : NULL;
	double *row = w->row;

	visibility_row(&p->visibility, block->batch, block->head, query, visible);
	reference_scores(row, q, k, engine->k.token_stride, p->head_size, keys, p->scale);
	if (engine->want.stage == SCORES_RAW)
		copy_scores(scores, row, keys);
	if (p->softcap > 0)
		reference_softcap(row, keys, p->softcap);
	if (engine->want.stage == SCORES_CAPPED)
		copy_scores(scores, row, keys);
	for (size_t j = 0; j < keys; j++)
		row[j] = visible[j] ? row[j] + (double)visibility_bias(&p->visibility, block->batch,
								       block->head, query, j)
				    : -INFINITY;
	if (engine->want.stage == SCORES_MASKED)
		copy_scores(scores, row, keys);
	reference_softmax(w->out_weights + r * keys, row, keys);
}

void engine_reference(const struct engine *engine, struct workspace *w, struct row_block *block)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, e = p->value_size, kv_head = block->head / (p->heads / p->kv_heads);
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++) {
		compute_row(engine, w, block, r);
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
}
