/* A name for what kind of attention a head pays, by its statistics. */
#ifndef ATTN_CONSUMERS_HEAD_PATTERN_H
#define ATTN_CONSUMERS_HEAD_PATTERN_H

#include "consumers/head_statistics.h"

struct head_pattern {
	const char *name; /* "previous token" */
	const char *rule; /* "previous >= 0.5": in the names of columns */
};

/* The first of these whose rule holds; NULL where no query has any weight:
 *
 *   diagonal, previous token, next token   the share is at least 0.5
 *   induction          at least 0.5, and of at least 2 queries
 *   first-token sink   first at least 0.5
 *   separator          at least 0.5
 *   positional         the largest weight of 9 queries in 10 is at one offset (Voita et al. 2019),
 *                      and of at least 5 queries
 *   local              at least 0.5 within 5 tokens, at no more than half the distance that
 *                      even weights would have
 *   broad              at most 1 bit below the entropy of even weights, so at least half of the
 *                      keys that are attended to count
 *   mixed              none of these
 *
 * Half of the weight is what Clark et al. (2019) count heads by. */
const struct head_pattern *head_pattern_of(const struct head_statistics *s);

#endif
