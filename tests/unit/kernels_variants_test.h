/* What each set computes for variants of attention: softcap, additive scores, a bias by
 * distance, the feature map.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_KERNELS_VARIANTS_TEST_H
#define ATTN_TESTS_KERNELS_VARIANTS_TEST_H

#include <float.h>

#include "kernels_test.h"

/* --- softcap ------------------------------------------------------------------ */

static void softcap_bound(const struct kernels *k)
{
	double worst = 0, where = 0;
	for (size_t round = 0; round < 20000; round++) {
		size_t cols = 1 + below(TILE), padded = padded_to(k, cols), keys = 1 + below(4);
		float cap = expf(between(-3, 6));
		struct area scores = output_new(keys * TILE, 0), before = output_new(keys * TILE, 0);
		for (size_t j = 0; j < keys; j++) {
			for (size_t c = 0; c < cols; c++) {
				static const double sizes[] = {100, 8, 2, 0.1, 1e-3, 1e-38};
				double size = sizes[below(6)];
				scores.data[j * TILE + c] = between(-size, size) * cap;
			}
			for (size_t c = cols; c < padded; c++)
				scores.data[j * TILE + c] = 0;
		}
		memcpy(before.data, scores.data, keys * TILE * sizeof *before.data);
		k->softcap(scores.data, keys, cols, cap);
		check_tile(&scores, padded, "softcap");
		for (size_t j = 0; j < keys; j++) {
			for (size_t c = 0; c < cols; c++) {
				double s = (double)before.data[j * TILE + c];
				double want = (double)cap * tanh(s / (double)cap);
				double off = fabs((double)scores.data[j * TILE + c] - want);
				CHECK(off <= 1e-37 + 4.5e-7 * fabs(want),
				      "%s: softcap at %.9g caps is off by %.3g of its value", k->name,
				      s / (double)cap, off / fabs(want));
				CHECK(fabsf(scores.data[j * TILE + c]) <= cap, "%s: softcap passes its cap",
				      k->name);
				if (fabs(want) > 1e-30 && off / fabs(want) > worst) {
					worst = off / fabs(want);
					where = s / (double)cap;
				}
			}
			digest_add(scores.data + j * TILE, cols);
		}
		area_free(&scores);
		area_free(&before);
	}
	print_message("%s: softcap is off by %.3g of its value at most, at %.9g caps\n", k->name, worst,
		      where);
}

static void test_softcap(void **state)
{
	(void)state;
	with_every_set("softcap", softcap_bound);
}

/* A score beyond float32 stays visible, and does not become the cap. */
static void softcap_extremes(const struct kernels *k)
{
	static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN};
	struct area scores = tile_new(1, TILE, 0, 0);
	for (size_t c = 0; c < TILE; c++)
		scores.data[c] = special[c % 8];
	k->softcap(scores.data, 1, TILE, 30);
	for (size_t c = 0; c < TILE; c++) {
		float got = scores.data[c];
		float want[] = {0, 0, NAN, NAN, NAN, 30, -30, FLT_MIN};
		CHECK(isnan(want[c % 8]) ? isnan(got)
					 : fabsf(got - want[c % 8]) <= 1e-6f * fabsf(want[c % 8]),
		      "%s: softcap of %g is %g", k->name, (double)special[c % 8], (double)got);
	}
	area_free(&scores);
}

static void test_softcap_extremes(void **state)
{
	(void)state;
	with_every_set("softcap, extremes", softcap_extremes);
}

/* --- additive scores ------------------------------------------------------------ */

