#include "core/engine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine_internal.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

static void workspace_release(struct workspace *w)
{
	free(w->queries);
	free(w->scores);
	free(w->context);
	free(w->tops);
	free(w->out_weights);
	free(w->out_scores);
	free(w->out_context);
	free(w->visible);
	free(w->row);
	free(w->sums);
}

static void engine_free(struct row_source *source)
{
	struct engine *engine = (struct engine *)source;
	for (size_t i = 0; i < 3; i++)
		free(engine->places[i].data);
	for (size_t i = 0; i < engine->worker_count; i++)
		workspace_release(&engine->workers[i]);
	free(engine->workers);
	free(engine);
}

/* --- queries, keys and values ----------------------------------------------- */

/* Memory (batch, heads, tokens, size) that the engine owns, from the first time on,
 * and its view. */
static bool own(struct engine *engine, size_t heads, size_t tokens, size_t size, struct heads_place *place,
		struct heads_view *view)
{
	if (!place->data)
		place->data = floats_alloc4(engine->problem->batch, heads, tokens, size);
	if (!place->data)
		return false;
	*place = (struct heads_place){place->data, heads * tokens * size, tokens * size, size, 0};
	*view = (struct heads_view){place->data, heads * tokens * size, tokens * size, size};
	return true;
}

static void copy_heads(const struct engine *engine, const struct heads_place *to,
		       const struct heads_view *from, size_t heads, size_t tokens)
{
	for (size_t b = 0; b < engine->problem->batch; b++)
		for (size_t h = 0; h < heads; h++)
			for (size_t t = 0; t < tokens; t++)
				memcpy(to->data + b * to->batch_stride + h * to->head_stride +
					   (to->first_token + t) * to->size,
				       from->data + b * from->batch_stride + h * from->head_stride +
					   t * from->token_stride,
				       to->size * sizeof *to->data);
}

/* Where the vectors of Q, K or V come from: a projection, or ready-made. */
struct vectors {
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct heads_view *ready, *past;
	const float *appended; /* bias_k or bias_v */
	struct heads_place *place;
	const char *what;
	size_t heads, own_tokens, size;
};

/* Past, own and appended vectors, one after the other. */
static enum attn_status join_vectors(struct engine *engine, const struct vectors *v,
				     const struct key_counts *keys, struct heads_view *out,
				     struct attn_error *err)
{
	const struct problem *p = engine->problem;
	enum attn_status status = ATTN_OK;
	if (!own(engine, v->heads, keys->past + v->own_tokens + keys->bias + keys->zero, v->size, v->place,
		 out))
		return attn_fail_memory(err);
	if (keys->past > 0)
		copy_heads(engine, v->place, v->past, v->heads, keys->past);
	v->place->first_token = keys->past;
	if (p->projected)
		status =
		    engine_project(engine->kernels, v->x, p->batch, v->w, v->bias, v->what, v->place, err);
	else
		copy_heads(engine, v->place, v->ready, v->heads, v->own_tokens);
	v->place->first_token += v->own_tokens;
	if (keys->bias) {
		struct heads_view bias = {v->appended, 0, v->size, 0};
		copy_heads(engine, v->place, &bias, v->heads, 1);
		v->place->first_token++;
	}
	if (keys->zero) {
		float *zeros = array_alloc(v->size, sizeof *zeros);
		if (!zeros)
			return attn_fail_memory(err);
		struct heads_view zero = {zeros, 0, 0, 0};
		copy_heads(engine, v->place, &zero, v->heads, 1);
		free(zeros);
	}
	return status;
}

/* Ready-made vectors that lie head by head are used where they are. */
static enum attn_status prepare(struct engine *engine, const struct vectors *v, const struct key_counts *keys,
				struct heads_view *out, struct attn_error *err)
{
	bool alone = keys->past == 0 && !keys->bias && !keys->zero;
	if (!engine->problem->projected && alone && v->ready->token_stride == v->size) {
		*out = *v->ready;
		return ATTN_OK;
	}
	return join_vectors(engine, v, keys, out, err);
}

/* The largest absolute value of all vectors, which lie head by head. */
static double largest_value(const struct engine *engine, const struct heads_view *view, size_t heads,
			    size_t count)
{
	float most = 0;
	for (size_t b = 0; b < engine->problem->batch; b++)
		for (size_t h = 0; h < heads; h++)
			most = fmaxf(most, engine->kernels->largest(head_start(view, b, h), count));
	return (double)most;
}

/* Whether no product of Q and K, nor a part of its sum, can leave float32: an
 * infinite score of one sign only would look like a masked one. */
static bool scores_fit(const struct engine *engine)
{
	const struct problem *p = engine->problem;
	double q =
	    largest_value(engine, &engine->q, p->heads, p->queries * p->head_size) * fmax(1, fabs(p->scale));
	double k = largest_value(engine, &engine->k, p->kv_heads, engine->keys * p->head_size);
	return q < (double)FLT_MAX / 2 && q * k * (double)p->head_size < (double)FLT_MAX / 2;
}

