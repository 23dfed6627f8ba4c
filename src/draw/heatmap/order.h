/* In which order the panels of a figure are drawn. */
#ifndef ATTN_DRAW_HEATMAP_ORDER_H
#define ATTN_DRAW_HEATMAP_ORDER_H

#include <stddef.h>

#include "consumers/grid.h"
#include "util/error.h"

/* order[count]: indices by rising value; equal ones stay in order. */
enum attn_status order_by_value(const double *values, size_t count, size_t *order, struct attn_error *err);

/* order[count]: from the first grid on, always the nearest that is left, by the
 * correlation of their cells; of equally near ones the first.  All grids are of
 * one shape. */
enum attn_status order_by_similarity(const struct grid *grids, size_t count, size_t *order,
				     struct attn_error *err);

/* Pearson's correlation over the cells that neither masks; 0 where one of them
 * is constant there. */
double grid_correlation(const struct grid *a, const struct grid *b);

#endif
