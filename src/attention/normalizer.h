/* What turns the scores of a query into weights.
 *
 * With s the visible scores of a row:
 *   softmax    w = exp(s) / (exp(z) + sum exp(s)), where z is the head's sink, a logit
 *              that takes weight and has no value (Xiao et al. 2024; always 0 in Miller
 *              2023, "Attention is off by one"); without one exp(z) is 0
 *   sparsemax  w = max(s - tau, 0), tau so that the weights sum to 1 (Martins and
 *              Astudillo 2016)
 *   entmax15   w = max(s / 2 - tau, 0)^2, likewise (Peters et al. 2019)
 *   linear     w = s / sum s, of scores phi(q) . phi(k) >= 0 (Katharopoulos et al. 2020)
 * top_k hides all but the K highest scores of a row before (Gupta et al. 2021).
 *
 * A hidden score is -inf and has weight exactly 0; where all are hidden all weights are 0.
 */
#ifndef ATTN_ATTENTION_NORMALIZER_H
#define ATTN_ATTENTION_NORMALIZER_H

#include <stdbool.h>
#include <stddef.h>

enum normalizer {
	NORMALIZE_SOFTMAX,
	NORMALIZE_SPARSEMAX,
	NORMALIZE_ENTMAX15,
	NORMALIZE_LINEAR,
};

struct normalization {
	enum normalizer kind;
	size_t top_k;       /* 0: all keys */
	const float *sinks; /* (heads) logits, owned elsewhere; NULL: none */
};

/* Whether weights need all scores of a row, so that an online softmax will not do. */
static inline bool normalization_needs_rows(const struct normalization *n)
{
	return n->top_k > 0 || n->kind == NORMALIZE_SPARSEMAX || n->kind == NORMALIZE_ENTMAX15;
}

/* weights (keys) of one row in float64, rounded once: the reference.  scores (keys) are
 * overwritten; `sink` is the head's logit, -INFINITY for none, which only softmax takes;
 * `scratch` is keys doubles. */
void normalize_row(const struct normalization *n, double sink, double *scores, size_t keys, float *weights,
		   double *scratch);

/* The same for the `cols` queries of a tile of kernels/kernels.h: scores (keys, TILE)
 * become weights, within 2e-6 + 1e-5 |w| of those of the row.  Columns from `cols` on are
 * neither read nor written.  highest[q], of `cols`, becomes the highest score of query q,
 * -inf where it has no visible key.  False when one is NaN or +inf, or when which
 * scores top_k keeps hangs on less than float32 tells: the reference has to do it, and the
 * scores may be lost.  `scratch` is normalize_scratch(keys) bytes, aligned
 * for doubles. */
bool normalize_tile(const struct normalization *n, double sink, float *scores, size_t keys, size_t cols,
		    float *highest, void *scratch);

/* Bytes, or SIZE_MAX, which nothing can allocate, where they would wrap. */
size_t normalize_scratch(size_t keys);

/* All but the k highest of the visible scores (keys) become -inf; among equals the lower
 * index stays.  k is at least 1; `scratch` is keys doubles. */
void keep_top(double *scores, size_t keys, size_t k, double *scratch);

#endif
