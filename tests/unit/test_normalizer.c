/* Scores to weights: rows worked by hand, random ones against what defines them in long
 * double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "normalizer_test.h"

#define ROW(...)                                                                                             \
	(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[])                           \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

static void expect_row(struct normalization n, double sink, size_t keys, const double *scores, size_t count,
		       const double *expected)
{
	float weights[16];
	assert_int_equal(keys, count);
	weigh(n, sink, scores, keys, weights);
	for (size_t j = 0; j < keys; j++) {
		double error = fabs((double)weights[j] - expected[j]);
		if (!(error <= 1e-7) || (expected[j] == 0 && weights[j] != 0))
			fail_msg("%s: weight %zu is %.9g, expected %.9g", n.normalizer->name, j,
				 (double)weights[j], expected[j]);
	}
}

static void test_softmax(void **state)
{
	const struct normalization n = {.normalizer = &normalizer_softmax};
	(void)state;
	expect_row(n, NO_SINK, ROW(0, log(3)), ROW(0.25, 0.75));
	expect_row(n, NO_SINK, ROW(MASKED, 1e4, 1e4 - log(4)), ROW(0, 0.8, 0.2));
	expect_row(n, NO_SINK, ROW(-1e4, -1e4), ROW(0.5, 0.5));
	expect_row(n, NO_SINK, ROW(MASKED, MASKED), ROW(0, 0));
	expect_row(n, NO_SINK, ROW(-5), ROW(1));
}

static void test_sinks(void **state)
{
	const struct normalization n = {.normalizer = &normalizer_softmax};
	const struct normalization top = {.normalizer = &normalizer_softmax, .top_k = 1};
	(void)state;
	expect_row(n, 0, ROW(0, 0), ROW(1.0 / 3, 1.0 / 3));
	expect_row(n, log(2), ROW(0, log(5)), ROW(0.125, 0.625));
	expect_row(n, 1000, ROW(0, 0.5, -1), ROW(0, 0, 0));
	expect_row(n, -1000, ROW(0, log(3)), ROW(0.25, 0.75));
	expect_row(n, 0, ROW(1000, 1000), ROW(0.5, 0.5));
	expect_row(n, 1000, ROW(1000, MASKED), ROW(0.5, 0));
	expect_row(n, 0, ROW(MASKED, MASKED), ROW(0, 0));
	/* The sink keeps its share where top_k masks the others. */
	expect_row(top, 0, ROW(-1, log(3), 0), ROW(0, 0.75, 0));
}

static void test_sparsemax(void **state)
{
	const struct normalization n = {.normalizer = &normalizer_sparsemax};
	(void)state;
	/* tau = (1.1 + 0.2 - 1) / 2 = 0.15 is above 0.1. */
	expect_row(n, NO_SINK, ROW(0.1, 1.1, 0.2), ROW(0, 0.95, 0.05));
	expect_row(n, NO_SINK, ROW(1, 1), ROW(0.5, 0.5));
	expect_row(n, NO_SINK, ROW(2, 0), ROW(1, 0));
	expect_row(n, NO_SINK, ROW(1, 0), ROW(1, 0));
	expect_row(n, NO_SINK, ROW(0.5, 0, MASKED), ROW(0.75, 0.25, 0));
	expect_row(n, NO_SINK, ROW(1e4 + 0.5, 1e4, -1e4), ROW(0.75, 0.25, 0));
	expect_row(n, NO_SINK, ROW(-7), ROW(1));
	expect_row(n, NO_SINK, ROW(MASKED), ROW(0));
}

/* Two scores at a distance d: with x = s / 2 - tau of the lower one, x^2 + (x + d/2)^2 = 1
 * gives x = (sqrt(8 - d^2) - d) / 4, while that is positive: d < 2. */
