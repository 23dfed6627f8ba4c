#include "consumers/monotone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

void columns_standardise(float *x, size_t rows, size_t cols)
{
	for (size_t c = 0; c < cols; c++) {
		double mean = 0, squares = 0;
		for (size_t r = 0; r < rows; r++)
			mean += (double)x[r * cols + c] / (double)rows;
		for (size_t r = 0; r < rows; r++) {
			double off = (double)x[r * cols + c] - mean;
			squares += off * off / (double)rows;
		}
		double deviation = sqrt(squares);
		for (size_t r = 0; r < rows; r++) {
			double off = (double)x[r * cols + c] - mean;
			x[r * cols + c] = deviation > 0 ? (float)(off / deviation) : 0;
		}
	}
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return x < y ? -1 : x > y;
}

/* Where a row of `count` has what stands `at` - half places in, mirrored at its ends. */
static size_t mirrored(size_t at, size_t half, size_t count)
{
	if (at < half)
		return half - at;
	at -= half;
	return at < count ? at : 2 * (count - 1) - at;
}

bool rows_median(float *x, size_t rows, size_t cols, size_t width)
{
	size_t half = width / 2;
	if (cols <= half || width == 1)
		return true;
	float *row = array_alloc(cols, sizeof *row), *around = array_alloc(width, sizeof *around);
	bool ok = row && around;
	for (size_t r = 0; r < rows && ok; r++) {
		memcpy(row, x + r * cols, cols * sizeof *row);
		for (size_t c = 0; c < cols; c++) {
			for (size_t i = 0; i < width; i++)
				around[i] = row[mirrored(c + i, half, cols)];
			qsort(around, width, sizeof *around, compare_floats);
			x[r * cols + c] = around[half];
		}
	}
	free(row);
	free(around);
	return ok;
}

enum step {
	STEP_BOTH,
	STEP_ROW,
	STEP_COL
};

/* Fill trace (rows, cols) with the last step to each cell; `sums` is (cols + 1), of the row before. */
static void trace_steps(const double *x, size_t rows, size_t cols, double *sums, unsigned char *trace)
{
	for (size_t c = 0; c <= cols; c++)
		sums[c] = c == 0 ? 0 : -INFINITY;
	for (size_t r = 0; r < rows; r++) {
		double corner = sums[0]; /* of the row before, one column before */
		sums[0] = -INFINITY;
		for (size_t c = 0; c < cols; c++) {
			double above = sums[c + 1], left = sums[c], best;
			unsigned char *step = &trace[r * cols + c];
			if (corner > above && corner > left) {
				*step = STEP_BOTH;
				best = corner;
			} else if (above > corner && above > left) {
				*step = STEP_ROW;
				best = above;
			} else {
				*step = STEP_COL;
				best = left;
			}
			corner = above;
			sums[c + 1] = best + x[r * cols + c];
		}
	}
}

size_t monotone_path(const double *x, size_t rows, size_t cols, struct path_step *steps)
{
	size_t count = 0, row = rows - 1, col = cols - 1, cells;
	unsigned char *trace = size_mul(rows, cols, &cells) ? array_alloc(cells, 1) : NULL;
	double *sums = array_alloc(cols + 1, sizeof *sums);
	if (trace && sums) {
		trace_steps(x, rows, cols, sums, trace);
		for (;;) {
			steps[count++] = (struct path_step){row, col};
			if (row == 0 && col == 0)
				break;
			unsigned char step = row == 0   ? STEP_COL
					     : col == 0 ? STEP_ROW
							: trace[row * cols + col];
			row -= step != STEP_COL;
			col -= step != STEP_ROW;
		}
		for (size_t i = 0; i < count / 2; i++) {
			struct path_step other = steps[i];
			steps[i] = steps[count - 1 - i];
			steps[count - 1 - i] = other;
		}
	}
	free(trace);
	free(sums);
	return count;
}
