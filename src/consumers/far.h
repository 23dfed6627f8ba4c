/* The consumer behind attn inspect far: what a window would lose of each head's weight, and the
 * strongest links between tokens that are far apart.
 *
 * A window of W tokens keeps a query's own key and W - 1 on either side of it: those at a distance
 * |i - j| < W, as the setting window=W-1,W-1 does (in causal attention W-1,0 is the same).  With
 * p_ij = |w_ij| / sum over j |w_ij|, a query loses the sum of p_ij over the other keys.  Appended keys
 * have no place: no window loses them, and they are in no link.  A query without any weight is left
 * out.  Threads change nothing: sums are float64 by block of rows, added in their order, and links
 * have an order of their own.
 */
#ifndef ATTN_CONSUMERS_FAR_H
#define ATTN_CONSUMERS_FAR_H

#include <pthread.h>

#include "attention/rows.h"
#include "consumers/head_places.h"
#include "kernels/kernels.h"

enum {
	FAR_WINDOWS = 32,   /* at most */
	FAR_LINKS = 100000, /* kept of a head at most */
};

struct far_link {
	size_t query, key;
	float weight;
};

/* What a window would lose of a head; NAN where no query has a weight. */
struct far_loss {
	size_t queries; /* with any weight */
	double lost;    /* mean over them of the share that is lost */
	double most;    /* the largest, */
	size_t query;   /* of this query, of equal ones the first */
	double half;    /* the part of the queries that lose more than half */
};

struct far_options {
	size_t windows[FAR_WINDOWS], window_count; /* each at least 1, ascending */
	size_t distance;                           /* links are longer than this */
	size_t top;                                /* of which so many are kept, from 1 to FAR_LINKS */
};

struct far_consumer {
	struct row_consumer consumer;

	/* Private. */
	const struct head_places *places;
	const struct kernels *kernels;
	struct rows_shape shape;
	struct far_options options;
	size_t cuts[FAR_WINDOWS + 1], cut_count; /* ascending: the windows, and distance + 1 */
	size_t blocks;                           /* of a head */
	struct far_sums *sums;                   /* (layers, batch, heads, blocks, windows) */
	size_t *queries;                         /* (layers, batch, heads, blocks): with any weight */
	size_t kept;
	struct far_link *links; /* (layers, batch, heads, kept), the strongest first */
	size_t *counts;         /* (layers, batch, heads): links there are */
	pthread_mutex_t lock;   /* of these two */
};

/* For a source of that shape, of self-attention, whose queries are all streamed; `places`, of the same
 * rows, must outlive the consumer.  ATTN_FAILED: no memory. */
enum attn_status far_consumer_init(struct far_consumer *s, const struct rows_shape *shape,
				   const struct head_places *places, const struct far_options *options,
				   struct attn_error *err);
void far_consumer_release(struct far_consumer *s); /* safe on a zeroed consumer */

/* After streaming: what options.windows[window] would lose of a head. */
struct far_loss far_loss_of(const struct far_consumer *s, size_t batch, size_t layer, size_t head,
			    size_t window);

/* The links of a head, by magnitude, equal ones by query, then key; *count may be 0. */
const struct far_link *far_links_of(const struct far_consumer *s, size_t batch, size_t layer, size_t head,
				    size_t *count);

#endif