static void test_entmax15(void **state)
{
	const struct normalization n = {.normalizer = &normalizer_entmax15};
	(void)state;
	for (double d = 0; d < 2; d += 0.125) {
		double x = (sqrt(8 - d * d) - d) / 4, w = x * x;
		expect_row(n, NO_SINK, ROW(3 - d, MASKED, 3), ROW(w, 0, 1 - w));
		expect_row(n, NO_SINK, ROW(1e4, 1e4 - d), ROW(1 - w, w));
	}
	expect_row(n, NO_SINK, ROW(0, 2), ROW(0, 1));
	expect_row(n, NO_SINK, ROW(0, 5, 1), ROW(0, 1, 0));
	expect_row(n, NO_SINK, ROW(4, 4, 4, 4), ROW(0.25, 0.25, 0.25, 0.25));
	expect_row(n, NO_SINK, ROW(-7), ROW(1));
	expect_row(n, NO_SINK, ROW(MASKED, MASKED), ROW(0, 0));
}

static void test_linear(void **state)
{
	const struct normalization n = {.normalizer = &normalizer_linear};
	(void)state;
	expect_row(n, NO_SINK, ROW(1, 3, MASKED, 4), ROW(0.125, 0.375, 0, 0.5));
	expect_row(n, NO_SINK, ROW(0, 0), ROW(0, 0));
	expect_row(n, NO_SINK, ROW(MASKED, MASKED), ROW(0, 0));
}

/* --- top_k --------------------------------------------------------------------- */

/* `marks` has a 1 for each score that stays. */
static void expect_top(size_t k, const char *marks, size_t keys, const double *scores)
{
	double changed[16], scratch[16];
	assert_int_equal(strlen(marks), keys);
	memcpy(changed, scores, keys * sizeof *scores);
	keep_top(changed, keys, k, scratch);
	for (size_t j = 0; j < keys; j++)
		if (changed[j] != (marks[j] == '1' ? scores[j] : MASKED))
			fail_msg("top %zu, %s: score %zu is %g", k, marks, j, changed[j]);
}

static void test_keep_top(void **state)
{
	(void)state;
	expect_top(2, "0101", ROW(1, 4, 2, 3));
	expect_top(1, "0100", ROW(1, 4, 2, 3));
	expect_top(4, "1111", ROW(1, 4, 2, 3));
	expect_top(9, "1111", ROW(1, 4, 2, 3));
	expect_top(2, "0110", ROW(1, 2, 2, 2)); /* lower index */
	expect_top(3, "1101", ROW(2, 2, 2, 5));
	expect_top(2, "1100", ROW(-0.0, 0.0, -0.0, 0.0));
	expect_top(2, "0001", ROW(MASKED, MASKED, MASKED, -1e30)); /* masked keys are not of the K */
	expect_top(2, "010010", ROW(MASKED, 1, MASKED, -3, 0, -2));
	expect_top(1, "00", ROW(MASKED, MASKED));
	expect_top(3, "1", ROW(-3));
}

static void test_top_k_weights(void **state)
{
	const struct normalization softmax = {.normalizer = &normalizer_softmax, .top_k = 2};
	const struct normalization sparsemax = {.normalizer = &normalizer_sparsemax, .top_k = 2};
	const struct normalization entmax = {.normalizer = &normalizer_entmax15, .top_k = 2};
	(void)state;
	expect_row(softmax, NO_SINK, ROW(0, log(3), -1, 0), ROW(0.25, 0.75, 0, 0));
	expect_row(sparsemax, NO_SINK, ROW(0, 0.5, 0, 0), ROW(0.25, 0.75, 0, 0));
	expect_row(entmax, NO_SINK, ROW(1, 0, 1, 1), ROW(0.5, 0, 0.5, 0));
	expect_row(sparsemax, NO_SINK, ROW(0, 3, 0, MASKED), ROW(0, 1, 0, 0));
}

/* All but the K first of a stable order stay, however they are found. */
static void test_keep_top_random(void **state)
{
	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		double scores[60], changed[60], scratch[60];
		size_t keys = 1 + random_bits() % 60, k = 1 + random_bits() % 64;
		for (size_t j = 0; j < keys; j++)
			changed[j] = scores[j] = random_score(round % ROW_KINDS, false);
		keep_top(changed, keys, k, scratch);
		for (size_t j = 0; j < keys; j++) {
			size_t before = 0;
			for (size_t i = 0; i < keys; i++)
				before += scores[i] > scores[j] || (scores[i] == scores[j] && i < j);
			if (changed[j] != (before < k ? scores[j] : MASKED))
				fail_msg("round %zu: score %zu of %zu, top %zu", round, j, keys, k);
		}
	}
}

