/* Sums over a row of weights, in one pass and float64: those behind entropies and distances. */
#ifndef ATTN_CONSUMERS_WEIGHT_SUMS_H
#define ATTN_CONSUMERS_WEIGHT_SUMS_H

#include <stddef.h>

#include "kernels/kernels.h"

enum {
	LOG_STEPS = 128 /* of a mantissa */
};

/* What log2 is looked up in: of a mantissa m in step i, m times inverse[i] is 1 within 1/256,
 * and logs[i] is -log2(inverse[i]). */
struct log_table {
	double inverse[LOG_STEPS], logs[LOG_STEPS];
};

void log_table_init(struct log_table *t);

/* Add `count` finite weights, the logs within 1e-12: the reference of the kernel `weigh`, and for sums
 * of which small differences matter; `at` are their places, or NULL, and then nothing is added to
 * distance and squares.  The order of the additions depends on nothing but `count`. */
void weight_sums_add(struct weight_sums *s, const struct log_table *t, const float *weights, const double *at,
		     double from, size_t count);

/* sum (a + b) log2 (a + b) over two rows of finite numbers from 0 on, likewise. */
double pair_logs(const struct log_table *t, const float *a, const float *b, size_t count);

#endif
