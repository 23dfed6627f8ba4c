/* Random queries, keys and values of a case: sizes, precomputed or projected, positions, norms. */
#ifndef ATTN_TESTS_ROLL_INPUTS_TEST_H
#define ATTN_TESTS_ROLL_INPUTS_TEST_H

#include "roll_test.h"

/* --- sizes --- */

static inline size_t roll_length(void)
{
	static const size_t large[] = {63, 64, 65, 95, 96, 97, 127, 128, 129, 160, 191, 192, 193, 200};
	return roll(5) > 0 ? roll_from(1, 20) : large[roll(sizeof large / sizeof *large)];
}

static inline size_t roll_size(void)
{
	return roll(4) > 0 ? roll_from(1, 17) : roll_from(18, 80);
}

static inline void roll_kinds(struct variant *x)
{
	struct oracle *o = &x->o;
	o->normalizer = has(LINEAR)   ? ORACLE_LINEAR
			: has(SPARSE) ? (roll(2) ? ORACLE_SPARSEMAX : ORACLE_ENTMAX15)
				      : ORACLE_SOFTMAX;
	if (o->normalizer != ORACLE_LINEAR && has(SCORE))
		o->score = ORACLE_DOT + (enum oracle_score)roll(4);
	o->maps = !o->latent && o->normalizer != ORACLE_LINEAR && has(DIFFERENTIAL) ? 2 : 1;
}

/* The naive computation takes this many steps at most. */
static inline double work_of(const struct oracle *o)
{
	size_t cell = o->dq + o->e + (o->score == ORACLE_GENERAL ? o->dq * o->dk : 0) +
		      (o->score == ORACLE_ADDITIVE ? (o->dk + 8) * o->a : 0);
	return (double)(o->B * o->H * o->maps * o->N) * (double)(o->P + o->M) * (double)cell;
}

static inline void roll_sizes(struct variant *x, bool projected)
{
	struct oracle *o = &x->o;
	o->B = roll(2) ? 1 : roll_from(2, 3);
	x->batch = o->B > 1 || roll(3) == 0;
	o->H = roll_from(1, 6);
	do
		o->G = roll_from(1, o->H);
	while (o->H % o->G != 0);
	o->N = roll_length();
	o->cross = roll(3) == 0;
	o->M = o->cross ? roll_length() : o->N;
	if (!projected)
		o->cross = o->N != o->M;
	o->P = has(PAST) ? roll_length() : 0;
	o->dq = o->dk = roll_size();
	o->e = roll_size();
	o->a = o->score == ORACLE_ADDITIVE ? roll_from(1, 70) : 0;
	if (o->score == ORACLE_GENERAL || o->score == ORACLE_ADDITIVE)
		o->dk = roll(2) ? o->dq : roll_size();
	if (o->latent) {
		o->G = o->H;
		o->dn = roll_from(1, 20);
		o->dr = 2 * roll_from(1, 8);
		o->dq = o->dk = o->dn + o->dr;
		/* A norm amplifies the rounding of a vector near 0, which short ones may be. */
		o->rq = roll_from(4, 16);
		o->rk = roll_from(4, 16);
	}
	if (work_of(o) > 1e7)
		o->B = 1;
	if (work_of(o) > 1e7)
		o->H = o->G = 1;
	for (; work_of(o) > 1e7 && o->dq > 2 && !o->latent; o->dq = o->dk = 1 + o->dq / 2) {
		o->e = 1 + o->e / 2;
		o->a = (o->a + 1) / 2;
	}
}

/* --- what queries, keys and values are made from --- */

/* Vectors (B, heads, tokens, size) as the bundle has them: as they are, or packed. */
static inline double *roll_head_vectors(struct variant *x, const char *name, bool packed, size_t heads,
					size_t tokens, size_t size)
{
	size_t B = x->o.B, count = B * heads * tokens * size;
	double *values = roll_numbers(count, -1.5, 1.5), *side = oracle_take(count);
	for (size_t i = 0; i < count; i++) {
		size_t c = i % size, t = i / size % tokens, h = i / size / tokens % heads;
		side[((i / size / tokens / heads * tokens + t) * heads + h) * size + c] = values[i];
	}
	if (!name)
		return values;
	if (packed)
		put_items(x, name, 3, (size_t[]){B, tokens, heads * size}, side);
	else
		put_items(x, name, 4, (size_t[]){B, heads, tokens, size}, values);
	return values;
}

