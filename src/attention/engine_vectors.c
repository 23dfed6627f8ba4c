/* Q, K and V, laid out head by head and ready to meet: projected or ready-made, with
 * their norm and rotary positions, joined with what comes before and behind, and through
 * the matrices of a score function. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "attention/latent.h"
#include "kernels/reference.h"
#include "util/checked.h"
#include "util/memory.h"

/* Memory (batch, heads, tokens, size) that the engine owns, from the first time on,
 * and its view. */
static bool own(const struct engine *engine, size_t heads, size_t tokens, size_t size,
		struct heads_place *place, struct heads_view *view)
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

/* Where the vectors of Q, K or V come from, and what is done to them. */
struct vectors {
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct latents *latents; /* instead of these three, in latent attention; or NULL */
	enum latent_target target;
	const struct heads_view *ready, *past;
	const float *appended; /* bias_k or bias_v */
	struct heads_place *place;
	const char *what;
	size_t heads, own_tokens, size;
	const struct vector_norm *norm; /* or NULL */
	const double *positions;        /* (positions_batch, own_tokens), or NULL: not turned */
	size_t positions_batch;
	bool changed; /* later, in place: by a norm of cosine scores, or a feature map */
};

/* --- norms and rotary positions --------------------------------------------- */

bool engine_norm(const struct vector_norm *norm, const float *gain, float *x, size_t size)
{
	double sum = 0;
	bool finite = true;
	for (size_t c = 0; c < size; c++)
		sum += (double)x[c] * (double)x[c];
	double length =
	    norm->kind == VECTOR_NORM_RMS ? sqrt(sum / (double)size + norm->eps) : fmax(sqrt(sum), norm->eps);
	double factor = length > 0 ? 1 / length : 0; /* eps 0: a vector of zeros stays one */
	for (size_t c = 0; c < size; c++) {
		x[c] = (float)((double)x[c] * factor * (gain ? (double)gain[c] : 1));
		finite &= isfinite(x[c]) != 0;
	}
	return finite;
}

static enum attn_status norm_vector(const struct vectors *v, float *x, size_t batch, size_t head,
				    size_t token, struct attn_error *err)
{
	const float *gain = v->norm->gain ? v->norm->gain + head * v->norm->gain_stride : NULL;
	if (engine_norm(v->norm, gain, x, v->size))
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "the normed %s of batch item %zu, head %zu, token %zu overflows float32", v->what,
			 batch, head, token);
}

static float *own_rows(const struct vectors *v, size_t batch, size_t head)
{
	const struct heads_place *to = v->place;
	return to->data + batch * to->batch_stride + head * to->head_stride + to->first_token * to->size;
}

static enum attn_status norm_own(const struct engine *engine, const struct vectors *v, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (!v->norm || v->norm->kind == VECTOR_NORM_NONE)
		return ATTN_OK;
	for (size_t b = 0; b < engine->problem->batch; b++)
		for (size_t h = 0; h < v->heads; h++)
			for (size_t t = 0; t < v->own_tokens && status == ATTN_OK; t++)
				status = norm_vector(v, own_rows(v, b, h) + t * v->size, b, h, t, err);
	return status;
}

static enum attn_status turn_own(const struct engine *engine, const struct vectors *v, struct attn_error *err)
{
	const struct rotary *rotary = &engine->problem->rotary;
	if (!v->positions)
		return ATTN_OK;
	float *table = floats_alloc4(v->own_tokens, rotary->dims, 1, 1);
	bool finite = true;
	if (!table)
		return attn_fail_memory(err);
	for (size_t b = 0; b < engine->problem->batch; b++) {
		if (b < v->positions_batch)
			rotary_table(rotary, v->positions + b * v->own_tokens, v->own_tokens, table);
		for (size_t h = 0; h < v->heads; h++) {
			float *rows = own_rows(v, b, h);
			rotary_turn(rotary, table, rows, v->size, v->own_tokens);
			for (size_t i = 0; i < v->own_tokens * v->size && finite; i++)
				finite = isfinite(rows[i]);
		}
	}
	free(table);
	return finite ? ATTN_OK : attn_fail(err, ATTN_BAD_INPUT, "a turned %s overflows float32", v->what);
}

/* --- one after the other ------------------------------------------------------ */

static enum attn_status append(const struct engine *engine, const struct vectors *v,
			       const struct key_counts *keys, struct attn_error *err)
{
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
	return ATTN_OK;
}

/* Past, own and appended vectors. */
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
	if (v->latents)
		status = latents_project(v->latents, v->target, v->place, err);
	else if (p->projected)
		status =
		    engine_project(engine->kernels, v->x, p->batch, v->w, v->bias, v->what, v->place, err);
	else
		copy_heads(engine, v->place, v->ready, v->heads, v->own_tokens);
	if (status == ATTN_OK)
		status = norm_own(engine, v, err);
	if (status == ATTN_OK)
		status = turn_own(engine, v, err);
	v->place->first_token += v->own_tokens;
	return status == ATTN_OK ? append(engine, v, keys, err) : status;
}

