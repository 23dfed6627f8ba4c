/* Linear attention in time that grows with the keys alone (Katharopoulos et al. 2020,
 * equations 4 to 7): with features phi,
 *
 *   context_i = phi(q_i) S / (phi(q_i) . z),  S = sum of phi(k_j) v_j^T,  z = sum of phi(k_j)
 *
 * over the keys that query i attends to.  Where these are the first ones, S and z are kept at
 * every STATE_STEP keys, and a tile adds the keys that follow one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

/* Whether each query attends to the keys below some number, and none but those. */
static bool attends_to_first_keys(const struct masking *m)
{
	return masking_is_interval(m) && !m->left_bound;
}

/* Keys of a part of a sum: few, so that float32 does. */
enum {
	PART = 64
};

struct states {
	struct engine *engine;
	size_t inner, wide, e; /* d, d as a multiple of TILE, and the value size */
	double **sums;         /* a worker's (e + 1, d) */
	float **parts;         /* a worker's (PART, wide) keys, (e, wide) products, ones */
};

/* Add the keys [first, first + count) to sums. */
static void add_keys(const struct states *s, const float *keys, const float *values, size_t count,
		     double *sums, float *part)
{
	const struct engine *engine = s->engine;
	float *padded = part, *products = part + PART * s->wide;
	for (size_t j = 0; j < count; j++) {
		memcpy(padded + j * s->wide, keys + j * engine->k.view.token_stride,
		       s->inner * sizeof *padded);
		memset(padded + j * s->wide + s->inner, 0, (s->wide - s->inner) * sizeof *padded);
	}
	struct gemm sum = {
	    .c = products,
	    .c_stride = s->wide,
	    .a = values,
	    .a_row = 1,
	    .a_col = engine->v.view.token_stride,
	    .b = padded,
	    .b_stride = s->wide,
	    .rows = s->e,
	    .inner = count,
	    .cols = s->inner,
	};
	engine->kernels->gemm(&sum);
	for (size_t c = 0; c < s->e; c++)
		for (size_t i = 0; i < s->inner; i++)
			sums[c * s->inner + i] += (double)products[c * s->wide + i];
	for (size_t j = 0; j < count; j++)
		for (size_t i = 0; i < s->inner; i++)
			sums[s->e * s->inner + i] += (double)padded[j * s->wide + i];
}

static void sum_head(void *context, size_t task, size_t worker)
{
	struct states *s = context;
	struct engine *engine = s->engine;
	const struct attention *a = engine->attention;
	const struct head_set *set = engine->k.set; /* made, so by slot */
	size_t batch = task / set->count, slot = task % set->count;
	size_t size = (s->e + 1) * s->inner, at = 0;
	const float *keys = head_start(&engine->k.view, batch, slot);
	const float *values =
	    head_start(&engine->v.view, batch, head_at(&engine->v, value_head_of_key(a, set->heads[slot])));
	float *out = engine->states + task * engine->state_count * size;
	double *sums = s->sums[worker];
	memset(sums, 0, size * sizeof *sums);
	for (size_t n = 0; n < engine->state_count; n++, out += size) {
		for (size_t end = at + engine->state_step; at < end;) {
			size_t count = size_min(end - at, PART);
			add_keys(s, keys + at * engine->k.view.token_stride,
				 values + at * engine->v.view.token_stride, count, sums, s->parts[worker]);
			at += count;
		}
		for (size_t i = 0; i < size; i++)
			out[i] = (float)sums[i];
	}
}

static bool allocate(struct states *s, size_t workers)
{
	struct engine *engine = s->engine;
	if (!engine->states)
		engine->states = floats_alloc4(engine->attention->batch * engine->k.set->count,
					       engine->state_count, s->e + 1, s->inner);
	s->sums = array_alloc(workers, sizeof *s->sums);
	s->parts = array_alloc(workers, sizeof *s->parts);
	if (!engine->states || !s->sums || !s->parts)
		return false;
	for (size_t i = 0; i < workers; i++) {
		s->sums[i] = array_alloc((s->e + 1) * s->inner, sizeof **s->sums);
		s->parts[i] = floats_alloc4(PART + s->e, s->wide, 1, 1);
		if (!s->sums[i] || !s->parts[i])
			return false;
	}
	return true;
}

static void release(struct states *s, size_t workers)
{
	for (size_t i = 0; i < workers; i++) {
		free(s->sums ? s->sums[i] : NULL);
		free(s->parts ? s->parts[i] : NULL);
	}
	free(s->sums);
	free(s->parts);
}

size_t engine_linear_states(const struct plan *plan, size_t *step)
{
	const struct attention *a = plan->attention;
	const struct masking *m = &a->masking;
	if (!a->normalization.normalizer->sums_keys || plan->want.weights || !plan->want.context ||
	    !attends_to_first_keys(m))
		return 0;
	/* Where all queries attend to all keys, one state says everything. */
	bool all = !m->causal && !m->right_bound && !m->lengths;
	*step = all ? m->plain_keys : STATE_STEP;
	return m->plain_keys / *step;
}

enum attn_status engine_linear_prepare(struct engine *engine, struct attn_error *err)
{
	const struct attention *a = engine->attention;
	struct states s = {.engine = engine, .inner = a->score.inner, .e = a->value_size};
	size_t workers = threads_count();
	engine->state_count = engine_linear_states(engine->plan, &engine->state_step);
	if (engine->state_count == 0)
		return ATTN_OK;
	s.wide = (s.inner + TILE - 1) / TILE * TILE;
	bool enough = allocate(&s, workers);
	if (enough)
		parallel_for(a->batch * engine->k.set->count, sum_head, &s);
	release(&s, workers);
	return enough ? ATTN_OK : attn_fail_memory(err);
}
