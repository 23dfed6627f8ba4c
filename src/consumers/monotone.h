/* A monotone path through a matrix of weights: dynamic time warping, as for the times of words in
 * speech (Sakoe and Chiba 1978; Radford et al. 2023, whose order of steps and ties this is). */
#ifndef ATTN_CONSUMERS_MONOTONE_H
#define ATTN_CONSUMERS_MONOTONE_H

#include <stdbool.h>
#include <stddef.h>

/* Each column of x (rows, cols) minus its mean, divided by its standard deviation, that of all
 * rows (not of a sample); a column without deviation becomes 0. */
void columns_standardise(float *x, size_t rows, size_t cols);

/* Each value of x (rows, cols) becomes the median of the `width` (odd) around it in its row, which is
 * mirrored at its ends without the end itself; rows of width / 2 values or fewer stay as they are.
 * False: no memory. */
bool rows_median(float *x, size_t rows, size_t cols, size_t width);

struct path_step {
	size_t row, col;
};

/* The path from (0, 0) to (rows - 1, cols - 1), each step one row on, one column on, or both, whose
 * sum of x is largest.  Of equal sums before a step, one column on comes first, and one of both last.
 * At least one row and column.  steps[rows + cols - 1]; returns how many; 0: no memory. */
size_t monotone_path(const double *x, size_t rows, size_t cols, struct path_step *steps);

#endif
