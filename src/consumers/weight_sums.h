/* Sums over a row of weights, in one pass and float64: those behind entropies and distances. */
#ifndef ATTN_CONSUMERS_WEIGHT_SUMS_H
#define ATTN_CONSUMERS_WEIGHT_SUMS_H

#include <stddef.h>

enum {
	LOG_STEPS = 128 /* of a mantissa */
};

/* What log2 is looked up in: of a mantissa m in step i, m times inverse[i] is 1 within 1/256,
 * and logs[i] is -log2(inverse[i]). */
struct log_table {
	double inverse[LOG_STEPS], logs[LOG_STEPS];
};

void log_table_init(struct log_table *t);

/* Of magnitudes |w| at places a, as seen from a place b. */
struct weight_sums {
	double total;    /* sum |w| */
	double logs;     /* sum |w| log2 |w|, the log within 1e-12 */
	double distance; /* sum |w| (a - b): with a sign */
	double squares;  /* sum |w| (a - b)^2 */
	float largest;   /* of |w|; 0 for none */
};

/* Add `count` finite weights; `at` are their places, or NULL, and then nothing is added to
 * distance and squares.  The order of the additions depends on nothing but `count`. */
void weight_sums_add(struct weight_sums *s, const struct log_table *t, const float *weights, const double *at,
		     double from, size_t count);

/* sum (a + b) log2 (a + b) over two rows of finite numbers from 0 on, likewise. */
double pair_logs(const struct log_table *t, const float *a, const float *b, size_t count);

#endif
