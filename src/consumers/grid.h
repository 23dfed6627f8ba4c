/* The consumer behind pictures: each selected (batch, layer, head) reduced to a
 * grid of cells that fits a picture.
 *
 * A cell stands for a block of row_factor x col_factor weights (the last row
 * and column of blocks may be smaller) and holds their maximum, so that spikes
 * survive, or their mean.  Of signed weights the maximum is the one of largest magnitude,
 * with its sign.  Memory is that of the grids: 5 bytes a cell, 6 where
 * some weights do not count for the scale.
 */
#ifndef ATTN_CONSUMERS_GRID_H
#define ATTN_CONSUMERS_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "kernels/kernels.h"
#include "util/error.h"

enum grid_reduction {
	GRID_MAXIMUM,
	GRID_MEAN /* over all weights of the block: masked ones count as the 0 that they are */
};

struct grid_options {
	size_t max_rows, max_cols; /* cells at most, each at least 1 */
	enum grid_reduction reduction;
};

struct grid {
	size_t batch, layer, head;     /* indices of the source */
	size_t queries, keys;          /* weights covered: selected queries, all keys */
	size_t rows, cols;             /* cells: queries / row_factor, keys / col_factor, rounded up */
	size_t row_factor, col_factor; /* weights a cell; 1 = not reduced */
	enum grid_reduction reduction;
	float *values;         /* (rows, cols) */
	unsigned char *masked; /* (rows, cols): 1 when every weight of the block is masked; value 0 */
	bool any_masked;       /* some cell is masked */

	/* Without what does not count for the scale (CELL_UNSCALED): the largest magnitude, before
	 * reduction, and the largest cell that has one that counts. */
	float maximum, top;
	unsigned char *counted; /* private, (cols): whether a cell of the current row has such a weight */

	/* (rows, cols): 1 where a weight of the block does not count for the scale
	 * (CELL_UNSCALED); NULL: all count. */
	unsigned char *uncounted;
};

struct grid_consumer {
	struct row_consumer consumer; /* hand &grid_consumer.consumer to rows_stream */
	struct grid *grids;           /* in the order batch, layer, head; owned */
	size_t grid_count;

	/* Private. */
	size_t *slots;     /* (batch, layers, heads): which grid, or SIZE_MAX */
	size_t *positions; /* (queries): which of the selected rows, or SIZE_MAX */
	size_t layers, heads;
	bool signed_weights;
	const struct kernels *kernels;
	double *sums; /* (keys): of the cells of a row, for a mean; 0 between rows */
};

/* The factor that brings `count` down to at most `limit` cells. */
size_t grid_factor(size_t count, size_t limit);

/* Make grids for what `selection` (NULL: all) selects.  ATTN_USAGE when that is
 * nothing, ATTN_FAILED without memory; *consumer is then empty. */
enum attn_status grid_consumer_init(struct grid_consumer *consumer, const struct rows_shape *shape,
				    const struct rows_selection *selection,
				    const struct grid_options *options, struct attn_error *err);
void grid_consumer_release(struct grid_consumer *consumer); /* safe on a zeroed consumer */

#endif
