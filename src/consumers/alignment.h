/* The consumer behind attn align: links between source words (keys) and target words (queries). */
#ifndef ATTN_CONSUMERS_ALIGNMENT_H
#define ATTN_CONSUMERS_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "tokens/links.h"

/* Which pairs of a query and a key are linked. */
enum alignment_method {
	ALIGN_ARGMAX,    /* each query to its heaviest key */
	ALIGN_REVERSE,   /* each key to its heaviest query */
	ALIGN_MUTUAL,    /* what both choose */
	ALIGN_UNION,     /* what one of them chooses */
	ALIGN_GROW,      /* grow-diag-final-and */
	ALIGN_THRESHOLD, /* each pair from a weight on */
	ALIGN_MONOTONE   /* the pairs on a monotone path */
};

struct alignment_options {
	enum alignment_method method;
	double threshold;           /* of ALIGN_THRESHOLD */
	const bool *queries, *keys; /* (queries), (keys): what may be linked */
	const bool *nulls;          /* (keys): what a query may choose, and then has no link; or NULL */

	/* Of ALIGN_MONOTONE, to the weights of each head before their mean: columns_standardise over
	 * all queries, then rows_median over all keys. */
	bool standardise;
	size_t median; /* odd; 1: none */

	/* Of ALIGN_MONOTONE: the mean of this many selected layers and heads, as one; 0: each by itself. */
	size_t heads;
};

enum {
	MONOTONE_CELLS = 1 << 27 /* queries times keys at most */
};

struct alignment {
	struct row_consumer consumer;

	/* Private. */
	const struct alignment_options *options;
	size_t batch, heads, queries, keys;
	struct alignment_slot *slots; /* owned */
	size_t slot_count;
	float *current; /* (queries, keys): ALIGN_MONOTONE, the head that is read; owned */
};

/* For a source that is streamed without a selection of queries.  The options and their arrays
 * outlive it.  Each head of each layer has links of its own, unless their mean is made here.  What is kept is
 * what the method needs: some numbers for each query and key, ALIGN_THRESHOLD the links, ALIGN_MONOTONE the
 * (queries, keys) matrix: ATTN_USAGE beyond MONOTONE_CELLS. */
enum attn_status alignment_init(struct alignment *a, const struct rows_shape *shape,
				const struct alignment_options *options, struct attn_error *err);
void alignment_release(struct alignment *a); /* safe on a zeroed one */

/* After streaming, append the links of a head, of keys and queries by their indices, sorted.
 *
 * No link has a weight of 0 or less, or is masked, but on a monotone path, which goes through whatever is
 * there.  Of equal weights the lower index is chosen.  The weight is that of the pair; the confidence is the
 * weight, of ALIGN_REVERSE its share of what the key gets from the queries that may be linked, of methods
 * that go both ways the square root of their product.  ATTN_FAILED: no memory. */
enum attn_status alignment_links(const struct alignment *a, size_t batch, size_t layer, size_t head,
				 struct link_list *out, struct attn_error *err);

#endif
