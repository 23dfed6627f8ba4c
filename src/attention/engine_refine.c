/* Sparsemax and 1.5-entmax pass an error of a score on to a weight as it is, where softmax
 * shrinks it by the weight: so the scores that may have weight are computed again in
 * float64. */
#include <math.h>

#include "attention/engine_mask.h"
#include "kernels/reference.h"

enum {
	MOST_REFINED = 512 /* scores of a query: where more may have weight, all are small */
};

static double exact_score(const struct engine *engine, const struct map *map, const struct row_block *block,
			  size_t query, size_t key)
{
	const struct attention *a = engine->attention;
	const struct masking *v = &a->masking;
	const float *q =
	    head_start(&engine->q.view, block->batch, map->query_at) + query * engine->q.view.token_stride;
	const float *k =
	    head_start(&engine->k.view, block->batch, map->key_at) + key * engine->k.view.token_stride;
	double score;
	engine_reference_scores(engine, map, q, k, 1, map->scale, &score);
	if (a->score.softcap > 0)
		reference_softcap(&score, 1, a->score.softcap);
	if (key >= v->plain_keys)
		return score;
	score += (double)masking_bias(v, block->batch, block->head, query, key);
	if (a->relative.table)
		score +=
		    relative_bias_at(&a->relative, block->head,
				     (ptrdiff_t)query + masking_offset(v, block->batch) - (ptrdiff_t)key);
	return score;
}

void engine_refine(const struct engine *engine, const struct map *map, const struct row_block *block,
		   const struct tile_mask *h, size_t first, size_t end, float *scores)
{
	enum normalizer kind = engine->attention->normalization.kind;
	float extent = kind == NORMALIZE_ENTMAX15 ? 2.0f : 1.0f, least[TILE];
	size_t counts[TILE] = {0};
	if (kind != NORMALIZE_SPARSEMAX && kind != NORMALIZE_ENTMAX15)
		return;
	for (size_t q = 0; q < h->queries; q++)
		least[q] = -INFINITY;
	for (size_t j = first; j < end; j++)
		for (size_t q = 0; q < h->queries; q++)
			least[q] = scores[j * TILE + q] > least[q] ? scores[j * TILE + q] : least[q];
	for (size_t q = 0; q < h->queries; q++)
		least[q] -= extent;
	for (size_t j = first; j < end; j++)
		for (size_t q = 0; q < h->queries; q++)
			counts[q] += scores[j * TILE + q] >= least[q];
	for (size_t j = first; j < end; j++)
		for (size_t q = 0; q < h->queries; q++) {
			float *score = &scores[j * TILE + q];
			if (!(*score >= least[q]) || *score == -INFINITY || counts[q] > MOST_REFINED)
				continue;
			double offset = h->bias[q] ? (double)h->offsets[q] : 0;
			*score = (float)(exact_score(engine, map, block, h->query + q, j) - offset);
		}
}