static inline void roll_precomputed(struct variant *x)
{
	struct oracle *o = &x->o;
	bool packed = roll(4) == 0;
	x->no_values = roll(10) == 0;
	if (packed) {
		put_setting(&x->b, "packed", "true");
		put_whole(x, "num_heads", o->H);
		put_whole(x, "num_kv_heads", o->G);
	}
	o->q = roll_head_vectors(x, "q", packed, o->maps * o->H, o->N, o->dq);
	o->k = roll_head_vectors(x, "k", packed, o->maps * o->G, o->M, o->dk);
	o->v = roll_head_vectors(x, x->no_values ? NULL : "v", packed, o->G, o->M, o->e);
}

static inline void roll_embeddings(struct variant *x, bool same_width)
{
	struct oracle *o = &x->o;
	o->D = roll_from(1, 24);
	o->S = o->SV = o->cross && !same_width ? roll_from(1, 24) : o->D;
	o->x = o->source = o->source_values = roll_numbers(o->B * o->N * o->D, -1, 1);
	put_items(x, "embeddings", 3, (size_t[]){o->B, o->N, o->D}, o->x);
	if (!o->cross)
		return;
	o->source = o->source_values = roll_numbers(o->B * o->M * o->S, -1, 1);
	put_items(x, "source_embeddings", 3, (size_t[]){o->B, o->M, o->S}, o->source);
	if (same_width || o->latent || roll(3) > 0 || x->no_values)
		return;
	o->SV = roll_from(1, 24);
	o->source_values = roll_numbers(o->B * o->M * o->SV, -1, 1);
	put_items(x, "source_values", 3, (size_t[]){o->B, o->M, o->SV}, o->source_values);
}

static inline void put_fused(struct variant *x, size_t q, size_t k, size_t v)
{
	struct oracle *o = &x->o;
	double *w = columns_beside(o->D, 1, columns_beside(o->D, 1, o->wq, q, o->wk, k), q + k, o->wv, v);
	put_matrix(x, "wqkv", o->D, q + k + v, w);
	if (o->bq)
		put(&x->b, "bqkv", DTYPE_F32, SHAPE(q + k + v),
		    columns_beside(1, 1, columns_beside(1, 1, o->bq, q, o->bk, k), q + k, o->bv, v));
	roll_matrix(x, "wo", o->H * o->e, 3); /* tells e */
}

static inline void roll_projected(struct variant *x)
{
	struct oracle *o = &x->o;
	bool fused = o->dq == o->dk && roll(3) == 0, biases = roll(2);
	x->no_values = !fused && roll(10) == 0;
	size_t q = o->maps * o->H * o->dq, k = o->maps * o->G * o->dk, v = o->G * o->e;
	roll_embeddings(x, fused);
	put_whole(x, "num_heads", o->H);
	put_whole(x, "num_kv_heads", o->G);
	o->wq = roll_matrix(x, fused ? NULL : "wq", o->D, q);
	o->wk = roll_matrix(x, fused ? NULL : "wk", o->S, k);
	o->wv = roll_matrix(x, fused || x->no_values ? NULL : "wv", o->SV, v);
	if (biases) {
		o->bq = roll_numbers(q, -0.5, 0.5);
		o->bk = roll_numbers(k, -0.5, 0.5);
		o->bv = roll_numbers(v, -0.5, 0.5);
	}
	if (biases && !fused) {
		put(&x->b, "bq", DTYPE_F32, SHAPE(q), o->bq);
		put(&x->b, "bk", DTYPE_F32, SHAPE(k), o->bk);
		if (!x->no_values)
			put(&x->b, "bv", DTYPE_F32, SHAPE(v), o->bv);
	}
	if (fused)
		put_fused(x, q, k, v);
}

static inline void roll_latent(struct variant *x)
{
	struct oracle *o = &x->o;
	size_t H = o->H, dn = o->dn, dr = o->dr;
	bool fused_q = roll(2), fused_down = roll(2), fused_up = roll(2);
	roll_embeddings(x, false);
	put_whole(x, "num_heads", H);
	if (roll(2))
		o->wdq = roll_matrix(x, "wdq", o->D, o->rq);
	size_t width = o->wdq ? o->rq : o->D;
	o->wuq = roll_matrix(x, fused_q ? NULL : "wuq", width, H * dn);
	o->wqr = roll_matrix(x, fused_q ? NULL : "wqr", width, H * dr);
	o->wdkv = roll_matrix(x, fused_down ? NULL : "wdkv", o->S, o->rk);
	o->wkr = roll_matrix(x, fused_down ? NULL : "wkr", o->S, dr);
	o->wuk = roll_matrix(x, fused_up ? NULL : "wuk", o->rk, H * dn);
	o->wuv = roll_matrix(x, fused_up ? NULL : "wuv", o->rk, H * o->e);
	if (fused_q)
		put_matrix(x, "wuq", width, H * (dn + dr), columns_beside(width, H, o->wuq, dn, o->wqr, dr));
	if (fused_down)
		put_matrix(x, "wdkv", o->S, o->rk + dr, columns_beside(o->S, 1, o->wdkv, o->rk, o->wkr, dr));
	if (fused_up)
		put_matrix(x, "wukv", o->rk, H * (dn + o->e),
			   columns_beside(o->rk, H, o->wuk, dn, o->wuv, o->e));
	if (fused_q || fused_down)
		put_whole(x, "rope_dim", dr);
	if (o->wdq && roll(2)) {
		o->q_latent = roll_numbers(o->rq, 0.5, 1.5);
		put(&x->b, "q_latent_norm", DTYPE_F32, SHAPE(o->rq), o->q_latent);
	}
	if (roll(2)) {
		o->kv_latent = roll_numbers(o->rk, 0.5, 1.5);
		put(&x->b, "kv_latent_norm", DTYPE_F32, SHAPE(o->rk), o->kv_latent);
	}
}