static enum attn_status prepare_all(struct engine *engine, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	static const struct key_counts alone = {0};
	struct vectors q = {.x = &p->embeddings, .w = &p->wq, .bias = p->bq, .ready = &p->q, .what = "query"};
	struct vectors k = {.x = &p->source, .w = &p->wk, .bias = p->bk, .ready = &p->k, .what = "key"};
	struct vectors v = {
	    .x = &p->source_values, .w = &p->wv, .bias = p->bv, .ready = &p->v, .what = "value"};
	q.place = &engine->places[0];
	k.place = &engine->places[1];
	v.place = &engine->places[2];
	k.past = &p->past_k;
	v.past = &p->past_v;
	k.appended = p->bias_k;
	v.appended = p->bias_v;
	q.heads = p->heads;
	k.heads = v.heads = p->kv_heads;
	q.own_tokens = p->queries;
	k.own_tokens = v.own_tokens = p->keys.own;
	q.size = k.size = p->head_size;
	v.size = p->value_size;
	enum attn_status status = prepare(engine, &q, &alone, &engine->q, err);
	if (status == ATTN_OK)
		status = prepare(engine, &k, &p->keys, &engine->k, err);
	if (status == ATTN_OK && engine->want.context)
		status = prepare(engine, &v, &p->keys, &engine->v, err);
	engine->by_tiles =
	    status == ATTN_OK && engine->kernels && engine->want.stage == SCORES_NONE && scores_fit(engine);
	return status;
}

/* --- rows ------------------------------------------------------------------- */

/* What the reference computes into its own memory goes where a sink wants it. */
static void move_to_places(struct row_block *block, size_t value_size)
{
	if (block->weights_place) {
		memcpy(block->weights_place, block->weights,
		       block->count * block->keys * sizeof *block->weights);
		block->weights = block->weights_place;
	}
	if (block->context && block->context_place) {
		for (size_t r = 0; r < block->count; r++)
			memcpy(block->context_place + r * block->context_stride,
			       block->context + r * value_size, value_size * sizeof *block->context);
		block->context = block->context_place;
	} else {
		block->context_stride = value_size;
	}
}

static bool reference_allocate(const struct engine *engine, struct workspace *w)
{
	const struct problem *p = engine->problem;
	size_t keys = engine->keys, rows = size_min(p->queries, ROWS_BLOCK);
	if (!w->out_weights)
		w->out_weights = floats_alloc4(rows, keys, 1, 1);
	if (!w->visible)
		w->visible = array_alloc(rows, keys);
	w->row = array_alloc(keys, sizeof *w->row);
	w->sums = array_alloc(p->value_size + 1, sizeof *w->sums);
	if (engine->want.stage != SCORES_NONE)
		w->out_scores = floats_alloc4(rows, keys, 1, 1);
	if (engine->want.context && !w->out_context)
		w->out_context = floats_alloc4(rows, p->value_size, 1, 1);
	return w->out_weights && w->visible && w->row && w->sums &&
	       (w->out_scores || engine->want.stage == SCORES_NONE) &&
	       (w->out_context || !engine->want.context);
}

static bool tile_allocate(const struct engine *engine, struct workspace *w)
{
	const struct problem *p = engine->problem;
	bool weights = engine->want.weights;
	size_t steps = engine_steps(engine->keys),
	       tiles = (size_min(p->queries, ROWS_BLOCK) + TILE - 1) / TILE;
	size_t rows = size_min(p->queries, ROWS_BLOCK);
	w->queries = floats_alloc4(tiles, p->head_size, TILE, 1);
	w->scores = floats_alloc4(weights ? tiles * steps : 1, KEY_BLOCK, TILE, 1);
	if (weights) {
		w->tops = floats_alloc4(tiles, steps, TILE, 1);
		w->out_weights = floats_alloc4(rows, engine->keys, 1, 1);
	}
	if (weights || !visibility_is_prefix(&p->visibility))
		w->visible = array_alloc(rows, engine->keys);
	if (engine->want.context) {
		w->context = floats_alloc4(tiles, p->value_size, TILE, 1);
		w->out_context = floats_alloc4(rows, p->value_size, 1, 1);
	}
	return w->queries && w->scores && (!weights || (w->tops && w->out_weights)) &&
	       (w->visible || (!weights && visibility_is_prefix(&p->visibility))) &&
	       (!engine->want.context || (w->context && w->out_context));
}

static enum attn_status engine_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct engine *engine = (struct engine *)source;
	struct workspace *w = &engine->workers[worker];
	block->scores = NULL;
	block->context = NULL;
	block->weights = NULL;
	block->visible = NULL;
	if (engine->by_tiles && engine_tile(engine, w, block))
		return ATTN_OK;
	if (!w->row && !reference_allocate(engine, w))
		return attn_fail_memory(err);
	enum attn_status status = engine_reference(engine, w, block, err);
	if (status == ATTN_OK)
		move_to_places(block, engine->problem->value_size);
	return status;
}

/* --- cost --------------------------------------------------------------------- */

