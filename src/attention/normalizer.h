/* Normalisers: from the scores of a query to its weights.
 *
 * With s the scores of the keys that the query attends to:
 *   softmax    w = exp(s) / (exp(z) + sum exp(s)), where z is the head's sink, a logit
 *              that takes weight and has no value (Xiao et al. 2024; always 0 in Miller
 *              2023, "Attention is off by one"); without one exp(z) is 0
 *   sparsemax  w = max(s - tau, 0), tau so that the weights sum to 1 (Martins and
 *              Astudillo 2016)
 *   entmax15   w = max(s / 2 - tau, 0)^2, likewise (Peters et al. 2019)
 *   linear     w = s / sum s, of scores phi(q) . phi(k) >= 0 (Katharopoulos et al. 2020)
 * top_k masks all but the K highest scores of a row before (Gupta et al. 2021).
 *
 * A masked score is -inf and has weight exactly 0; where all are masked all weights are 0.
 */
#ifndef ATTN_ATTENTION_NORMALIZER_H
#define ATTN_ATTENTION_NORMALIZER_H

#include <stdbool.h>
#include <stddef.h>

struct kernels;
struct rule;
struct running;

/* One of them, as functions and facts: normalizer.c has all. */
struct normalizer {
	const char *name; /* "softmax" */
	bool takes_sinks, takes_top_k;

	/* --- scores */

	/* Whether products of Q and K are multiplied by scale / temperature. */
	bool scaled;

	/* Vectors of Q or K, x (count), become features in place.  NULL kernels: by the
	 * reference.  NULL: vectors stay. */
	void (*features)(const struct kernels *kernels, float *x, size_t count);

	/* For people: what a score is of, "phi(q).phi(k)", and a line that says what that means;
	 * NULL both: as the score function has it. */
	const char *score, *score_formula;

	/* --- rows: the reference, and all where weights need whole rows */

	/* From the scores of a row a rule, by which each score becomes its weight. */
	void (*find_rule)(struct rule *rule, double sink, double *values, size_t count, size_t most);
	double (*weight)(const struct rule *rule, double score);

	/* The same numbers in fewer steps, for a row without a sink; NULL: only by the rule. */
	void (*plain_row)(float *weights, double *scores, size_t keys);

	/* A score so far below the highest of its row has no weight; INFINITY: each has some. */
	double depth;

	/* For people: how the score "%s" becomes a weight; NULL: as in softmax. */
	const char *formula;

	/* --- steps of keys, after which scores need not be kept */

	/* scores (keys, TILE) of a tile become weights, but for a factor of each query, and *run
	 * is brought up to date.  Returns whether any run->rescale differs from 1.  NULL: weights
	 * need whole rows. */
	bool (*step)(const struct kernels *kernels, float *scores, size_t keys, size_t cols,
		     struct running *run);
	float masked;   /* what a masked score is in a step, or a whole row */
	bool sums_keys; /* context follows from sums over keys: engine_linear.c */
};

extern const struct normalizer normalizer_softmax, normalizer_sparsemax, normalizer_entmax15,
    normalizer_linear;

/* All of them, softmax first; NULL behind the last. */
extern const struct normalizer *const normalizer_table[];

/* The one of that name; NULL: there is none. */
const struct normalizer *normalizer_named(const char *name);

struct normalization {
	const struct normalizer *normalizer;
	size_t top_k;       /* 0: all keys */
	const float *sinks; /* (heads) logits, owned elsewhere; NULL: none */
};

/* Whether weights need all scores of a row, so that an online softmax will not do. */
static inline bool normalization_needs_rows(const struct normalization *n)
{
	return n->top_k > 0 || !n->normalizer->step;
}

/* weights (keys) of one row in float64, rounded once: the reference.  scores (keys) are
 * overwritten; `sink` is the head's logit, -INFINITY for none, and only softmax has them;
 * `scratch` is keys doubles. */
void normalize_row(const struct normalization *n, double sink, double *scores, size_t keys, float *weights,
		   double *scratch);

/* The same where only float32 scores are known: row (keys) becomes weights, within
 * 2e-6 + 1e-5 |w| of those of normalize_row.  *highest becomes the highest score, -inf where
 * the query attends to no key.  False when a score is NaN or +inf, or when which scores
 * top_k keeps hangs on less than float32 tells: the reference has to do it, and the scores
 * may be lost.  `scratch` is normalize_scratch(keys) bytes, aligned for doubles. */
bool normalize_float_row(const struct normalization *n, double sink, float *row, size_t keys, float *highest,
			 void *scratch);

/* Bytes, or SIZE_MAX, which nothing can allocate, where they would wrap. */
size_t normalize_scratch(size_t keys);

/* All but the k highest of the scores (keys) that are not masked become -inf; among equals the lower
 * index stays.  k is at least 1; `scratch` is keys doubles. */
void keep_top(double *scores, size_t keys, size_t k, double *scratch);

#endif
