#include "attention/positions.h"

#include <math.h>
#include <stdlib.h>

#include "util/memory.h"

void positions_release(struct positions *p)
{
	free(p->queries);
	free(p->keys);
	*p = (struct positions){0};
}

double *positions_count(size_t first, size_t count)
{
	double *positions = array_alloc(count, sizeof *positions);
	for (size_t i = 0; i < count && positions; i++)
		positions[i] = (double)first + (double)i;
	return positions;
}

/* wavelengths[c] = 10000^(2c/cols), (cols + 1) / 2 of them. */
static void fill_wavelengths(double *wavelengths, size_t cols)
{
	for (size_t c = 0; c < (cols + 1) / 2; c++)
		wavelengths[c] = pow(10000, (double)(2 * c) / (double)cols);
}

/* sum[cols] = what a token at `position` is given. */
static void fill_sum(const struct position_encoding *encoding, const double *wavelengths, double position,
		     size_t cols, double *sum)
{
	for (size_t c = 0; c < cols; c++) {
		double angle = encoding->sinusoidal ? position / wavelengths[c / 2] : 0;
		sum[c] = !encoding->sinusoidal ? 0 : c % 2 == 0 ? sin(angle) : cos(angle);
	}
	for (size_t c = 0; c < cols && encoding->table; c++)
		sum[c] += encoding->table[(size_t)position * cols + c];
}

/* to[cols] = from[cols] + sum[cols], in double and rounded once. */
static bool add_row(const float *from, const double *sum, size_t cols, float *to)
{
	bool finite = true;
	for (size_t c = 0; c < cols; c++) {
		to[c] = (float)(from[c] + sum[c]);
		finite &= isfinite(to[c]) != 0;
	}
	return finite;
}

bool position_encoding_add(const struct position_encoding *encoding, const struct sequence *s, size_t items,
			   float *out, double *scratch, size_t *beyond)
{
	size_t size = s->rows * s->cols;
	double *wavelengths = scratch + s->cols;
	fill_wavelengths(wavelengths, s->cols);
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t item = 0; item < items; item++) {
			/* Batch items of the same positions are given the same. */
			if (item == 0 || encoding->position_batch > 1)
				fill_sum(encoding, wavelengths, encoding->positions[item * s->rows + row],
					 s->cols, scratch);
			size_t at = row * s->cols;
			*beyond = row;
			if (!add_row(s->data + item * s->batch_stride + at, scratch, s->cols,
				     out + item * size + at))
				return false;
		}
	}
	return true;
}
