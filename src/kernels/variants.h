/* What variants of attention do to scores, queries and keys. */
#ifndef ATTN_KERNELS_VARIANTS_H
#define ATTN_KERNELS_VARIANTS_H

#include <string.h>

#include "kernels/elementary.h"
#include "kernels/kernels.h"
#include "kernels/vector.h"

static void softcap(float *scores, size_t keys, size_t cols, float cap)
{
	for (size_t j = 0; j < keys; j++) {
		for (size_t c = 0; c < cols; c += LANES) {
			vec score = load(scores + j * TILE + c);
			/* An overflow must stay visible: inf - inf is NaN. */
			store(scores + j * TILE + c, hyperbolic_tangent(score / cap) * cap + (score - score));
		}
	}
}

/* A row of scores, `nv` vectors of columns. */
INLINE void additive_row(float *scores, const float *key, const float *queries, const float *v, size_t inner,
			 float scale, const int nv)
{
	vec total[COL_TILE] = {{0}};
	for (size_t first = 0; first < inner; first += GEMM_BLOCK) {
		size_t end = inner - first < GEMM_BLOCK ? inner : first + GEMM_BLOCK;
		vec sum[COL_TILE] = {{0}};
		for (size_t a = first; a < end; a++) {
			vec left = spread(key[a]), weight = spread(v[a]);
			for (int i = 0; i < nv; i++) {
				vec x = left + load(queries + a * TILE + (size_t)i * LANES);
				sum[i] = fused(weight, hyperbolic_tangent(x), sum[i]);
			}
		}
		for (int i = 0; i < nv; i++)
			total[i] += sum[i];
	}
	for (int i = 0; i < nv; i++)
		store(scores + i * LANES, total[i] * scale);
}

static void additive(float *scores, const float *keys, size_t key_stride, const float *queries,
		     const float *v, size_t count, size_t inner, size_t cols, float scale)
{
	for (size_t j = 0; j < count; j++) {
		const float *key = keys + j * key_stride;
		float *row = scores + j * TILE;
		size_t c = 0;
		for (; c + LANES * (COL_TILE - 1) < cols; c += LANES * COL_TILE)
			additive_row(row + c, key, queries + c, v, inner, scale, COL_TILE);
		for (; c < cols; c += LANES)
			additive_row(row + c, key, queries + c, v, inner, scale, 1);
	}
}

static void add_by_distance(float *scores, size_t keys, size_t cols, const float *table)
{
	for (size_t j = 0; j < keys; j++) {
		float *row = scores + j * TILE;
		for (size_t c = 0; c < cols; c += LANES)
			store(row + c, load(row + c) + load(table + ((ptrdiff_t)c - (ptrdiff_t)j)));
	}
}

INLINE vec feature(vec x)
{
	/* What is NaN is not less: it takes the branch that keeps it. */
	return where_less(x, (vec){0}, exponential(x), x + 1.0f);
}

static void feature_map(float *x, size_t count)
{
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(x + i, feature(load(x + i)));
	if (i < count) {
		float rest[LANES] = {0};
		memcpy(rest, x + i, (count - i) * sizeof *x);
		store(rest, feature(load(rest)));
		memcpy(x + i, rest, (count - i) * sizeof *x);
	}
}

#endif
