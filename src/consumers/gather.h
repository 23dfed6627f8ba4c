/* The consumers behind attn inspect token --steps: one keeps whole rows of a few queries,
 * the other says of each head how spread out its attention is. */
#ifndef ATTN_CONSUMERS_GATHER_H
#define ATTN_CONSUMERS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"

/* Keeps the rows of the chosen queries: row ((batch * heads + head) * kept + i) is that of
 * the i-th chosen query. */
struct gather {
	struct row_consumer consumer;
	size_t rows, kept, keys, value_size;
	float *scores[SCORE_STAGES]; /* (rows, keys) each, owned; NULL: not kept */
	float *weights;              /* (rows, keys), owned */
	float *context;              /* (rows, value_size), owned */
	double *shares;              /* (rows, keys), owned; NULL without contexts */

	/* Private. */
	size_t heads;
	size_t *slots; /* (queries), owned: which of the chosen ones, or SIZE_MAX */
};

/* For a source of one layer that carries the scores of `stages`, a bit 1 << a score_stage
 * each, and with a value_size above 0 contexts and shares.  queries: (shape->queries) which
 * to keep, at least one. */
enum attn_status gather_init(struct gather *s, const struct rows_shape *shape, const bool *queries,
			     unsigned stages, size_t value_size, struct attn_error *err);
void gather_release(struct gather *s); /* safe on a zeroed consumer */

/* How spread out a head's attention is, over all queries that attend to any key. */
struct spread {
	size_t queries, pairs; /* that many queries, and keys they attend to */
	double variance;       /* of the scores of all those pairs */
	double entropy;        /* -sum w ln w in nats, mean over queries */
	double largest;        /* the largest weight, mean over queries */
	double gradient;       /* w (1 - w), the derivative of softmax by the own score, mean over pairs */
};

struct spread_consumer {
	struct row_consumer consumer;

	/* Private. */
	size_t heads;
	enum score_stage stage;
	bool rest;
	struct spread_sums {
		size_t queries, pairs;
		double mean, squares; /* of the scores so far: Welford 1962 */
		double entropy, largest, gradient;
	} * sums; /* (batch, heads), owned */
};

/* Of the scores of a stage, and of the weights that they make: for SCORES_PRODUCT those
 * without any scale.  `rest`: what the weights of a row lack to 1 is an outcome of its own
 * (an attention sink) and counts in the entropy. */
enum attn_status spread_consumer_init(struct spread_consumer *s, const struct rows_shape *shape,
				      enum score_stage stage, bool rest, struct attn_error *err);
void spread_consumer_release(struct spread_consumer *s); /* safe on a zeroed consumer */

/* Of one head after streaming; all 0 where no query attends to a key. */
struct spread spread_of(const struct spread_consumer *s, size_t batch, size_t head);

#endif
