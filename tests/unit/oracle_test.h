/* Every variant of attention in the most naive float64 computation: one loop over batch items,
 * heads, queries and keys, straight from the formulas of the papers.  It shares no code with
 * src/ and knows no files: whoever fills a struct oracle says what each number is.
 * Include after cmocka's headers.
 */
#ifndef ATTN_TESTS_ORACLE_TEST_H
#define ATTN_TESTS_ORACLE_TEST_H

#include "oracle_scores_test.h"
#include "oracle_vectors_test.h"

/* --- normalisers: scores (K) to weights; hidden ones are -inf --- */

/* All but the `keep` highest become -inf; of equal ones the lower key stays.  Tells
 * whether the choice hangs on a difference that float32 does not resolve. */
static inline bool oracle_top(double *scores, size_t K, size_t keep)
{
	double least = INFINITY, next = -INFINITY;
	double *from = oracle_take(K);
	memcpy(from, scores, K * sizeof *from);
	for (size_t j = 0; j < K; j++) {
		size_t before = 0;
		for (size_t i = 0; i < K; i++)
			before += from[i] > from[j] || (from[i] == from[j] && i < j);
		if (before < keep) {
			least = fmin(least, from[j]);
		} else {
			next = fmax(next, from[j]);
			scores[j] = -INFINITY;
		}
	}
	free(from);
	oracle_memory_count--; /* the last that was taken */
	return next > -INFINITY && least - next < 1e-5;
}

/* exp(s) / (exp(sink) + sum of exp(s)): a sink of -inf is none.  Xiao et al. 2023. */
static inline void oracle_softmax(const double *scores, size_t K, double sink, double *weights)
{
	double highest = sink;
	for (size_t j = 0; j < K; j++)
		highest = fmax(highest, scores[j]);
	double sum = exp(sink - highest);
	for (size_t j = 0; j < K; j++)
		sum += exp(scores[j] - highest);
	for (size_t j = 0; j < K; j++)
		weights[j] = exp(scores[j] - highest) / sum;
}

/* max(s - tau, 0)^power with the tau that makes the sum 1, found by bisection: sparsemax
 * (Martins & Astudillo 2016) is power 1, 1.5-entmax (Peters et al. 2019) that of s / 2 with
 * power 2. */
static inline void oracle_threshold(const double *scores, size_t K, double factor, double power,
				    double *weights)
{
	double highest = -INFINITY;
	for (size_t j = 0; j < K; j++)
		highest = fmax(highest, factor * scores[j]);
	double low = highest - 1, high = highest;
	for (int step = 0; step < 60; step++) {
		double tau = (low + high) / 2, sum = 0;
		for (size_t j = 0; j < K; j++)
			if (factor * scores[j] > tau)
				sum += pow(factor * scores[j] - tau, power);
		*(sum > 1 ? &low : &high) = tau;
	}
	for (size_t j = 0; j < K; j++)
		weights[j] = factor * scores[j] > low ? pow(factor * scores[j] - low, power) : 0;
}

static inline void oracle_shares(const double *products, size_t K, double *weights)
{
	double sum = 0;
	for (size_t j = 0; j < K; j++)
		sum += products[j] > -INFINITY ? products[j] : 0;
	for (size_t j = 0; j < K; j++)
		weights[j] = products[j] > -INFINITY ? products[j] / sum : 0;
}

static inline void oracle_normalize(const struct oracle *o, size_t h, const double *scores, double *weights)
{
	bool any = false;
	for (size_t j = 0; j < o->K; j++)
		any = any || scores[j] > -INFINITY;
	if (!any)
		return; /* weights stay 0 */
	switch (o->normalizer) {
	case ORACLE_SOFTMAX:
		oracle_softmax(scores, o->K, o->sinks ? o->sinks[h] : -INFINITY, weights);
		break;
	case ORACLE_SPARSEMAX:
		oracle_threshold(scores, o->K, 1, 1, weights);
		break;
	case ORACLE_ENTMAX15:
		oracle_threshold(scores, o->K, 0.5, 2, weights);
		break;
	case ORACLE_LINEAR:
		oracle_shares(scores, o->K, weights);
		break;
	}
}

/* --- all together --- */

static inline double oracle_scale(const struct oracle *o, size_t h)
{
	double scale = o->score == ORACLE_SCALED_DOT ? 1 / sqrt((double)o->dq) : 1;
	if (o->normalizer == ORACLE_LINEAR)
		return 1;
	return (isnan(o->scale) ? scale : o->scale) / (o->temperature ? o->temperature[h] : 1);
}

