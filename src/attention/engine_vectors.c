/* Q, K and V, laid out head by head and ready for Q K^T: projected or precomputed,
 * normalised, rotated, joined with the KV cache and appended keys, and through the
 * matrices of a score function.  Of all heads only those of the plan are made. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "attention/latent.h"
#include "attention/matrix.h"
#include "kernels/reference.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

bool engine_own(const struct engine *engine, const struct head_set *set, size_t tokens, size_t size,
		struct heads_place *place, struct head_vectors *out)
{
	size_t heads = set->count;
	if (!place->data)
		place->data = floats_alloc4(engine->attention->batch, heads, tokens, size);
	if (!place->data)
		return false;
	*place = (struct heads_place){place->data, heads * tokens * size, tokens * size, size, 0};
	*out = (struct head_vectors){{place->data, heads * tokens * size, tokens * size, size}, set, false};
	return true;
}

/* Copy `tokens` vectors of each head of the set, which `from` has at its number. */
static void copy_heads(const struct engine *engine, const struct heads_place *to, const struct head_set *set,
		       const struct heads_view *from, size_t tokens)
{
	for (size_t b = 0; b < engine->attention->batch; b++)
		for (size_t slot = 0; slot < set->count; slot++)
			for (size_t t = 0; t < tokens; t++)
				memcpy(to->data + b * to->batch_stride + slot * to->head_stride +
					   (to->first_token + t) * to->size,
				       head_start(from, b, set->heads[slot]) + t * from->token_stride,
				       to->size * sizeof *to->data);
}

/* Where the vectors of Q, K or V come from, and what is done to them. */
struct vectors {
	const struct head_set *set;
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct latents *latents; /* instead of these three, in latent attention; or NULL */
	enum latent_target target;
	const struct heads_view *precomputed, *past;
	const float *appended; /* bias_k or bias_v */
	struct heads_place *place;
	const char *what;
	size_t own_tokens, size;
	const struct vector_norm *norm; /* or NULL */
	const double *positions;        /* (positions_batch, own_tokens), or NULL: not rotated */
	size_t positions_batch;
	bool changed; /* later, in place: by a norm of cosine scores, or a feature map */
};

/* --- norms and rotary positions --------------------------------------------- */

static float *own_rows(const struct vectors *v, size_t batch, size_t slot)
{
	const struct heads_place *to = v->place;
	return to->data + batch * to->batch_stride + slot * to->head_stride + to->first_token * to->size;
}

static enum attn_status fail_norm(const struct vectors *v, size_t batch, size_t slot, size_t token,
				  struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT,
			 "the normalised %s of batch item %zu, head %zu, token %zu overflows float32",
			 v->what, batch, v->set->heads[slot], token);
}

/* The vector of a token in one head, or its part of that of all heads, which is `whole` long. */
static enum attn_status norm_vector(const struct vectors *v, double squares, size_t whole, size_t batch,
				    size_t slot, size_t token, struct attn_error *err)
{
	size_t head = v->set->heads[slot];
	const float *gain = v->norm->gain ? v->norm->gain + head * v->norm->gain_stride : NULL;
	float *x = own_rows(v, batch, slot) + token * v->size;
	return vector_normalize_part(v->norm, gain, squares, whole, x, v->size)
		   ? ATTN_OK
		   : fail_norm(v, batch, slot, token, err);
}

/* A norm over the whole width of a token: the set has all heads then. */
static enum attn_status norm_token(const struct vectors *v, size_t batch, size_t token,
				   struct attn_error *err)
{
	double squares = 0;
	for (size_t slot = 0; slot < v->set->count; slot++)
		squares += vector_squares(own_rows(v, batch, slot) + token * v->size, v->size);
	for (size_t slot = 0; slot < v->set->count; slot++)
		TRY(norm_vector(v, squares, v->set->count * v->size, batch, slot, token, err));
	return ATTN_OK;
}

/* Own vectors that are changed in place, by tasks of the tokens of one head each. */
enum {
	VECTOR_CHUNK = 128 /* tokens of a task */
};

struct change {
	const struct engine *engine;
	const struct vectors *v;
	const float *table; /* of rotary positions, of the batch item `batch` */
	size_t batch, chunks;
	atomic_size_t
	    failed; /* the first (batch, slot, token) that overflows, as one number; SIZE_MAX: none */
};

