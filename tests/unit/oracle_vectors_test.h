/* Queries, keys and values of a case: positions, projections, norms and rotation. */
#ifndef ATTN_TESTS_ORACLE_VECTORS_TEST_H
#define ATTN_TESTS_ORACLE_VECTORS_TEST_H

#include "oracle_case_test.h"

/* --- positions --- */

static inline double oracle_query_position(const struct oracle *o, size_t b, size_t i)
{
	if (o->positions)
		return o->positions[b * o->N + i];
	return (o->position_offset >= 0 ? o->position_offset : (double)o->P) + (double)i;
}

static inline double oracle_key_position(const struct oracle *o, size_t b, size_t j)
{
	if (o->source_positions)
		return o->source_positions[b * o->M + j];
	return o->cross ? (double)(o->P + j) : oracle_query_position(o, b, j);
}

static inline double oracle_position(const struct oracle *o, bool query, size_t b, size_t t)
{
	return query ? oracle_query_position(o, b, t) : oracle_key_position(o, b, t);
}

/* PE(t, 2c) = sin(t / 10000^(2c/D)), PE(t, 2c + 1) = cos of the same: Vaswani et al.
 * 2017, section 3.5. */
static inline double oracle_sinusoid(double t, size_t column, size_t width)
{
	double angle = t / pow(10000, (double)(column / 2 * 2) / (double)width);
	return column % 2 == 0 ? sin(angle) : cos(angle);
}

/* Token vectors (B, tokens, width) with their positions added. */
static inline double *oracle_placed(const struct oracle *o, bool query, const double *x, size_t tokens,
				    size_t width, const double *table)
{
	double *out = oracle_take(o->B * tokens * width);
	for (size_t i = 0; i < o->B * tokens * width; i++) {
		size_t column = i % width;
		double t = oracle_position(o, query, i / width / tokens, i / width % tokens);
		out[i] = x[i];
		if (o->sinusoidal)
			out[i] += oracle_sinusoid(t, column, width);
		if (table)
			out[i] += table[(size_t)t * width + column];
	}
	return out;
}

/* The highest position of the case, and 1. */
static inline double oracle_length(const struct oracle *o)
{
	double length = 0;
	for (size_t i = 0; i < o->B * o->N; i++)
		length = fmax(length, oracle_query_position(o, i / o->N, i % o->N) + 1);
	for (size_t i = 0; i < o->B * o->M; i++)
		length = fmax(length, oracle_key_position(o, i / o->M, i % o->M) + 1);
	return length;
}

/* The weight of the scaled frequency in YaRN's mean (Peng et al. 2023, section 3.2, with the
 * whole pairs of the published code). */
static inline double oracle_yarn_ramp(const struct oracle *o, double c)
{
	double r = (double)o->rope_dim, two_pi = 2 * acos(-1);
	double low = floor(r * log(o->rope_original / (o->rope_high * two_pi)) / (2 * log(o->rope_base)));
	double high = ceil(r * log(o->rope_original / (o->rope_low * two_pi)) / (2 * log(o->rope_base)));
	low = low < 0 ? 0 : low;
	high = high > r - 1 ? r - 1 : high;
	high = low == high ? high + 0.001 : high;
	double ramp = (c - low) / (high - low);
	return ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
}

/* 1 / base^(2c/r) and what is made of it for longer texts: Llama 3.1's rule by wavelengths,
 * YaRN, the base by length (dynamic NTK), LongRoPE's divisors (Ding et al. 2024). */
static inline double oracle_frequency(const struct oracle *o, size_t c)
{
	double r = (double)o->rope_dim, base = o->rope_base, length = oracle_length(o), f = o->rope_factor;
	double plain = pow(base, -2 * (double)c / r), wave = 2 * acos(-1) / plain, smooth;
	switch (o->rope_kind) {
	case ORACLE_ROPE_GIVEN:
		return o->rope_frequencies[c];
	case ORACLE_ROPE_DYNAMIC:
		if (length > o->rope_original)
			base *= pow(f * length / o->rope_original - (f - 1), r / (r - 2));
		return pow(base, -2 * (double)c / r);
	case ORACLE_ROPE_LLAMA3:
		if (wave < o->rope_original / o->rope_high)
			return plain;
		if (wave > o->rope_original / o->rope_low)
			return plain / f;
		smooth = (o->rope_original / wave - o->rope_low) / (o->rope_high - o->rope_low);
		return (1 - smooth) * plain / f + smooth * plain;
	case ORACLE_ROPE_YARN:
		smooth = oracle_yarn_ramp(o, (double)c);
		return plain / f * smooth + plain * (1 - smooth);
	case ORACLE_ROPE_LONGROPE:
		return plain / (length > o->rope_original ? o->rope_long : o->rope_short)[c];
	default:
		return plain;
	}
}

