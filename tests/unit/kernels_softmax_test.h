/* The online softmax of each set, and its exponential.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_KERNELS_SOFTMAX_TEST_H
#define ATTN_TESTS_KERNELS_SOFTMAX_TEST_H

#include "kernels_test.h"

/* The running state of all columns, in float64, with how wrong float32 may be. */
struct model {
	float highest[TILE];
	double sum[TILE], sum_error[TILE];
};

/* exponential_bound for x = score - highest, which is rounded before. */
static double exponential_error(double x)
{
	return exponential_bound(x) + fabs(x) * 0x1p-24;
}

/* One exponential: exactly 0 below -87.3 and exactly 1 for 0. */
static void check_exponential(const char *name, float got, double x)
{
	double want = exp(x);
	bool right = fabs((double)got - want) <= exponential_error(x) * want;
	if (x == 0)
		right = got == 1;
	else if (x < -87.3)
		right = got == 0 || (right && x > -87.30001);
	else if (x < -87.29999)
		right |= got == 0;
	CHECK(right, "%s: exp(%.9g) is %.9g, expected %.9g", name, x, (double)got, want);
}

static void check_softmax_column(const struct kernels *k, struct model *m, size_t c, const float *before,
				 const float *scores, size_t keys, float highest, float sum, float rescale)
{
	float top = m->highest[c];
	double error = 0, added = 0;
	for (size_t j = 0; j < keys; j++)
		top = fmaxf(top, before[j * TILE + c]);
	if (!(m->highest[c] + 8 < top))
		top = m->highest[c];
	CHECK(highest == top, "%s softmax: highest[%zu] is %.9g, expected %.9g", k->name, c, (double)highest,
	      (double)top);
	double shift = top == -INFINITY ? 0 : (double)top;
	if (m->highest[c] == top && top != -INFINITY)
		CHECK(rescale == 1, "%s softmax: rescale[%zu] is %.9g, expected 1", k->name, c,
		      (double)rescale);
	else
		check_exponential(k->name, rescale, (double)m->highest[c] - shift);
	for (size_t j = 0; j < keys; j++) {
		double x = (double)before[j * TILE + c] - shift;
		check_exponential(k->name, scores[j * TILE + c], x);
		double e = (double)scores[j * TILE + c];
		added += e;
		error += (double)keys * 0x1p-24 * e;
	}
	m->sum_error[c] = m->sum_error[c] * (double)rescale + error + 0x1p-23 * m->sum[c] * (double)rescale;
	m->sum[c] = m->sum[c] * (double)rescale + added;
	m->sum_error[c] += 0x1p-23 * m->sum[c];
	CHECK(fabs((double)sum - m->sum[c]) <= 1e-37 + m->sum_error[c],
	      "%s softmax: sum[%zu] is %.9g, expected %.9g", k->name, c, (double)sum, m->sum[c]);
	m->highest[c] = top;
}

/* The kinds of scores that a column may have. */
static float softmax_score(size_t kind, size_t step)
{
	switch (kind) {
	case 0: /* ordinary */
		return between(-4, 4);
	case 1: /* hidden, and later some that are not */
		return step < 2 || below(4) ? -INFINITY : between(-4, 4);
	case 2: /* always hidden */
		return -INFINITY;
	case 3: /* rises by less than 8 at a step: `highest` stays for a while */
		return (float)step * 5 + between(-1, 1);
	case 4: /* rises by more than 8 */
		return (float)step * 20 + between(-1, 1);
	case 5: /* huge */
		return between(-3e38, 3e38);
	case 6: /* tiny */
		return between(-1e-38, 1e-38);
	case 7: /* around where exponentials end */
		return below(2) ? between(87, 88) : between(-88, -87);
	case 8: /* falls */
		return -(float)step * 30 + between(-1, 1);
	default: /* large, but near each other */
		return 1e6f + (float)below(9) - 4;
	}
}

enum {
	SCORE_KINDS = 10
};

