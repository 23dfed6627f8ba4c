/* The online softmax of tiles of scores. */
#ifndef ATTN_KERNELS_SOFTMAX_H
#define ATTN_KERNELS_SOFTMAX_H

#include <float.h>

#include "kernels/elementary.h"
#include "kernels/kernels.h"
#include "kernels/vector.h"

/* One softmax step for `nv` vectors of columns. */
INLINE bool softmax_columns(float *scores, size_t keys, float *highest, float *sum, float *rescale,
			    const int nv)
{
	vec top[COL_TILE], total[COL_TILE], before[COL_TILE];
	ivec changed = {0};
	for (int v = 0; v < nv; v++)
		top[v] = before[v] = load(highest + v * LANES);
	for (size_t j = 0; j < keys; j++)
		for (int v = 0; v < nv; v++)
			top[v] = highest_of(load(scores + j * TILE + (size_t)v * LANES), top[v]);
	for (int v = 0; v < nv; v++) {
		/* Rescaling what was summed before is worth its time only when the highest
		 * score rises by much: e^8 is far from where float32 ends. */
		top[v] = where_less(before[v] + 8.0f, top[v], top[v], before[v]);
		store(highest + v * LANES, top[v]);
		/* -inf - -inf would be NaN. */
		top[v] = where_less(top[v], spread(-FLT_MAX), (vec){0}, top[v]);
		vec factor = exponential(before[v] - top[v]);
		changed |= factor != 1.0f;
		store(rescale + v * LANES, factor);
		total[v] = (vec){0};
	}
	for (size_t j = 0; j < keys; j++) {
		for (int v = 0; v < nv; v++) {
			float *at = scores + j * TILE + (size_t)v * LANES;
			vec e = exponential(load(at) - top[v]);
			store(at, e);
			total[v] += e;
		}
	}
	for (int v = 0; v < nv; v++)
		store(sum + v * LANES, fused(load(sum + v * LANES), load(rescale + v * LANES), total[v]));
	int32_t any = 0;
	for (int i = 0; i < LANES; i++)
		any |= changed[i];
	return any != 0;
}

static bool softmax(float *scores, size_t keys, size_t cols, float *highest, float *sum, float *rescale)
{
	bool changed = false;
	for (size_t c = 0; c < cols; c += LANES * COL_TILE) {
		size_t vectors = (cols - c + LANES - 1) / LANES;
		if (vectors >= COL_TILE) {
			changed |=
			    softmax_columns(scores + c, keys, highest + c, sum + c, rescale + c, COL_TILE);
			continue;
		}
		for (size_t v = 0; v < vectors; v++) {
			size_t at = c + v * LANES;
			changed |=
			    softmax_columns(scores + at, keys, highest + at, sum + at, rescale + at, 1);
		}
	}
	return changed;
}

#endif
