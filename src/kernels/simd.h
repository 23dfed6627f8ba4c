/* The kernels written once in the compiler's vector types, for a file that sets
 * LANES (float32 in a vector), ROW_TILE and COL_TILE (the register tile, in rows and
 * vectors), KERNELS_NAME and SET_OPERATIONS, and is compiled for one kind of processor.
 *
 * The register tile holds ROW_TILE x COL_TILE sums; each step loads COL_TILE vectors
 * of b and spreads ROW_TILE numbers of a, so that multiply-adds and not loads are
 * the limit.  What is fused says so: left to the compiler, a tail might round otherwise than a
 * whole tile.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/kernels.h"

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *at)
{
	return *(const loose *)at;
}

INLINE void store(float *at, vec v)
{
	*(loose *)at = v;
}

INLINE vec spread(float x)
{
	return x - (vec){0};
}

/* What has no operator in C, so that each set brings its own: fused(a, b, c), which
 * is a * b + c rounded once; highest_of(a, b) and lowest_of(a, b), which are NaN where b is; where_less(x, y,
 * a, b), which is a where x < y and else b; store_past_cache, to an aligned place that is not read soon;
 * settle_stores, after which other threads see those. */
INLINE vec fused(vec a, vec b, vec c);
INLINE vec highest_of(vec a, vec b);
INLINE vec lowest_of(vec a, vec b);
INLINE vec where_less(vec x, vec y, vec a, vec b);
INLINE void store_past_cache(float *at, vec v);
INLINE void settle_stores(void);
SET_OPERATIONS

enum {
	TALL_TILE = 2 * ROW_TILE
};

/* --- matrix product ------------------------------------------------------- */

/* c (mr, nv vectors) = or += the product over `inner` terms; mr and nv are
 * constants where this is inlined, and all sums stay in registers. */
INLINE void register_tile(const struct gemm *g, float *c, const float *a, const float *b, size_t inner,
			  bool accumulate, const int mr, const int nv)
{
	vec sum[TALL_TILE][COL_TILE];
	for (int r = 0; r < mr; r++)
		for (int v = 0; v < nv; v++)
			sum[r][v] = (vec){0};
	for (size_t i = 0; i < inner; i++) {
		vec right[COL_TILE];
		for (int v = 0; v < nv; v++)
			right[v] = load(b + v * LANES);
		for (int r = 0; r < mr; r++) {
			vec left = spread(a[(size_t)r * g->a_row]);
			for (int v = 0; v < nv; v++)
				sum[r][v] = fused(left, right[v], sum[r][v]);
		}
		a += g->a_col;
		b += g->b_stride;
	}
	for (int r = 0; r < mr; r++)
		for (int v = 0; v < nv; v++) {
			float *to = c + (size_t)r * g->c_stride + v * LANES;
			store(to, accumulate ? load(to) + sum[r][v] : sum[r][v]);
		}
}

/* The constants of register_tile for each tail. */
INLINE void tile_rows(const struct gemm *g, float *c, const float *a, const float *b, size_t inner,
		      bool accumulate, size_t rows, const int nv)
{
	switch (rows) {
	case 1:
		register_tile(g, c, a, b, inner, accumulate, 1, nv);
		break;
	case 2:
		register_tile(g, c, a, b, inner, accumulate, 2, nv);
		break;
	case 3:
		register_tile(g, c, a, b, inner, accumulate, 3, nv);
		break;
	case 4:
		register_tile(g, c, a, b, inner, accumulate, 4, nv);
		break;
	case 5:
		register_tile(g, c, a, b, inner, accumulate, 5, nv);
		break;
	default:
		register_tile(g, c, a, b, inner, accumulate, ROW_TILE, nv);
	}
}

/* All rows of `nv` vectors of columns, over one block of the inner dimension. */
INLINE void column_block(const struct gemm *g, size_t col, size_t first, size_t inner, const int nv)
{
	bool accumulate = g->accumulate || first > 0;
	const float *b = g->b + first * g->b_stride + col;
	size_t r = 0;
	/* One vector of columns leaves registers for twice the rows, and needs them: the
	 * sums of ROW_TILE rows would wait for each other. */
	for (; nv == 1 && r + TALL_TILE <= g->rows; r += TALL_TILE)
		register_tile(g, g->c + r * g->c_stride + col, g->a + r * g->a_row + first * g->a_col, b,
			      inner, accumulate, TALL_TILE, 1);
	for (; r < g->rows; r += ROW_TILE) {
		size_t rows = g->rows - r < ROW_TILE ? g->rows - r : ROW_TILE;
		tile_rows(g, g->c + r * g->c_stride + col, g->a + r * g->a_row + first * g->a_col, b, inner,
			  accumulate, rows, nv);
	}
}

