/* Rows by tiles of queries: vector kernels and an online softmax, so that the
 * context alone never stores a row (FlashAttention, Dao et al. 2022).
 *
 * A block is up to ROWS_BLOCK / TILE tiles, which take each step of keys in turn, so
 * that K and V come from memory once for all of them.
 *
 * A tile's scores lie as (keys, queries).  With weights, the exponentials of every
 * step are kept, each relative to the highest score known at that step, and brought to
 * the final one when they are turned into rows.
 */
#include <math.h>
#include <string.h>

#include "core/engine_internal.h"
#include "util/minmax.h"

/* What hides keys from the queries of one tile. */
struct hiding {
	bool prefix; /* query q sees keys below limits[q], else `visible` says */
	size_t limits[TILE];
	size_t fewest, most;     /* keys below fewest are seen by all, from most on by none */
	const float *bias[TILE]; /* what a float mask adds, relative to offsets; NULL: none */
	size_t bias_step;
	float offsets[TILE];
};

/* A float mask matters only up to a constant for each row: added in float64 and
 * taken relative to its highest visible number, even a row of -1e9 keeps its scores'
 * digits. */
static void find_bias(const struct visibility *v, const struct row_block *block, const unsigned char *visible,
		      size_t query, size_t r, struct hiding *h)
{
	h->bias[r] = visibility_bias_row(v, block->batch, block->head, query, &h->bias_step);
	h->offsets[r] = -INFINITY;
	for (size_t j = 0; j < v->plain_keys && h->bias[r]; j++)
		if (visible[j])
			h->offsets[r] = fmaxf(h->offsets[r], h->bias[r][j * h->bias_step]);
	/* Appended keys have no bias: they count as 0. */
	if (v->appended_keys > 0 || h->offsets[r] == -INFINITY)
		h->offsets[r] = fmaxf(h->offsets[r], 0);
}

/* The running state of a tile's softmax, by query. */
struct running {
	_Alignas(64) float highest[TILE], sum[TILE], rescale[TILE], factor[TILE];
};

/* One tile of a block: rows [row, row + count). */
struct tile {
	size_t row, count;
	struct hiding hiding;
	struct running running;
	float *queries, *scores, *context, *tops; /* as in struct workspace */
	unsigned char *visible;                   /* (count, keys), or NULL */
};

static void find_hiding(const struct engine *engine, const struct row_block *block, struct tile *t)
{
	const struct visibility *v = engine->source.visibility;
	struct hiding *h = &t->hiding;
	size_t keys = engine->keys;
	h->prefix = visibility_is_prefix(v);
	h->fewest = keys;
	h->most = 0;
	for (size_t r = 0; r < t->count; r++) {
		unsigned char *visible = t->visible ? t->visible + r * keys : NULL;
		size_t query = block->query + t->row + r;
		if (visible)
			visibility_row(v, block->batch, block->head, query, visible);
		h->bias[r] = NULL;
		if (h->prefix) {
			h->limits[r] = visibility_count(v, block->batch, query);
		} else {
			const unsigned char *last = memrchr(visible, 1, keys);
			h->limits[r] = last ? (size_t)(last - visible) + 1 : 0;
			find_bias(v, block, visible, query, r, h);
		}
		h->most = size_max(h->limits[r], h->most);
		h->fewest = size_min(h->limits[r], h->fewest);
	}
}

/* scores (count, TILE) of keys [first, first + count): hidden ones become -inf. */
static void hide(const struct engine *engine, const struct tile *t, size_t first, size_t count, float *scores)
{
	const struct hiding *h = &t->hiding;
	size_t queries = t->count;
	if (h->prefix) {
		for (size_t q = 0; q < queries && first + count > h->fewest; q++)
			for (size_t j = h->limits[q] > first ? h->limits[q] - first : 0; j < count; j++)
				scores[j * TILE + q] = -INFINITY;
		return;
	}
	size_t plain = engine->source.visibility->plain_keys;
	for (size_t q = 0; q < queries; q++) {
		const unsigned char *visible = t->visible + q * engine->keys + first;
		const float *bias = h->bias[q] ? h->bias[q] + first * h->bias_step : NULL;
		if (!bias && !memchr(visible, 0, count))
			continue;
		for (size_t j = 0; j < count; j++) {
			float *score = &scores[j * TILE + q];
			double added = bias && first + j < plain ? (double)bias[j * h->bias_step] : 0;
			if (!visible[j])
				*score = -INFINITY;
			else if (bias)
				*score = (float)(((double)*score + added) - (double)h->offsets[q]);
		}
	}
}

/* One step: scores of `count` keys from `first` on, softmax, weighted values. */
static void step(const struct engine *engine, const struct row_block *block, struct tile *t, size_t first,
		 size_t count)
{
	const struct problem *p = engine->problem;
	const struct kernels *kernels = engine->kernels;
	struct running *run = &t->running;
	size_t kv_head = block->head / (p->heads / p->kv_heads);
	float *scores = t->scores + (engine->want.weights ? first * TILE : 0);
	struct gemm products = {
	    .c = scores,
	    .c_stride = TILE,
	    .a = head_start(&engine->k, block->batch, kv_head) + first * engine->k.token_stride,
	    .a_row = engine->k.token_stride,
	    .a_col = 1,
	    .b = t->queries,
	    .b_stride = TILE,
	    .rows = count,
	    .inner = p->head_size,
	    .cols = t->count,
	};
	kernels->gemm(&products);
	if (p->softcap > 0)
		kernels->softcap(scores, count, t->count, (float)p->softcap);
	hide(engine, t, first, count, scores);
	bool rescaled = kernels->softmax(scores, count, t->count, run->highest, run->sum, run->rescale);
	if (engine->want.weights)
		memcpy(t->tops + first / KEY_BLOCK * TILE, run->highest, sizeof run->highest);
	if (!engine->want.context)
		return;
	if (rescaled && first > 0)
		kernels->scale_columns(t->context, p->value_size, t->count, run->rescale);
	struct gemm values = {
	    .c = t->context,
	    .c_stride = TILE,
	    .a = head_start(&engine->v, block->batch, kv_head) + first * engine->v.token_stride,
	    .a_row = 1,
	    .a_col = engine->v.token_stride,
	    .b = scores,
	    .b_stride = TILE,
	    .rows = p->value_size,
	    .inner = count,
	    .cols = t->count,
	    .accumulate = first > 0,
	};
	kernels->gemm(&values);
}

