/* Scores to weights: rows worked by hand, random ones against what defines them in long
 * double, and rows of float32 against those. */
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

#include "attention/normalizer.h"

#define MASKED (-INFINITY)
#define NO_SINK (-INFINITY)
#define ROW(...)                                                                                             \
	(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[])                           \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

/* Of the product's, these: */
static const struct normalizer *const kinds[] = {&normalizer_softmax, &normalizer_sparsemax,
						 &normalizer_entmax15, &normalizer_linear};

/* --- numbers and memory -------------------------------------------------------- */

static uint64_t state64 = 1;

static uint32_t random_bits(void)
{
	state64 = state64 * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state64 >> 32);
}

static double between(double low, double high)
{
	return low + (high - low) * random_bits() * 0x1p-32;
}

/* Exactly as many bytes as are asked for, so that the sanitizers see one more. */
static void *memory(size_t count, size_t size)
{
	void *data = calloc(count, size);
	assert_non_null(data);
	return data;
}

/* The kinds of rows: what the scores of one look like. */
enum {
	ROW_KINDS = 9
};

static double random_score(size_t kind, bool positive)
{
	double score;
	switch (kind) {
	case 0: /* ordinary */
		score = between(-3, 3);
		break;
	case 1: /* some masked */
		score = random_bits() % 3 ? between(-2, 2) : MASKED;
		break;
	case 2: /* nearly flat */
		score = between(-0.001, 0.001);
		break;
	case 3: /* equals */
		score = random_bits() % 4 * 0.25;
		break;
	case 4: /* large, and near each other */
		score = 1e4 + between(-0.5, 0.5);
		break;
	case 5: /* large, and far from each other */
		score = between(-1e4, 1e4);
		break;
	case 6: /* all the same */
		score = 0.3;
		break;
	case 7: /* all masked */
		return MASKED;
	default: /* mostly masked */
		score = random_bits() % 20 ? MASKED : between(-1, 1);
	}
	/* As float32, so that rows of float64 and float32 start from the same numbers. */
	return (double)(float)(positive && score != MASKED ? fabs(score) : score);
}

/* --- rows ---------------------------------------------------------------------- */

