/* What each set does to tiles whatever they hold: packed, unpacked, scaled, summed, checked.
 * Include after cmocka's headers. */
#ifndef ATTN_TESTS_KERNELS_TILE_TEST_H
#define ATTN_TESTS_KERNELS_TILE_TEST_H

#include <float.h>

#include "consumers/weight_sums.h"
#include "kernels/reference.h"
#include "kernels_test.h"

/* --- pack and unpack ---------------------------------------------------------- */

static const size_t depths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 96};

enum {
	DEPTHS = sizeof depths / sizeof *depths
};

static void check_pack(const struct kernels *k, size_t cols, size_t inner, size_t gap, float scale)
{
	size_t padded = padded_to(k, cols), stride = inner + gap;
	struct area rows = input_new((cols - 1) * stride + inner), tile = output_new(inner * TILE, 0);
	for (size_t i = 0; i < rows.count; i++)
		rows.data[i] = between(-9, 9);
	k->pack(tile.data, rows.data, stride, cols, inner, scale);
	check_tile(&tile, padded, "pack");
	for (size_t i = 0; i < inner; i++) {
		for (size_t q = 0; q < padded; q++) {
			float want = q < cols ? rows.data[q * stride + i] * scale : 0;
			CHECK(same_bits(&tile.data[i * TILE + q], &want, 1),
			      "%s pack %zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, cols, inner, i,
			      q, (double)tile.data[i * TILE + q], (double)want);
		}
		digest_add(tile.data + i * TILE, cols);
	}
	area_free(&rows);
	area_free(&tile);
}

static void pack_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t i = 0; i < DEPTHS; i++)
			check_pack(k, cols, depths[i], i % 5 * 3, i % 2 ? 0.125f : between(-2, 2));
}

static void test_pack(void **state)
{
	(void)state;
	with_every_set("pack", pack_sizes);
}

static void check_unpack(const struct kernels *k, size_t cols, size_t inner, size_t stride, size_t offset,
			 bool past_cache)
{
	struct area tile = tile_new(inner, padded_to(k, cols), -9, 9);
	struct area factor = tile_new(1, padded_to(k, cols), -2, 2);
	struct area rows = output_new((cols - 1) * stride + inner, offset);
	for (size_t i = 0; i < tile.count; i++)
		if (i % TILE < cols)
			tile.data[i] = (float)((int)(i * 37 % 1999) - 999);
	for (size_t q = 0; q < cols; q++)
		factor.data[q] = 1 / (float)(q + 3);
	k->unpack(rows.data, stride, tile.data, cols, inner, factor.data, past_cache);
	check_guards(&rows, "unpack");
	for (size_t q = 0; q < cols; q++) {
		const float *row = rows.data + q * stride;
		for (size_t i = 0; i < inner; i++) {
			float want = tile.data[i * TILE + q] * factor.data[q];
			CHECK(same_bits(&row[i], &want, 1),
			      "%s unpack %zux%zu stride %zu: (%zu, %zu) is %.9g, expected %.9g", k->name,
			      cols, inner, stride, q, i, (double)row[i], (double)want);
		}
		for (size_t i = inner; i < stride && q + 1 < cols; i++)
			CHECK(untouched(&row[i]), "%s unpack %zux%zu wrote between rows", k->name, cols,
			      inner);
		digest_add(row, inner);
	}
	area_free(&tile);
	area_free(&factor);
	area_free(&rows);
}

static void unpack_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		for (size_t i = 0; i < DEPTHS; i++) {
			size_t inner = depths[i], whole = (inner + 15) / 16 * 16;
			check_unpack(k, cols, inner, inner + i % 5, 0, false);
			check_unpack(k, cols, inner, whole, 0, true);
			check_unpack(k, cols, inner, whole + 16, 0, true);
			check_unpack(k, cols, inner, whole + 1, 0, true);
			check_unpack(k, cols, inner, whole, 1 + below(15), true);
		}
	}
}

static void test_unpack(void **state)
{
	(void)state;
	with_every_set("unpack", unpack_sizes);
}

/* --- the small ones ------------------------------------------------------------ */