static void fail_at(struct change *change, size_t batch, size_t slot, size_t token)
{
	const struct vectors *v = change->v;
	size_t at = (batch * v->set->count + slot) * v->own_tokens + token;
	size_t first = atomic_load(&change->failed);
	while (at < first && !atomic_compare_exchange_weak(&change->failed, &first, at))
		;
}

/* The tokens of a task, of which *first is the first. */
static size_t chunk_of(const struct change *change, size_t task, size_t *first)
{
	*first = task % change->chunks * VECTOR_CHUNK;
	return size_min(change->v->own_tokens - *first, VECTOR_CHUNK);
}

static void norm_task(void *context, size_t task, size_t worker)
{
	struct change *change = context;
	const struct vectors *v = change->v;
	size_t first, count = chunk_of(change, task, &first);
	size_t slot = task / change->chunks % v->set->count, batch = task / change->chunks / v->set->count;
	(void)worker;
	for (size_t t = first; t < first + count; t++) {
		double squares = vector_squares(own_rows(v, batch, slot) + t * v->size, v->size);
		if (norm_vector(v, squares, v->size, batch, slot, t, NULL) != ATTN_OK) {
			fail_at(change, batch, slot, t);
			return;
		}
	}
}

static void change_all(struct change *change, size_t batches,
		       void (*run)(void *context, size_t task, size_t worker))
{
	const struct vectors *v = change->v;
	change->chunks = (v->own_tokens + VECTOR_CHUNK - 1) / VECTOR_CHUNK;
	atomic_store(&change->failed, SIZE_MAX);
	parallel_for_work(batches * v->set->count * change->chunks,
			  batches * v->set->count * v->own_tokens * v->size, run, change);
}

static enum attn_status norm_own(const struct engine *engine, const struct vectors *v, struct attn_error *err)
{
	struct change change = {.engine = engine, .v = v};
	size_t batches = engine->attention->batch;
	if (!v->norm || v->norm->kind == VECTOR_NORM_NONE)
		return ATTN_OK;
	for (size_t b = 0; b < batches && v->norm->whole; b++)
		for (size_t t = 0; t < v->own_tokens; t++)
			TRY(norm_token(v, b, t, err));
	if (v->norm->whole)
		return ATTN_OK;
	change_all(&change, batches, norm_task);
	size_t at = atomic_load(&change.failed);
	if (at == SIZE_MAX)
		return ATTN_OK;
	size_t token = at % v->own_tokens, slot = at / v->own_tokens % v->set->count;
	return fail_norm(v, at / v->own_tokens / v->set->count, slot, token, err);
}

static void rotate_task(void *context, size_t task, size_t worker)
{
	struct change *change = context;
	const struct vectors *v = change->v;
	const struct rotary *rotary = &change->engine->attention->rotary;
	size_t first, count = chunk_of(change, task, &first), slot = task / change->chunks;
	float *rows = own_rows(v, change->batch, slot) + first * v->size;
	bool finite = true;
	(void)worker;
	rotary_rotate(rotary, change->table + first * rotary->dims, rows, v->size, count);
	for (size_t i = 0; i < count * v->size; i++)
		finite &= isfinite(rows[i]) != 0;
	if (!finite)
		fail_at(change, change->batch, slot, first);
}

static enum attn_status rotate_own(const struct engine *engine, const struct vectors *v,
				   struct attn_error *err)
{
	const struct rotary *rotary = &engine->attention->rotary;
	bool finite = true;
	if (!v->positions)
		return ATTN_OK;
	float *table = rotary->table ? NULL : floats_alloc4(v->own_tokens, rotary->dims, 1, 1);
	struct change change = {.engine = engine, .v = v, .table = rotary->table ? rotary->table : table};
	if (!change.table)
		return attn_fail_memory(err);
	for (size_t b = 0; b < engine->attention->batch && finite; b++) {
		if (table && b < v->positions_batch)
			rotary_table(rotary, v->positions + b * v->own_tokens, v->own_tokens, table);
		change.batch = b;
		change_all(&change, 1, rotate_task);
		finite = atomic_load(&change.failed) == SIZE_MAX;
	}
	free(table);
	return finite ? ATTN_OK : attn_fail(err, ATTN_BAD_INPUT, "a rotated %s overflows float32", v->what);
}