static void weigh(struct normalization n, double sink, const double *scores, size_t keys, float *weights)
{
	double *changed = memory(keys, sizeof *changed), *scratch = memory(keys, sizeof *scratch);
	memcpy(changed, scores, keys * sizeof *scores);
	normalize_row(&n, sink, changed, keys, weights, scratch);
	free(scratch);
	free(changed);
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

/* --- rows of float32 -------------------------------------------------------------- */

/* A row and what is to become of it. */
struct row_case {
	struct normalization n;
	double sink;
	size_t keys;
	const double *scores; /* (keys), all of them float32 */
};

static void compare_weights(const struct row_case *c, const float *row, const float *expected)
{
	double sum = 0, all = 0;
	for (size_t j = 0; j < c->keys; j++) {
		double got = (double)row[j], want = (double)expected[j];
		sum += got;
		all += want;
		if (!(fabs(got - want) <= 1e-9 + 2e-7 * want) || (want == 0) != (got == 0))
			fail_msg("%s, top %zu, sink %g, %zu keys: weight %zu is %.9g, expected %.9g",
				 c->n.normalizer->name, c->n.top_k, c->sink, c->keys, j, got, want);
	}
	assert_true(fabs(sum - all) <= 1e-6);
}

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* Whether the last score that top_k keeps and the first that it leaves out are hardly apart:
 * float64 has to tell them. */
static bool hangs(const struct row_case *c)
{
	size_t k = c->n.top_k;
	if (k == 0 || k >= c->keys)
		return false;
	double *sorted = memory(c->keys, sizeof *sorted);
	memcpy(sorted, c->scores, c->keys * sizeof *sorted);
	qsort(sorted, c->keys, sizeof *sorted, falling);
	bool found = sorted[k] != MASKED && sorted[k - 1] - sorted[k] <= 5e-7 * fmax(1, fabs(sorted[k - 1]));
	free(sorted);
	return found;
}

static void check_float_row(const struct row_case *c)
{
	float *row = memory(c->keys, sizeof *row), *expected = memory(c->keys, sizeof *expected);
	double top = -INFINITY;
	float highest;
	void *scratch = memory(normalize_scratch(c->keys), 1);
	for (size_t j = 0; j < c->keys; j++) {
		row[j] = (float)c->scores[j];
		top = fmax(top, c->scores[j]);
	}
	bool told = normalize_float_row(&c->n, c->sink, row, c->keys, &highest, scratch);
	assert_true(told || hangs(c));
	if (told) {
		weigh(c->n, c->sink, c->scores, c->keys, expected);
		compare_weights(c, row, expected);
		assert_true((double)highest == top);
	}
	free(scratch);
	free(expected);
	free(row);
}

/* Equal scores at the edge of top_k are told apart in float64 only; elsewhere they are no
 * matter. */
static void test_ties(void **state)
{
	(void)state;
	for (size_t k = 1; k <= 4; k++) {
		struct normalization n = {.normalizer = &normalizer_softmax, .top_k = k};
		float row[] = {1, 3, 2, 2}, highest;
		void *scratch = memory(normalize_scratch(4), 1);
		assert_int_equal(normalize_float_row(&n, NO_SINK, row, 4, &highest, scratch), k != 2);
		free(scratch);
	}
}

static void check_random_float_row(size_t round, size_t most_keys)
{
	const struct normalizer *kind = kinds[round % 4];
	struct row_case c = {
	    .n = {.normalizer = kind}, .sink = NO_SINK, .keys = 1 + random_bits() % most_keys};
	double *scores = memory(c.keys, sizeof *scores);
	size_t of_scores = random_bits() % ROW_KINDS;
	if (kind->takes_top_k && random_bits() % 2)
		c.n.top_k = 1 + random_bits() % (random_bits() % 2 ? 9 : c.keys + 3);
	if (kind->takes_sinks && random_bits() % 2)
		c.sink = (double)(float)between(-4, 4);
	for (size_t j = 0; j < c.keys; j++)
		scores[j] = random_score(of_scores, kind == &normalizer_linear);
	c.scores = scores;
	check_float_row(&c);
	free(scores);
}

static void test_float_rows(void **state)
{
	(void)state;
	for (size_t round = 0; round < 10000; round++)
		check_random_float_row(round, round % 10 ? 70 : 1500);
}

/* Scores that rise or fall along the keys: what was the highest so far is of no use, or
 * of every. */
static void test_ordered_rows(void **state)
{
	enum {
		KEYS = 2000
	};
	static const size_t tops[] = {0, 5, 100, 1500};
	double *scores = memory(KEYS, sizeof *scores);
	(void)state;
	for (size_t round = 0; round < 24; round++) {
		struct row_case c = {{kinds[round % 3], tops[round / 3 % 4], NULL}, NO_SINK, KEYS, scores};
		for (size_t j = 0; j < KEYS; j++)
			scores[j] = (round < 12 ? 1 : -1) * (double)(float)(0.0001 * (double)(j / 3));
		check_float_row(&c);
	}
	free(scores);
}

/* A score that is no number is left to the reference, with all others as they were,
 * wherever it is: in a whole run of scores, or in the rest behind. */
static void test_row_refused(void **state)
{
	static const float bad[] = {NAN, INFINITY};
	enum {
		KEYS = 37
	};
	(void)state;
	for (size_t i = 0; i < 8; i++)
		for (size_t at = 0; at < KEYS; at++) {
			struct normalization n = {.normalizer = kinds[i % 4]};
			float row[KEYS] = {0}, before[KEYS], highest;
			void *scratch = memory(normalize_scratch(KEYS), 1);
			row[1] = 1;
			row[at] = bad[i / 4];
			memcpy(before, row, sizeof row);
			assert_false(normalize_float_row(&n, NO_SINK, row, KEYS, &highest, scratch));
			assert_memory_equal(row, before, sizeof row);
			free(scratch);
		}
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

static void test_scratch_wraps(void **state)
{
	(void)state;
	assert_true(normalize_scratch(SIZE_MAX) == SIZE_MAX);
	assert_true(normalize_scratch(SIZE_MAX / 4) == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_softmax),       cmocka_unit_test(test_sinks),
	    cmocka_unit_test(test_sparsemax),     cmocka_unit_test(test_entmax15),
	    cmocka_unit_test(test_linear),        cmocka_unit_test(test_keep_top),
	    cmocka_unit_test(test_top_k_weights), cmocka_unit_test(test_keep_top_random),
	    cmocka_unit_test(test_random_rows),   cmocka_unit_test(test_optimal_rows),
	    cmocka_unit_test(test_many_keys),     cmocka_unit_test(test_ties),
	    cmocka_unit_test(test_float_rows),    cmocka_unit_test(test_ordered_rows),
	    cmocka_unit_test(test_row_refused),   cmocka_unit_test(test_scratch_wraps),
	    cmocka_unit_test(test_table),

	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
