/* The consumer that says of each head how spread out its attention is, for attn inspect token --steps
 * and attn inspect heads --scaling. */
#ifndef ATTN_CONSUMERS_SPREAD_H
#define ATTN_CONSUMERS_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"

/* How spread out a head's attention is, over all queries that attend to any key. */
struct spread {
	size_t queries, pairs; /* that many queries, and keys they attend to */
	double variance;       /* of the scores of all those pairs */
	double entropy;        /* -sum w ln w in nats, mean over queries */
	double largest;        /* the largest weight, mean over queries */
	double gradient;       /* w (1 - w), the derivative of softmax by the own score, mean over pairs */
	double jacobian;       /* sum w (1 - w), the trace of softmax's Jacobian, mean over queries */
};

struct spread_consumer {
	struct row_consumer consumer;

	/* Private. */
	size_t layers, heads;
	enum score_stage stage;
	bool rest;
	struct spread_sums {
		size_t queries, pairs;
		double mean, squares; /* of the scores so far: Welford 1962 */
		double entropy, largest, gradient;
	} * sums; /* (batch, layers, heads), owned */
};

/* Of the scores of a stage, and of the weights that they make: for SCORES_PRODUCT those
 * without any scale.  `rest`: what the weights of a row lack to 1 is an outcome of its own
 * (an attention sink) and counts in the entropy. */
enum attn_status spread_consumer_init(struct spread_consumer *s, const struct rows_shape *shape,
				      enum score_stage stage, bool rest, struct attn_error *err);
void spread_consumer_release(struct spread_consumer *s); /* safe on a zeroed consumer */

/* Of one head after streaming; all 0 where no query attends to a key. */
struct spread spread_of(const struct spread_consumer *s, size_t batch, size_t layer, size_t head);

#endif
