/* What is done to a tile whatever it holds: its columns scaled and summed, and whether its
 * numbers are finite; the largest of plain numbers. */
#ifndef ATTN_KERNELS_TILE_H
#define ATTN_KERNELS_TILE_H

#include <math.h>

#include "kernels/kernels.h"
#include "kernels/vector.h"

static void scale_columns(float *rows, size_t count, size_t cols, const float *factor)
{
	for (size_t c = 0; c < cols; c += LANES) {
		vec f = load(factor + c);
		for (size_t r = 0; r < count; r++)
			store(rows + r * TILE + c, load(rows + r * TILE + c) * f);
	}
}

/* The sums of `nv` vectors of columns. */
INLINE void sum_vectors(const float *rows, size_t count, float *sum, const int nv)
{
	vec total[COL_TILE] = {{0}};
	for (size_t r = 0; r < count; r++)
		for (int v = 0; v < nv; v++)
			total[v] += load(rows + r * TILE + (size_t)v * LANES);
	for (int v = 0; v < nv; v++)
		store(sum + v * LANES, load(sum + v * LANES) + total[v]);
}

static void sum_columns(const float *rows, size_t count, size_t cols, float *sum)
{
	size_t c = 0;
	for (; c + LANES * (COL_TILE - 1) < cols; c += LANES * COL_TILE)
		sum_vectors(rows + c, count, sum + c, COL_TILE);
	for (; c < cols; c += LANES)
		sum_vectors(rows + c, count, sum + c, 1);
}

static float largest(const float *numbers, size_t count)
{
	const ivec magnitude = (ivec)spread(-0.0f) ^ -1; /* all but the sign */
	vec most = {0};
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		most = highest_of(most, (vec)((ivec)load(numbers + i) & magnitude));
	float found = 0;
	for (int lane = 0; lane < LANES; lane++)
		found = most[lane] > found ? most[lane] : found;
	for (; i < count; i++)
		found = fabsf(numbers[i]) > found ? fabsf(numbers[i]) : found;
	return found;
}

/* x - x is 0 for what is finite and NaN for what is not. */
static bool all_finite(const float *rows, size_t stride, size_t count, size_t cols)
{
	vec sum = {0};
	for (size_t r = 0; r < count; r++)
		for (size_t c = 0; c < cols; c += LANES) {
			vec x = load(rows + r * stride + c);
			sum += x - x;
		}
	bool all = true;
	for (int i = 0; i < LANES; i++)
		all &= sum[i] == 0;
	return all;
}

#endif
