/* Score functions and feature maps applied to Q and K, up to where a score is made of one vector
 * of each.
 */
#include <math.h>

#include "attention/engine_internal.h"
#include "attention/matrix.h"
#include "util/minmax.h"

/* A matrix of a score function for the vectors of Q or K. */
struct transform {
	const struct head_set *set; /* that of the vectors; or of query heads, each with the vectors
				     * of the key head that it shares */
	size_t tokens;
	const struct head_matrix *matrix, *bias; /* bias: NULL data for none */
	const char *what;
	struct heads_place *place;
};

/* Each head's vectors times its matrix, plus its bias. */
static enum attn_status transform(struct engine *engine, const struct transform *t,
				  struct head_vectors *vectors, struct attn_error *err)
{
	const struct head_matrix *m = t->matrix;
	const struct head_set *set = t->set;
	struct head_vectors out;
	if (!engine_own(engine, set, t->tokens, m->cols, t->place, &out))
		return attn_fail_memory(err);
	for (size_t slot = 0; slot < set->count; slot++) {
		size_t h = set->heads[slot];
		size_t at = head_at(vectors, set == vectors->set ? h : key_head_of(engine->attention, h));
		struct sequence x = {head_start(&vectors->view, 0, at), t->tokens, m->rows,
				     vectors->view.batch_stride};
		struct matrix w = matrix_plain(m->data + h * m->head_stride, m->rows, m->cols, m->cols);
		const float *bias = t->bias->data ? t->bias->data + h * t->bias->head_stride : NULL;
		struct heads_place to = {t->place->data + slot * t->place->head_stride,
					 t->place->batch_stride, 0, m->cols, 0};
		TRY(engine_project(engine->kernels, &x, engine->attention->batch, &w, bias, t->what, &to,
				   err));
	}
	*vectors = out;
	return ATTN_OK;
}

/* The heads that keys are made for: with a matrix for each query head, each has keys of its own. */
static const struct head_set *key_set(const struct plan *plan)
{
	return plan->attention->score.u.head_stride > 0 ? &plan->queries : &plan->keys;
}

/* Q and K, in memory of the engine's, are changed in place. */
static void change_vectors(struct engine *engine)
{
	const struct attention *a = engine->attention;
	const struct normalizer *normalizer = a->normalization.normalizer;
	const struct score_function *function = a->score.function;
	float *q = engine->places[0].data, *k = engine->places[1].data;
	size_t q_count = a->batch * engine->plan->queries.count * a->queries,
	       k_count = a->batch * engine->plan->keys.count * engine->keys;
	if (normalizer->features) {
		normalizer->features(engine->kernels, q, q_count * a->head_size);
		normalizer->features(engine->kernels, k, k_count * a->key_size);
	}
	if (function->prepare) {
		function->prepare(q, q_count, a->head_size);
		function->prepare(k, k_count, a->key_size);
	}
}

bool engine_changes_vectors(const struct attention *a)
{
	return a->normalization.normalizer->features || a->score.function->prepare;
}

enum attn_status engine_apply_score_function(struct engine *engine, struct attn_error *err)
{
	const struct attention *a = engine->attention;
	const struct score *s = &a->score;
	static const struct head_matrix none = {0};
	const struct transform q = {&engine->plan->queries, a->queries, &s->w, &s->b, "query",
				    &engine->scored[0]};
	const struct transform k = {key_set(engine->plan), engine->keys, &s->u, &none, "key",
				    &engine->scored[1]};
	enum attn_status status = ATTN_OK;
	change_vectors(engine);
	if (s->w.data)
		status = transform(engine, &q, &engine->q, err);
	if (s->u.data && status == ATTN_OK)
		status = transform(engine, &k, &engine->k, err);
	return status;
}

size_t engine_score_bytes(const struct plan *plan)
{
	const struct attention *a = plan->attention;
	size_t vectors = 0;
	if (a->score.w.data)
		vectors += plan->queries.count * a->queries;
	if (a->score.u.data)
		vectors += key_set(plan)->count * plan->shape.keys;
	return a->batch * vectors * a->score.inner * sizeof(float);
}

/* The largest absolute value of `count` numbers of the vectors that a view has at `at`, in any
 * batch item. */
static double largest_value(const struct engine *engine, const struct heads_view *view, size_t at,
			    size_t count)
{
	float most = 0;
	for (size_t b = 0; b < engine->attention->batch; b++)
		most = fmaxf(most, engine->kernels->largest(head_start(view, b, at), count));
	return (double)most;
}

static bool map_fits(const struct engine *engine, const struct map *map)
{
	const struct attention *a = engine->attention;
	const struct score *s = &a->score;
	struct score_bounds bounds = {
	    .q = largest_value(engine, &engine->q.view, map->query_at, a->queries * s->inner),
	    .k = largest_value(engine, &engine->k.view, map->key_at, engine->keys * s->inner),
	    .scale = fmax(1, fabs(map->scale)),
	    .inner = s->inner,
	};
	if (s->v.data)
		bounds.v = (double)engine->kernels->largest(s->v.data + map->query_head * s->v.head_stride,
							    s->inner);
	return s->function->fits(&bounds);
}

bool engine_scores_fit(const struct engine *engine, size_t head)
{
	bool fit = true;
	for (size_t which = 0; which < engine->attention->maps && fit; which++) {
		struct map map = engine_map(engine, head, which);
		fit = map_fits(engine, &map);
	}
	return fit;
}