static bool used_in_place(const struct problem *p, const struct vectors *v, const struct key_counts *keys)
{
	bool alone = keys->past == 0 && !keys->bias && !keys->zero;
	bool as_is = (!v->norm || v->norm->kind == VECTOR_NORM_NONE) && !v->positions && !v->changed;
	return !p->projected && alone && as_is && v->ready->token_stride == v->size;
}

/* Ready-made vectors that lie head by head are used where they are. */
static enum attn_status prepare(struct engine *engine, const struct vectors *v, const struct key_counts *keys,
				struct heads_view *out, struct attn_error *err)
{
	if (used_in_place(engine->problem, v, keys)) {
		*out = *v->ready;
		return ATTN_OK;
	}
	return join_vectors(engine, v, keys, out, err);
}

/* --- where scores are products ------------------------------------------------- */

/* Each query head's vectors times its matrix, plus its bias; `shared`: they are those of
 * the key head that it shares. */
static enum attn_status transform(struct engine *engine, struct heads_view *view, bool shared, size_t heads,
				  size_t tokens, const struct head_matrix *m, const struct head_matrix *bias,
				  const char *what, struct heads_place *place, struct attn_error *err)
{
	struct heads_view out;
	enum attn_status status = ATTN_OK;
	if (!own(engine, heads, tokens, m->cols, place, &out))
		return attn_fail_memory(err);
	for (size_t h = 0; h < heads && status == ATTN_OK; h++) {
		size_t from = shared ? shared_key_head(engine->problem, h) : h;
		struct sequence x = {head_start(view, 0, from), tokens, m->rows, view->batch_stride};
		struct matrix w = {m->data + h * m->head_stride, m->rows, m->cols, m->cols};
		struct heads_place to = {place->data + h * place->head_stride, place->batch_stride, 0,
					 m->cols, 0};
		status = engine_project(engine->kernels, &x, engine->problem->batch, &w,
					bias && bias->data ? bias->data + h * bias->head_stride : NULL, what,
					&to, err);
	}
	*view = out;
	return status;
}

static void to_unit_length(float *x, size_t vectors, size_t size)
{
	const struct vector_norm unit = {.kind = VECTOR_NORM_L2, .eps = 1e-8};
	for (size_t i = 0; i < vectors; i++, x += size)
		engine_norm(&unit, NULL, x, size); /* no longer than 1: finite */
}

/* phi(x) = elu(x) + 1, Katharopoulos et al. 2020. */
static void map_features(const struct engine *engine, float *x, size_t count)
{
	if (engine->kernels) {
		engine->kernels->feature_map(x, count);
		return;
	}
	reference_feature_map(x, count);
}

static enum attn_status meet(struct engine *engine, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	const struct score *s = &p->score;
	size_t q_count = p->batch * engine->query_heads * p->queries,
	       k_count = p->batch * engine->key_heads * engine->keys;
	if (p->normalization.kind == NORMALIZE_LINEAR) {
		map_features(engine, engine->places[0].data, q_count * p->head_size);
		map_features(engine, engine->places[1].data, k_count * p->key_size);
	} else if (s->kind == SCORE_COSINE) {
		to_unit_length(engine->places[0].data, q_count, p->head_size);
		to_unit_length(engine->places[1].data, k_count, p->key_size);
	}
	if (s->kind != SCORE_GENERAL && s->kind != SCORE_ADDITIVE)
		return ATTN_OK;
	enum attn_status status = transform(engine, &engine->q, false, engine->query_heads, p->queries, &s->w,
					    &s->b, "query", &engine->scored[0], err);
	if (status != ATTN_OK || s->kind == SCORE_GENERAL)
		return status;
	bool shared = s->u.head_stride > 0; /* each query head then has keys of its own */
	if (shared)
		engine->key_heads = engine->query_heads;
	return transform(engine, &engine->k, shared, engine->key_heads, engine->keys, &s->u, NULL, "key",
			 &engine->scored[1], err);
}

/* --- all of them ---------------------------------------------------------------- */