static inline void roll_other_keys(struct variant *x)
{
	struct oracle *o = &x->o;
	size_t heads = o->maps * o->G;
	if (o->P > 0) {
		o->past_k = roll_numbers(o->B * heads * o->P * o->dk, -1, 1);
		o->past_v = roll_numbers(o->B * o->G * o->P * o->e, -1, 1);
		put_items(x, "past_k", 4, (size_t[]){o->B, heads, o->P, o->dk}, o->past_k);
		if (!x->no_values)
			put_items(x, "past_v", 4, (size_t[]){o->B, o->G, o->P, o->e}, o->past_v);
	}
	if (has(BIAS_KV)) {
		o->bias_k = roll_numbers(heads * o->dk, -1, 1);
		o->bias_v = roll_numbers(o->G * o->e, -1, 1);
		put(&x->b, "bias_k", DTYPE_F32, SHAPE(heads * o->dk), o->bias_k);
		if (!x->no_values)
			put(&x->b, "bias_v", DTYPE_F32, SHAPE(o->G * o->e), o->bias_v);
	}
	if ((o->zero = has(ZERO)))
		put_setting(&x->b, "add_zero_attn", "true");
}

/* --- positions and norms --- */

/* Positive numbers, a pair each, as a tensor: one list, or two of which `second` is the other. */
static inline const double *roll_pairs(struct variant *x, const char *name, double low, double high,
				       const double **second)
{
	size_t pairs = x->o.rope_dim / 2, lists = second ? 2 : 1;
	double *values = roll_numbers(lists * pairs, low, high);
	if (second)
		put(&x->b, name, DTYPE_F32, SHAPE(2, pairs), values);
	else
		put(&x->b, name, DTYPE_F32, SHAPE(pairs), values);
	if (second)
		*second = values + pairs;
	return values;
}

/* Frequencies of models for longer texts; original lengths about as long as the case. */
static inline void roll_rope_scaling(struct variant *x)
{
	struct oracle *o = &x->o;
	char text[200];
	o->rope_kind = ORACLE_ROPE_DYNAMIC + (enum oracle_rope)roll(4);
	if (o->rope_kind == ORACLE_ROPE_DYNAMIC && o->rope_dim <= 2)
		o->rope_kind = ORACLE_ROPE_LLAMA3;
	o->rope_factor = roll_number(1, 8);
	o->rope_original = (double)roll_from(2, 150);
	o->rope_low = roll_number(0.5, 1.5);
	o->rope_high = roll_number(2, 6);
	switch (o->rope_kind) {
	case ORACLE_ROPE_DYNAMIC:
		snprintf(text, sizeof text, "dynamic=%.9g,%g", o->rope_factor, o->rope_original);
		break;
	case ORACLE_ROPE_LLAMA3:
		snprintf(text, sizeof text, "llama3=%.9g,%.9g,%.9g,%g", o->rope_factor, o->rope_low,
			 o->rope_high, o->rope_original);
		break;
	case ORACLE_ROPE_YARN:
		o->rope_magnitude = 1 + log(o->rope_factor) / 10;
		snprintf(text, sizeof text, "yarn=%.9g,%g,%.9g,%.9g", o->rope_factor, o->rope_original,
			 o->rope_high, o->rope_low);
		break;
	default:
		o->rope_short = roll_pairs(x, "rope_factors", 1, 8, roll(2) ? &o->rope_long : NULL);
		if (!o->rope_long)
			o->rope_long = o->rope_short;
		o->rope_magnitude = sqrt(1 + log(o->rope_factor) / log(o->rope_original));
		snprintf(text, sizeof text, "longrope=%g,%.17g", o->rope_original,
			 o->rope_original * o->rope_factor);
	}
	put_setting(&x->b, "rope_scaling", text);
}

