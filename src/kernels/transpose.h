/* Rows into the columns of a tile, and back. */
#ifndef ATTN_KERNELS_TRANSPOSE_H
#define ATTN_KERNELS_TRANSPOSE_H

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
	CACHE_LINE = 64 /* bytes */
};

_Static_assert((LANES & (LANES - 1)) == 0, "interleaving transposes powers of two");

/* Transpose LANES vectors: interleaving row i with row i + LANES / 2, log2(LANES)
 * times over, brings every element to its place. */
INLINE void transpose(vec *m)
{
	vec other[LANES];
	for (int step = 1; step < LANES; step *= 2) {
		for (int i = 0; i < LANES / 2; i++) {
			other[2 * i] = interleave_low(m[i], m[i + LANES / 2]);
			other[2 * i + 1] = interleave_high(m[i], m[i + LANES / 2]);
		}
		for (int i = 0; i < LANES; i++)
			m[i] = other[i];
	}
}

static void pack(float *tile, const float *rows, size_t row_stride, size_t cols, size_t inner, float scale)
{
	for (size_t q = 0; q < cols; q += LANES) {
		size_t count = cols - q < LANES ? cols - q : LANES;
		const float *from = rows + q * row_stride;
		size_t i = 0;
		for (; i + LANES <= inner; i += LANES) {
			vec m[LANES];
			for (size_t r = 0; r < LANES; r++)
				m[r] = r < count ? load(from + r * row_stride + i) * scale : (vec){0};
			transpose(m);
			for (size_t r = 0; r < LANES; r++)
				store(tile + (i + r) * TILE + q, m[r]);
		}
		for (; i < inner; i++) {
			float *to = tile + i * TILE + q;
			store(to, (vec){0});
			for (size_t r = 0; r < count; r++)
				to[r] = from[r * row_stride + i] * scale;
		}
	}
}

static void unpack(float *rows, size_t row_stride, const float *tile, size_t cols, size_t inner,
		   const float *factor, bool past_cache)
{
	/* Vectors that fill a cache line only, or the memory would be read for the rest of it. */
	past_cache &=
	    sizeof(vec) == CACHE_LINE && (uintptr_t)rows % CACHE_LINE == 0 && row_stride % LANES == 0;
	for (size_t q = 0; q < cols; q += LANES) {
		size_t count = cols - q < LANES ? cols - q : LANES;
		float *to = rows + q * row_stride;
		vec f = load(factor + q);
		size_t i = 0;
		for (; i + LANES <= inner; i += LANES) {
			vec m[LANES];
			for (size_t r = 0; r < LANES; r++)
				m[r] = load(tile + (i + r) * TILE + q) * f;
			transpose(m);
			for (size_t r = 0; r < count; r++) {
				if (past_cache)
					store_past_cache(to + r * row_stride + i, m[r]);
				else
					store(to + r * row_stride + i, m[r]);
			}
		}
		for (; i < inner; i++)
			for (size_t r = 0; r < count; r++)
				to[r * row_stride + i] = tile[i * TILE + q + r] * factor[q + r];
	}
	if (past_cache)
		settle_stores();
}

#endif