static void scale_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		size_t count = 1 + below(9), padded = padded_to(k, cols);
		struct area rows = output_new(count * TILE, 0), before = output_new(count * TILE, 0);
		struct area factor = tile_new(1, padded, 1, 1);
		for (size_t i = 0; i < rows.count; i++)
			if (i % TILE < padded)
				rows.data[i] = i % TILE < cols ? between(-9, 9) : 1;
		for (size_t c = 0; c < cols; c++)
			factor.data[c] = below(5) ? between(0, 1) : 0;
		memcpy(before.data, rows.data, rows.count * sizeof *rows.data);
		k->scale_columns(rows.data, count, cols, factor.data);
		check_tile(&rows, padded, "scale_columns");
		for (size_t r = 0; r < count; r++) {
			for (size_t c = 0; c < cols; c++) {
				float want = before.data[r * TILE + c] * factor.data[c];
				CHECK(same_bits(&rows.data[r * TILE + c], &want, 1), "%s scale_columns",
				      k->name);
			}
			digest_add(rows.data + r * TILE, cols);
		}
		area_free(&rows);
		area_free(&before);
		area_free(&factor);
	}
}

static void test_scale_columns(void **state)
{
	(void)state;
	with_every_set("scale_columns", scale_sizes);
}

static void check_sums(const struct kernels *k, size_t count, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct area rows = tile_new(count, padded, -9, 9), sum = tile_new(1, padded, -9, 9);
	float before[TILE];
	memcpy(before, sum.data, sizeof before);
	k->sum_columns(rows.data, count, cols, sum.data);
	check_tile(&sum, padded, "sum_columns");
	for (size_t c = 0; c < cols; c++) {
		double want = (double)before[c], size = fabs(want), got = (double)sum.data[c];
		for (size_t r = 0; r < count; r++) {
			want += (double)rows.data[r * TILE + c];
			size += fabs((double)rows.data[r * TILE + c]);
		}
		CHECK(fabs(got - want) <= (double)(count + 1) * 0x1p-24 * size,
		      "%s sum_columns %zux%zu: column %zu is %.9g, expected %.9g", k->name, count, cols, c,
		      got, want);
	}
	digest_add(sum.data, cols);
	area_free(&rows);
	area_free(&sum);
}

static void sums_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_sums(k, cols % 6, cols);
		check_sums(k, 96, cols);
	}
}

static void test_sum_columns(void **state)
{
	(void)state;
	with_every_set("sum_columns", sums_sizes);
}

static void finite_places(const struct kernels *k)
{
	static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
	for (size_t cols = 1; cols <= TILE; cols++) {
		size_t count = 1 + below(5), padded = padded_to(k, cols);
		struct area rows = tile_new(count, padded, -FLT_MAX, FLT_MAX);
		CHECK(k->all_finite(rows.data, TILE, count, cols), "%s all_finite: %zu columns", k->name,
		      cols);
		for (size_t i = 0; i < rows.count; i++) {
			float kept = rows.data[i];
			rows.data[i] = bad[i % 4];
			CHECK(k->all_finite(rows.data, TILE, count, cols) == (i % TILE >= padded),
			      "%s all_finite: %g in row %zu, column %zu of %zu", k->name, (double)bad[i % 4],
			      i / TILE, i % TILE, cols);
			rows.data[i] = kept;
		}
		area_free(&rows);
	}
}

static void largest_values(const struct kernels *k)
{
	static const float numbers[] = {1, -2, 3, 0.5f, -0.0f, 2,  -9, 4, 8,    7,  6,
					5, -3, 1, 2,    8.5f,  -8, 2,  1, 9.5f, -10};
	const size_t count = sizeof numbers / sizeof *numbers;
	for (size_t first = 0; first < count; first++) {
		float expected = 0;
		for (size_t n = 0; first + n <= count; n++) {
			CHECK(k->largest(numbers + first, n) == expected, "%s largest: %zu numbers from %zu",
			      k->name, n, first);
			if (first + n < count)
				expected = fmaxf(expected, fabsf(numbers[first + n]));
		}
	}
}

static void test_largest(void **state)
{
	(void)state;
	with_every_set("largest", largest_values);
}