static inline void roll_rope(struct variant *x)
{
	struct oracle *o = &x->o;
	if (o->dq != o->dk || o->dq < 2 || !has(ROPE))
		return;
	o->rope_dim = o->latent ? o->dr : 2 * roll_from(1, o->dq / 2);
	o->rope_first = o->latent ? o->dn : 0;
	o->rope_base = roll(2) ? 10000 : roll_number(5, 500);
	o->rope_interleaved = roll(2);
	if (!o->latent && (o->rope_dim != o->dq || roll(2)))
		put_whole(x, "rope_dim", o->rope_dim);
	if (roll(8) == 0) {
		o->rope_kind = ORACLE_ROPE_GIVEN;
		o->rope_frequencies = roll_pairs(x, "inv_freq", 0.001, 1.5, NULL);
	} else {
		put_text(x, "rope", "%.9g", o->rope_base);
	}
	if (o->rope_interleaved || roll(2))
		put_setting(&x->b, "rope_style", o->rope_interleaved ? "interleaved" : "half");
	switch (o->rope_kind == ORACLE_ROPE_GIVEN ? SIZE_MAX : roll(6)) {
	case 0:
		put_text(x, "rope_scaling", "linear=%.9g", o->rope_linear = roll_number(0.5, 8));
		break;
	case 1:
		if (o->rope_dim > 2)
			put_text(x, "rope_scaling", "ntk=%.9g", o->rope_ntk = roll_number(1, 8));
		break;
	case 2:
	case 3:
		roll_rope_scaling(x);
		break;
	}
	x->uses_positions = true;
}

static inline void roll_added(struct variant *x)
{
	struct oracle *o = &x->o;
	if (o->q)
		return;
	if ((o->sinusoidal = has(SINUSOIDAL)))
		put_setting(&x->b, "sinusoidal", "true");
	if (has(TABLE)) {
		o->table = roll_numbers(600 * o->D, -0.5, 0.5);
		put(&x->b, "position_table", DTYPE_F32, SHAPE(600, o->D), o->table);
	}
	if (o->cross && has(TABLE)) {
		o->source_table = roll_numbers(600 * o->S, -0.5, 0.5);
		put(&x->b, "source_position_table", DTYPE_F32, SHAPE(600, o->S), o->source_table);
	}
	x->uses_positions = x->uses_positions || o->sinusoidal || o->table || o->source_table;
}

static inline void roll_positions(struct variant *x)
{
	struct oracle *o = &x->o;
	bool added = o->sinusoidal || o->table;
	o->position_offset = -1;
	roll_rope(x);
	roll_added(x);
	if (!x->uses_positions)
		return;
	if (has(POSITIONS)) {
		o->positions = roll_tokens(x, "positions", DTYPE_I64, o->N, 99, false);
	} else if (roll(3) == 0) {
		o->position_offset = (double)roll(150);
		put_whole(x, "position_offset", (size_t)o->position_offset);
	}
	added = o->sinusoidal || o->table;
	if ((o->cross || !added) && has(POSITIONS))
		o->source_positions = roll_tokens(x, "source_positions", DTYPE_I64, o->M, 99, false);
}

/* A gain of a head, or one for all. */
static inline double *roll_gain(struct variant *x, const char *name, size_t heads, size_t size)
{
	bool shared = roll(2);
	double *gain = roll_numbers(heads * size, 0.5, 1.5);
	for (size_t i = size; i < heads * size && shared; i++)
		gain[i] = gain[i - size];
	if (x->o.qk_norm == ORACLE_RMS_FULL)
		put(&x->b, name, DTYPE_F32, SHAPE(heads * size), gain);
	else if (shared)
		put(&x->b, name, DTYPE_F32, SHAPE(size), gain);
	else
		put(&x->b, name, DTYPE_F32, SHAPE(heads, size), gain);
	return gain;
}

static inline void roll_norm(struct variant *x)
{
	struct oracle *o = &x->o;
	o->qk_norm_eps = 1e-6;
	if (!has(QK_NORM))
		return;
	static const char *const words[] = {"none", "rms", "l2", "rms-full"}; /* as enum oracle_norm */
	o->qk_norm = ORACLE_RMS + (enum oracle_norm)roll(3);
	put_setting(&x->b, "qk_norm", words[o->qk_norm]);
	if (o->dq < 4 || o->dk < 4 || roll(2)) /* short vectors may be near 0: as for latent ones */
		put_text(x, "qk_norm_eps", "%.9g", o->qk_norm_eps = roll_number(0.05, 0.5));
	if (roll(2))
		o->q_norm = roll_gain(x, "q_norm", o->maps * o->H, o->dq);
	if (roll(2))
		o->k_norm = roll_gain(x, "k_norm", o->maps * o->G, o->dk);
}

#endif
