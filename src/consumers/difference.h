/* How far the rows of two sources are apart: consumers of a difference (rows.h: a block's `pair`). */
#ifndef ATTN_CONSUMERS_DIFFERENCE_H
#define ATTN_CONSUMERS_DIFFERENCE_H

#include "attention/rows.h"

/* What of the rows is compared. */
enum difference_kind {
	DIFFERENCE_WEIGHTS,
	DIFFERENCE_CONTEXT, /* of a head, (queries, e) */
	DIFFERENCE_SCORES,
	DIFFERENCE_OUTPUT, /* of all heads, (queries, any): by difference_add_row */
	DIFFERENCE_KINDS
};

/* How far b may be from a: |a - b| <= absolute + relative |b|. */
struct tolerance {
	double absolute, relative;
};

/* Of a head of one layer and batch item; zeroed, of no rows. */
struct difference {
	double largest; /* |a - b|, at (query, column): the first of equals; column is a key or component */
	size_t query, column;
	double sum; /* of |a - b| over `cells` */
	size_t cells;
	double js_largest; /* of weights: the Jensen-Shannon distance of the rows of js_query, in [0, 1] */
	size_t js_query;
	double js_sum; /* over `rows`: those that both have weight in */
	size_t rows;
	size_t beyond; /* cells that are beyond the tolerance */
};

/* Add a row of `count` numbers each.  Two infinities of a sign are no difference; another is infinite,
 * and beyond any tolerance. */
void difference_add_row(struct difference *d, const struct tolerance *t, size_t query, const float *a,
			const float *b, size_t count);

/* |a - b|, as it is counted there. */
double difference_of(float a, float b);

/* The rows of a kind in the two blocks of a pair, (count, *columns) with strides from row to row. */
struct difference_rows {
	const float *a, *b;
	size_t a_stride, b_stride, columns;
};
struct difference_rows difference_rows(const struct row_block *block, enum difference_kind kind,
				       enum score_stage stage, size_t context_size);

/* The differences of all heads. */
struct difference_consumer {
	struct row_consumer consumer;
	struct difference
	    *heads[DIFFERENCE_KINDS]; /* (layers, batch, heads) each, owned; NULL: not asked for */

	/* Private. */
	struct rows_shape shape;
	struct tolerance tolerance;
	enum score_stage stage;
	size_t context_size;
};

/* For the kinds whose bits (1 << kind) are set, which the blocks of both sources carry: a context with
 * `context_size` numbers.  DIFFERENCE_OUTPUT gets an entry a batch item and layer, and no rows. */
enum attn_status difference_init(struct difference_consumer *d, const struct rows_shape *shape,
				 unsigned kinds, enum score_stage stage, size_t context_size,
				 struct tolerance tolerance, struct attn_error *err);
void difference_release(struct difference_consumer *d); /* safe on a zeroed one */

/* The distance of Jensen and Shannon of two rows (count), each divided by its sum: the square root of
 * the mean of the Kullback-Leibler divergences, to the base 2, of both from their mean (Endres and
 * Schindelin 2003).  NAN where a row has no weight, or one below 0. */
double jensen_shannon(const float *a, const float *b, size_t count);

/* The consumer that gives the blocks of one side, 0 or 1, to another consumer. */
struct side_consumer {
	struct row_consumer consumer;
	struct row_consumer *inner; /* not owned */
	size_t side;
};

void side_consumer_init(struct side_consumer *s, struct row_consumer *inner, size_t side);

#endif