static void check_additive(const struct kernels *k, size_t count, size_t inner, size_t cols)
{
	size_t padded = padded_to(k, cols), stride = inner + below(3);
	struct area keys = input_new((count - 1) * stride + inner), v = input_new(inner);
	struct area queries = tile_new(inner, padded, -3, 3), scores = output_new(count * TILE, 0);
	float scale = between(-2, 2);
	for (size_t i = 0; i < keys.count; i++)
		keys.data[i] = between(-3, 3);
	for (size_t i = 0; i < inner; i++)
		v.data[i] = between(-1, 1);
	k->additive(scores.data, keys.data, stride, queries.data, v.data, count, inner, cols, scale);
	check_tile(&scores, padded, "additive");
	/* tanh, one rounding a term of a block, and one a block. */
	size_t block = inner < GEMM_BLOCK ? inner : GEMM_BLOCK;
	double error = 3.2e-7 + (double)(block + inner / GEMM_BLOCK + 2) * 0x1p-24;
	for (size_t j = 0; j < count; j++) {
		for (size_t q = 0; q < cols; q++) {
			double want = 0, size = 0, got = (double)scores.data[j * TILE + q];
			for (size_t a = 0; a < inner; a++) {
				float x = keys.data[j * stride + a] + queries.data[a * TILE + q];
				double term = (double)scale * (double)v.data[a] * tanh((double)x);
				want += term;
				size += fabs(term);
			}
			CHECK(fabs(got - want) <= error * size,
			      "%s additive %zux%zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, count,
			      inner, cols, j, q, got, want);
		}
		digest_add(scores.data + j * TILE, cols);
	}
	area_free(&keys);
	area_free(&v);
	area_free(&queries);
	area_free(&scores);
}

static void additive_sizes(const struct kernels *k)
{
	static const size_t inners[] = {1, 2, 3, 5, 8, 17, 64, 100, 255, 256, 257, 600};
	for (size_t cols = 1; cols <= TILE; cols++)
		for (size_t i = 0; i < 3; i++)
			check_additive(k, 1 + below(4), inners[(5 * i + cols) % 12], cols);
}

static void test_additive(void **state)
{
	(void)state;
	with_every_set("additive", additive_sizes);
}

/* One term: tanh itself, in every binade from 2^-124 on, and more often below 10. */
static void tanh_range(const struct kernels *k)
{
	const float key = 0, one = 1;
	double worst = 0, where = 0;
	struct area x = output_new(TILE, 0), got = output_new(TILE, 0);
	for (size_t round = 0; round < 60000; round++) {
		for (size_t c = 0; c < TILE; c++) {
			int binade = (int)below(128) - 124;
			float size = c % 2 ? between(0, 10) : ldexpf(between(1, 2), binade);
			x.data[c] = below(2) ? size : -size;
		}
		k->additive(got.data, &key, 1, x.data, &one, 1, 1, TILE, 1);
		for (size_t c = 0; c < TILE; c++) {
			double want = tanh((double)x.data[c]), off = fabs((double)got.data[c] / want - 1);
			CHECK(off <= 3.2e-7 && fabsf(got.data[c]) <= 1,
			      "%s: tanh(%.9g) is %.9g, expected %.9g", k->name, (double)x.data[c],
			      (double)got.data[c], want);
			if (off > worst) {
				worst = off;
				where = (double)x.data[c];
			}
		}
		digest_add(got.data, TILE);
	}
	print_message("%s: tanh is off by %.3g of its value at most, at %.9g\n", k->name, worst, where);
	area_free(&x);
	area_free(&got);
}

static void test_tanh(void **state)
{
	(void)state;
	with_every_set("tanh", tanh_range);
}

/* Huge sums are +-1, and a NaN reaches its own row or column, and no other. */
static void additive_extremes(const struct kernels *k)
{
	static const float special[] = {1e30f, -1e30f, FLT_MAX, -FLT_MAX, NAN, -NAN, 0, 9};
	static const float want[] = {2, -2, 2, -2, NAN, NAN, 0, 2};
	const float keys[] = {1e-30f, NAN, 0}, v = 2;
	struct area queries = tile_new(1, TILE, 0, 0), scores = output_new(3 * TILE, 0);
	for (size_t c = 0; c < TILE; c++)
		queries.data[c] = special[c % 8];
	k->additive(scores.data, keys, 1, queries.data, &v, 3, 1, TILE, 1);
	for (size_t i = 0; i < scores.count; i++) {
		float expected = i / TILE == 1 ? NAN : want[i % 8], got = scores.data[i];
		CHECK(isnan(expected) ? isnan(got) : fabsf(got - expected) <= 1e-6f,
		      "%s: additive of %g is %g", k->name, (double)special[i % 8], (double)got);
	}
	/* The sum itself leaves float32. */
	k->additive(scores.data, &special[2], 1, &queries.data[0], &v, 1, 1, TILE, 1);
	CHECK(fabsf(scores.data[2] - 2) <= 1e-6f, "%s: additive of an overflow is %g", k->name,
	      (double)scores.data[2]);
	area_free(&queries);
	area_free(&scores);
}

