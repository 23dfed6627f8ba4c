/* Rows by plain float64 loops. */
#include <math.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "kernels/reference.h"

/* Keep the scores in `row` as those of row r of the block, if the stage is wanted.  Only a
 * masked one may be infinite. */
static enum attn_status keep_scores(const struct engine *engine, const struct workspace *w,
				    const struct row_block *block, size_t r, enum score_stage stage,
				    const double *row, struct attn_error *err)
{
	if (!plan_wants_scores(engine->plan, stage))
		return ATTN_OK;
	float *out = w->out_scores[stage] + r * engine->keys;
	for (size_t j = 0; j < engine->keys; j++) {
		out[j] = (float)row[j];
		if (!isfinite(out[j]) && row[j] != -INFINITY)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "the score of batch item %zu, head %zu, query %zu, key %zu overflows float32",
			    block->batch, block->head, block->query + r, j);
	}
	return ATTN_OK;
}

void engine_reference_scores(const struct engine *engine, const struct map *map, size_t batch, size_t query,
			     size_t first, size_t count, double scale, double *row)
{
	const struct score *s = &engine->attention->score;
	const struct heads_view *q = &engine->q.view, *k = &engine->k.view;
	const struct score_pairs pairs = {
	    .query_head = map->query_head,
	    .queries = head_start(q, batch, map->query_at) + query * q->token_stride,
	    .keys = head_start(k, batch, map->key_at) + first * k->token_stride,
	    .key_stride = k->token_stride,
	    .count = count,
	    .scale = scale,
	};
	s->function->row(s, &pairs, row);
}

/* Add what masks and distances add; a masked score is -inf. */
static void mask_row(const struct engine *engine, const struct row_block *block, size_t query,
		     const unsigned char *attended, double *row)
{
	const struct attention *a = engine->attention;
	const struct masking *m = &a->masking;
	ptrdiff_t position = (ptrdiff_t)query + masking_offset(m, block->batch);
	for (size_t j = 0; j < engine->keys; j++) {
		if (!attended[j]) {
			row[j] = -INFINITY;
			continue;
		}
		row[j] += (double)masking_bias(m, block->batch, block->head, query, j);
		if (a->relative.table && j < m->plain_keys)
			row[j] += relative_bias_at(&a->relative, block->head, position - (ptrdiff_t)j);
	}
}

/* Weights of a query's scores as they are before any scale. */
static void weigh_unscaled(const struct engine *engine, const struct map *map, struct workspace *w,
			   const struct row_block *block, size_t r)
{
	const struct attention *a = engine->attention;
	size_t keys = engine->keys;
	if (a->score.softcap > 0)
		reference_softcap(w->unscaled, keys, a->score.softcap);
	mask_row(engine, block, block->query + r, w->cells + r * keys, w->unscaled);
	normalize_row(&a->normalization, map->sink, w->unscaled, keys, w->out_unscaled + r * keys,
		      w->scratch);
}

/* One query's scores, stage by stage, and weights. */
static enum attn_status compute_row(const struct engine *engine, const struct map *map, struct workspace *w,
				    const struct row_block *block, size_t r, struct attn_error *err)
{
	const struct attention *a = engine->attention;
	size_t keys = engine->keys, query = block->query + r;
	unsigned char *attended = w->cells + r * keys;
	double *row = w->row;

	masking_row(&a->masking, block->batch, block->head, query, attended);
	if (w->unscaled) {
		engine_reference_scores(engine, map, block->batch, query, 0, keys, 1, w->unscaled);
		TRY(keep_scores(engine, w, block, r, SCORES_PRODUCT, w->unscaled, err));
		if (engine->want.unscaled_weights)
			weigh_unscaled(engine, map, w, block, r);
	}
	engine_reference_scores(engine, map, block->batch, query, 0, keys, map->scale, row);
	TRY(keep_scores(engine, w, block, r, SCORES_RAW, row, err));
	if (a->score.softcap > 0)
		reference_softcap(row, keys, a->score.softcap);
	TRY(keep_scores(engine, w, block, r, SCORES_CAPPED, row, err));
	mask_row(engine, block, query, attended, row);
	TRY(keep_scores(engine, w, block, r, SCORES_MASKED, row, err));
	normalize_row(&a->normalization, map->sink, row, keys, w->out_weights + r * keys, w->scratch);
	return ATTN_OK;
}

/* How much of the length of row r's context each key's value makes. */
static void find_shares(const struct engine *engine, const struct map *map, const struct workspace *w,
			const struct row_block *block, size_t r)
{
	size_t keys = engine->keys, e = engine->attention->value_size;
	const float *context = w->out_context + r * e, *weights = w->out_weights + r * keys;
	const float *values = head_start(&engine->v.view, block->batch, map->value_at);
	double square = 0;
	for (size_t c = 0; c < e; c++)
		square += (double)context[c] * (double)context[c];
	for (size_t j = 0; j < keys; j++) {
		const float *value = values + j * engine->v.view.token_stride;
		double weight = (double)weights[j], product = 0;
		for (size_t c = 0; c < e && weight != 0; c++) /* what is masked may hold anything */
			product += (double)value[c] * (double)context[c];
		w->out_shares[r * keys + j] = square > 0 ? weight * product / square : (double)NAN;
	}
}

static void point_to_rows(const struct engine *engine, const struct workspace *w, struct row_block *block)
{
	block->weights = block->no_weights ? NULL : w->out_weights;
	block->cells = block->no_weights ? NULL : w->cells;
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		if (plan_wants_scores(engine->plan, (enum score_stage)stage))
			block->scores[stage] = w->out_scores[stage];
	block->unscaled_weights = w->out_unscaled;
	block->context = engine->want.context && !block->no_context ? w->out_context : NULL;
	block->shares = block->no_context ? NULL : w->out_shares;
}

enum attn_status engine_reference(const struct engine *engine, const struct map *map, struct workspace *w,
				  struct row_block *block, struct attn_error *err)
{
	size_t keys = engine->keys, e = engine->attention->value_size;
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++) {
		TRY(compute_row(engine, map, w, block, r, err));
		block->masked += memchr(w->cells + r * keys, CELL_ATTENDED, keys) == NULL;
		if (engine->want.context && !block->no_context)
			reference_weighted_sum(w->out_context + r * e, w->out_weights + r * keys,
					       head_start(&engine->v.view, block->batch, map->value_at),
					       engine->v.view.token_stride, keys, e, w->sums);
		if (engine->want.shares && !block->no_context)
			find_shares(engine, map, w, block, r);
	}
	point_to_rows(engine, w, block);
	return ATTN_OK;
}
