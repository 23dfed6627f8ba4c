/* The consumer that follows the strongest links from layer to layer: of each token the path down to the
 * first layer whose weights have the largest product (Viterbi 1967), or the largest weight at each step. */
#ifndef ATTN_CONSUMERS_PATH_H
#define ATTN_CONSUMERS_PATH_H

#include "attention/rows.h"

struct path_link {
	size_t head, key; /* key: SIZE_MAX where no link leads on */
	float weight;
	double product; /* of the weights from here down */
};

struct path_consumer {
	struct row_consumer consumer;

	/* Private. */
	struct rows_shape shape;
	bool greedy;
	const bool *ends;        /* (keys), where a path may end; NULL: anywhere */
	struct path_link *links; /* (layers, batch, queries), owned: the first of each path */
};

/* Of all rows of a shape whose queries and keys are the same tokens.  `greedy`: each link is the largest of
 * its row, and products follow from that.  ATTN_FAILED: no memory. */
enum attn_status path_consumer_init(struct path_consumer *p, const struct rows_shape *shape, bool greedy,
				    const bool *ends, struct attn_error *err);
void path_consumer_release(struct path_consumer *p); /* safe on a zeroed consumer */

/* After streaming: the link of a token in a layer; of the next below, ask at its key. */
const struct path_link *path_link_of(const struct path_consumer *p, size_t layer, size_t batch, size_t query);

#endif
