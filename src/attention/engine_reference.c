/* Rows by plain float64 loops. */
#include <math.h>
#include <string.h>

#include "attention/engine_internal.h"
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

void engine_reference_scores(const struct engine *engine, const struct map *map, const float *q,
			     const float *k, size_t keys, double *row)
{
	const struct score *s = &engine->problem->score;
	if (s->kind == SCORE_ADDITIVE)
		reference_additive(row, q, k, engine->k.token_stride,
				   s->v.data + map->query_head * s->v.head_stride, s->inner, keys,
				   map->scale);
	else
		reference_scores(row, q, k, engine->k.token_stride, s->inner, keys, map->scale);
}

/* Add what masks and distances add, and hide what is hidden. */
static void mask_row(const struct engine *engine, const struct row_block *block, size_t query,
		     const unsigned char *visible, double *row)
{
	const struct problem *p = engine->problem;
	const struct masking *v = &p->masking;
	ptrdiff_t position = (ptrdiff_t)query + masking_offset(v, block->batch);
	for (size_t j = 0; j < engine->keys; j++) {
		if (!visible[j]) {
			row[j] = -INFINITY;
			continue;
		}
		row[j] += (double)masking_bias(v, block->batch, block->head, query, j);
		if (p->relative.table && j < v->plain_keys)
			row[j] += relative_bias_at(&p->relative, block->head, position - (ptrdiff_t)j);
	}
}

/* One query's scores, stage by stage, and weights. */
static enum attn_status compute_row(const struct engine *engine, const struct map *map, struct workspace *w,
				    const struct row_block *block, size_t r, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, query = block->query + r;
	unsigned char *visible = w->visible + r * keys;
	double *row = w->row;

	masking_row(&p->masking, block->batch, block->head, query, visible);
	engine_reference_scores(engine, map,
				head_start(&engine->q, block->batch, map->query_head) +
				    query * engine->q.token_stride,
				head_start(&engine->k, block->batch, map->key_head), keys, row);
	enum attn_status status = keep_scores(engine, w, block, r, SCORES_RAW, err);
	if (p->score.softcap > 0)
		reference_softcap(row, keys, p->score.softcap);
	if (status == ATTN_OK)
		status = keep_scores(engine, w, block, r, SCORES_CAPPED, err);
	mask_row(engine, block, query, visible, row);
	if (status == ATTN_OK)
		status = keep_scores(engine, w, block, r, SCORES_MASKED, err);
	normalize_row(&p->normalization, map->sink, row, keys, w->out_weights + r * keys, w->scratch);
	return status;
}

enum attn_status engine_reference(const struct engine *engine, const struct map *map, struct workspace *w,
				  struct row_block *block, struct attn_error *err)
{
	size_t keys = engine->keys, e = engine->problem->value_size;
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++) {
		enum attn_status status = compute_row(engine, map, w, block, r, err);
		if (status != ATTN_OK)
			return status;
		block->masked += memchr(w->visible + r * keys, 1, keys) == NULL;
		if (engine->want.context)
			reference_weighted_sum(w->out_context + r * e, w->out_weights + r * keys,
					       head_start(&engine->v, block->batch, map->value_head),
					       engine->v.token_stride, keys, e, w->sums);
	}
	block->weights = w->out_weights;
	block->visible = w->visible;
	block->scores = w->out_scores;
	block->context = engine->want.context ? w->out_context : NULL;
	return ATTN_OK;
}
