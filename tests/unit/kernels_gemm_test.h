/* The matrix product of each set against float64 loops.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_KERNELS_GEMM_TEST_H
#define ATTN_TESTS_KERNELS_GEMM_TEST_H

#include "kernels_test.h"

/* How `a` lies: rows one after the other, or columns, each with a gap. */
static struct gemm gemm_shape(size_t rows, size_t inner, size_t cols)
{
	struct gemm g = {.rows = rows, .inner = inner, .cols = cols};
	size_t gap = below(3);
	bool by_rows = below(2);
	g.a_row = by_rows ? inner + gap : 1;
	g.a_col = by_rows ? 1 : rows + gap;
	g.accumulate = below(2);
	return g;
}

static void check_gemm_element(const struct kernels *k, const struct gemm *g, const float *before, size_t r,
			       size_t c)
{
	double want = g->accumulate ? (double)before[r * g->c_stride + c] : 0, size = fabs(want);
	for (size_t i = 0; i < g->inner; i++) {
		double term = (double)g->a[r * g->a_row + i * g->a_col] * (double)g->b[i * g->b_stride + c];
		want += term;
		size += fabs(term);
	}
	/* One rounding a term of a block, and one a block. */
	size_t block = g->inner < GEMM_BLOCK ? g->inner : GEMM_BLOCK;
	double roundings = (double)(block + g->inner / GEMM_BLOCK + 2);
	double got = (double)g->c[r * g->c_stride + c];
	CHECK(fabs(got - want) <= 1e-37 + roundings * 0x1p-24 * size,
	      "%s gemm %zux%zux%zu a_row %zu a_col %zu: (%zu, %zu) is %.9g, expected %.9g", k->name, g->rows,
	      g->inner, g->cols, g->a_row, g->a_col, r, c, got, want);
}

static void check_gemm(const struct kernels *k, size_t rows, size_t inner, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct gemm g = gemm_shape(rows, inner, cols);
	/* Strides do not depend on the lanes, so that all sets see the same numbers. */
	g.b_stride = TILE + below(3);
	g.c_stride = TILE + below(3);
	struct area a = input_new((rows - 1) * g.a_row + (inner - 1) * g.a_col + 1);
	struct area b = input_new((inner - 1) * g.b_stride + padded);
	struct area c = output_new((rows - 1) * g.c_stride + padded, below(2) ? below(16) : 0);
	struct area before = output_new(c.count, 0);
	for (size_t i = 0; i < a.count; i++)
		a.data[i] = between(-1, 1);
	fill(b.data, b.count);
	for (size_t i = 0; i < inner; i++)
		for (size_t x = 0; x < padded; x++)
			b.data[i * g.b_stride + x] = x < cols ? between(-1, 1) : 0;
	for (size_t r = 0; r < rows && g.accumulate; r++)
		for (size_t x = 0; x < padded; x++)
			c.data[r * g.c_stride + x] = x < cols ? between(-1, 1) : 0;
	memcpy(before.data, c.data, c.count * sizeof *c.data);
	g.a = a.data;
	g.b = b.data;
	g.c = c.data;
	k->gemm(&g);
	check_guards(&c, "gemm");
	for (size_t r = 0; r < rows; r++) {
		for (size_t x = 0; x < cols; x++)
			check_gemm_element(k, &g, before.data, r, x);
		for (size_t x = padded; x < g.c_stride && r + 1 < rows; x++)
			CHECK(untouched(c.data + r * g.c_stride + x), "%s gemm %zux%zux%zu wrote column %zu",
			      k->name, rows, inner, cols, x);
		digest_add(c.data + r * g.c_stride, cols);
	}
	area_free(&a);
	area_free(&b);
	area_free(&c);
	area_free(&before);
}

static void gemm_sizes(const struct kernels *k)
{
	static const size_t inners[] = {1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 255, 256, 257, 600};
	for (size_t r = 1; r <= 23; r++) {
		size_t rows = r <= 20 ? r : r + 74;
		for (size_t i = 0; i < sizeof inners / sizeof *inners; i++)
			for (size_t n = 0; n < 8; n++)
				check_gemm(k, rows, inners[i], 1 + (8 * n + r + 5 * i) % TILE);
	}
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t rows = 5; rows <= 13; rows++)
			check_gemm(k, rows, 1 + below(70), cols);
}

static void test_gemm(void **state)
{
	(void)state;
	with_every_set("gemm", gemm_sizes);
}

/* What a column holds reaches no other. */
static void gemm_columns(const struct kernels *k)
{
	struct area a = input_new(9 * 5), b = output_new(5 * TILE, 0), c = output_new(9 * TILE, 0);
	for (size_t i = 0; i < a.count; i++)
		a.data[i] = between(-1, 1);
	for (size_t i = 0; i < b.count; i++)
		b.data[i] = i % TILE % 3 == 1 ? (i % 2 ? NAN : INFINITY) : between(-1, 1);
	struct gemm g = {c.data, a.data, b.data, TILE, 5, 1, TILE, 9, 5, TILE, false};
	k->gemm(&g);
	for (size_t i = 0; i < c.count; i++)
		CHECK((i % TILE % 3 == 1) == !isfinite(c.data[i]), "%s gemm: column %zu", k->name, i % TILE);
	area_free(&a);
	area_free(&b);
	area_free(&c);
}

static void test_gemm_keeps_columns_apart(void **state)
{
	(void)state;
	with_every_set("gemm, NaN", gemm_columns);
}

#endif
