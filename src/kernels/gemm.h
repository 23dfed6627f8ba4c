/* The matrix product.
 *
 * A register tile holds ROW_TILE x COL_TILE sums; each step loads COL_TILE vectors of b
 * and spreads ROW_TILE numbers of a, so that multiply-adds and not loads are the limit.
 */
#ifndef ATTN_KERNELS_GEMM_H
#define ATTN_KERNELS_GEMM_H

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
	ROW_TILE = 6,             /* rows of a register tile */
	TALL_TILE = 2 * ROW_TILE, /* of one that is a single vector wide */
};

_Static_assert((ROW_TILE + 1) * COL_TILE + 1 <= REGISTERS && TALL_TILE + 1 + 1 <= REGISTERS,
	       "the sums, a step's vectors of b and a number of a fit the registers");

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

_Static_assert(ROW_TILE == 6, "tile_rows has a case for each number of rows below ROW_TILE");

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

_Static_assert(COL_TILE <= 4, "gemm has a case for each number of vectors below COL_TILE");

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

#endif