static void describe(struct engine *engine, const struct latents *latents, struct vectors *q,
		     struct vectors *k, struct vectors *v)
{
	const struct problem *p = engine->problem;
	bool changed = p->normalization.kind == NORMALIZE_LINEAR || p->score.kind == SCORE_COSINE;
	*q = (struct vectors){
	    .x = &p->embeddings, .w = &p->wq, .bias = p->bq, .ready = &p->q, .what = "query"};
	*k = (struct vectors){.x = &p->source, .w = &p->wk, .bias = p->bk, .ready = &p->k, .what = "key"};
	*v = (struct vectors){
	    .x = &p->source_values, .w = &p->wv, .bias = p->bv, .ready = &p->v, .what = "value"};
	if (p->latent.down_kv.data)
		q->latents = k->latents = v->latents = latents;
	q->target = LATENT_QUERY;
	k->target = LATENT_KEY;
	v->target = LATENT_VALUE;
	q->place = &engine->places[0];
	k->place = &engine->places[1];
	v->place = &engine->places[2];
	k->past = &p->past_k;
	v->past = &p->past_v;
	k->appended = p->bias_k;
	v->appended = p->bias_v;
	q->heads = p->heads * p->maps;
	k->heads = p->kv_heads * p->maps;
	v->heads = p->kv_heads;
	q->own_tokens = p->queries;
	k->own_tokens = v->own_tokens = p->keys.own;
	q->size = p->head_size;
	k->size = p->key_size;
	v->size = p->value_size;
	q->norm = &p->q_norm;
	k->norm = &p->k_norm;
	q->changed = k->changed = changed;
	if (p->rotary.dims > 0) {
		q->positions = p->positions.queries;
		q->positions_batch = p->positions.query_batch;
		k->positions = p->positions.keys;
		k->positions_batch = p->positions.key_batch;
	}
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
 * infinite score of one sign only would look like a masked one.  Additive scores are sums
 * of the numbers of v, each times at most 1. */
static bool scores_fit(const struct engine *engine)
{
	const struct problem *p = engine->problem;
	double scale = 1, most;
	for (size_t h = 0; h < p->heads; h++)
		scale = fmax(scale, fabs(engine_map(engine, h, 0).scale));
	double q = largest_value(engine, &engine->q, engine->query_heads, p->queries * p->score.inner);
	double k = largest_value(engine, &engine->k, engine->key_heads, engine->keys * p->score.inner);
	if (p->score.kind == SCORE_ADDITIVE) {
		size_t count = p->score.v.head_stride ? engine->query_heads * p->score.inner : p->score.inner;
		most = (double)engine->kernels->largest(p->score.v.data, count) * scale;
		return q + k < (double)FLT_MAX / 2 && most * (double)p->score.inner < (double)FLT_MAX / 2;
	}
	q *= scale;
	most = q * k * (double)p->score.inner;
	return q < (double)FLT_MAX / 2 && most < (double)FLT_MAX / 2;
}

enum attn_status engine_prepare(struct engine *engine, struct attn_error *err)
{
	const struct problem *p = engine->problem;
	static const struct key_counts alone = {0};
	struct latents latents = {0};
	struct vectors q, k, v;
	describe(engine, &latents, &q, &k, &v);
	engine->query_heads = q.heads;
	engine->key_heads = k.heads;
	enum attn_status status = latents_init(&latents, engine->kernels, p, err);
	if (status == ATTN_OK)
		status = prepare(engine, &q, &alone, &engine->q, err);
	if (status == ATTN_OK)
		status = prepare(engine, &k, &p->keys, &engine->k, err);
	if (status == ATTN_OK && engine->want.context)
		status = prepare(engine, &v, &p->keys, &engine->v, err);
	latents_release(&latents);
	if (status == ATTN_OK)
		status = meet(engine, err);
	/* Scores relative to a float mask would want a sink for each query: see engine_tile.c. */
	bool apart = engine->whole_rows && p->normalization.sinks && p->masking.bias;
	engine->by_tiles = status == ATTN_OK && engine->kernels && engine->want.stage == SCORES_NONE &&
			   !apart && scores_fit(engine);
	if (status == ATTN_OK && engine->by_tiles)
		status = engine_linear_prepare(engine, err);
	return status;
}

/* Bytes of one of Q, K and V: see prepare. */
static size_t prepared_bytes(const struct problem *p, const struct vectors *v, const struct key_counts *keys)
{
	if (used_in_place(p, v, keys))
		return 0;
	return p->batch * v->heads * (v->own_tokens + keys->past + keys->bias + keys->zero) * v->size *
	       sizeof(float);
}

size_t engine_prepared_bytes(const struct problem *p, struct engine_want want)
{
	static const struct key_counts alone = {0};
	struct engine engine = {.problem = p};
	struct vectors q, k, v;
	describe(&engine, NULL, &q, &k, &v);
	size_t bytes = latents_bytes(p) + prepared_bytes(p, &q, &alone) + prepared_bytes(p, &k, &p->keys);
	size_t inner = p->batch * p->score.inner * sizeof(float);
	if (want.context)
		bytes += prepared_bytes(p, &v, &p->keys);
	if (p->score.kind == SCORE_GENERAL || p->score.kind == SCORE_ADDITIVE)
		bytes += inner * q.heads * p->queries;
	if (p->score.kind == SCORE_ADDITIVE)
		bytes += inner * (p->score.u.head_stride ? q.heads : k.heads) * p->info.keys;
	return bytes;
}
