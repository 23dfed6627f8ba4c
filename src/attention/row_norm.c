#include "attention/row_norm.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/minmax.h"
#include "util/threads.h"

enum {
	ROWS_A_TASK = 16,
	SUMS = 16, /* side by side, so that the compiler's vectoriser may have them */
};

struct work {
	const struct row_norm *norm;
	const float *x;
	float *out;
	size_t rows, width;
	atomic_size_t overflow; /* the first row that does; SIZE_MAX: none */
};

static double add_up(const double *sums)
{
	double sum = 0;
	for (size_t i = 0; i < SUMS; i++)
		sum += sums[i];
	return sum;
}

static double sum_of(const float *x, size_t count)
{
	double sums[SUMS] = {0};
	size_t c = 0;
	for (; c + SUMS <= count; c += SUMS)
		for (size_t i = 0; i < SUMS; i++)
			sums[i] += (double)x[c + i];
	for (; c < count; c++)
		sums[0] += (double)x[c];
	return add_up(sums);
}

/* The sum of (x - mean)^2. */
static double squares_of(const float *x, size_t count, double mean)
{
	double sums[SUMS] = {0};
	size_t c = 0;
	for (; c + SUMS <= count; c += SUMS)
		for (size_t i = 0; i < SUMS; i++)
			sums[i] += ((double)x[c + i] - mean) * ((double)x[c + i] - mean);
	for (; c < count; c++)
		sums[0] += ((double)x[c] - mean) * ((double)x[c] - mean);
	return add_up(sums);
}

/* False: a number overflows. */
static bool norm_row(const struct row_norm *norm, const float *x, size_t width, float *out)
{
	double mean = norm->kind == ROW_NORM_LAYER ? sum_of(x, width) / (double)width : 0;
	double factor = 1 / sqrt(squares_of(x, width, mean) / (double)width + norm->eps);
	const float *gain = norm->gain, *bias = norm->bias;
	float beyond = 0;
	double one = norm->gain_from_one ? 1 : 0;
	for (size_t c = 0; c < width; c++) {
		out[c] = (float)(((double)x[c] - mean) * factor * (gain ? one + (double)gain[c] : 1) +
				 (bias ? (double)bias[c] : 0));
		beyond += out[c] - out[c]; /* NaN of what is not finite */
	}
	return beyond == 0;
}

static void norm_task(void *context, size_t task, size_t worker)
{
	struct work *w = context;
	size_t first = task * ROWS_A_TASK, end = size_min(first + ROWS_A_TASK, w->rows);
	(void)worker;
	for (size_t r = first; r < end; r++) {
		size_t found = atomic_load(&w->overflow);
		if (norm_row(w->norm, w->x + r * w->width, w->width, w->out + r * w->width))
			continue;
		while (r < found && !atomic_compare_exchange_weak(&w->overflow, &found, r))
			;
	}
}

enum attn_status norm_rows(const struct kernels *kernels, const struct row_norm *norm, const float *x,
			   size_t rows, size_t width, float *out, struct attn_error *err)
{
	(void)kernels;
	struct work w = {.norm = norm, .x = x, .out = out, .rows = rows, .width = width};
	atomic_store(&w.overflow, SIZE_MAX);
	parallel_for_work((rows + ROWS_A_TASK - 1) / ROWS_A_TASK, 4 * rows * width, norm_task, &w);
	size_t row = atomic_load(&w.overflow);
	return row == SIZE_MAX ? ATTN_OK
			       : attn_fail(err, ATTN_BAD_INPUT,
					   "the normalised hidden state of token %zu overflows float32", row);
}