/* --- random rows --------------------------------------------------------------- */

/* What a score adds for a threshold. */
static long double sparse_weight(const struct normalizer *kind, long double score, long double tau)
{
	long double above = kind == &normalizer_entmax15 ? score / 2 - tau : score - tau;
	if (above <= 0)
		return 0;
	return kind == &normalizer_entmax15 ? above * above : above;
}

/* The threshold where weights sum to 1, by halving an interval. */
static long double bisect(const struct normalizer *kind, const double *scores, size_t keys)
{
	long double top = -INFINITY;
	for (size_t j = 0; j < keys; j++)
		top = fmaxl(top, (long double)scores[j]);
	if (kind == &normalizer_entmax15)
		top /= 2;
	long double low = top - 1, high = top;
	for (int i = 0; i < 80; i++) {
		long double tau = (low + high) / 2, sum = 0;
		for (size_t j = 0; j < keys; j++)
			sum += sparse_weight(kind, (long double)scores[j], tau);
		*(sum > 1 ? &low : &high) = tau;
	}
	return (low + high) / 2;
}

/* The weights of a row without top_k, in long double. */
static void define_weights(const struct normalizer *kind, double sink, const double *scores, size_t keys,
			   long double *weights)
{
	bool sparse = kind == &normalizer_sparsemax || kind == &normalizer_entmax15;
	long double top = (long double)sink, sum = 0;
	bool any = false;
	for (size_t j = 0; j < keys; j++) {
		top = fmaxl(top, (long double)scores[j]);
		any |= scores[j] != MASKED;
	}
	long double tau = any && sparse ? bisect(kind, scores, keys) : 0;
	for (size_t j = 0; j < keys; j++) {
		long double score = (long double)scores[j];
		if (!any || scores[j] == MASKED)
			weights[j] = 0;
		else if (sparse)
			weights[j] = sparse_weight(kind, score, tau);
		else
			weights[j] = kind == &normalizer_linear ? score : expl(score - top);
		sum += weights[j];
	}
	if (kind == &normalizer_softmax && any)
		sum += expl((long double)sink - top);
	for (size_t j = 0; j < keys && !sparse && sum > 0; j++)
		weights[j] /= sum;
}

static void check_random_row(const struct normalizer *kind, double sink, const double *scores, size_t keys)
{
	float *weights = memory(keys, sizeof *weights);
	long double *expected = memory(keys, sizeof *expected);
	double sum = 0, all = 0;
	weigh((struct normalization){.normalizer = kind}, sink, scores, keys, weights);
	define_weights(kind, sink, scores, keys, expected);
	for (size_t j = 0; j < keys; j++) {
		double got = (double)weights[j], want = (double)expected[j];
		sum += got;
		all += want;
		if (!(fabs(got - want) <= 1e-10 + 1.2e-7 * want) || (scores[j] == MASKED && got != 0))
			fail_msg("%s, %zu keys: weight %zu is %.9g, expected %.9g", kind->name, keys, j, got,
				 want);
	}
	if (!(fabs(sum - all) <= 1e-6))
		fail_msg("%s, %zu keys: sum %.9g, expected %.9g", kind->name, keys, sum, all);
	free(expected);
	free(weights);
}

static void test_random_rows(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 7, 64, 301, 3000};
	double *scores = memory(3000, sizeof *scores);
	(void)state;
	for (size_t round = 0; round < 1000; round++) {
		size_t keys = sizes[random_bits() % (round % 50 ? 6 : 7)];
		const struct normalizer *kind = kinds[round % 4];
		bool has_sink = kind == &normalizer_softmax && random_bits() % 2;
		for (size_t j = 0; j < keys; j++)
			scores[j] = random_score(round / 4 % ROW_KINDS, kind == &normalizer_linear);
		check_random_row(kind, has_sink ? between(-5, 5) : NO_SINK, scores, keys);
	}
	free(scores);
}

