/* Biases of scores that depend on the distance between query and key alone: ALiBi
 * and the relative positions of T5.
 *
 * The distance is D = p(b, i) - j, how far plain key j is before query i (negative:
 * after it), where p(b, i) is the query's place among the plain keys, as causal counts
 * it.  Appended keys have no place and no bias.
 */
#ifndef ATTN_ATTENTION_RELATIVE_H
#define ATTN_ATTENTION_RELATIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/masking.h"

enum {
	RELATIVE_SPARE = 16
}; /* zeros behind the table, so that vectors may read beyond its end */

struct relative {
	float *table; /* owned, (heads, span): that of head h at distance D is
		       * table[h * span + (D - least)]; NULL: no bias */
	size_t heads, span;
	ptrdiff_t least;
};

/* What the biases follow from; ALiBi's and T5's add up.
 *
 * ALiBi (Press et al. 2022): -slope[h] |D|.
 *
 * T5 (Raffel et al. 2020): bias[bucket(D)][h]: half of the buckets (of each direction, where
 * there are two) are one distance each, the others grow logarithmically up to
 * max_distance. */
struct relative_rules {
	bool alibi;
	const float *slopes; /* (heads); NULL: they follow from the number of heads, as there */
	const float *bias;   /* (buckets, heads), or NULL: not T5 */
	size_t buckets;      /* at least 2; even and at least 4 where bidirectional */
	bool bidirectional;  /* keys before a query and after it have buckets of their own */
	size_t max_distance; /* more than relative_exact_distances */
};

/* How many distances have a bucket of their own. */
size_t relative_exact_distances(const struct relative_rules *rules);

/* Fill *r for all distances between the queries and plain keys of m, of which batch, heads,
 * queries, plain_keys, past_keys and lengths are used.  ATTN_BAD_INPUT where a bias is
 * beyond float32; *r is then empty. */
enum attn_status relative_init(struct relative *r, const struct relative_rules *rules,
			       const struct masking *m, struct attn_error *err);
void relative_release(struct relative *r);

/* The bias of a head at a distance within the table; 0 where there is no bias. */
double relative_bias_at(const struct relative *r, size_t head, ptrdiff_t distance);

#endif
