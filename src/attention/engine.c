#include "attention/engine.h"

#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "attention/latent.h"
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
	free(w->taken);
	free(w->step_visible);
	free(w->row_visible);
	free(w->normalizing);
	free(w->out_weights);
	free(w->out_scores);
	free(w->out_context);
	free(w->first_weights);
	free(w->first_context);
	free(w->visible);
	free(w->row);
	free(w->scratch);
	free(w->sums);
}

static void engine_free(struct row_source *source)
{
	struct engine *engine = (struct engine *)source;
	for (size_t i = 0; i < 3; i++)
		free(engine->places[i].data);
	free(engine->scored[0].data);
	free(engine->scored[1].data);
	free(engine->states);
	for (size_t i = 0; i < engine->worker_count; i++)
		workspace_release(&engine->workers[i]);
	free(engine->workers);
	free(engine);
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

/* What a worker's memory takes, in the numbers and bytes of each array; 0: not needed. */
struct workspace_sizes {
	size_t queries, scores, context, tops, taken, step_visible, row_visible, normalizing;
	size_t out_weights, out_scores, out_context, first_weights, first_context, visible, row, sums;
};

/* For blocks by tiles, or by the reference. */
static struct workspace_sizes workspace_sizes(const struct problem *p, struct engine_want want, bool tiles)
{
	size_t keys = p->info.keys, rows = size_min(p->queries, ROWS_BLOCK), steps = engine_steps(keys);
	size_t count = (rows + TILE - 1) / TILE;
	bool whole_rows = normalization_needs_rows(&p->normalization), keep = want.weights || whole_rows;
	bool weights = want.weights || !tiles;
	struct workspace_sizes s = {
	    .out_weights = weights ? rows * keys : 0,
	    .visible = weights ? rows * keys : 0,
	    .out_context = want.context ? rows * p->value_size : 0,
	};
	if (p->maps > 1) {
		s.first_weights = want.weights ? s.out_weights : 0;
		s.first_context = s.out_context;
	}
	if (!tiles) {
		s.row = keys;
		s.sums = p->value_size + 1;
		s.out_scores = want.stage != SCORES_NONE ? rows * keys : 0;
		return s;
	}
	s.queries = count * p->score.inner * TILE;
	s.scores = (keep ? count * steps : 1) * KEY_BLOCK * TILE;
	s.tops = keep ? count * steps * TILE : 0;
	s.taken = keep ? count * steps : 0;
	s.context = want.context ? count * (p->value_size + 1) * TILE : 0;
	s.step_visible = TILE * KEY_BLOCK;
	s.row_visible = p->masking.bias ? keys : 0;
	s.normalizing = whole_rows ? normalize_scratch(keys) : 0;
	return s;
}

/* Each gets what is not there yet. */
static bool get_bytes(unsigned char **at, size_t count)
{
	if (!*at && count > 0)
		*at = array_alloc(count, 1);
	return *at || count == 0;
}

static bool get_floats(float **at, size_t count)
{
	if (!*at && count > 0)
		*at = floats_alloc(count);
	return *at || count == 0;
}

static bool get_doubles(double **at, size_t count)
{
	if (!*at && count > 0)
		*at = array_alloc(count, sizeof **at);
	return *at || count == 0;
}

static bool workspace_allocate(struct workspace *w, const struct workspace_sizes *s)
{
	return get_floats(&w->queries, s->queries) && get_floats(&w->scores, s->scores) &&
	       get_floats(&w->context, s->context) && get_floats(&w->tops, s->tops) &&
	       get_bytes(&w->taken, s->taken) && get_bytes(&w->step_visible, s->step_visible) &&
	       get_bytes(&w->row_visible, s->row_visible) && get_bytes(&w->normalizing, s->normalizing) &&
	       get_floats(&w->out_weights, s->out_weights) && get_floats(&w->out_scores, s->out_scores) &&
	       get_floats(&w->out_context, s->out_context) &&
	       get_floats(&w->first_weights, s->first_weights) &&
	       get_floats(&w->first_context, s->first_context) && get_bytes(&w->visible, s->visible) &&
	       get_doubles(&w->row, s->row) && get_doubles(&w->scratch, s->row) &&
	       get_doubles(&w->sums, s->sums);
}

static size_t workspace_bytes(const struct workspace_sizes *s)
{
	size_t floats = s->queries + s->scores + s->context + s->tops + s->out_weights + s->out_scores +
			s->out_context + s->first_weights + s->first_context;
	return floats * sizeof(float) + s->taken + s->step_visible + s->row_visible + s->normalizing +
	       s->visible + (2 * s->row + s->sums) * sizeof(double);
}

static void clear_block(struct row_block *block)
{
	block->scores = NULL;
	block->context = NULL;
	block->weights = NULL;
	block->visible = NULL;
}

/* The reference's memory, once. */
static bool reference_ready(const struct engine *engine, struct workspace *w)
{
	struct workspace_sizes sizes = workspace_sizes(engine->problem, engine->want, false);
	return w->row || workspace_allocate(w, &sizes);
}

/* The rows of one map, where the block's places are. */
static enum attn_status read_map(struct engine *engine, size_t which, struct workspace *w,
				 struct row_block *block, struct attn_error *err)
{
	struct map map = engine_map(engine, block->head, which);
	clear_block(block);
	if (engine->by_tiles && engine_tile(engine, &map, w, block))
		return ATTN_OK;
	clear_block(block);
	if (!reference_ready(engine, w))
		return attn_fail_memory(err);
	enum attn_status status = engine_reference(engine, &map, w, block, err);
	if (status == ATTN_OK)
		move_to_places(block, engine->problem->value_size);
	return status;
}

/* rows[r] -= factor * other[r] for `count` rows of `cols` numbers. */
static void subtract(float *rows, size_t stride, const float *other, size_t count, size_t cols, float factor)
{
	for (size_t r = 0; r < count; r++)
		for (size_t c = 0; c < cols; c++)
			rows[r * stride + c] -= factor * other[r * cols + c];
}

/* Differential attention: the first map's rows less lambda times the second's (Ye et al.
 * 2024, equation 1).  The second's go into the workspace, so the first's must not. */
static enum attn_status read_difference(struct engine *engine, struct workspace *w, struct row_block *block,
					struct attn_error *err)
{
	const struct problem *p = engine->problem;
	float lambda = p->lambda[block->head];
	struct row_block second = *block;
	if (!engine->by_tiles && !reference_ready(engine, w))
		return attn_fail_memory(err);
	second.weights_place = second.context_place = NULL;
	if (engine->want.weights && !block->weights_place)
		block->weights_place = w->first_weights;
	if (engine->want.context && !block->context_place) {
		block->context_place = w->first_context;
		block->context_stride = p->value_size;
	}
	enum attn_status status = read_map(engine, 0, w, block, err);
	if (status == ATTN_OK)
		status = read_map(engine, 1, w, &second, err);
	if (status != ATTN_OK)
		return status;
	if (engine->want.weights)
		subtract(block->weights_place, block->keys, second.weights, block->count, block->keys,
			 lambda);
	else
		block->weights = NULL;
	if (engine->want.context)
		subtract(block->context_place, block->context_stride, second.context, block->count,
			 p->value_size, lambda);
	return ATTN_OK;
}

static enum attn_status engine_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct engine *engine = (struct engine *)source;
	struct workspace *w = &engine->workers[worker];
	return engine->problem->maps > 1 ? read_difference(engine, w, block, err)
					 : read_map(engine, 0, w, block, err);
}

