/* Rows by tiles of queries: vector kernels and an online softmax, so that the
 * context alone never stores a row (FlashAttention, Dao et al. 2022).
 *
 * A tile's scores lie as (keys, queries).  With weights, the exponentials of every
 * step are kept, each relative to the highest score known at that step, and brought to
 * the final one when they are turned into rows.
 */
#include <math.h>
#include <string.h>

#include "core/engine_internal.h"

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
		      size_t r, struct hiding *h)
{
	h->bias[r] = visibility_bias_row(v, block->batch, block->head, block->query + r, &h->bias_step);
	h->offsets[r] = -INFINITY;
	for (size_t j = 0; j < v->plain_keys && h->bias[r]; j++)
		if (visible[j])
			h->offsets[r] = fmaxf(h->offsets[r], h->bias[r][j * h->bias_step]);
	/* Appended keys have no bias: they count as 0. */
	if (v->appended_keys > 0 || h->offsets[r] == -INFINITY)
		h->offsets[r] = fmaxf(h->offsets[r], 0);
}

static void find_hiding(const struct engine *engine, struct workspace *w, const struct row_block *block,
			struct hiding *h)
{
	const struct visibility *v = engine->source.visibility;
	size_t keys = engine->keys;
	h->prefix = visibility_is_prefix(v);
	h->fewest = keys;
	h->most = 0;
	for (size_t r = 0; r < block->count; r++) {
		unsigned char *visible = w->visible ? w->visible + r * keys : NULL;
		if (visible)
			visibility_row(v, block->batch, block->head, block->query + r, visible);
		h->bias[r] = NULL;
		if (h->prefix) {
			h->limits[r] = visibility_count(v, block->batch, block->query + r);
		} else {
			const unsigned char *last = memrchr(visible, 1, keys);
			h->limits[r] = last ? (size_t)(last - visible) + 1 : 0;
			find_bias(v, block, visible, r, h);
		}
		h->most = h->limits[r] > h->most ? h->limits[r] : h->most;
		h->fewest = h->limits[r] < h->fewest ? h->limits[r] : h->fewest;
	}
}