/* What makes a point the nearest one of the simplex, and needs no search for it: weights
 * of at least 0 sum to 1; where there is weight, s (or s / 2) less it (or its root) is one
 * tau, and no other score is above that. */
static void check_optimal(const struct normalizer *kind, const double *scores, const float *weights,
			  size_t keys)
{
	double half = kind == &normalizer_entmax15 ? 0.5 : 1, top = -INFINITY, tau = NAN, sum = 0;
	for (size_t j = 0; j < keys; j++) {
		double w = (double)weights[j];
		assert_true(w >= 0);
		sum += w;
		if (scores[j] > top) {
			top = scores[j];
			tau = half * top - (kind == &normalizer_entmax15 ? sqrt(w) : w);
		}
	}
	assert_true(fabs(sum - 1) <= 1e-6);
	for (size_t j = 0; j < keys; j++) {
		double w = (double)weights[j], root = kind == &normalizer_entmax15 ? sqrt(w) : w;
		if (w > 0 ? fabs(half * scores[j] - root - tau) > 2e-7 : half * scores[j] > tau + 2e-7)
			fail_msg("%s, %zu keys: score %.17g has weight %.9g, tau is %.17g", kind->name, keys,
				 scores[j], w, tau);
	}
}

static void test_optimal_rows(void **state)
{
	double scores[200];
	float weights[200];
	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		size_t keys = 1 + random_bits() % 200;
		const struct normalizer *kind = round % 2 ? &normalizer_sparsemax : &normalizer_entmax15;
		double width = exp(between(-9, 2));
		for (size_t j = 0; j < keys; j++)
			scores[j] = between(-width, width);
		weigh((struct normalization){.normalizer = kind}, NO_SINK, scores, keys, weights);
		check_optimal(kind, scores, weights, keys);
	}
}

/* Many candidates, in orders that make a careless selection quadratic; in the last two all
 * but the first score lie exactly where weight begins. */
static double many_score(size_t order, size_t j)
{
	switch (order) {
	case 0:
		return 0.25;
	case 1:
		return 1e-5 * (double)j;
	case 2:
		return -1e-6 * (double)j;
	case 3:
		return between(-1e-5, 1e-5);
	case 4:
		return between(-0.9, 0);
	default:
		return j == 0 ? (double)order - 4 : 0;
	}
}

static void test_many_keys(void **state)
{
	const size_t keys = 100000;
	double *scores = memory(keys, sizeof *scores);
	(void)state;
	for (size_t order = 0; order < 7; order++) {
		for (size_t j = 0; j < keys; j++)
			scores[j] = many_score(order, j);
		for (size_t i = 0; i < 3; i++)
			check_random_row(kinds[i], NO_SINK, scores, keys);
	}
	free(scores);
}

/* --- the table ------------------------------------------------------------------- */

/* Each is found by its name, and has what its rows, and its steps, need. */
static void test_table(void **state)
{
	size_t count = 0;
	(void)state;
	for (; normalizer_table[count]; count++) {
		const struct normalizer *n = normalizer_table[count];
		assert_true(normalizer_named(n->name) == n);
		assert_true(n->find_rule && n->weight && n->depth > 0);
		assert_true(!n->sums_keys || (n->step && n->features));
		assert_true(!n->score == !n->score_formula);
	}
	assert_int_equal(count, sizeof kinds / sizeof *kinds);
	assert_true(normalizer_table[0] == &normalizer_softmax);
	assert_null(normalizer_named("hardmax"));
	assert_null(normalizer_named(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_softmax),       cmocka_unit_test(test_sinks),
	    cmocka_unit_test(test_sparsemax),     cmocka_unit_test(test_entmax15),
	    cmocka_unit_test(test_linear),        cmocka_unit_test(test_keep_top),
	    cmocka_unit_test(test_top_k_weights), cmocka_unit_test(test_keep_top_random),
	    cmocka_unit_test(test_random_rows),   cmocka_unit_test(test_optimal_rows),
	    cmocka_unit_test(test_many_keys),     cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