/* Scores and weights of one row of one map; what it computes at each stage is in
 * rows of K at raw, capped and masked. */
static inline void oracle_map(struct oracle *o, size_t b, size_t h, size_t i, size_t map, double *stages[3],
			      double *weights)
{
	size_t g = h / (o->H / o->G), plain = o->P + o->M;
	size_t head = o->halves ? map * o->H + h : o->maps * h + map;
	size_t kv = o->halves ? map * o->G + g : o->maps * g + map;
	double *raw = stages[0], *capped = stages[1], *masked = stages[2], scores[1024], highest = -INFINITY;
	oracle_scores(o, head, o->queries + ((b * o->maps * o->H + head) * o->N + i) * o->dq,
		      o->keys + (b * o->maps * o->G + kv) * o->K * o->dk, raw);
	for (size_t j = 0; j < o->K; j++) {
		raw[j] *= oracle_scale(o, h);
		capped[j] = o->softcap > 0 ? o->softcap * tanh(raw[j] / o->softcap) : raw[j];
		masked[j] = -INFINITY;
		if (oracle_attended(o, b, h, i, j))
			masked[j] = capped[j] + (j < plain ? oracle_bias(o, b, h, i, j) : 0);
		scores[j] = masked[j];
		highest = fmax(highest, scores[j]);
	}
	if (highest > -INFINITY)
		o->highest[(b * o->H + h) * o->N + i] =
		    fmax(o->highest[(b * o->H + h) * o->N + i], fabs(highest));
	if (o->top_k > 0 && oracle_top(scores, o->K, o->top_k))
		o->close[(b * o->H + h) * o->N + i] = 1;
	oracle_normalize(o, h, scores, weights);
}

static inline void oracle_row(struct oracle *o, size_t b, size_t h, size_t i)
{
	size_t row = (b * o->H + h) * o->N + i, kv = h / (o->H / o->G), any = 0;
	double *weights = o->weights + row * o->K, other[4][1024] = {{0}};
	oracle_map(o, b, h, i, 0,
		   (double *[]){o->raw + row * o->K, o->capped + row * o->K, o->masked + row * o->K},
		   weights);
	if (o->maps == 2) /* Ye et al. 2024, equation 1 */
		oracle_map(o, b, h, i, 1, (double *[]){other[0], other[1], other[2]}, other[3]);
	for (size_t j = 0; j < o->K; j++) {
		if (o->maps == 2)
			weights[j] -= o->lambda[h] * other[3][j];
		o->attended[row * o->K + j] = oracle_attended(o, b, h, i, j);
		any += o->attended[row * o->K + j];
		for (size_t c = 0; c < o->e; c++)
			o->context[((b * o->N + i) * o->H + h) * o->e + c] +=
			    weights[j] * o->values[((b * o->G + kv) * o->K + j) * o->e + c];
	}
	o->masked_rows += any == 0;
}

static inline void oracle_compute(struct oracle *o)
{
	double *k, *v;
	o->K = o->P + o->M + (o->bias_k != NULL) + o->zero;
	assert_true(o->K <= 1024 && o->a <= 128);
	oracle_own_vectors(o, &o->queries, &k, &v);
	oracle_norm_and_rotate(o, true, o->queries, o->maps * o->H, o->N, o->dq, o->q_norm);
	oracle_norm_and_rotate(o, false, k, o->maps * o->G, o->M, o->dk, o->k_norm);
	o->keys = oracle_join(o, o->maps * o->G, o->dk, o->past_k, k, o->bias_k);
	o->values = oracle_join(o, o->G, o->e, o->past_v, v, o->bias_v);
	size_t rows = o->B * o->H * o->N;
	double **arrays[] = {&o->raw, &o->capped, &o->masked, &o->weights};
	for (size_t i = 0; i < 4; i++)
		*arrays[i] = oracle_take(rows * o->K);
	o->attended = (unsigned char *)oracle_take(rows * o->K);
	o->close = (unsigned char *)oracle_take(rows);
	o->highest = oracle_take(rows);
	o->context = oracle_take(rows * o->e);
	o->masked_rows = 0;
	for (size_t row = 0; row < rows; row++)
		oracle_row(o, row / o->N / o->H, row / o->N % o->H, row % o->N);
}

#endif
