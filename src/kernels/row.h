/* Figures of a row of weights.  Sums are float64 in SUM_LANES parts whatever the set, so that all
 * sets give the same bits. */
#ifndef ATTN_KERNELS_ROW_H
#define ATTN_KERNELS_ROW_H

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
	SUM_LANES = 16,
	WIDE_LANES = LANES / 2, /* float64 in a vector */
	WIDES = SUM_LANES / WIDE_LANES
};

typedef double wide __attribute__((vector_size(4 * LANES)));
typedef float narrow_vec __attribute__((vector_size(2 * LANES)));
typedef int32_t narrow_bits __attribute__((vector_size(2 * LANES)));

/* The magnitudes of WIDE_LANES numbers at any float's place. */
INLINE wide load_wide(const float *at)
{
	narrow_vec numbers;
	memcpy(&numbers, at, sizeof numbers);
	return __builtin_convertvector((narrow_vec)((narrow_bits)numbers & INT32_MAX), wide);
}

INLINE double sum_wides(const wide sums[static WIDES])
{
	double parts[SUM_LANES];
	memcpy(parts, sums, sizeof parts);
	for (int width = SUM_LANES / 2; width > 0; width /= 2)
		for (int i = 0; i < width; i++)
			parts[i] += parts[i + width];
	return parts[0];
}

/* SUM_LANES numbers. */
INLINE void add_magnitudes(const float *at, wide sums[static WIDES], vec *most)
{
	for (int i = 0; i < SUM_LANES; i += LANES)
		*most = highest_of(*most, (vec)((ivec)load(at + i) & INT32_MAX));
	for (int i = 0; i < WIDES; i++)
		sums[i] += load_wide(at + (ptrdiff_t)i * WIDE_LANES);
}

static double magnitudes(const float *numbers, size_t count, float *largest)
{
	wide sums[WIDES] = {{0}};
	vec most = {0};
	size_t i = 0;
	for (; i + SUM_LANES <= count; i += SUM_LANES)
		add_magnitudes(numbers + i, sums, &most);
	if (i < count) {
		float rest[SUM_LANES] = {0};
		memcpy(rest, numbers + i, (count - i) * sizeof *numbers);
		add_magnitudes(rest, sums, &most);
	}
	*largest = 0;
	for (int lane = 0; lane < LANES; lane++)
		*largest = most[lane] > *largest ? most[lane] : *largest;
	return sum_wides(sums);
}

#endif