/* Turn the kept exponentials into rows (count, keys) of weights. */
static void write_weights(const struct engine *engine, const struct tile *t, float *rows, bool past_cache)
{
	const struct running *run = &t->running;
	size_t keys = engine->keys, most = t->hiding.most;
	for (size_t first = 0, at = 0; first < most; first += KEY_BLOCK, at++) {
		_Alignas(64) float factor[TILE] = {0};
		const float *tops = t->tops + at * TILE;
		size_t count = size_min(most - first, KEY_BLOCK);
		for (size_t q = 0; q < t->count; q++)
			factor[q] = run->factor[q] *
				    (tops[q] == run->highest[q] ? 1 : expf(tops[q] - run->highest[q]));
		engine->kernels->unpack(rows + first, keys, t->scores + first * TILE, t->count, count, factor,
					past_cache);
	}
	for (size_t q = 0; q < t->count && most < keys; q++)
		memset(rows + q * keys + most, 0, (keys - most) * sizeof *rows);
}

static void start_tile(const struct engine *engine, const struct workspace *w, const struct row_block *block,
		       size_t row, struct tile *t)
{
	const struct problem *p = engine->problem;
	size_t number = row / TILE, steps = engine_steps(engine->keys);
	const float *q =
	    head_start(&engine->q, block->batch, block->head) + (block->query + row) * engine->q.token_stride;
	t->row = row;
	t->count = size_min(block->count - row, TILE);
	t->queries = w->queries + number * p->head_size * TILE;
	t->scores = w->scores;
	t->context = w->context + number * p->value_size * TILE;
	if (engine->want.weights) { /* each tile keeps its own */
		t->scores += number * steps * KEY_BLOCK * TILE;
		t->tops = w->tops + number * steps * TILE;
	}
	t->visible = w->visible ? w->visible + row * engine->keys : NULL;
	for (size_t i = 0; i < TILE; i++) {
		t->running.highest[i] = -INFINITY;
		t->running.sum[i] = t->running.factor[i] = 0;
	}
	find_hiding(engine, block, t);
	engine->kernels->pack(t->queries, q, engine->q.token_stride, t->count, p->head_size, (float)p->scale);
	if (engine->want.context && t->hiding.most == 0) /* else the first step sets it */
		memset(t->context, 0, p->value_size * TILE * sizeof *t->context);
}

/* Sums become factors.  False when a score or a sum of values overflowed. */
static bool finish_sums(const struct engine *engine, struct tile *t, size_t *masked)
{
	struct running *run = &t->running;
	for (size_t i = 0; i < t->count; i++) {
		if (!isfinite(run->sum[i]))
			return false;
		*masked += run->sum[i] == 0;
		run->factor[i] = run->sum[i] > 0 ? 1 / run->sum[i] : 0;
	}
	return !engine->want.context ||
	       engine->kernels->all_finite(t->context, engine->problem->value_size, t->count);
}

/* Where the block's rows go: where a sink wants them, or into the workspace. */
static void find_places(const struct engine *engine, const struct workspace *w, struct row_block *block)
{
	if (engine->want.weights) {
		block->weights = block->weights_place ? block->weights_place : w->out_weights;
		block->visible = w->visible;
	}
	if (engine->want.context) {
		if (!block->context_place) {
			block->context_place = w->out_context;
			block->context_stride = engine->problem->value_size;
		}
		block->context = block->context_place;
	}
}

static void write_tile(const struct engine *engine, const struct workspace *w, const struct row_block *block,
		       const struct tile *t)
{
	float *rows = block->weights_place ? block->weights_place : w->out_weights;
	if (engine->want.weights)
		write_weights(engine, t, rows + t->row * engine->keys, block->weights_place != NULL);
	if (engine->want.context)
		engine->kernels->unpack(block->context_place + t->row * block->context_stride,
					block->context_stride, t->context, t->count,
					engine->problem->value_size, t->running.factor, false);
}

bool engine_tile(const struct engine *engine, struct workspace *w, struct row_block *block)
{
	struct tile tiles[ROWS_BLOCK / TILE];
	size_t count = (block->count + TILE - 1) / TILE, most = 0;
	for (size_t i = 0; i < count; i++) {
		start_tile(engine, w, block, i * TILE, &tiles[i]);
		most = size_max(most, tiles[i].hiding.most);
	}
	for (size_t first = 0; first < most; first += KEY_BLOCK)
		for (size_t i = 0; i < count; i++)
			if (first < tiles[i].hiding.most)
				step(engine, block, &tiles[i], first,
				     size_min(tiles[i].hiding.most - first, KEY_BLOCK));
	block->masked = 0;
	for (size_t i = 0; i < count; i++)
		if (!finish_sums(engine, &tiles[i], &block->masked))
			return false;
	find_places(engine, w, block);
	for (size_t i = 0; i < count; i++)
		write_tile(engine, w, block, &tiles[i]);
	return true;
}
