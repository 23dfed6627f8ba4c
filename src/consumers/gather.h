/* The consumer behind attn inspect token --steps: it keeps whole rows of a few queries. */
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

#endif
