/* Biases of scores that depend on the distance between query and key alone: ALiBi
 * and the relative positions of T5.
 *
 * The distance is D = p(b, i) - j, how far plain key j is before query i (negative:
 * after it), where p(b, i) is the query's place among the plain keys, as causal counts
 * it.  Appended keys have no place and no bias.
 */
#ifndef ATTN_ATTENTION_RELATIVE_H
#define ATTN_ATTENTION_RELATIVE_H

#include <stddef.h>

#include "attention/masking.h"
#include "input/bundle.h"

enum {
	RELATIVE_SPARE = 16
}; /* zeros behind the table, so that vectors may read beyond its end */

struct relative {
	float *table; /* owned, (heads, span): that of head h at distance D is
		       * table[h * span + (D - least)]; NULL: no bias */
	size_t heads, span;
	ptrdiff_t least;
};

/* Fill *r from alibi, relative_bias (T, H), relative_max_distance and
 * relative_bidirectional, for all distances between the queries and plain keys of v,
 * of which batch, heads, queries, plain_keys, past_keys, causal and lengths are used.
 * ALiBi and relative_bias add up.
 *
 * ALiBi (Press et al. 2022): -slope[h] |D|.  `slopes` (heads) imply it (unless the
 * setting says false); with NULL they follow from the number of heads, as there.
 *
 * relative_bias (Raffel et al. 2020): relative_bias[bucket(D)][h]: half of the buckets
 * (of each direction, where there are two) are one distance each, the others grow
 * logarithmically up to relative_max_distance (128).
 *
 * ATTN_BAD_INPUT that names tensor or setting, found and expected; *r is then empty. */
enum attn_status relative_bind(struct relative *r, const struct bundle *b, const struct masking *v,
			       const float *slopes, struct attn_error *err);
void relative_release(struct relative *r);

/* The bias of a head at a distance within the table; 0 where there is no bias. */
double relative_bias_at(const struct relative *r, size_t head, ptrdiff_t distance);

#endif