/* Turn pair c by t / base^(2c/r): Su et al. 2021, equation 34.  Positions are divided
 * by a factor (linear: Chen et al. 2023) or the base grows by F^(r/(r-2)) (NTK). */
static inline void oracle_rotate(const struct oracle *o, double t, double *vector)
{
	double r = (double)o->rope_dim, size = o->rope_magnitude > 0 ? o->rope_magnitude : 1;
	double base = o->rope_base * (o->rope_ntk > 0 ? pow(o->rope_ntk, r / (r - 2)) : 1);
	for (size_t c = 0; c < o->rope_dim / 2; c++) {
		double angle = (o->rope_linear > 0 ? t / o->rope_linear : t) / pow(base, 2 * (double)c / r);
		double *first = vector + o->rope_first + (o->rope_interleaved ? 2 * c : c);
		double *second = first + (o->rope_interleaved ? 1 : o->rope_dim / 2);
		double x = *first, y = *second;
		if (o->rope_kind != ORACLE_ROPE_PLAIN)
			angle = t * oracle_frequency(o, c);
		*first = size * (x * cos(angle) - y * sin(angle));
		*second = size * (y * cos(angle) + x * sin(angle));
	}
}

/* --- queries, keys and values --- */

/* x (B, tokens, width) times w (width, heads size), plus bias: (B, heads, tokens, size). */
static inline double *oracle_project(const struct oracle *o, const double *x, size_t tokens, size_t width,
				     const double *w, const double *bias, size_t heads, size_t size)
{
	double *out = oracle_take(o->B * heads * tokens * size);
	for (size_t i = 0; i < o->B * heads * tokens * size; i++) {
		size_t column = i / size / tokens % heads * size + i % size;
		size_t row = i / size / tokens / heads * tokens + i / size % tokens;
		out[i] = bias ? bias[column] : 0;
		for (size_t j = 0; j < width; j++)
			out[i] += x[row * width + j] * w[j * heads * size + column];
	}
	return out;
}

/* x / sqrt(mean(x^2) + eps) or x / max(|x|, eps), times a gain. */
static inline void oracle_normalize_vector(enum oracle_norm kind, double eps, const double *gain,
					   double *vector, size_t size)
{
	double squares = 0;
	for (size_t c = 0; c < size; c++)
		squares += vector[c] * vector[c];
	double length = kind == ORACLE_RMS ? sqrt(squares / (double)size + eps) : fmax(sqrt(squares), eps);
	for (size_t c = 0; c < size; c++)
		vector[c] = vector[c] / length * (gain ? gain[c] : 1);
}

/* Down to a latent vector and its norm: (B, tokens, rank). */
static inline double *oracle_latent(const struct oracle *o, const double *x, size_t tokens, size_t width,
				    const double *w, size_t rank, const double *gain)
{
	double *out = oracle_project(o, x, tokens, width, w, NULL, 1, rank);
	for (size_t t = 0; t < o->B * tokens && gain; t++)
		oracle_normalize_vector(ORACLE_RMS, o->qk_norm_eps, gain, out + t * rank, rank);
	return out;
}

/* Vectors (B, H, tokens, dn + dr) from their two parts; the second one may be shared by
 * all heads, (B, 1, tokens, dr). */
static inline double *oracle_beside(const struct oracle *o, size_t tokens, const double *nope,
				    const double *rope, bool shared)
{
	double *out = oracle_take(o->B * o->H * tokens * (o->dn + o->dr));
	for (size_t i = 0; i < o->B * o->H * tokens; i++) {
		size_t from = shared ? i / tokens / o->H * tokens + i % tokens : i;
		memcpy(out + i * (o->dn + o->dr), nope + i * o->dn, o->dn * sizeof *out);
		memcpy(out + i * (o->dn + o->dr) + o->dn, rope + from * o->dr, o->dr * sizeof *out);
	}
	return out;
}

/* DeepSeek-V2 2024, equations 9 to 11 and 14 to 17. */
static inline void oracle_latent_vectors(const struct oracle *o, const double *x, const double *source,
					 double **q, double **k, double **v)
{
	size_t width = o->wdq ? o->rq : o->D;
	const double *cq = o->wdq ? oracle_latent(o, x, o->N, o->D, o->wdq, o->rq, o->q_latent) : x;
	const double *c = oracle_latent(o, source, o->M, o->S, o->wdkv, o->rk, o->kv_latent);
	*q = oracle_beside(o, o->N, oracle_project(o, cq, o->N, width, o->wuq, NULL, o->H, o->dn),
			   oracle_project(o, cq, o->N, width, o->wqr, NULL, o->H, o->dr), false);
	*k = oracle_beside(o, o->M, oracle_project(o, c, o->M, o->rk, o->wuk, NULL, o->H, o->dn),
			   oracle_project(o, source, o->M, o->S, o->wkr, NULL, 1, o->dr), true);
	*v = oracle_project(o, c, o->M, o->rk, o->wuv, NULL, o->H, o->e);
}