/* scores (count, TILE) of keys [first, first + count): hidden ones become -inf. */
static void hide(const struct engine *engine, const struct workspace *w, const struct hiding *h,
		 size_t queries, size_t first, size_t count, float *scores)
{
	if (h->prefix) {
		for (size_t q = 0; q < queries && first + count > h->fewest; q++)
			for (size_t j = h->limits[q] > first ? h->limits[q] - first : 0; j < count; j++)
				scores[j * TILE + q] = -INFINITY;
		return;
	}
	size_t plain = engine->source.visibility->plain_keys;
	for (size_t q = 0; q < queries; q++) {
		const unsigned char *visible = w->visible + q * engine->keys + first;
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

/* The running state of a tile's softmax, by query. */
struct running {
	_Alignas(64) float highest[TILE], sum[TILE], rescale[TILE], factor[TILE];
};

/* One step: scores of `count` keys from `first` on, softmax, weighted values. */
static void step(const struct engine *engine, struct workspace *w, const struct row_block *block,
		 const struct hiding *h, struct running *run, float *scores, size_t first, size_t count)
{
	const struct problem *p = engine->problem;
	const struct kernels *kernels = engine->kernels;
	size_t kv_head = block->head / (p->heads / p->kv_heads);
	struct gemm products = {
	    .c = scores,
	    .c_stride = TILE,
	    .a = head_start(&engine->k, block->batch, kv_head) + first * engine->k.token_stride,
	    .a_row = engine->k.token_stride,
	    .a_col = 1,
	    .b = w->queries,
	    .b_stride = TILE,
	    .rows = count,
	    .inner = p->head_size,
	    .cols = block->count,
	};
	kernels->gemm(&products);
	if (p->softcap > 0)
		kernels->softcap(scores, count, block->count, (float)p->softcap);
	hide(engine, w, h, block->count, first, count, scores);
	bool rescaled = kernels->softmax(scores, count, block->count, run->highest, run->sum, run->rescale);
	if (!engine->want.context)
		return;
	if (rescaled && first > 0)
		kernels->scale_columns(w->context, p->value_size, block->count, run->rescale);
	struct gemm values = {
	    .c = w->context,
	    .c_stride = TILE,
	    .a = head_start(&engine->v, block->batch, kv_head) + first * engine->v.token_stride,
	    .a_row = 1,
	    .a_col = engine->v.token_stride,
	    .b = scores,
	    .b_stride = TILE,
	    .rows = p->value_size,
	    .inner = count,
	    .cols = block->count,
	    .accumulate = first > 0,
	};
	kernels->gemm(&values);
}

/* Turn the kept exponentials into rows of weights. */
static void write_weights(const struct engine *engine, const struct workspace *w,
			  const struct row_block *block, const struct running *run, size_t most, float *rows)
{
	size_t keys = engine->keys;
	for (size_t first = 0, at = 0; first < most; first += KEY_BLOCK, at++) {
		_Alignas(64) float factor[TILE] = {0};
		const float *tops = w->tops + at * TILE;
		size_t count = most - first < KEY_BLOCK ? most - first : KEY_BLOCK;
		for (size_t q = 0; q < block->count; q++)
			factor[q] = run->factor[q] *
				    (tops[q] == run->highest[q] ? 1 : expf(tops[q] - run->highest[q]));
		engine->kernels->unpack(rows + first, keys, w->scores + first * TILE, block->count, count,
					factor, block->weights_place != NULL);
	}
	for (size_t q = 0; q < block->count && most < keys; q++)
		memset(rows + q * keys + most, 0, (keys - most) * sizeof *rows);
}

bool engine_tile(const struct engine *engine, struct workspace *w, struct row_block *block)
{
	const struct problem *p = engine->problem;
	const struct kernels *kernels = engine->kernels;
	bool weights = engine->want.weights;
	struct hiding h;
	struct running run;
	const float *q =
	    head_start(&engine->q, block->batch, block->head) + block->query * engine->q.token_stride;
	for (size_t i = 0; i < TILE; i++) {
		run.highest[i] = -INFINITY;
		run.sum[i] = run.factor[i] = 0;
	}
	find_hiding(engine, w, block, &h);
	kernels->pack(w->queries, q, engine->q.token_stride, block->count, p->head_size, (float)p->scale);
	if (engine->want.context && h.most == 0) /* else the first step sets it */
		memset(w->context, 0, p->value_size * TILE * sizeof *w->context);
	for (size_t first = 0; first < h.most; first += KEY_BLOCK) {
		size_t count = h.most - first < KEY_BLOCK ? h.most - first : KEY_BLOCK;
		step(engine, w, block, &h, &run, w->scores + (weights ? first * TILE : 0), first, count);
		if (weights)
			memcpy(w->tops + first / KEY_BLOCK * TILE, run.highest, sizeof run.highest);
	}
	block->masked = 0;
	for (size_t i = 0; i < block->count; i++) {
		if (!isfinite(run.sum[i]))
			return false; /* a score beyond float32 */
		block->masked += run.sum[i] == 0;
		run.factor[i] = run.sum[i] > 0 ? 1 / run.sum[i] : 0;
	}
	if (engine->want.context && !kernels->all_finite(w->context, p->value_size, block->count))
		return false; /* sums of values near the end of float32 */
	if (weights) {
		float *rows = block->weights_place ? block->weights_place : w->out_weights;
		write_weights(engine, w, block, &run, h.most, rows);
		block->weights = rows;
		block->visible = w->visible;
	}
	if (engine->want.context) {
		if (!block->context_place) {
			block->context_place = w->out_context;
			block->context_stride = p->value_size;
		}
		kernels->unpack(block->context_place, block->context_stride, w->context, block->count,
				p->value_size, run.factor, false);
		block->context = block->context_place;
	}
	return true;
}