/* --- cost --------------------------------------------------------------------- */

/* Pairs of a query and a key that it may see, as far as causal and lengths go. */
static double count_pairs(const struct problem *p)
{
	double pairs = 0;
	for (size_t b = 0; b < p->batch; b++)
		for (size_t query = 0; query < p->queries; query++)
			pairs += (double)(masking_count(&p->masking, b, query) + p->masking.appended_keys);
	return pairs;
}

/* Multiply-adds of the matrices of a score function. */
static double score_cost(const struct problem *p)
{
	double queries = (double)(p->batch * p->heads * p->maps) * (double)p->queries;
	double keys = (double)p->batch * (double)p->info.keys *
		      (double)(p->maps * (p->score.u.head_stride ? p->heads : p->kv_heads));
	return queries * (double)p->score.w.rows * (double)p->score.w.cols +
	       keys * (double)p->score.u.rows * (double)p->score.u.cols;
}

struct engine_cost engine_cost(const struct problem *p, struct engine_want want)
{
	struct engine_cost cost = {0};
	bool tiles = kernels_best() && want.stage == SCORES_NONE;
	want.context &= p->has_values;
	double rows = (double)p->batch * (double)p->queries, sources = (double)p->batch * (double)p->keys.own;
	if (p->latent.down_kv.data) {
		cost.projections = latent_cost(p, want.context);
	} else if (p->projected) {
		cost.projections = rows * (double)p->wq.rows * (double)p->wq.cols +
				   sources * (double)p->wk.rows * (double)p->wk.cols;
		if (want.context)
			cost.projections += sources * (double)p->wv.rows * (double)p->wv.cols;
	}
	cost.projections += score_cost(p);
	cost.attention = (double)(p->heads * p->maps) * count_pairs(p) *
			 (double)(p->score.inner + (want.context ? p->value_size : 0));
	cost.projected = engine_prepared_bytes(p, want);
	size_t step, states = tiles ? engine_linear_states(p, want, &step) : 0;
	if (states > 0) { /* each key once, and each query once and with the keys of a step */
		double size = (double)p->score.inner * (double)(p->value_size + 1);
		double heads = (double)(p->batch * p->heads * p->maps);
		cost.attention = heads * size * ((double)p->queries + (double)p->info.keys) +
				 heads * (double)p->queries * (double)(p->info.keys > step ? step / 2 : 0) *
				     (double)(p->score.inner + p->value_size);
		cost.projected += (size_t)((double)(p->batch * p->kv_heads * p->maps * states) * size *
					   (double)sizeof(float));
	}
	if (want.context)
		cost.output = rows * (double)p->wo.rows * (double)p->wo.cols;
	struct workspace_sizes sizes = workspace_sizes(p, want, tiles);
	cost.workspace = workspace_bytes(&sizes);
	return cost;
}

