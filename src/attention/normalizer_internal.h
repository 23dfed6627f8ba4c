/* What the files of normalizer.h and the engine share. */
#ifndef ATTN_ATTENTION_NORMALIZER_INTERNAL_H
#define ATTN_ATTENTION_NORMALIZER_INTERNAL_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "attention/normalizer.h"
#include "kernels/kernels.h"

/* The running state of a tile's weights, by query.  Where whole rows are needed, `highest` and
 * `factor` alone are used. */
struct running {
	_Alignas(64) float highest[TILE], sum[TILE], rescale[TILE], factor[TILE];
};

/* How the scores of a row become weights, and which: those above `least`, and of those
 * equal to it the first `ties`. */
struct rule {
	double top;  /* what scores are relative to: the highest, or the sink above it */
	double norm; /* softmax, linear: the sum; sparsemax, entmax15: tau */
	double least;
	size_t ties;
	double next; /* the highest score that top_k leaves out; -inf: none */
};

/* Nothing is left out but what is masked. */
static inline struct rule rule_start(double top)
{
	return (struct rule){.top = top, .least = -DBL_MAX, .ties = SIZE_MAX, .next = -INFINITY};
}

static inline bool rule_keeps(struct rule *rule, double score)
{
	if (score > rule->least)
		return true;
	if (score < rule->least || rule->ties == 0)
		return false;
	rule->ties--;
	return true;
}

/* No score below has weight. */
static inline double normalizer_least(const struct normalizer *normalizer, double top)
{
	return isinf(normalizer->depth) ? -DBL_MAX : top - normalizer->depth;
}

/* Reorder values (count) so that the k <= count highest come first, and have the rule keep just
 * these.  Its `next` becomes the highest of the others, unless it was higher. */
void rule_keep_highest(struct rule *rule, double *values, size_t count, size_t k);

/* How many scores are looked at at once: only where one of them may have weight, each is
 * looked at alone. */
enum {
	RUN = 16
};

/* The highest of row (keys); false when one is NaN or +inf. */
bool row_top(const float *row, size_t keys, float *top);

/* Whether a number of run (RUN) is `limit` at least. */
static inline bool run_has(const float *run, float limit)
{
	unsigned any = 0;
	for (size_t i = 0; i < RUN; i++)
		any |= run[i] >= limit;
	return any;
}

#endif