/* Bytes of Q, K or V in memory of the engine's own: see prepare. */
static size_t projected_bytes(const struct problem *p, const struct heads_view *ready, size_t heads,
			      size_t tokens, size_t size, bool alone)
{
	if (!p->projected && alone && ready->token_stride == size)
		return 0;
	return p->batch * heads * tokens * size * sizeof(float);
}

/* What tile_allocate and reference_allocate ask for. */
static size_t workspace_bytes(const struct problem *p, struct engine_want want)
{
	size_t keys = p->info.keys, rows = size_min(p->queries, ROWS_BLOCK), steps = engine_steps(keys);
	size_t tiles = (rows + TILE - 1) / TILE, numbers = 0, bytes = 0;
	bool reference = !kernels_best() || want.stage != SCORES_NONE;
	if (want.weights || reference || !visibility_is_prefix(&p->visibility))
		bytes += rows * keys;
	if (want.weights || reference)
		numbers += rows * keys;
	if (want.context)
		numbers += rows * p->value_size;
	if (reference)
		return bytes + sizeof(double) * (keys + p->value_size) +
		       sizeof(float) * (numbers + (want.stage != SCORES_NONE ? rows * keys : 0));
	numbers += tiles * p->head_size * TILE;
	numbers += want.weights ? tiles * steps * (KEY_BLOCK + 1) * TILE : KEY_BLOCK * TILE;
	if (want.context)
		numbers += tiles * p->value_size * TILE;
	return bytes + sizeof(float) * numbers;
}

/* Pairs of a query and a key that it may see, as far as causal and lengths go. */
static double count_pairs(const struct problem *p)
{
	double pairs = 0;
	for (size_t b = 0; b < p->batch; b++)
		for (size_t query = 0; query < p->queries; query++)
			pairs += (double)(visibility_count(&p->visibility, b, query) +
					  p->visibility.appended_keys);
	return pairs;
}

struct engine_cost engine_cost(const struct problem *p, struct engine_want want)
{
	bool alone = p->keys.past == 0 && !p->keys.bias && !p->keys.zero;
	size_t keys = p->info.keys;
	struct engine_cost cost = {0};
	want.context &= p->has_values;
	double rows = (double)p->batch * (double)p->queries, sources = (double)p->batch * (double)p->keys.own;
	if (p->projected) {
		cost.projections = rows * (double)p->wq.rows * (double)p->wq.cols +
				   sources * (double)p->wk.rows * (double)p->wk.cols;
		if (want.context)
			cost.projections += sources * (double)p->wv.rows * (double)p->wv.cols;
	}
	cost.attention =
	    (double)p->heads * count_pairs(p) * (double)(p->head_size + (want.context ? p->value_size : 0));
	if (want.context)
		cost.output = rows * (double)p->wo.rows * (double)p->wo.cols;
	cost.projected = projected_bytes(p, &p->q, p->heads, p->queries, p->head_size, true) +
			 projected_bytes(p, &p->k, p->kv_heads, keys, p->head_size, alone);
	if (want.context)
		cost.projected += projected_bytes(p, &p->v, p->kv_heads, keys, p->value_size, alone);
	cost.workspace = workspace_bytes(p, want);
	return cost;
}

enum attn_status engine_new(struct engine **out, const struct problem *p, struct engine_want want,
			    struct attn_error *err)
{
	struct engine *engine = calloc(1, sizeof *engine);
	*out = NULL;
	if (!engine)
		return attn_fail_memory(err);
	engine->source = (struct row_source){&p->info, &p->visibility, 0, engine_read, engine_free};
	engine->problem = p;
	engine->want = want;
	engine->want.context &= p->has_values;
	engine->kernels = kernels_best();
	engine->keys = p->info.keys;
	engine->source.row_cost = engine->keys * (p->head_size + p->value_size);
	engine->worker_count = threads_count();
	engine->workers = array_alloc(engine->worker_count, sizeof *engine->workers);
	enum attn_status status = engine->workers ? ATTN_OK : attn_fail_memory(err);
	bool tiles = engine->kernels && want.stage == SCORES_NONE;
	for (size_t i = 0; i < engine->worker_count && status == ATTN_OK && tiles; i++)
		if (!tile_allocate(engine, &engine->workers[i]))
			status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = prepare_all(engine, err);
	if (status != ATTN_OK) {
		engine_free(&engine->source);
		return status;
	}
	*out = engine;
	return ATTN_OK;
}

enum attn_status engine_update(struct engine *engine, struct attn_error *err)
{
	return prepare_all(engine, err);
}

struct row_source *engine_rows(struct engine *engine)
{
	return &engine->source;
}

enum attn_status engine_output(const struct problem *p, const float *context, size_t rows, float *output,
			       struct attn_error *err)
{
	struct sequence x = {context, rows, p->heads * p->value_size, 0};
	struct heads_place place = {output, 0, 0, p->output_size, 0};
	return engine_project(kernels_best(), &x, 1, &p->wo, p->bo, "output", &place, err);
}
