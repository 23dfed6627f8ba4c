/* Orders of panels: by a value, and by similarity. */
#include "draw/heatmap/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/memory.h"

enum attn_status order_by_value(const double *values, size_t count, size_t *order, struct attn_error *err)
{
	bool *taken = array_alloc(count, sizeof *taken);
	if (!taken)
		return attn_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		size_t best = count;
		for (size_t k = 0; k < count; k++)
			if (!taken[k] && (best == count || values[k] < values[best]))
				best = k;
		taken[best] = true;
		order[i] = best;
	}
	free(taken);
	return ATTN_OK;
}

double grid_correlation(const struct grid *a, const struct grid *b)
{
	size_t cells = a->rows * a->cols, count = 0;
	double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
	for (size_t i = 0; i < cells; i++) {
		if (a->masked[i] || b->masked[i])
			continue;
		double x = (double)a->values[i], y = (double)b->values[i];
		count++;
		sum_a += x;
		sum_b += y;
		aa += x * x;
		bb += y * y;
		ab += x * y;
	}
	double n = (double)count;
	double va = n * aa - sum_a * sum_a, vb = n * bb - sum_b * sum_b;
	/* What rounding leaves of a constant grid is not a variance. */
	if (!(va > 1e-12 * n * aa) || !(vb > 1e-12 * n * bb))
		return 0;
	return (n * ab - sum_a * sum_b) / sqrt(va * vb);
}

enum attn_status order_by_similarity(const struct grid *grids, size_t count, size_t *order,
				     struct attn_error *err)
{
	bool *taken = array_alloc(count, sizeof *taken);
	if (!taken)
		return attn_fail_memory(err);
	for (size_t i = 0, last = 0; i < count; i++) {
		double nearest = -INFINITY;
		size_t best = 0;
		for (size_t k = 1; k < count && i > 0; k++) {
			double near = taken[k] ? -INFINITY : grid_correlation(&grids[last], &grids[k]);
			if (near > nearest) {
				nearest = near;
				best = k;
			}
		}
		taken[best] = true;
		order[i] = last = best;
	}
	free(taken);
	return ATTN_OK;
}
