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
typedef int64_t wide_bits __attribute__((vector_size(4 * LANES)));
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

/* log2 of numbers above 0; anything finite of 0.
 *
 * x = 2^e m with m from sqrt(1/2) on, and log2(m) = r P(r), r = m - 1, with P fitted at Chebyshev points
 * (5e-8). */
INLINE vec binary_logarithm(vec x)
{
	const ivec root = (ivec)spread(0x1.6a09e6p-1f);
	ivec exponent = ((ivec)x - root) >> 23;
	vec r = (vec)((uvec)x - ((uvec)exponent << 23)) - 1.0f;
	vec p = fused(r, spread(0.12614846f), spread(-0.20742103f));
	p = fused(p, r, spread(0.21566986f));
	p = fused(p, r, spread(-0.23892035f));
	p = fused(p, r, spread(0.28791833f));
	p = fused(p, r, spread(-0.36070484f));
	p = fused(p, r, spread(0.4809106f));
	p = fused(p, r, spread(-0.72134733f));
	p = fused(p, r, spread(1.442695f));
	return fused(p, r, __builtin_convertvector(exponent, vec));
}

enum {
	LOG_STEPS_MOST = 16 /* terms of a lane that are added up in float32 */
};

struct weighing {
	wide total[WIDES], logs[WIDES], distance[WIDES], squares[WIDES];
	vec part[SUM_LANES / LANES]; /* of logs */
	vec most;
};

/* SUM_LANES numbers. */
INLINE void weigh_step(struct weighing *s, const float *weights, const double *at, double from)
{
	for (int i = 0; i < SUM_LANES / LANES; i++) {
		vec w = (vec)((ivec)load(weights + (ptrdiff_t)i * LANES) & INT32_MAX);
		s->most = highest_of(s->most, w);
		s->part[i] = fused(w, binary_logarithm(w), s->part[i]);
	}
	for (int i = 0; i < WIDES; i++) {
		wide x = load_wide(weights + (ptrdiff_t)i * WIDE_LANES), d;
		s->total[i] += x;
		if (!at)
			continue;
		memcpy(&d, at + (ptrdiff_t)i * WIDE_LANES, sizeof d);
		d = (wide)((wide_bits)(d - from) & INT64_MAX);
		x *= d;
		s->distance[i] += x;
		s->squares[i] += x * d;
	}
}

INLINE void settle_logs(struct weighing *s)
{
	float parts[SUM_LANES];
	memcpy(parts, s->part, sizeof parts);
	for (int i = 0; i < WIDES; i++) {
		narrow_vec part;
		memcpy(&part, parts + (ptrdiff_t)i * WIDE_LANES, sizeof part);
		s->logs[i] += __builtin_convertvector(part, wide);
	}
	memset(s->part, 0, sizeof s->part);
}

INLINE void weigh_all(struct weight_sums *sums, const float *weights, const double *at, double from,
		      size_t count)
{
	struct weighing s = {.most = {0}};
	size_t i = 0, steps = 0;
	for (; i + SUM_LANES <= count; i += SUM_LANES) {
		weigh_step(&s, weights + i, at ? at + i : NULL, from);
		if (++steps % LOG_STEPS_MOST == 0)
			settle_logs(&s);
	}
	if (i < count) {
		float last[SUM_LANES] = {0};
		double last_at[SUM_LANES] = {0};
		memcpy(last, weights + i, (count - i) * sizeof *last);
		if (at)
			memcpy(last_at, at + i, (count - i) * sizeof *last_at);
		weigh_step(&s, last, at ? last_at : NULL, from);
	}
	settle_logs(&s);
	sums->total += sum_wides(s.total);
	sums->logs += sum_wides(s.logs);
	sums->distance += sum_wides(s.distance);
	sums->squares += sum_wides(s.squares);
	for (int lane = 0; lane < LANES; lane++)
		sums->largest = s.most[lane] > sums->largest ? s.most[lane] : sums->largest;
}

static void weigh(struct weight_sums *s, const float *weights, const double *at, double from, size_t count)
{
	if (at)
		weigh_all(s, weights, at, from, count);
	else
		weigh_all(s, weights, NULL, 0, count);
}

#endif
