/* Rows by tiles of queries: vector kernels and an online softmax, so that the
 * context alone never stores a row (FlashAttention, Dao et al. 2022).
 *
 * A block is up to ROWS_BLOCK / TILE tiles, which take each step of keys in turn, so
 * that K and V come from memory once for all of them.  A step whose keys are
 * all masked for a tile is left out.
 *
 * A tile's scores lie as (keys, queries).  With weights, the exponentials of every
 * step are kept, each relative to the highest score known at that step, and brought to
 * the final one when they become rows.  Normalisers that need a whole row, such
 * as sparsemax, keep all scores and come before the values.
 */
#include <math.h>
#include <string.h>

#include "attention/engine_tile.h"
#include "util/minmax.h"

_Static_assert(ROWS_BLOCK % TILE == 0, "a block is cut into tiles");
_Static_assert(STATE_STEP % KEY_BLOCK == 0, "behind a state of linear attention begins a step");
_Static_assert(TILE * sizeof(float) % 64 == 0, "what lies behind rows of a tile stays aligned");

/* A bias by distance is added in float32, so a row whose highest score is as far from 0 as
 * this would lose digits: the reference then takes over. */
#define MOST_BIASED 64.0f

/* Whether a tile's scores of all steps are kept. */
static bool keeps_scores(const struct engine *engine, const struct row_block *block)
{
	return gives_weights(engine, block) || engine->whole_rows;
}

/* --- one step of keys ----------------------------------------------------------- */

static void find_scores(const struct engine *engine, const struct row_block *block, const struct tile *t,
			size_t first, size_t count, float *scores)
{
	const struct score *s = &engine->attention->score;
	const struct heads_view *keys = &engine->k.view;
	const struct score_pairs pairs = {
	    .query_head = t->map->query_head,
	    .queries = t->queries,
	    .keys = head_start(keys, block->batch, t->map->key_at) + first * keys->token_stride,
	    .key_stride = keys->token_stride,
	    .count = count,
	    .cols = t->count,
	    .scale = t->map->scale,
	};
	s->function->step(s, engine->kernels, &pairs, scores);
}

/* The bias by distance of plain keys. */
static void add_relative(const struct engine *engine, const struct tile *t, size_t first, size_t count,
			 float *scores)
{
	const struct relative *r = &engine->attention->relative;
	const struct tile_mask *m = &t->mask;
	size_t plain = m->masking->plain_keys;
	if (!r->table || first >= plain)
		return;
	ptrdiff_t distance = (ptrdiff_t)m->query + masking_offset(m->masking, m->batch) - (ptrdiff_t)first;
	engine->kernels->add_by_distance(scores, size_min(count, plain - first), t->count,
					 r->table + t->map->head * r->span + (distance - r->least));
}

static void add_values(const struct engine *engine, const struct row_block *block, struct tile *t,
		       size_t first, size_t count, const float *weights)
{
	struct gemm values = {
	    .c = t->context,
	    .c_stride = TILE,
	    .a = head_start(&engine->v.view, block->batch, t->map->value_at) +
		 first * engine->v.view.token_stride,
	    .a_row = 1,
	    .a_col = engine->v.view.token_stride,
	    .b = weights,
	    .b_stride = TILE,
	    .rows = engine->attention->value_size,
	    .inner = count,
	    .cols = t->count,
	    .accumulate = t->started,
	};
	engine->kernels->gemm(&values);
	t->started = true;
}

/* Scores of `count` keys from `first` on, and what is done with them at once. */
static void step(const struct engine *engine, const struct row_block *block, struct tile *t, size_t first,
		 size_t count)
{
	const struct attention *a = engine->attention;
	const struct normalizer *normalizer = a->normalization.normalizer;
	const struct kernels *kernels = engine->kernels;
	struct running *run = &t->running;
	enum attended extent = tile_mask_extent(&t->mask, first, count);
	float *scores = t->scores + (keeps_scores(engine, block) ? first * TILE : 0);
	if (keeps_scores(engine, block))
		t->attended[first / KEY_BLOCK] = extent != ATTENDED_NONE;
	if (extent == ATTENDED_NONE)
		return;
	find_scores(engine, block, t, first, count, scores);
	if (a->score.softcap > 0)
		kernels->softcap(scores, count, t->count, (float)a->score.softcap);
	add_relative(engine, t, first, count, scores);
	tile_mask_apply(&t->mask, extent, first, count, scores, normalizer->masked);
	if (engine->whole_rows)
		return;
	bool rescaled = normalizer->step(kernels, scores, count, t->count, run);
	if (gives_weights(engine, block))
		memcpy(t->tops + first / KEY_BLOCK * TILE, run->highest, sizeof run->highest);
	if (!engine->want.context)
		return;
	if (rescaled && t->started)
		kernels->scale_columns(t->context, a->value_size, t->count, run->rescale);
	add_values(engine, block, t, first, count, scores);
}