/* --- one after the other ------------------------------------------------------ */

static enum attn_status append(const struct engine *engine, const struct vectors *v,
			       const struct key_counts *keys, struct attn_error *err)
{
	if (keys->bias) {
		struct heads_view bias = {v->appended, 0, v->size, 0};
		copy_heads(engine, v->place, v->set, &bias, 1);
		v->place->first_token++;
	}
	if (keys->zero) {
		float *zeros = array_alloc(v->size, sizeof *zeros);
		if (!zeros)
			return attn_fail_memory(err);
		struct heads_view zero = {zeros, 0, 0, 0};
		copy_heads(engine, v->place, v->set, &zero, 1);
		free(zeros);
	}
	return ATTN_OK;
}

/* The columns of W that belong to the set's heads, run by run. */
static enum attn_status project_heads(struct engine *engine, const struct vectors *v, struct attn_error *err)
{
	for (size_t slot = 0, run; slot < v->set->count; slot += run) {
		size_t first = v->set->heads[slot] * v->size;
		struct heads_place to = *v->place;
		run = head_set_run(v->set, slot);
		struct matrix columns = matrix_columns(v->w, first, run * v->size);
		to.data += slot * to.head_stride;
		TRY(engine_project(engine->kernels, v->x, engine->attention->batch, &columns,
				   v->bias ? v->bias + first : NULL, v->what, &to, err));
	}
	return ATTN_OK;
}

/* The KV cache, own and appended vectors. */
static enum attn_status join_vectors(struct engine *engine, const struct vectors *v,
				     const struct key_counts *keys, struct head_vectors *out,
				     struct attn_error *err)
{
	if (!engine_own(engine, v->set, keys->past + v->own_tokens + keys->bias + keys->zero, v->size,
			v->place, out))
		return attn_fail_memory(err);
	if (keys->past > 0)
		copy_heads(engine, v->place, v->set, v->past, keys->past);
	v->place->first_token = keys->past;
	if (v->latents)
		TRY(latents_project(v->latents, v->target, v->set, v->place, err));
	else if (engine->attention->projected)
		TRY(project_heads(engine, v, err));
	else
		copy_heads(engine, v->place, v->set, v->precomputed, v->own_tokens);
	TRY(norm_own(engine, v, err));
	TRY(rotate_own(engine, v, err));
	v->place->first_token += v->own_tokens;
	return append(engine, v, keys, err);
}

static bool used_in_place(const struct attention *a, const struct vectors *v, const struct key_counts *keys)
{
	bool alone = keys->past == 0 && !keys->bias && !keys->zero;
	bool as_is = (!v->norm || v->norm->kind == VECTOR_NORM_NONE) && !v->positions && !v->changed;
	return !a->projected && alone && as_is && v->precomputed->token_stride == v->size;
}

/* Precomputed vectors that lie head by head are used where they are. */
static enum attn_status prepare(struct engine *engine, const struct vectors *v, const struct key_counts *keys,
				struct head_vectors *out, struct attn_error *err)
{
	if (used_in_place(engine->attention, v, keys)) {
		*out = (struct head_vectors){*v->precomputed, v->set, true};
		return ATTN_OK;
	}
	return join_vectors(engine, v, keys, out, err);
}

/* --- all of them ---------------------------------------------------------------- */

static void describe(const struct plan *plan, const struct latents *latents, struct vectors *q,
		     struct vectors *k, struct vectors *v)
{
	const struct attention *a = plan->attention;
	*q = (struct vectors){
	    .x = &a->embeddings, .w = &a->wq, .bias = a->bq, .precomputed = &a->q, .what = "query"};
	*k = (struct vectors){
	    .x = &a->source, .w = &a->wk, .bias = a->bk, .precomputed = &a->k, .what = "key"};
	*v = (struct vectors){
	    .x = &a->source_values, .w = &a->wv, .bias = a->bv, .precomputed = &a->v, .what = "value"};
	if (a->latent.down_kv.data)
		q->latents = k->latents = v->latents = latents;
	q->target = LATENT_QUERY;
	k->target = LATENT_KEY;
	v->target = LATENT_VALUE;
	k->past = &a->past_k;
	v->past = &a->past_v;
	k->appended = a->bias_k;
	v->appended = a->bias_v;
	q->set = &plan->queries;
	k->set = &plan->keys;
	v->set = &plan->values;
	q->own_tokens = a->queries;
	k->own_tokens = v->own_tokens = a->keys.own;
	q->size = a->head_size;
	k->size = a->key_size;
	v->size = a->value_size;
	q->norm = &a->q_norm;
	k->norm = &a->k_norm;
	q->changed = k->changed = engine_changes_vectors(a);
	if (a->rotary.dims > 0) {
		q->positions = a->positions.queries;
		q->positions_batch = a->positions.query_batch;
		k->positions = a->positions.keys;
		k->positions_batch = a->positions.key_batch;
	}
}

