/* The memory that a worker of the engine needs. */
#include <stdlib.h>

#include "attention/engine_internal.h"
#include "util/memory.h"
#include "util/minmax.h"

void workspace_release(struct workspace *w)
{
	free(w->queries);
	free(w->scores);
	free(w->context);
	free(w->tops);
	free(w->attended);
	free(w->step_attended);
	free(w->row_attended);
	free(w->normalizing);
	free(w->rows);
	free(w->out_weights);
	for (size_t i = 0; i < SCORE_STAGES; i++)
		free(w->out_scores[i]);
	free(w->out_unscaled);
	free(w->out_shares);
	free(w->out_context);
	free(w->first_weights);
	free(w->first_context);
	free(w->cells);
	free(w->row);
	free(w->unscaled);
	free(w->scratch);
	free(w->sums);
}

/* Sizes of a worker's arrays, in elements; 0: not needed. */
struct workspace_sizes {
	size_t queries, scores, context, tops, attended, step_attended, row_attended, normalizing, rows;
	size_t out_weights, out_scores, out_unscaled, out_shares, out_context;
	size_t first_weights, first_context, cells, row, unscaled, sums;
};

/* For blocks by tiles, or by the reference. */
static struct workspace_sizes workspace_sizes(const struct plan *plan, enum block_way way)
{
	const bool tiles = way == BY_TILES;
	const struct attention *a = plan->attention;
	const struct rows_want want = plan->want;
	size_t keys = plan->shape.keys, rows = size_min(a->queries, ROWS_BLOCK), steps = engine_steps(keys);
	size_t count = (rows + TILE - 1) / TILE;
	bool whole_rows = normalization_needs_rows(&a->normalization), keep = want.weights || whole_rows;
	bool weights = want.weights || !tiles;
	struct workspace_sizes s = {
	    .out_weights = weights ? rows * keys : 0,
	    .cells = weights ? rows * keys : 0,
	    .out_context = want.context ? rows * a->value_size : 0,
	};
	if (is_differential(a)) {
		s.first_weights = want.weights ? s.out_weights : 0;
		s.first_context = s.out_context;
	}
	if (!tiles) {
		s.row = keys;
		s.sums = a->value_size + 1;
		s.out_scores = rows * keys;
		s.out_unscaled = want.unscaled_weights ? rows * keys : 0;
		s.unscaled = want.unscaled_weights || plan_wants_scores(plan, SCORES_PRODUCT) ? keys : 0;
		s.out_shares = want.shares ? rows * keys : 0;
		return s;
	}
	s.queries = count * a->score.inner * TILE;
	s.scores = (keep ? count * steps : 1) * KEY_BLOCK * TILE;
	s.tops = keep && !whole_rows ? count * steps * TILE : 0;
	s.attended = keep ? count * steps : 0;
	s.context = want.context ? count * (a->value_size + 1) * TILE : 0;
	s.step_attended = TILE * KEY_BLOCK;
	s.row_attended = a->masking.bias ? keys : 0;
	s.normalizing = whole_rows ? normalize_scratch(keys) : 0;
	s.rows = whole_rows && !want.weights ? WHOLE_ROWS * keys : 0;
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

static bool get_scores(struct workspace *w, const struct plan *plan, size_t count)
{
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		if (plan_wants_scores(plan, (enum score_stage)stage) &&
		    !get_floats(&w->out_scores[stage], count))
			return false;
	return true;
}

bool workspace_allocate(struct workspace *w, const struct plan *plan, enum block_way way)
{
	const struct workspace_sizes s = workspace_sizes(plan, way);
	return get_floats(&w->queries, s.queries) && get_floats(&w->scores, s.scores) &&
	       get_floats(&w->context, s.context) && get_floats(&w->tops, s.tops) &&
	       get_bytes(&w->attended, s.attended) && get_bytes(&w->step_attended, s.step_attended) &&
	       get_bytes(&w->row_attended, s.row_attended) && get_bytes(&w->normalizing, s.normalizing) &&
	       get_floats(&w->rows, s.rows) && get_floats(&w->out_weights, s.out_weights) &&
	       get_scores(w, plan, s.out_scores) && get_floats(&w->out_unscaled, s.out_unscaled) &&
	       get_doubles(&w->out_shares, s.out_shares) && get_floats(&w->out_context, s.out_context) &&
	       get_floats(&w->first_weights, s.first_weights) &&
	       get_floats(&w->first_context, s.first_context) && get_bytes(&w->cells, s.cells) &&
	       get_doubles(&w->row, s.row) && get_doubles(&w->unscaled, s.unscaled) &&
	       get_doubles(&w->scratch, s.row) && get_doubles(&w->sums, s.sums);
}

size_t workspace_bytes(const struct plan *plan, enum block_way way)
{
	const struct workspace_sizes s = workspace_sizes(plan, way);
	size_t stages = (size_t)__builtin_popcount(plan->want.scores);
	size_t floats = s.queries + s.scores + s.context + s.tops + s.rows + s.out_weights +
			s.out_scores * stages + s.out_unscaled + s.out_context + s.first_weights +
			s.first_context;
	return floats * sizeof(float) + s.attended + s.step_attended + s.row_attended + s.normalizing +
	       s.cells + (2 * s.row + s.unscaled + s.out_shares + s.sums) * sizeof(double);
}