/* Numbers of few digits, whose sums are exact in any order, and random ones. */
static void magnitudes_of(const struct kernels *k)
{
	struct area numbers = input_new(70);
	for (int exact = 0; exact < 2; exact++) {
		for (size_t i = 0; i < numbers.count; i++)
			numbers.data[i] = exact ? (float)((int)(i * 37 % 199) - 99) / 8 : between(-1, 1);
		for (size_t first = 0; first < 4; first++) {
			for (size_t n = 0; first + n <= numbers.count; n++) {
				float most, want_most;
				double want = reference_magnitudes(numbers.data + first, n, &want_most);
				double found = k->magnitudes(numbers.data + first, n, &most);
				CHECK(most == want_most && fabs(found - want) <= (exact ? 0 : 1e-14 * want),
				      "%s magnitudes: %zu numbers from %zu: %.17g, expected %.17g", k->name,
				      n, first, found, want);
				float bits[2];
				memcpy(bits, &found, sizeof bits);
				digest_add(bits, 2);
			}
		}
	}
	area_free(&numbers);
}

static void test_magnitudes(void **state)
{
	(void)state;
	with_every_set("magnitudes", magnitudes_of);
}

/* Against the reference, which sums in float64: at any length, some weights 0, some of the smallest. */
static void weigh_lengths(const struct kernels *k)
{
	struct area w = input_new(1100);
	double *at = malloc(w.count * sizeof *at);
	struct log_table logs;
	log_table_init(&logs);
	assert_non_null(at);
	for (size_t i = 0; i < w.count; i++) {
		w.data[i] = i % 7 == 3 ? 0 : ldexpf(between(-1, 1), -(int)(i * 37 % 150));
		at[i] = (double)(i + i / 100);
	}
	for (size_t n = 0; n <= w.count; n += n < 70 ? 1 : 103) {
		struct weight_sums found = {0}, want = {0};
		const double *places = n % 5 == 4 ? NULL : at;
		k->weigh(&found, w.data + w.count - n, places, 400, n);
		weight_sums_add(&want, &logs, w.data + w.count - n, places, 400, n);
		CHECK(found.largest == want.largest && fabs(found.total - want.total) <= 1e-13 * want.total &&
			  fabs(found.distance - want.distance) <= 1e-13 * 1500 * want.total &&
			  fabs(found.squares - want.squares) <= 1e-13 * want.squares &&
			  fabs(found.logs - want.logs) <= 1e-6 * (want.total - want.logs),
		      "%s weigh: %zu numbers: %g %g %g %g, expected %g %g %g %g", k->name, n, found.total,
		      found.logs, found.distance, found.squares, want.total, want.logs, want.distance,
		      want.squares);
		float bits[sizeof found.logs / sizeof(float)];
		memcpy(bits, &found.logs, sizeof bits);
		digest_add(bits, 2);
	}
	area_free(&w);
	free(at);
}

static void test_weigh(void **state)
{
	(void)state;
	with_every_set("weigh", weigh_lengths);
}

/* log2 of every size of normal float32: exactly 0 of 1. */
static void logs_of(const struct kernels *k)
{
	for (int exponent = -126; exponent <= 0; exponent++) {
		for (int step = 0; step < 300; step++) {
			float w = ldexpf(1 + (exponent < 0 ? (float)step / 301 : 0), exponent);
			struct weight_sums s = {0};
			k->weigh(&s, &w, NULL, 0, 1);
			double log = s.logs / (double)w, want = log2((double)w);
			CHECK(fabs(log - want) <= 2e-7 * fmax(1, fabs(want)), "%s: log2 of %g is %.9g",
			      k->name, (double)w, log);
			CHECK(w != 1 || log == 0, "%s: log2 of 1 is %g", k->name, log);
		}
	}
}

static void test_binary_logarithm(void **state)
{
	(void)state;
	with_every_set("log2", logs_of);
}

static void test_all_finite(void **state)
{
	(void)state;
	with_every_set("all_finite", finite_places);
}

static void spin_once(const struct kernels *k)
{
	struct area out = tile_new(1, k->lanes, 0, 0);
	k->spin(100, out.data);
	check_tile(&out, k->lanes, "spin");
	for (size_t i = 0; i < k->lanes; i++)
		CHECK(isfinite(out.data[i]), "%s spin", k->name);
	CHECK(k->spin_operations >= 2 * k->lanes, "%s spin_operations", k->name);
	area_free(&out);
}

static void test_spin(void **state)
{
	(void)state;
	with_every_set("spin", spin_once);
}

#endif
