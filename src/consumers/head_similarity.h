/* The consumer behind attn inspect heads --similar: how far heads are from each other.
 *
 * The distance of two heads is the mean over queries of the Jensen-Shannon distance of their rows,
 *   sqrt( H((p + q) / 2) - (H(p) + H(q)) / 2 ),  H in bits,
 * a metric from 0, where they are the same, to 1, where no key has weight in both (Lin 1991;
 * Endres and Schindelin 2003; of heads: Clark et al. 2019, section 6).  p and q are magnitudes of
 * weights over their sum; a query whose row is 0 in one of the heads does not count for the two.
 *
 * Pairs of heads are many, so queries are evenly spaced ones where there are more than fit into
 * SIMILAR_QUERIES, memory and time: similarity_queries says how many.
 */
#ifndef ATTN_CONSUMERS_HEAD_SIMILARITY_H
#define ATTN_CONSUMERS_HEAD_SIMILARITY_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "consumers/weight_sums.h"

enum {
	SIMILAR_QUERIES = 128 /* at most, of all batch items together, but one of each */
};

struct head_similarity {
	struct row_consumer consumer;
	size_t head_count; /* that are compared, in the order layer, head */
	size_t queries;    /* of each batch item, that are looked at */

	/* Private. */
	struct log_table logs;
	struct rows_shape shape;
	size_t *heads;         /* (layers, heads): which of those compared, or SIZE_MAX */
	size_t *items;         /* (batch): which of the chosen, or SIZE_MAX */
	size_t *slots;         /* (queries): which of those looked at, or SIZE_MAX */
	size_t rows;           /* of a head: items times queries */
	float *shares;         /* (head_count, rows, keys) */
	struct kept_row *kept; /* (head_count, rows) */
};

/* To compare the selected heads, of which there is at least one, over the selected batch
 * items.  ATTN_FAILED: no memory. */
enum attn_status similarity_init(struct head_similarity *s, const struct rows_shape *shape,
				 const struct rows_selection *selection, struct attn_error *err);
void similarity_release(struct head_similarity *s); /* safe on a zeroed consumer */

/* After streaming, by all threads: distances (head_count, head_count), to fill; 1 for two heads
 * that have no query with weights in common. */
void similarity_distances(const struct head_similarity *s, double *distances);

#endif
