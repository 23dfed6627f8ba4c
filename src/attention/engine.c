/* The engine: a source of weight rows that computes them from a plan.
 *
 *   weights = normalize(mask(softcap(scale score(Q, K)))),  context = weights V
 *
 * Vaswani et al. 2017, equation 1, where that is softmax and Q K^T; score.h and
 * normalizer.h have the others.  The order of softcap and mask is that of the ONNX
 * operator Attention.
 *
 * Two ways lead to the same rows: tiles of queries by vector kernels with an
 * online softmax (engine_tile.c), and plain float64 loops (engine_reference.c),
 * which are the reference, serve processors without vectors, give scores, and take
 * over where a float32 score overflows or would lose digits to its bias.  Results do
 * not depend on the number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

static void engine_free(struct row_source *source)
{
	struct engine *engine = (struct engine *)source;
	for (size_t i = 0; i < 3; i++)
		free(engine->places[i].data);
	free(engine->scored[0].data);
	free(engine->scored[1].data);
	free(engine->states);
	free(engine->by_tiles);
	for (size_t i = 0; i < engine->worker_count; i++)
		workspace_release(&engine->workers[i]);
	free(engine->workers);
	free(engine);
}

/* --- rows ------------------------------------------------------------------- */

/* What the reference computes into its own memory goes where a consumer wants it. */
static void move_to_places(struct row_block *block, size_t value_size)
{
	if (block->weights && block->weights_place) {
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

/* Say which keys the rows attend to, where that is a span each. */
static void find_spans(const struct engine *engine, struct workspace *w, struct row_block *block)
{
	const struct masking *m = &engine->attention->masking;
	if (!masking_is_interval(m))
		return;
	for (size_t r = 0; r < block->count; r++)
		masking_interval(m, block->batch, block->query + r, &w->spans[r].first, &w->spans[r].end);
	block->spans = w->spans;
}

static void clear_block(struct row_block *block)
{
	memset(block->scores, 0, sizeof block->scores);
	block->unscaled_weights = block->context = block->weights = NULL;
	block->shares = NULL;
	block->cells = NULL;
	block->spans = NULL;
}

/* The reference's memory, once.  False: no memory. */
static bool reference_allocate(const struct engine *engine, struct workspace *w)
{
	return w->row || workspace_allocate(w, engine->plan, BY_REFERENCE);
}

/* The rows of one map, where the block's places are. */
static enum attn_status read_map(struct engine *engine, size_t which, struct workspace *w,
				 struct row_block *block, struct attn_error *err)
{
	struct map map = engine_map(engine, block->head, which);
	clear_block(block);
	if (engine->by_tiles[block->head] && engine_tile(engine, &map, w, block))
		return ATTN_OK;
	clear_block(block);
	if (!reference_allocate(engine, w))
		return attn_fail_memory(err);
	enum attn_status status = engine_reference(engine, &map, w, block, err);
	if (status == ATTN_OK)
		move_to_places(block, engine->attention->value_size);
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
	const struct attention *a = engine->attention;
	float lambda = a->lambda[block->head];
	struct row_block second;
	block->spans_only = false; /* whole rows are subtracted */
	second = *block;
	if (!engine->by_tiles[block->head] && !reference_allocate(engine, w))
		return attn_fail_memory(err);
	second.weights_place = second.context_place = NULL;
	if (gives_weights(engine, block) && !block->weights_place)
		block->weights_place = w->first_weights;
	if (engine->want.context && !block->context_place) {
		block->context_place = w->first_context;
		block->context_stride = a->value_size;
	}
	TRY(read_map(engine, 0, w, block, err));
	TRY(read_map(engine, 1, w, &second, err));
	if (gives_weights(engine, block))
		subtract(block->weights_place, block->keys, second.weights, block->count, block->keys,
			 lambda);
	else
		block->weights = NULL;
	if (engine->want.context)
		subtract(block->context_place, block->context_stride, second.context, block->count,
			 a->value_size, lambda);
	return ATTN_OK;
}

static enum attn_status engine_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct engine *engine = (struct engine *)source;
	struct workspace *w = &engine->workers[worker];
	enum attn_status status = is_differential(engine->attention) ? read_difference(engine, w, block, err)
								     : read_map(engine, 0, w, block, err);
	find_spans(engine, w, block);
	return status;
}

/* --- start -------------------------------------------------------------------- */

/* What a query costs is about the keys that it attends to. */
static size_t engine_query_work(const struct row_source *source, size_t batch, size_t query)
{
	const struct masking *m = &((const struct engine *)source)->attention->masking;
	return masking_count(m, batch, query) + m->appended_keys + 1;
}

static enum attn_status engine_start(struct row_source *source, struct attn_error *err)
{
	struct engine *engine = (struct engine *)source;
	if (engine->started)
		return ATTN_OK;
	for (size_t i = 0; i < engine->worker_count && plan_by_tiles(engine->plan); i++)
		if (!workspace_allocate(&engine->workers[i], engine->plan, BY_TILES))
			return attn_fail_memory(err);
	const struct attention *a = engine->attention;
	if (a->arrive)
		TRY(a->arrive(a->arriving, err));
	enum attn_status status = engine_prepare(engine, err);
	engine->started = status == ATTN_OK;
	return status;
}

enum attn_status plan_run(const struct plan *plan, struct row_source **source, struct attn_error *err)
{
	const struct attention *a = plan->attention;
	struct engine *engine = calloc(1, sizeof *engine);
	*source = NULL;
	if (!engine)
		return attn_fail_memory(err);
	engine->source =
	    (struct row_source){.shape = plan->shape,
				.row_cost = plan->shape.keys * (a->score.inner + a->value_size) * a->maps,
				.query_work = engine_query_work,
				.start = engine_start,
				.read = engine_read,
				.value_norms = a->has_values && plan->want.values ? engine_value_norms : NULL,
				.free = engine_free};
	engine->plan = plan;
	engine->attention = a;
	engine->want = plan->want;
	engine->kernels = kernels_best();
	engine->keys = plan->shape.keys;
	engine->whole_rows = normalization_needs_rows(&a->normalization);
	engine->workers = array_alloc(threads_count(), sizeof *engine->workers);
	engine->by_tiles = array_alloc(a->heads, sizeof *engine->by_tiles);
	if (!engine->workers || !engine->by_tiles) {
		engine_free(&engine->source);
		return attn_fail_memory(err);
	}
	engine->worker_count = threads_count();
	*source = &engine->source;
	return ATTN_OK;
}