static void check_softmax(const struct kernels *k, size_t cols, size_t steps, size_t most_keys)
{
	size_t padded = padded_to(k, cols);
	struct area highest = tile_new(1, padded, 0, 0), sum = tile_new(1, padded, 0, 0);
	struct area rescale = output_new(TILE, 0);
	struct model m = {0};
	size_t kinds[TILE];
	for (size_t c = 0; c < TILE; c++) {
		m.highest[c] = -INFINITY;
		kinds[c] = below(SCORE_KINDS);
	}
	for (size_t c = 0; c < padded; c++)
		highest.data[c] = -INFINITY;
	for (size_t step = 0; step < steps; step++) {
		size_t keys = 1 + below(most_keys);
		struct area scores = output_new(keys * TILE, 0), before = output_new(keys * TILE, 0);
		for (size_t j = 0; j < keys; j++)
			for (size_t c = 0; c < padded; c++)
				scores.data[j * TILE + c] = c < cols ? softmax_score(kinds[c], step) : 0;
		memcpy(before.data, scores.data, keys * TILE * sizeof *before.data);
		bool changed = k->softmax(scores.data, keys, cols, highest.data, sum.data, rescale.data);
		bool expected = false;
		for (size_t c = 0; c < padded; c++)
			expected |= rescale.data[c] != 1;
		CHECK(changed == expected, "%s softmax returns %d, expected %d", k->name, changed, expected);
		for (size_t c = 0; c < cols; c++)
			check_softmax_column(k, &m, c, before.data, scores.data, keys, highest.data[c],
					     sum.data[c], rescale.data[c]);
		check_tile(&scores, padded, "softmax scores");
		check_tile(&highest, padded, "softmax highest");
		check_tile(&sum, padded, "softmax sum");
		check_tile(&rescale, padded, "softmax rescale");
		for (size_t j = 0; j < keys; j++)
			digest_add(scores.data + j * TILE, cols);
		digest_add(sum.data, cols);
		digest_add(rescale.data, cols);
		area_free(&scores);
		area_free(&before);
	}
	for (size_t c = 0; c < cols; c++)
		CHECK(kinds[c] != 2 || (sum.data[c] == 0 && highest.data[c] == -INFINITY),
		      "%s softmax: a column of -inf", k->name);
	area_free(&highest);
	area_free(&sum);
	area_free(&rescale);
}

static void softmax_sizes(const struct kernels *k)
{
	for (size_t cols = 1; cols <= TILE; cols++) {
		check_softmax(k, cols, 5, 7);
		check_softmax(k, cols, 4, 97);
	}
}

static void test_softmax(void **state)
{
	(void)state;
	with_every_set("softmax", softmax_sizes);
}

/* A score that float32 cannot hold must not go unseen: the sum of its column is not
 * finite, and other columns are right. */
static void softmax_overflow(const struct kernels *k)
{
	static const float bad[] = {INFINITY, NAN, -NAN};
	for (size_t i = 0; i < 3 * TILE; i++) {
		struct area scores = tile_new(5, TILE, -2, 2), highest = tile_new(1, TILE, 0, 0);
		struct area sum = tile_new(1, TILE, 0, 0), rescale = output_new(TILE, 0);
		for (size_t c = 0; c < TILE; c++)
			highest.data[c] = -INFINITY;
		scores.data[below(5) * TILE + i / 3] = bad[i % 3];
		k->softmax(scores.data, 5, TILE, highest.data, sum.data, rescale.data);
		for (size_t c = 0; c < TILE; c++)
			CHECK((c == i / 3) == !isfinite(sum.data[c]),
			      "%s softmax: %g in column %zu, sum[%zu] %g", k->name, (double)bad[i % 3], i / 3,
			      c, (double)sum.data[c]);
		area_free(&scores);
		area_free(&highest);
		area_free(&sum);
		area_free(&rescale);
	}
}

static void test_softmax_shows_overflow(void **state)
{
	(void)state;
	with_every_set("softmax, overflow", softmax_overflow);
}

/* The bound that kernels.h states, over [-88, 8]: with `highest` at 0 the scores are
 * the arguments. */
static void exponential_range(const struct kernels *k)
{
	struct area scores = output_new(TILE, 0), x = output_new(TILE, 0);
	struct area highest = tile_new(1, TILE, 0, 0), sum = tile_new(1, TILE, 0, 0),
		    rescale = output_new(TILE, 0);
	double worst = 0, where = 0;
	for (size_t round = 0; round < 60000; round++) {
		for (size_t c = 0; c < TILE; c++) {
			/* Where the polynomial's range ends: odd multiples of ln(2) / 2. */
			double half = ((double)below(277) - 254) * 0.34657359027997264;
			double centre[] = {-40, 0, half, -87.3}, radius[] = {48, 1, 1e-5, 0.01};
			x.data[c] =
			    fminf(between(centre[c % 4] - radius[c % 4], centre[c % 4] + radius[c % 4]), 8);
		}
		memcpy(scores.data, x.data, TILE * sizeof *x.data);
		k->softmax(scores.data, 1, TILE, highest.data, sum.data, rescale.data);
		for (size_t c = 0; c < TILE; c++) {
			double want = exp((double)x.data[c]), got = (double)scores.data[c];
			if (x.data[c] < -87.3f) {
				CHECK(got == 0, "%s: exp(%.9g) is %g", k->name, (double)x.data[c], got);
				continue;
			}
			double off = fabs(got - want) / want;
			CHECK(off <= exponential_bound((double)x.data[c]), "%s: exp(%.9g) is off by %.3g",
			      k->name, (double)x.data[c], off);
			if (off > worst) {
				worst = off;
				where = (double)x.data[c];
			}
		}
		digest_add(scores.data, TILE);
	}
	CHECK(highest.data[0] == 0, "%s: highest moved", k->name);
	print_message("%s: exp is off by %.3g of its value at most, at %.9g\n", k->name, worst, where);
	area_free(&scores);
	area_free(&x);
	area_free(&highest);
	area_free(&sum);
	area_free(&rescale);
}

static void test_exponential(void **state)
{
	(void)state;
	with_every_set("exponential", exponential_range);
}

#endif
