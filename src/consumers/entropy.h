/* The consumer behind --order entropy: how spread out each head's rows are. */
#ifndef ATTN_CONSUMERS_ENTROPY_H
#define ATTN_CONSUMERS_ENTROPY_H

#include <stddef.h>

#include "attention/rows.h"

struct entropy_consumer {
	struct row_consumer consumer;

	/* Private. */
	size_t layers, heads;
	struct entropy_sum {
		size_t queries; /* with a weight that is not 0 */
		double sum;
	} * sums; /* (batch, layers, heads), owned */
};

/* For a source of that shape.  ATTN_FAILED: no memory. */
enum attn_status entropy_consumer_init(struct entropy_consumer *s, const struct rows_shape *shape,
				       struct attn_error *err);
void entropy_consumer_release(struct entropy_consumer *s); /* safe on a zeroed consumer */

/* -sum p ln p in nats (Shannon 1948), where p are the magnitudes of the weights
 * at attended keys over their sum; 0 where that is 0. */
double row_entropy(const float *weights, const unsigned char *cells, size_t keys);

/* The mean of a head's rows, after streaming; rows without weights are left out,
 * and it is 0 where there are no others. */
double entropy_of(const struct entropy_consumer *s, size_t batch, size_t layer, size_t head);

#endif
