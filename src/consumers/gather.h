/* The sinks behind attn inspect token --steps: one keeps whole rows of a few queries,
 * the other says of each head how spread out its attention is. */
#ifndef ATTN_CONSUMERS_GATHER_H
#define ATTN_CONSUMERS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"

enum {
	GATHER_STAGES = 4
};

/* Keeps the rows of the chosen queries: row ((batch * heads + head) * kept + i) is that of
 * the i-th chosen query.  Several sources of the same shape may be streamed, one after the
 * other: each has a place for its scores, and of the rest the last one stays. */
struct gather {
	struct row_consumer sink;
	size_t rows, kept, keys, value_size;
	float *scores[GATHER_STAGES]; /* (rows, keys) each, owned; NULL until streamed */
	float *weights;               /* (rows, keys), owned */
	unsigned char *visible;       /* (rows, keys), owned */
	float *context;               /* (rows, value_size), owned; 0 where a source has none */

	/* Private. */
	size_t heads, stage;
	size_t *slots; /* (queries), owned: which of the chosen ones, or SIZE_MAX */
};

/* queries: (info->queries) which to keep, at least one; value_size: 0 without contexts. */
enum attn_status gather_init(struct gather *s, const struct rows_info *info, const bool *queries,
			     size_t value_size, struct attn_error *err);
void gather_release(struct gather *s); /* safe on a zeroed sink */

/* Make place for the scores of a stage, which the next stream fills. */
enum attn_status gather_begin(struct gather *s, size_t stage, struct attn_error *err);

/* How spread out a head's attention is, over all queries that see a key. */
struct spread {
	size_t queries, pairs; /* that many queries, and keys they see */
	double variance;       /* of the scores of all those pairs */
	double entropy;        /* -sum w ln w in nats, mean over queries */
	double largest;        /* the largest weight, mean over queries */
	double gradient;       /* w (1 - w), the derivative of softmax by the own score, mean over pairs */
};

struct spread_consumer {
	struct row_consumer sink;

	/* Private. */
	size_t heads;
	bool rest;
	struct spread_sums {
		size_t queries, pairs;
		double mean, squares; /* of the scores so far: Welford 1962 */
		double entropy, largest, gradient;
	} * sums; /* (batch, heads), owned */
};

/* For a source with scores.  `rest`: what the weights of a row lack to 1 is an outcome of
 * its own (an attention sink) and counts in the entropy. */
enum attn_status spread_consumer_init(struct spread_consumer *s, const struct rows_info *info, bool rest,
				      struct attn_error *err);
void spread_consumer_release(struct spread_consumer *s); /* safe on a zeroed sink */

/* Of one head after streaming; all 0 where no query sees a key. */
struct spread spread_of(const struct spread_consumer *s, size_t batch, size_t head);

#endif
