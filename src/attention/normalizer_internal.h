/* What rows and tiles of normalizer.h share. */
#ifndef ATTN_ATTENTION_NORMALIZER_INTERNAL_H
#define ATTN_ATTENTION_NORMALIZER_INTERNAL_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "attention/normalizer.h"

/* How the scores of a row become weights, and which: those above `least`, and of those
 * equal to it the first `ties`. */
struct rule {
	double top;  /* what scores are relative to: the highest, or the sink above it */
	double norm; /* softmax, linear: the sum; sparsemax, entmax15: tau */
	double least;
	size_t ties;
	double next; /* the highest visible score that top_k leaves out; -inf: none */
};

/* Nothing visible is left out. */
static inline struct rule rule_start(double top)
{
	return (struct rule){.top = top, .least = -DBL_MAX, .ties = SIZE_MAX, .next = -INFINITY};
}

static inline bool keeps(struct rule *rule, double score)
{
	if (score > rule->least)
		return true;
	if (score < rule->least || rule->ties == 0)
		return false;
	rule->ties--;
	return true;
}

/* The k <= count highest of the values, which are reordered.  The rule's `next` becomes the
 * highest of the others, unless it was higher. */
const double *normalizer_highest(double *values, size_t count, size_t k, struct rule *rule);

/* The rule of a row whose highest score is `top`, from its `values` (count): all visible
 * scores, or at least those from normalizer_least on.  They are reordered. */
struct rule normalizer_rule(const struct normalization *n, double sink, double top, double *values,
			    size_t count);

/* No score below has weight: tau is at least -1, as the highest score alone has it. */
double normalizer_least(enum normalizer kind, double top);

/* The weight of a score that the rule keeps. */
double normalizer_weight(enum normalizer kind, const struct rule *rule, double score);

#endif
