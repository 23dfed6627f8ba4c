/* The consumer that keeps the cells of a difference that are furthest from 0. */
#ifndef ATTN_CONSUMERS_TOP_DIFFERENCES_H
#define ATTN_CONSUMERS_TOP_DIFFERENCES_H

#include "consumers/difference.h"

struct cell_difference {
	size_t layer, batch, head, query, column;
	float a, b;
};

struct top_differences {
	struct row_consumer consumer;
	struct cell_difference *cells; /* after top_differences_sort: the largest |a - b| first, and of
					* equals the first; owned */
	size_t count;

	/* Private. */
	size_t most, room;
	double least; /* that this many are beyond: cells come in order, so that an equal one is too late */
	enum difference_kind kind;
	enum score_stage stage;
	size_t context_size;
};

/* Keep at most `most` cells of a kind other than DIFFERENCE_OUTPUT; none that does not differ. */
void top_differences_init(struct top_differences *t, size_t most, enum difference_kind kind,
			  enum score_stage stage, size_t context_size);
void top_differences_sort(struct top_differences *t);    /* after streaming */
void top_differences_release(struct top_differences *t); /* safe on a zeroed one */

#endif