enum attn_status engine_new(struct engine **out, const struct problem *p, struct engine_want want,
			    struct attn_error *err)
{
	struct engine *engine = calloc(1, sizeof *engine);
	*out = NULL;
	if (!engine)
		return attn_fail_memory(err);
	if (want.stage != SCORES_NONE && p->maps > 1) {
		free(engine);
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'lambda' makes two maps a head, each with scores of its own, expected "
				 "scores to be asked for without it");
	}
	engine->source = (struct row_source){&p->info, &p->masking, 0, engine_read, engine_free};
	engine->problem = p;
	engine->want = want;
	engine->want.context &= p->has_values;
	engine->kernels = kernels_best();
	engine->keys = p->info.keys;
	engine->whole_rows = normalization_needs_rows(&p->normalization);
	engine->source.row_cost = engine->keys * (p->score.inner + p->value_size) * p->maps;
	engine->worker_count = threads_count();
	engine->workers = array_alloc(engine->worker_count, sizeof *engine->workers);
	enum attn_status status = engine->workers ? ATTN_OK : attn_fail_memory(err);
	bool tiles = engine->kernels && want.stage == SCORES_NONE;
	struct workspace_sizes sizes = workspace_sizes(p, engine->want, true);
	for (size_t i = 0; i < engine->worker_count && status == ATTN_OK && tiles; i++)
		if (!workspace_allocate(&engine->workers[i], &sizes))
			status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = engine_prepare(engine, err);
	if (status != ATTN_OK) {
		engine_free(&engine->source);
		return status;
	}
	*out = engine;
	return ATTN_OK;
}

enum attn_status engine_update(struct engine *engine, struct attn_error *err)
{
	return engine_prepare(engine, err);
}

struct row_source *engine_rows(struct engine *engine)
{
	return &engine->source;
}

const float *engine_value(const struct engine *engine, size_t batch, size_t head, size_t key)
{
	const struct problem *p = engine->problem;
	return head_start(&engine->v, batch, head / (p->heads / p->kv_heads)) + key * engine->v.token_stride;
}

enum attn_status engine_output(const struct problem *p, const float *context, size_t rows, float *output,
			       struct attn_error *err)
{
	struct sequence x = {context, rows, p->heads * p->value_size, 0};
	struct heads_place place = {output, 0, 0, p->output_size, 0};
	return engine_project(kernels_best(), &x, 1, &p->wo, p->bo, "output", &place, err);
}