static void gemm(const struct gemm *g)
{
	size_t vectors = (g->cols + LANES - 1) / LANES;
	for (size_t first = 0; first < g->inner; first += GEMM_BLOCK) {
		size_t inner = g->inner - first < GEMM_BLOCK ? g->inner - first : GEMM_BLOCK;
		for (size_t v = 0; v < vectors; v += COL_TILE) {
			switch (vectors - v) {
			case 1:
				column_block(g, v * LANES, first, inner, 1);
				break;
#if COL_TILE > 2
			case 2:
				column_block(g, v * LANES, first, inner, 2);
				break;
			case 3:
				column_block(g, v * LANES, first, inner, 3);
				break;
#endif
			default:
				column_block(g, v * LANES, first, inner, COL_TILE);
			}
		}
	}
}

/* As many independent sums as the register tile has. */
static void spin(size_t rounds, float *out)
{
	vec sum[ROW_TILE][COL_TILE], total = {0};
	vec factor = load(out) * 1e-30f + 0.999999f, term = load(out) * 1e-30f + 1e-6f;
	for (int r = 0; r < ROW_TILE; r++)
		for (int v = 0; v < COL_TILE; v++)
			sum[r][v] = factor * (float)(r + v);
	for (size_t round = 0; round < rounds; round++)
		for (int r = 0; r < ROW_TILE; r++)
			for (int v = 0; v < COL_TILE; v++)
				sum[r][v] = fused(sum[r][v], factor, term);
	for (int r = 0; r < ROW_TILE; r++)
		for (int v = 0; v < COL_TILE; v++)
			total += sum[r][v];
	store(out, total);
}

/* --- exponentials --------------------------------------------------------- */

/* e^x for x up to 88, within (1e-7 + 3e-9 |x|) of its value, relative to it; exactly 0
 * below -87.3, where float32 has no normal numbers left, and for -inf; exactly 1 for 0.
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2, and e^r by a polynomial that is minimax for
 * the relative error (2.6e-9), fitted with its constant term held at 1.  n is found by
 * adding 1.5 * 2^23, which leaves it in the low bits, and goes into the exponent.
 * ln 2 is one float32: what it lacks is the error that grows with |x|, and a second one
 * would cost more than weights below e^-20 deserve. */
INLINE vec exponential(vec x)
{
	const float shift = 0x1.8p23f, least = -87.3f;
	vec n = fused(x, spread(1.44269504f), spread(shift));
	uvec exponent = (uvec)n << 23; /* unsigned: far below -87 it wraps, and is not used */
	n -= shift;
	vec r = fused(n, spread(-0.693147182f), x);
	vec p = fused(r, spread(0.001406127676f), spread(0.008379020735f));
	p = fused(p, r, spread(0.0416647765f));
	p = fused(p, r, spread(0.1666636531f));
	p = fused(p, r, spread(0.5000000435f));
	p = fused(p, r, spread(1.00000005f));
	p = fused(p, r, spread(1.0f));
	vec power = (vec)((uvec)p + exponent);
	return where_less(x, spread(least), (vec){0}, power);
}

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
static bool all_finite(const float *rows, size_t count, size_t cols)
{
	vec sum = {0};
	for (size_t r = 0; r < count; r++)
		for (size_t c = 0; c < cols; c += LANES) {
			vec x = load(rows + r * TILE + c);
			sum += x - x;
		}
	bool all = true;
	for (int i = 0; i < LANES; i++)
		all &= sum[i] == 0;
	return all;
}

/* --- transposition -------------------------------------------------------- */

/* The two halves of a and b interleaved: a0 b0 a1 b1 ... */
#if LANES == 16
#define LOW_HALF 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_HALF 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif LANES == 8
#define LOW_HALF 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_HALF 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOW_HALF 0, 4, 1, 5
#define HIGH_HALF 2, 6, 3, 7
#endif

/* Transpose LANES vectors: interleaving row i with row i + LANES / 2, log2(LANES)
 * times over, brings every element to its place. */
INLINE void transpose(vec *m)
{
	vec other[LANES];
	for (int step = 1; step < LANES; step *= 2) {
		for (int i = 0; i < LANES / 2; i++) {
			other[2 * i] = __builtin_shufflevector(m[i], m[i + LANES / 2], LOW_HALF);
			other[2 * i + 1] = __builtin_shufflevector(m[i], m[i + LANES / 2], HIGH_HALF);
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
	/* Whole lines only, or the memory would be read for the rest of them. */
	past_cache &= LANES == 16 && (uintptr_t)rows % 64 == 0 && row_stride % 16 == 0;
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

#include "kernels/simd_scores.h"

const struct kernels KERNELS_NAME = {
    .name = KERNELS_TEXT,
    .lanes = LANES,
    .gemm = gemm,
    .spin = spin,
    .spin_operations = (size_t)2 * ROW_TILE * COL_TILE * LANES,
    .softmax = softmax,
    .scale_columns = scale_columns,
    .largest = largest,
    .all_finite = all_finite,
    .softcap = softcap,
    .additive = additive,
    .add_by_distance = add_by_distance,
    .feature_map = feature_map,
    .sum_columns = sum_columns,
    .pack = pack,
    .unpack = unpack,
};