static inline double *oracle_copy(const double *values, size_t count)
{
	return memcpy(oracle_take(count), values, count * sizeof(double));
}

/* Own vectors before norm and rotation: (B, maps H, N, dq) (B, maps G, M, dk) (B, G, M, e). */
static inline void oracle_own_vectors(const struct oracle *o, double **q, double **k, double **v)
{
	if (o->q) {
		*q = oracle_copy(o->q, o->B * o->maps * o->H * o->N * o->dq);
		*k = oracle_copy(o->k, o->B * o->maps * o->G * o->M * o->dk);
		*v = oracle_copy(o->v, o->B * o->G * o->M * o->e);
		return;
	}
	const double *x = oracle_placed(o, true, o->x, o->N, o->D, o->table);
	const double *source = o->cross ? oracle_placed(o, false, o->source, o->M, o->S, o->source_table) : x;
	const double *values = o->source_values == o->source ? source : o->source_values;
	if (o->latent) {
		oracle_latent_vectors(o, x, source, q, k, v);
		return;
	}
	*q = oracle_project(o, x, o->N, o->D, o->wq, o->bq, o->maps * o->H, o->dq);
	*k = oracle_project(o, source, o->M, o->S, o->wk, o->bk, o->maps * o->G, o->dk);
	*v = oracle_project(o, values, o->M, o->SV, o->wv, o->bv, o->G, o->e);
	if (!o->halves)
		return;
	/* DiffLlama: of 2 G heads of values g and g + G are those of head g. */
	double *half = oracle_project(o, values, o->M, o->SV, o->wv, o->bv, 2 * o->G, o->e / 2);
	for (size_t i = 0; i < o->B * o->G * o->M * o->e; i++) {
		size_t c = i % o->e, t = i / o->e % o->M, g = i / o->e / o->M % o->G;
		size_t b = i / o->e / o->M / o->G, head = g + c / (o->e / 2) * o->G;
		(*v)[i] = half[((b * 2 * o->G + head) * o->M + t) * (o->e / 2) + c % (o->e / 2)];
	}
}

/* x / sqrt(mean(x^2) + eps) with the mean over all heads of a token, as OLMo 2 has it. */
static inline void oracle_normalize_full(const struct oracle *o, double *vectors, size_t heads, size_t tokens,
					 size_t size, const double *gain)
{
	for (size_t i = 0; i < o->B * tokens; i++) {
		double *first = vectors + (i / tokens * heads * tokens + i % tokens) * size, squares = 0;
		for (size_t c = 0; c < heads * size; c++)
			squares += pow(first[c / size * tokens * size + c % size], 2);
		for (size_t c = 0; c < heads * size; c++)
			first[c / size * tokens * size + c % size] *=
			    (gain ? gain[c] : 1) / sqrt(squares / (double)(heads * size) + o->qk_norm_eps);
	}
}

/* Norm, then rotation, of every own query or key, (B, heads, tokens, size). */
static inline void oracle_norm_and_rotate(const struct oracle *o, bool query, double *vectors, size_t heads,
					  size_t tokens, size_t size, const double *gain)
{
	if (o->qk_norm == ORACLE_RMS_FULL)
		oracle_normalize_full(o, vectors, heads, tokens, size, gain);
	for (size_t i = 0; i < o->B * heads * tokens; i++) {
		double *vector = vectors + i * size;
		double t = oracle_position(o, query, i / tokens / heads, i % tokens);
		if (o->qk_norm != ORACLE_NO_NORM && o->qk_norm != ORACLE_RMS_FULL)
			oracle_normalize_vector(o->qk_norm, o->qk_norm_eps,
						gain ? gain + i / tokens % heads * size : NULL, vector, size);
		oracle_rotate(o, t, vector);
	}
}

/* (B, heads, K, size): past, own, learned and zero. */
static inline double *oracle_join(const struct oracle *o, size_t heads, size_t size, const double *past,
				  const double *own, const double *learned)
{
	double *out = oracle_take(o->B * heads * o->K * size);
	for (size_t i = 0; i < o->B * heads; i++) {
		double *to = out + i * o->K * size;
		if (o->P > 0)
			memcpy(to, past + i * o->P * size, o->P * size * sizeof *to);
		memcpy(to + o->P * size, own + i * o->M * size, o->M * size * sizeof *to);
		if (learned)
			memcpy(to + (o->P + o->M) * size, learned + i % heads * size, size * sizeof *to);
	}
	return out;
}

#endif