/* Which heads are computed in float32 tiles; whether any is. */
static bool choose_tiles(struct engine *engine)
{
	const struct attention *a = engine->attention;
	const struct head_set *set = &engine->plan->queries;
	/* Scores relative to a float mask would want a sink for each query: see engine_tile.c. */
	bool apart = engine->whole_rows && a->normalization.sinks && a->masking.bias, any = false;
	for (size_t i = 0; i < set->count && plan_by_tiles(engine->plan) && !apart; i += a->maps) {
		size_t head = head_of_query(a, set->heads[i]);
		any |= engine->by_tiles[head] = engine_scores_fit(engine, head);
	}
	return any;
}

enum attn_status engine_prepare(struct engine *engine, struct attn_error *err)
{
	const struct attention *a = engine->attention;
	static const struct key_counts alone = {0};
	struct latents latents = {0};
	struct vectors q, k, v;
	describe(engine->plan, &latents, &q, &k, &v);
	q.place = &engine->places[0];
	k.place = &engine->places[1];
	v.place = &engine->places[2];
	enum attn_status status = latents_init(&latents, engine->kernels, a, err);
	if (status == ATTN_OK)
		status = prepare(engine, &q, &alone, &engine->q, err);
	if (status == ATTN_OK)
		status = prepare(engine, &k, &a->keys, &engine->k, err);
	if (status == ATTN_OK && engine->want.values)
		status = prepare(engine, &v, &a->keys, &engine->v, err);
	latents_release(&latents);
	engine->prepared[VECTORS_Q] = engine->q;
	engine->prepared[VECTORS_K] = engine->k;
	engine->prepared[VECTORS_V] = engine->v;
	if (status == ATTN_OK)
		status = engine_apply_score_function(engine, err);
	if (status != ATTN_OK || !choose_tiles(engine))
		return status;
	return engine_linear_prepare(engine, err);
}

/* Bytes of one of Q, K and V: see prepare. */
static size_t prepared_bytes(const struct attention *a, const struct vectors *v,
			     const struct key_counts *keys)
{
	if (used_in_place(a, v, keys))
		return 0;
	return a->batch * v->set->count * (v->own_tokens + keys->past + keys->bias + keys->zero) * v->size *
	       sizeof(float);
}

size_t engine_prepared_bytes(const struct plan *plan)
{
	const struct attention *a = plan->attention;
	static const struct key_counts alone = {0};
	struct vectors q, k, v;
	describe(plan, NULL, &q, &k, &v);
	size_t bytes = latents_bytes(a) + prepared_bytes(a, &q, &alone) + prepared_bytes(a, &k, &a->keys);
	if (plan->want.values)
		bytes += prepared_bytes(a, &v, &a->keys);
	return bytes + engine_score_bytes(plan);
}

struct vectors_shape plan_vectors(const struct plan *plan, enum vectors_of which)
{
	const struct attention *a = plan->attention;
	switch (which) {
	case VECTORS_Q:
		return (struct vectors_shape){plan->queries.count, a->queries, a->head_size};
	case VECTORS_K:
		return (struct vectors_shape){plan->keys.count, plan->shape.keys, a->key_size};
	default:
		return (struct vectors_shape){plan->values.count, plan->shape.keys, a->value_size};
	}
}

const float *source_vectors(const struct row_source *source, enum vectors_of which, size_t batch, size_t i)
{
	const struct head_vectors *v = &((const struct engine *)source)->prepared[which];
	return head_start(&v->view, batch, head_at(v, v->set->heads[i]));
}