static void test_additive_extremes(void **state)
{
	(void)state;
	with_every_set("additive, extremes", additive_extremes);
}

/* --- bias by distance ------------------------------------------------------------ */

static void check_distance(const struct kernels *k, size_t keys, size_t cols)
{
	size_t padded = padded_to(k, cols);
	struct area table = input_new(keys - 1 + padded); /* ends with the last that may be read */
	struct area scores = tile_new(keys, padded, -9, 9), before = output_new(keys * TILE, 0);
	for (size_t i = 0; i < table.count; i++)
		table.data[i] = (float)i;
	for (size_t i = 0; i < scores.count; i++)
		if (below(5) == 0 && i % TILE < padded)
			scores.data[i] = -INFINITY;
	memcpy(before.data, scores.data, scores.count * sizeof *scores.data);
	k->add_by_distance(scores.data, keys, cols, table.data + (keys - 1));
	check_tile(&scores, padded, "add_by_distance");
	for (size_t j = 0; j < keys; j++) {
		for (size_t q = 0; q < cols; q++) {
			float want = before.data[j * TILE + q] + (float)(keys - 1 + q - j);
			CHECK(same_bits(&scores.data[j * TILE + q], &want, 1),
			      "%s add_by_distance %zux%zu: (%zu, %zu) is %.9g, expected %.9g", k->name, keys,
			      cols, j, q, (double)scores.data[j * TILE + q], (double)want);
		}
		digest_add(scores.data + j * TILE, cols);
	}
	area_free(&table);
	area_free(&scores);
	area_free(&before);
}

static void distance_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_distance(k, 1 + cols % 5, cols);
		check_distance(k, 96, cols);
	}
}

static void test_add_by_distance(void **state)
{
	(void)state;
	with_every_set("add_by_distance", distance_sizes);
}

/* --- feature map ------------------------------------------------------------------ */

static void check_feature(const struct kernels *k, size_t count, size_t offset)
{
	static const double most[] = {10, 100, 1e-6};
	static const float special[] = {0, -0.0f, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, 1};
	struct area x = output_new(count, offset), before = output_new(count + 1, 0);
	for (size_t i = 0; i < count; i++) {
		size_t kind = below(10);
		x.data[i] = kind < 3 ? between(-most[kind], most[kind] / 8) : special[kind - 3];
	}
	memcpy(before.data, x.data, count * sizeof *x.data);
	k->feature_map(x.data, count);
	check_guards(&x, "feature_map");
	for (size_t i = 0; i < count; i++) {
		float got = x.data[i], from = before.data[i], plus = from + 1, alone = from;
		if (from >= 0)
			CHECK(same_bits(&got, &plus, 1), "%s: feature of %.9g is %.9g", k->name, (double)from,
			      (double)got);
		else if (from < -87.3f)
			CHECK(got == 0, "%s: feature of %.9g is %.9g", k->name, (double)from, (double)got);
		else
			CHECK(fabs((double)got / exp((double)from) - 1) <= exponential_bound((double)from),
			      "%s: feature of %.9g is %.9g", k->name, (double)from, (double)got);
		k->feature_map(&alone, 1);
		CHECK(same_bits(&got, &alone, 1), "%s: feature of %.9g differs by place", k->name,
		      (double)from);
	}
	digest_add(x.data, count);
	area_free(&x);
	area_free(&before);
}

static void feature_sizes(const struct kernels *k)
{
	for (size_t count = 0; count <= 70; count++)
		for (size_t round = 0; round < 20; round++)
			check_feature(k, count, below(16));
	/* NaNs with all kinds of low bits. */
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t bits = (i % 2 ? 0x7fc00000u : 0xffc00000u) | random_bits() >> 10;
		float number;
		memcpy(&number, &bits, sizeof number);
		k->feature_map(&number, 1);
		CHECK(isnan(number), "%s: feature of NaN %08x is %g", k->name, (unsigned)bits,
		      (double)number);
	}
}

static void test_feature_map(void **state)
{
	(void)state;
	with_every_set("feature_map", feature_sizes);
}

#endif