/* --- a tile ----------------------------------------------------------------------- */

/* The first step that a tile takes; linear attention begins with the sums over the keys
 * that all its queries attend to. */
static size_t first_step(const struct engine *engine, const struct row_block *block, struct tile *t)
{
	size_t shared = engine->keys, inner = engine->attention->score.inner,
	       e = engine->attention->value_size;
	if (!engine->states)
		return t->mask.first / KEY_BLOCK * KEY_BLOCK;
	for (size_t q = 0; q < t->count; q++)
		shared = size_min(shared, t->mask.ends[q]);
	size_t steps = shared / engine->state_step;
	if (steps == 0)
		return 0;
	struct gemm sums = {
	    .c = t->context,
	    .c_stride = TILE,
	    .a = engine_state(engine, block->batch, t->map->key_at, steps),
	    .a_row = inner,
	    .a_col = 1,
	    .b = t->queries,
	    .b_stride = TILE,
	    .rows = e + 1,
	    .inner = inner,
	    .cols = t->count,
	};
	engine->kernels->gemm(&sums);
	memcpy(t->running.sum, t->context + e * TILE, t->count * sizeof *t->running.sum);
	memset(t->mask.any, true, sizeof t->mask.any);
	t->started = true;
	return steps * engine->state_step;
}

static void start_tile(const struct engine *engine, const struct map *map, const struct workspace *w,
		       const struct row_block *block, size_t row, struct tile *t)
{
	const struct attention *a = engine->attention;
	size_t number = row / TILE, steps = engine_steps(engine->keys);
	const float *q = head_start(&engine->q.view, block->batch, map->query_at) +
			 (block->query + row) * engine->q.view.token_stride;
	t->map = map;
	t->row = row;
	t->count = size_min(block->count - row, TILE);
	t->started = false;
	t->queries = w->queries + number * a->score.inner * TILE;
	t->scores = w->scores;
	t->context = w->context ? w->context + number * (a->value_size + 1) * TILE : NULL;
	t->tops = w->tops ? w->tops + number * steps * TILE : NULL;
	if (keeps_scores(engine, block)) { /* each tile keeps its own */
		t->scores += number * steps * KEY_BLOCK * TILE;
		t->attended = w->attended + number * steps;
		memset(t->attended, 0, steps);
	}
	tile_mask_start(&t->mask, &engine->attention->masking, block, block->query + row, t->count,
			w->step_attended, w->row_attended);
	for (size_t i = 0; i < TILE; i++) {
		/* A row's scores are relative to the highest number of a float mask, so its sink is, too. */
		double offset = i < t->count && t->mask.bias[i] ? (double)t->mask.offsets[i] : 0;
		t->running.highest[i] = (float)(map->sink - offset);
		t->running.sum[i] = map->sink > -INFINITY;
		t->running.factor[i] = 0;
	}
	engine->kernels->pack(t->queries, q, engine->q.view.token_stride, t->count, a->score.inner,
			      a->score.function->scales_queries ? (float)map->scale : 1);
}

/* Whole rows of scores become weights; then come the values.  False as engine_tile. */
static bool finish_rows(const struct engine *engine, const struct workspace *w, const struct row_block *block,
			struct tile *t)
{
	if (!tile_normalize_rows(engine, w, block, t))
		return false;
	for (size_t at = t->mask.first / KEY_BLOCK * KEY_BLOCK; at < t->mask.end && engine->want.context;
	     at += KEY_BLOCK)
		if (t->attended[at / KEY_BLOCK])
			add_values(engine, block, t, at, size_min(t->mask.end - at, KEY_BLOCK),
				   t->scores + at * TILE);
	return true;
}

/* Sums become factors.  False when a score or a sum of values overflowed. */
static bool finish_sums(const struct engine *engine, struct tile *t, size_t *masked)
{
	struct running *run = &t->running;
	for (size_t i = 0; i < t->count; i++) {
		bool any = t->mask.any[i];
		*masked += !any;
		if (engine->attention->relative.table && any && fabsf(run->highest[i]) > MOST_BIASED)
			return false;
		if (engine->whole_rows) {
			run->factor[i] = 1;
			continue;
		}
		if (!isfinite(run->sum[i]))
			return false;
		run->factor[i] = any && run->sum[i] > 0 ? 1 / run->sum[i] : 0;
	}
	if (!engine->want.context)
		return true;
	if (!t->started)
		memset(t->context, 0, engine->attention->value_size * TILE * sizeof *t->context);
	return engine->kernels->all_finite(t->context, TILE, engine->attention->value_size, t->count);
}

