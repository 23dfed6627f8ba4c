/* The sink behind --order entropy: how spread out each head's rows are. */
#ifndef ATTN_SINKS_ENTROPY_H
#define ATTN_SINKS_ENTROPY_H

#include <stddef.h>

#include "core/rows.h"

struct entropy_sink {
	struct row_sink sink;

	/* Private. */
	size_t layers, heads;
	struct entropy_sum {
		size_t queries; /* that see a key with a weight */
		double sum;
	} * sums; /* (batch, layers, heads), owned */
};

enum attn_status entropy_sink_init(struct entropy_sink *s, const struct rows_info *info,
				   struct attn_error *err);
void entropy_sink_release(struct entropy_sink *s); /* safe on a zeroed sink */

/* -sum p ln p in nats (Shannon 1948), where p are the magnitudes of the weights
 * at visible keys over their sum; 0 where that is 0. */
double row_entropy(const float *weights, const unsigned char *visible, size_t keys);

/* The mean of a head's rows, after streaming; rows without weights are left out,
 * and it is 0 where there are no others. */
double entropy_of(const struct entropy_sink *s, size_t batch, size_t layer, size_t head);

#endif
