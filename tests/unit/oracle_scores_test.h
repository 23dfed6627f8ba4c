/* What a query of a case sees, and the scores of its keys. */
#ifndef ATTN_TESTS_ORACLE_SCORES_TEST_H
#define ATTN_TESTS_ORACLE_SCORES_TEST_H

#include "oracle_case_test.h"

/* --- what a query sees --- */

/* The position of query i among the plain keys. */
static inline long oracle_place(const struct oracle *o, size_t b, size_t i)
{
	return (long)i + (o->lengths ? (long)o->lengths[b] - (long)o->N : (long)o->P);
}

/* Steele et al. 2014 (splitmix64). */
static inline uint64_t oracle_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline uint64_t oracle_block_hash(const struct oracle *o, size_t h, size_t qb, size_t kb)
{
	return oracle_mix(oracle_mix(oracle_mix(oracle_mix(o->block_seed) ^ h) ^ qb) ^ kb);
}

/* Whether global blocks and the window of blocks show key block kb. */
static inline bool oracle_block_by_rule(const struct oracle *o, size_t qb, size_t kb)
{
	size_t distance = qb > kb ? qb - kb : kb - qb;
	return qb < o->block_global || kb < o->block_global ||
	       (o->block_window > 0 && distance <= (o->block_window - 1) / 2);
}

static inline bool oracle_block_candidate(const struct oracle *o, size_t qb, size_t kb)
{
	return !oracle_block_by_rule(o, qb, kb) && (kb <= qb || !o->causal);
}

/* BigBird, Zaheer et al. 2020: a random block is one of the `block_random` candidates
 * with the lowest hashes. */
static inline bool oracle_block_attended(const struct oracle *o, size_t h, long p, size_t j)
{
	size_t qb = p < 0 ? 0 : (size_t)p / o->block_size, kb = j / o->block_size, lower = 0;
	size_t blocks = (o->P + o->M + o->block_size - 1) / o->block_size;
	if (!oracle_block_candidate(o, qb, kb))
		return oracle_block_by_rule(o, qb, kb);
	uint64_t hash = oracle_block_hash(o, h, qb, kb);
	for (size_t other = 0; other < blocks; other++)
		lower += oracle_block_candidate(o, qb, other) && oracle_block_hash(o, h, qb, other) < hash;
	return lower < o->block_random;
}

/* causal, window with dilation (Longformer, Beltagy et al. 2020), and a prefix that
 * both leave alone (Raffel et al. 2020). */
static inline bool oracle_near(const struct oracle *o, long p, long j)
{
	if (j < o->prefix)
		return true;
	if (o->causal && j > p)
		return false;
	if ((p - j) % o->dilation != 0)
		return false;
	return (o->left < 0 || j >= p - o->left * o->dilation) &&
	       (o->right < 0 || j <= p + o->right * o->dilation);
}

static inline bool oracle_attended(const struct oracle *o, size_t b, size_t h, size_t i, size_t j)
{
	size_t plain = o->P + o->M, cell = ((b * o->H + h) * o->N + i) * plain + j;
	long p = oracle_place(o, b, i);
	if (j >= plain)
		return true;
	return oracle_near(o, p, (long)j) && (o->block_size == 0 || oracle_block_attended(o, h, p, j)) &&
	       (!o->segments || o->segments[b * o->N + i] == o->source_segments[b * plain + j]) &&
	       (!o->lengths || (double)j < o->lengths[b]) &&
	       (!o->padding || o->padding[b * plain + j] != 0) && (!o->allowed || o->allowed[cell] != 0) &&
	       (!o->bias || o->bias[cell] > -INFINITY);
}

/* --- scores --- */

/* Press et al. 2022: 2^(-8/H), 2^(-16/H), ... for a power of two; else those of the power
 * of two below, then every other one of those of the power above. */
static inline double oracle_slope(size_t heads, size_t h)
{
	size_t power = 1;
	while (power * 2 <= heads)
		power *= 2;
	if (h < power)
		return pow(2, -8 * (double)(h + 1) / (double)power);
	return pow(2, -8 * (double)(2 * (h - power) + 1) / (double)(2 * power));
}

/* T5's buckets, Raffel et al. 2020.  Where a distance is just a border, exact arithmetic
 * puts it into the higher bucket; a logarithm may fall short of the whole number. */