/* --- rows ------------------------------------------------------------------------- */

static void step_factors(const struct tile *t, size_t at, float *factor)
{
	const struct running *run = &t->running;
	const float *tops = t->tops + at * TILE;
	for (size_t q = 0; q < t->count; q++) {
		factor[q] = run->factor[q];
		if (tops[q] != run->highest[q])
			factor[q] *= expf(tops[q] - run->highest[q]);
	}
}

void clear_columns(float *rows, size_t stride, size_t count, size_t first, size_t end)
{
	for (size_t q = 0; q < count && first < end; q++)
		memset(rows + q * stride + first, 0, (end - first) * sizeof *rows);
}

/* Normalise kept scores into rows (count, keys) of weights; 0 what is masked, with `spans_only` as far
 * as that comes by the way. */
static void write_weights(const struct engine *engine, const struct tile *t, float *rows, bool past_cache,
			  bool spans_only)
{
	size_t keys = engine->keys, end = t->mask.end;
	for (size_t first = spans_only ? t->mask.first / KEY_BLOCK * KEY_BLOCK : 0; first < end;
	     first += KEY_BLOCK) {
		_Alignas(64) float factor[TILE] = {0};
		size_t count = size_min(end - first, KEY_BLOCK);
		if (!t->attended[first / KEY_BLOCK]) {
			if (!spans_only)
				clear_columns(rows, keys, t->count, first, first + count);
			continue;
		}
		step_factors(t, first / KEY_BLOCK, factor);
		engine->kernels->unpack(rows + first, keys, t->scores + first * TILE, t->count, count, factor,
					past_cache);
	}
	if (!spans_only)
		clear_columns(rows, keys, t->count, end, keys);
}

static void write_cells(const struct engine *engine, const struct workspace *w, struct row_block *block)
{
	bool shared = masking_is_shared(&engine->attention->masking);
	for (size_t r = 0; r < block->count; r++) {
		unsigned char *row = w->cells + r * engine->keys;
		if (r > 0 && shared)
			memcpy(row, w->cells, engine->keys);
		else
			masking_row(&engine->attention->masking, block->batch, block->head, block->query + r,
				    row);
	}
	block->cells = w->cells;
}

/* Where the block's rows go: where a consumer wants them, or into the workspace. */
static void find_places(const struct engine *engine, const struct workspace *w, struct row_block *block)
{
	if (gives_weights(engine, block)) {
		block->weights = weight_rows(w, block);
		if (!gives_spans_only(engine, block))
			write_cells(engine, w, block);
	}
	if (engine->want.context) {
		if (!block->context_place) {
			block->context_place = w->out_context;
			block->context_stride = engine->attention->value_size;
		}
		block->context = block->context_place;
	}
}

static void write_tile(const struct engine *engine, const struct workspace *w, const struct row_block *block,
		       const struct tile *t)
{
	if (gives_weights(engine, block) && !engine->whole_rows)
		write_weights(engine, t, weight_rows(w, block) + t->row * engine->keys,
			      block->weights_place != NULL, gives_spans_only(engine, block));
	if (engine->want.context)
		engine->kernels->unpack(block->context_place + t->row * block->context_stride,
					block->context_stride, t->context, t->count,
					engine->attention->value_size, t->running.factor, false);
}

bool engine_tile(const struct engine *engine, const struct map *map, struct workspace *w,
		 struct row_block *block)
{
	struct tile tiles[ROWS_BLOCK / TILE];
	size_t starts[ROWS_BLOCK / TILE];
	size_t count = (block->count + TILE - 1) / TILE, first = engine->keys, end = 0;
	for (size_t i = 0; i < count; i++) {
		start_tile(engine, map, w, block, i * TILE, &tiles[i]);
		starts[i] = first_step(engine, block, &tiles[i]);
		first = size_min(first, starts[i]);
		end = size_max(end, tiles[i].mask.end);
	}
	for (size_t at = first; at < end; at += KEY_BLOCK)
		for (size_t i = 0; i < count; i++)
			if (at >= starts[i] && at < tiles[i].mask.end)
				step(engine, block, &tiles[i], at,
				     size_min(tiles[i].mask.end - at, KEY_BLOCK));
	block->masked = 0;
	for (size_t i = 0; i < count; i++) {
		if (engine->whole_rows && !finish_rows(engine, w, block, &tiles[i]))
			return false;
		if (!finish_sums(engine, &tiles[i], &block->masked))
			return false;
	}
	find_places(engine, w, block);
	for (size_t i = 0; i < count; i++)
		write_tile(engine, w, block, &tiles[i]);
	return true;
}
