/* Whole rows: normalisers that need all scores of a query before the first weight is known.
 *
 * A tile's scores, (keys, queries), become rows and are normalised one by one; then the
 * weights go back, for P V.
 */
#include <math.h>

#include "attention/engine_tile.h"
#include "kernels/reference.h"
#include "util/minmax.h"

_Static_assert(TILE % WHOLE_ROWS == 0 && WHOLE_ROWS * sizeof(float) == 64, "rows are taken by cache lines");

/* --- refinement ------------------------------------------------------------------------ */

enum {
	MOST_REFINED = 512 /* scores of a query: where more may have weight, all weights are small */
};

static double exact_score(const struct engine *engine, const struct map *map, const struct row_block *block,
			  size_t query, size_t key)
{
	const struct attention *a = engine->attention;
	const struct masking *m = &a->masking;
	double score;
	engine_reference_scores(engine, map, block->batch, query, key, 1, map->scale, &score);
	if (a->score.softcap > 0)
		reference_softcap(&score, 1, a->score.softcap);
	if (key >= m->plain_keys)
		return score;
	score += (double)masking_bias(m, block->batch, block->head, query, key);
	if (a->relative.table)
		score +=
		    relative_bias_at(&a->relative, block->head,
				     (ptrdiff_t)query + masking_offset(m, block->batch) - (ptrdiff_t)key);
	return score;
}

/* Sparsemax and 1.5-entmax pass an error of a score on to a weight as it is, where softmax
 * shrinks it by the weight: so those scores that may have weight are computed again in
 * float64, and rounded once.  `row` has query q's from key `first` on. */
static void refine_row(const struct engine *engine, const struct row_block *block, const struct tile *t,
		       size_t q, size_t first, float *row)
{
	const struct tile_mask *m = &t->mask;
	size_t keys = m->end - first, near[MOST_REFINED], count = 0;
	double offset = m->bias[q] ? (double)m->offsets[q] : 0;
	float top;
	row_top(row, keys, &top); /* what is not finite is found when the row is normalised */
	float least = top - (float)engine->attention->normalization.normalizer->depth;
	if (top == -INFINITY)
		return;
	for (size_t at = 0; at < keys; at += RUN) {
		size_t end = size_min(at + RUN, keys);
		if (end - at == RUN && !run_has(row + at, least))
			continue;
		for (size_t j = at; j < end; j++) {
			if (!(row[j] >= least))
				continue;
			if (count == MOST_REFINED)
				return;
			near[count++] = j;
		}
	}
	for (size_t i = 0; i < count; i++)
		row[near[i]] =
		    (float)(exact_score(engine, t->map, block, m->query + q, first + near[i]) - offset);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Steps that were left out have no scores yet. */
static void mask_left_out(struct tile *t, size_t first, size_t end)
{
	for (size_t at = first; at < end; at += KEY_BLOCK) {
		size_t count = t->attended[at / KEY_BLOCK] ? 0 : size_min(end - at, KEY_BLOCK);
		for (size_t i = 0; i < count * TILE; i++)
			t->scores[at * TILE + i] = -INFINITY;
	}
}

/* Normalise queries [q, q + count) of the tile in rows (count, keys). */
static bool normalize_rows(const struct engine *engine, const struct workspace *w,
			   const struct row_block *block, struct tile *t, size_t q, size_t count, float *rows)
{
	static const float ones[WHOLE_ROWS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const struct normalization *n = &engine->attention->normalization;
	size_t first = t->mask.first / KEY_BLOCK * KEY_BLOCK, keys = t->mask.end - first;
	float *scores = t->scores + first * TILE + q;
	engine->kernels->unpack(rows + first, engine->keys, scores, count, keys, ones, false);
	for (size_t r = 0; r < count; r++) {
		float *row = rows + r * engine->keys + first;
		if (!isinf(n->normalizer->depth))
			refine_row(engine, block, t, q + r, first, row);
		if (!normalize_float_row(n, t->map->sink, row, keys, &t->running.highest[q + r],
					 w->normalizing))
			return false;
	}
	if (engine->want.context)
		engine->kernels->pack(scores, rows + first, engine->keys, count, keys, 1);
	return true;
}

bool tile_normalize_rows(const struct engine *engine, const struct workspace *w,
			 const struct row_block *block, struct tile *t)
{
	size_t first = t->mask.first / KEY_BLOCK * KEY_BLOCK, end = t->mask.end, keys = engine->keys;
	float *wanted = gives_weights(engine, block) ? weight_rows(w, block) + t->row * keys : NULL;
	float *scratch = w->rows ? w->rows : w->out_weights; /* planned with weights, this block without */
	if (first >= end)
		first = end = 0;
	mask_left_out(t, first, end);
	for (size_t q = 0; q < t->count && first < end; q += WHOLE_ROWS) {
		size_t count = size_min(t->count - q, WHOLE_ROWS);
		if (!normalize_rows(engine, w, block, t, q, count, wanted ? wanted + q * keys : scratch))
			return false;
	}
	if (wanted) {
		clear_columns(wanted, keys, t->count, 0, first);
		clear_columns(wanted, keys, t->count, end, keys);
	}
	return true;
}