static inline size_t oracle_bucket(const struct oracle *o, long distance)
{
	size_t n = o->relative_buckets, first = 0;
	if (o->relative_bidirectional) {
		n /= 2;
		first = distance > 0 ? n : 0;
		distance = labs(distance);
	} else {
		distance = distance < 0 ? -distance : 0;
	}
	size_t exact = n / 2;
	if ((size_t)distance < exact)
		return first + (size_t)distance;
	double steps = log((double)distance / (double)exact) / log((double)o->relative_max / (double)exact) *
		       (double)(n - exact);
	size_t bucket = exact + (size_t)floor(steps + 1e-9);
	return first + (bucket < n - 1 ? bucket : n - 1);
}

/* What is added to the score of a plain key. */
static inline double oracle_bias(const struct oracle *o, size_t b, size_t h, size_t i, size_t j)
{
	long p = oracle_place(o, b, i);
	double bias = o->bias ? o->bias[((b * o->H + h) * o->N + i) * (o->P + o->M) + j] : 0;
	if (o->alibi)
		bias -= (o->slopes ? o->slopes[h] : oracle_slope(o->H, h)) * (double)labs(p - (long)j);
	if (o->relative_bias)
		bias += o->relative_bias[oracle_bucket(o, (long)j - p) * o->H + h];
	return bias;
}

static inline double oracle_dot(const double *x, const double *y, size_t size)
{
	double sum = 0;
	for (size_t c = 0; c < size; c++)
		sum += x[c] * y[c];
	return sum;
}

/* q W k, Luong et al. 2015, equation 8. */
static inline double oracle_general(const struct oracle *o, size_t h, const double *q, const double *k)
{
	double sum = 0;
	for (size_t r = 0; r < o->dq; r++)
		sum += q[r] * oracle_dot(o->score_w + (h * o->dq + r) * o->dk, k, o->dk);
	return sum;
}

/* v . tanh(q W + k U + b), Bahdanau et al. 2014, appendix A.1.2, from the sums q W + b and k U. */
static inline double oracle_additive(const struct oracle *o, size_t h, const double *qw, const double *ku)
{
	double sum = 0;
	for (size_t c = 0; c < o->a; c++)
		sum += o->score_v[h * o->a + c] * tanh(qw[c] + ku[c]);
	return sum;
}

/* out (a) = x (size) W (size, a) + b */
static inline void oracle_row_times(const double *x, size_t size, const double *w, const double *b, size_t a,
				    double *out)
{
	for (size_t c = 0; c < a; c++) {
		out[c] = b ? b[c] : 0;
		for (size_t r = 0; r < size; r++)
			out[c] += x[r] * w[r * a + c];
	}
}

/* elu(x) + 1, Katharopoulos et al. 2020. */
static inline double oracle_phi(double x)
{
	return x > 0 ? x + 1 : exp(x);
}

static inline double oracle_score(const struct oracle *o, size_t h, const double *q, const double *k)
{
	double lengths, sum = 0;
	if (o->normalizer == ORACLE_LINEAR) {
		for (size_t c = 0; c < o->dq; c++)
			sum += oracle_phi(q[c]) * oracle_phi(k[c]);
		return sum;
	}
	switch (o->score) {
	case ORACLE_GENERAL:
		return oracle_general(o, h, q, k);
	case ORACLE_COSINE:
		lengths =
		    fmax(sqrt(oracle_dot(q, q, o->dq)), 1e-8) * fmax(sqrt(oracle_dot(k, k, o->dk)), 1e-8);
		return oracle_dot(q, k, o->dq) / lengths;
	default:
		return oracle_dot(q, k, o->dq);
	}
}

/* The scores of a row of K keys (K, dk), before scale. */
static inline void oracle_scores(const struct oracle *o, size_t h, const double *q, const double *keys,
				 double *scores)
{
	double qw[128], ku[128];
	bool additive = o->score == ORACLE_ADDITIVE && o->normalizer != ORACLE_LINEAR;
	if (additive)
		oracle_row_times(q, o->dq, o->score_w + h * o->dq * o->a,
				 o->score_b ? o->score_b + h * o->a : NULL, o->a, qw);
	for (size_t j = 0; j < o->K; j++) {
		if (additive) {
			oracle_row_times(keys + j * o->dk, o->dk, o->score_u + h * o->dk * o->a, NULL, o->a,
					 ku);
			scores[j] = oracle_additive(o, h, qw, ku);
		} else {
			scores[j] = oracle_score(o, h, q, keys + j * o->dk);
		}
	}
}

#endif
