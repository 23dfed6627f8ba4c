/* Differences between the rows of two sources of one shape: a consumer of the one that reads the other. */
#ifndef ATTN_CONSUMERS_DIFFERENCE_H
#define ATTN_CONSUMERS_DIFFERENCE_H

#include "attention/rows.h"

/* Of a head of one layer and batch item. */
struct head_difference {
	double largest; /* |a - b|, at (query, key): the first of equals */
	size_t query, key;
	double sum; /* of |a - b| over `cells` */
	size_t cells;
	double js_largest; /* the Jensen-Shannon distance of the rows of js_query, in [0, 1] */
	size_t js_query;
	double js_sum; /* over `rows`: those that both have weight in */
	size_t rows;
	size_t beyond; /* cells where |a - b| > absolute + relative |b| */
};

struct difference_consumer {
	struct row_consumer consumer;
	struct head_difference *heads; /* (layers, batch, heads), owned */

	/* Private. */
	struct row_source *other;
	struct rows_shape shape;
	double absolute, relative;
};

/* `other` has the same shape, has been started and has its layers at any time; it must outlive the
 * consumer. */
enum attn_status difference_init(struct difference_consumer *d, struct row_source *other, double absolute,
				 double relative, struct attn_error *err);
void difference_release(struct difference_consumer *d); /* safe on a zeroed one */

/* The distance of Jensen and Shannon of two rows (count), each divided by its sum: the square root of
 * the mean of the Kullback-Leibler divergences, to the base 2, of both from their mean (Endres and
 * Schindelin 2003).  NAN where a row has no weight, or one below 0. */
double jensen_shannon(const float *a, const float *b, size_t count);

#endif
