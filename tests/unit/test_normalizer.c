/* Scores to weights: rows worked by hand, random ones against what defines them in long
 * double, and tiles against rows. */
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
#include "kernels/kernels.h"

#define HIDDEN (-INFINITY)
#define NO_SINK (-INFINITY)
#define ROW(...)                                                                                             \
	(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[])                           \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

static const enum normalizer kinds[] = {NORMALIZE_SOFTMAX, NORMALIZE_SPARSEMAX, NORMALIZE_ENTMAX15,
					NORMALIZE_LINEAR};

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
	case 1: /* some hidden */
		score = random_bits() % 3 ? between(-2, 2) : HIDDEN;
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
	case 7: /* all hidden */
		return HIDDEN;
	default: /* mostly hidden */
		score = random_bits() % 20 ? HIDDEN : between(-1, 1);
	}
	/* As float32, so that rows and tiles start from the same numbers. */
	return (double)(float)(positive && score != HIDDEN ? fabs(score) : score);
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
			fail_msg("kind %d: weight %zu is %.9g, expected %.9g", (int)n.kind, j,
				 (double)weights[j], expected[j]);
	}
}

static void test_softmax(void **state)
{
	const struct normalization n = {.kind = NORMALIZE_SOFTMAX};
	(void)state;
	expect_row(n, NO_SINK, ROW(0, log(3)), ROW(0.25, 0.75));
	expect_row(n, NO_SINK, ROW(HIDDEN, 1e4, 1e4 - log(4)), ROW(0, 0.8, 0.2));
	expect_row(n, NO_SINK, ROW(-1e4, -1e4), ROW(0.5, 0.5));
	expect_row(n, NO_SINK, ROW(HIDDEN, HIDDEN), ROW(0, 0));
	expect_row(n, NO_SINK, ROW(-5), ROW(1));
}

static void test_sinks(void **state)
{
	const struct normalization n = {.kind = NORMALIZE_SOFTMAX};
	const struct normalization top = {.kind = NORMALIZE_SOFTMAX, .top_k = 1};
	(void)state;
	expect_row(n, 0, ROW(0, 0), ROW(1.0 / 3, 1.0 / 3));
	expect_row(n, log(2), ROW(0, log(5)), ROW(0.125, 0.625));
	expect_row(n, 1000, ROW(0, 0.5, -1), ROW(0, 0, 0));
	expect_row(n, -1000, ROW(0, log(3)), ROW(0.25, 0.75));
	expect_row(n, 0, ROW(1000, 1000), ROW(0.5, 0.5));
	expect_row(n, 1000, ROW(1000, HIDDEN), ROW(0.5, 0));
	expect_row(n, 0, ROW(HIDDEN, HIDDEN), ROW(0, 0));
	/* The sink keeps its share where top_k hides the others. */
	expect_row(top, 0, ROW(-1, log(3), 0), ROW(0, 0.75, 0));
}

static void test_sparsemax(void **state)
{
	const struct normalization n = {.kind = NORMALIZE_SPARSEMAX};
	(void)state;
	/* tau = (1.1 + 0.2 - 1) / 2 = 0.15 is above 0.1. */
	expect_row(n, NO_SINK, ROW(0.1, 1.1, 0.2), ROW(0, 0.95, 0.05));
	expect_row(n, NO_SINK, ROW(1, 1), ROW(0.5, 0.5));
	expect_row(n, NO_SINK, ROW(2, 0), ROW(1, 0));
	expect_row(n, NO_SINK, ROW(1, 0), ROW(1, 0));
	expect_row(n, NO_SINK, ROW(0.5, 0, HIDDEN), ROW(0.75, 0.25, 0));
	expect_row(n, NO_SINK, ROW(1e4 + 0.5, 1e4, -1e4), ROW(0.75, 0.25, 0));
	expect_row(n, NO_SINK, ROW(-7), ROW(1));
	expect_row(n, NO_SINK, ROW(HIDDEN), ROW(0));
}

/* Two scores at a distance d: with x = s / 2 - tau of the lower one, x^2 + (x + d/2)^2 = 1
 * gives x = (sqrt(8 - d^2) - d) / 4, while that is positive: d < 2. */
static void test_entmax15(void **state)
{
	const struct normalization n = {.kind = NORMALIZE_ENTMAX15};
	(void)state;
	for (double d = 0; d < 2; d += 0.125) {
		double x = (sqrt(8 - d * d) - d) / 4, w = x * x;
		expect_row(n, NO_SINK, ROW(3 - d, HIDDEN, 3), ROW(w, 0, 1 - w));
		expect_row(n, NO_SINK, ROW(1e4, 1e4 - d), ROW(1 - w, w));
	}
	expect_row(n, NO_SINK, ROW(0, 2), ROW(0, 1));
	expect_row(n, NO_SINK, ROW(0, 5, 1), ROW(0, 1, 0));
	expect_row(n, NO_SINK, ROW(4, 4, 4, 4), ROW(0.25, 0.25, 0.25, 0.25));
	expect_row(n, NO_SINK, ROW(-7), ROW(1));
	expect_row(n, NO_SINK, ROW(HIDDEN, HIDDEN), ROW(0, 0));
}

static void test_linear(void **state)
{
	const struct normalization n = {.kind = NORMALIZE_LINEAR};
	(void)state;
	expect_row(n, NO_SINK, ROW(1, 3, HIDDEN, 4), ROW(0.125, 0.375, 0, 0.5));
	expect_row(n, NO_SINK, ROW(0, 0), ROW(0, 0));
	expect_row(n, NO_SINK, ROW(HIDDEN, HIDDEN), ROW(0, 0));
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
		if (changed[j] != (marks[j] == '1' ? scores[j] : HIDDEN))
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
	expect_top(2, "0001", ROW(HIDDEN, HIDDEN, HIDDEN, -1e30)); /* hidden keys are not of the K */
	expect_top(2, "010010", ROW(HIDDEN, 1, HIDDEN, -3, 0, -2));
	expect_top(1, "00", ROW(HIDDEN, HIDDEN));
	expect_top(3, "1", ROW(-3));
}

static void test_top_k_weights(void **state)
{
	const struct normalization softmax = {.kind = NORMALIZE_SOFTMAX, .top_k = 2};
	const struct normalization sparsemax = {.kind = NORMALIZE_SPARSEMAX, .top_k = 2};
	const struct normalization entmax = {.kind = NORMALIZE_ENTMAX15, .top_k = 2};
	(void)state;
	expect_row(softmax, NO_SINK, ROW(0, log(3), -1, 0), ROW(0.25, 0.75, 0, 0));
	expect_row(sparsemax, NO_SINK, ROW(0, 0.5, 0, 0), ROW(0.25, 0.75, 0, 0));
	expect_row(entmax, NO_SINK, ROW(1, 0, 1, 1), ROW(0.5, 0, 0.5, 0));
	expect_row(sparsemax, NO_SINK, ROW(0, 3, 0, HIDDEN), ROW(0, 1, 0, 0));
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
			if (changed[j] != (before < k ? scores[j] : HIDDEN))
				fail_msg("round %zu: score %zu of %zu, top %zu", round, j, keys, k);
		}
	}
}

/* --- random rows --------------------------------------------------------------- */

/* What a score adds for a threshold. */
static long double sparse_weight(enum normalizer kind, long double score, long double tau)
{
	long double above = kind == NORMALIZE_ENTMAX15 ? score / 2 - tau : score - tau;
	if (above <= 0)
		return 0;
	return kind == NORMALIZE_ENTMAX15 ? above * above : above;
}

/* The threshold where weights sum to 1, by halving an interval. */
static long double bisect(enum normalizer kind, const double *scores, size_t keys)
{
	long double top = -INFINITY;
	for (size_t j = 0; j < keys; j++)
		top = fmaxl(top, (long double)scores[j]);
	if (kind == NORMALIZE_ENTMAX15)
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
static void define_weights(enum normalizer kind, double sink, const double *scores, size_t keys,
			   long double *weights)
{
	bool sparse = kind == NORMALIZE_SPARSEMAX || kind == NORMALIZE_ENTMAX15;
	long double top = (long double)sink, sum = 0;
	bool any = false;
	for (size_t j = 0; j < keys; j++) {
		top = fmaxl(top, (long double)scores[j]);
		any |= scores[j] != HIDDEN;
	}
	long double tau = any && sparse ? bisect(kind, scores, keys) : 0;
	for (size_t j = 0; j < keys; j++) {
		long double score = (long double)scores[j];
		if (!any || scores[j] == HIDDEN)
			weights[j] = 0;
		else if (sparse)
			weights[j] = sparse_weight(kind, score, tau);
		else
			weights[j] = kind == NORMALIZE_LINEAR ? score : expl(score - top);
		sum += weights[j];
	}
	if (kind == NORMALIZE_SOFTMAX && any)
		sum += expl((long double)sink - top);
	for (size_t j = 0; j < keys && !sparse && sum > 0; j++)
		weights[j] /= sum;
}

static void check_random_row(enum normalizer kind, double sink, const double *scores, size_t keys)
{
	float *weights = memory(keys, sizeof *weights);
	long double *expected = memory(keys, sizeof *expected);
	double sum = 0, all = 0;
	weigh((struct normalization){.kind = kind}, sink, scores, keys, weights);
	define_weights(kind, sink, scores, keys, expected);
	for (size_t j = 0; j < keys; j++) {
		double got = (double)weights[j], want = (double)expected[j];
		sum += got;
		all += want;
		if (!(fabs(got - want) <= 1e-10 + 1.2e-7 * want) || (scores[j] == HIDDEN && got != 0))
			fail_msg("kind %d, %zu keys: weight %zu is %.9g, expected %.9g", (int)kind, keys, j,
				 got, want);
	}
	if (!(fabs(sum - all) <= 1e-6))
		fail_msg("kind %d, %zu keys: sum %.9g, expected %.9g", (int)kind, keys, sum, all);
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
		enum normalizer kind = kinds[round % 4];
		bool has_sink = kind == NORMALIZE_SOFTMAX && random_bits() % 2;
		for (size_t j = 0; j < keys; j++)
			scores[j] = random_score(round / 4 % ROW_KINDS, kind == NORMALIZE_LINEAR);
		check_random_row(kind, has_sink ? between(-5, 5) : NO_SINK, scores, keys);
	}
	free(scores);
}

/* What makes a point the nearest one of the simplex, and needs no search for it: weights
 * of at least 0 sum to 1; where there is weight, s (or s / 2) less it (or its root) is one
 * tau, and no other score is above that. */
static void check_optimal(enum normalizer kind, const double *scores, const float *weights, size_t keys)
{
	double half = kind == NORMALIZE_ENTMAX15 ? 0.5 : 1, top = -INFINITY, tau = NAN, sum = 0;
	for (size_t j = 0; j < keys; j++) {
		double w = (double)weights[j];
		assert_true(w >= 0);
		sum += w;
		if (scores[j] > top) {
			top = scores[j];
			tau = half * top - (kind == NORMALIZE_ENTMAX15 ? sqrt(w) : w);
		}
	}
	assert_true(fabs(sum - 1) <= 1e-6);
	for (size_t j = 0; j < keys; j++) {
		double w = (double)weights[j], root = kind == NORMALIZE_ENTMAX15 ? sqrt(w) : w;
		if (w > 0 ? fabs(half * scores[j] - root - tau) > 2e-7 : half * scores[j] > tau + 2e-7)
			fail_msg("kind %d, %zu keys: score %.17g has weight %.9g, tau is %.17g", (int)kind,
				 keys, scores[j], w, tau);
	}
}

static void test_optimal_rows(void **state)
{
	double scores[200];
	float weights[200];
	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		size_t keys = 1 + random_bits() % 200;
		enum normalizer kind = round % 2 ? NORMALIZE_SPARSEMAX : NORMALIZE_ENTMAX15;
		double width = exp(between(-9, 2));
		for (size_t j = 0; j < keys; j++)
			scores[j] = between(-width, width);
		weigh((struct normalization){.kind = kind}, NO_SINK, scores, keys, weights);
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

/* --- tiles --------------------------------------------------------------------- */

/* A tile and the rows that it should become. */
struct tile_case {
	struct normalization n;
	double sink;
	size_t keys, cols;
	const double *scores; /* (cols, keys) */
};

static void check_column(const struct tile_case *c, const float *tile, size_t q, const float *row,
			 float highest)
{
	bool any = false;
	double sum = 0, all = 0;
	for (size_t j = 0; j < c->keys; j++) {
		double got = (double)tile[j * TILE + q], want = (double)row[j];
		sum += got;
		all += want;
		any |= c->scores[q * c->keys + j] != HIDDEN;
		if (!(fabs(got - want) <= 1e-9 + 2e-7 * want) || (want == 0) != (got == 0))
			fail_msg(
			    "kind %d, top %zu, sink %g, %zu keys: weight (%zu, %zu) is %.9g, expected %.9g",
			    (int)c->n.kind, c->n.top_k, c->sink, c->keys, j, q, got, want);
	}
	assert_true(fabs(sum - all) <= 1e-6);
	assert_int_equal(highest > -INFINITY, any);
}

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* Whether in some column the last score that top_k keeps and the first that it leaves out
 * are hardly apart: float64 has to tell them. */
static bool hangs(const struct tile_case *c)
{
	double *sorted = memory(c->keys, sizeof *sorted);
	size_t k = c->n.top_k;
	bool found = false;
	for (size_t q = 0; q < c->cols && k > 0 && k < c->keys; q++) {
		memcpy(sorted, c->scores + q * c->keys, c->keys * sizeof *sorted);
		qsort(sorted, c->keys, sizeof *sorted, falling);
		found |=
		    sorted[k] != HIDDEN && sorted[k - 1] - sorted[k] <= 5e-7 * fmax(1, fabs(sorted[k - 1]));
	}
	free(sorted);
	return found;
}

static void check_tile(const struct tile_case *c)
{
	const uint32_t untouched = 0x7fbadbad; /* a NaN: columns behind are not even read */
	float *tile = memory(c->keys * TILE, sizeof *tile), *row = memory(c->keys, sizeof *row);
	float *highest = memory(c->cols, sizeof *highest);
	void *scratch = memory(normalize_scratch(c->keys), 1);
	for (size_t i = 0; i < c->keys * TILE; i++)
		memcpy(tile + i, &untouched, sizeof untouched);
	for (size_t q = 0; q < c->cols; q++)
		for (size_t j = 0; j < c->keys; j++)
			tile[j * TILE + q] = (float)c->scores[q * c->keys + j];
	bool told = normalize_tile(&c->n, c->sink, tile, c->keys, c->cols, highest, scratch);
	assert_true(told || hangs(c));
	for (size_t q = 0; q < c->cols && told; q++) {
		weigh(c->n, c->sink, c->scores + q * c->keys, c->keys, row);
		check_column(c, tile, q, row, highest[q]);
	}
	for (size_t j = 0; j < c->keys; j++)
		for (size_t q = c->cols; q < TILE; q++)
			assert_memory_equal(&tile[j * TILE + q], &untouched, sizeof untouched);
	free(scratch);
	free(highest);
	free(row);
	free(tile);
}

/* Equal scores at the edge of top_k are told apart in float64 only; elsewhere they are no
 * matter. */
static void test_ties_of_tiles(void **state)
{
	static const double scores[] = {1, 3, 2, 2};
	float tile[4 * TILE], highest[1];
	_Alignas(double) unsigned char scratch[4096];
	(void)state;
	assert_true(normalize_scratch(4) <= sizeof scratch);
	for (size_t k = 1; k <= 4; k++) {
		struct normalization n = {.kind = NORMALIZE_SOFTMAX, .top_k = k};
		for (size_t j = 0; j < 4; j++)
			tile[j * TILE] = (float)scores[j];
		assert_int_equal(normalize_tile(&n, NO_SINK, tile, 4, 1, highest, scratch), k != 2);
	}
}

static void check_random_tile(size_t round, size_t most_keys)
{
	struct tile_case c = {
	    .n.kind = kinds[round % 4],
	    .sink = NO_SINK,
	    .keys = 1 + random_bits() % most_keys,
	    .cols = random_bits() % 3 ? 1 + random_bits() % TILE : TILE,
	};
	double *scores = memory(c.keys * c.cols, sizeof *scores);
	if (c.n.kind != NORMALIZE_LINEAR && random_bits() % 2)
		c.n.top_k = 1 + random_bits() % (random_bits() % 2 ? 9 : c.keys + 3);
	if (c.n.kind == NORMALIZE_SOFTMAX && random_bits() % 2)
		c.sink = (double)(float)between(-4, 4);
	for (size_t q = 0; q < c.cols; q++) {
		size_t kind = random_bits() % ROW_KINDS;
		for (size_t j = 0; j < c.keys; j++)
			scores[q * c.keys + j] = random_score(kind, c.n.kind == NORMALIZE_LINEAR);
	}
	c.scores = scores;
	check_tile(&c);
	free(scores);
}

static void test_tiles(void **state)
{
	(void)state;
	for (size_t round = 0; round < 400; round++)
		check_random_tile(round, round % 10 ? 70 : 1500);
}

/* Scores that rise or fall along the keys: what was the highest so far is of no use, or
 * of every. */
static void test_ordered_tiles(void **state)
{
	enum {
		KEYS = 2000,
		COLS = 18,
	};
	double *scores = memory((size_t)KEYS * COLS, sizeof *scores);
	(void)state;
	for (size_t q = 0; q < COLS; q++)
		for (size_t j = 0; j < KEYS; j++)
			scores[q * KEYS + j] = (q % 2 ? 1 : -1) * (double)(float)(0.0001 * (double)(j / 3));
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++) {
			const size_t tops[] = {0, 5, 100, 1500};
			struct tile_case c = {{kinds[i], tops[k], NULL}, NO_SINK, KEYS, COLS, scores};
			check_tile(&c);
		}
	free(scores);
}

/* A score that is no number is left to the reference, with all others as they were; one
 * behind the columns in use does not matter. */
static void test_tile_refuses(void **state)
{
	static const float bad[] = {NAN, INFINITY};
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct normalization n = {.kind = kinds[i % 4]};
		_Alignas(64) float tile[5 * TILE] = {0}, before[5 * TILE];
		float highest[TILE];
		void *scratch = memory(normalize_scratch(5), 1);
		tile[3 * TILE + 20] = bad[i / 4];
		tile[TILE + 2] = 1;
		memcpy(before, tile, sizeof tile);
		assert_false(normalize_tile(&n, NO_SINK, tile, 5, 21, highest, scratch));
		assert_memory_equal(tile, before, sizeof tile);
		assert_true(normalize_tile(&n, NO_SINK, tile, 5, 20, highest, scratch));
		free(scratch);
	}
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
	    cmocka_unit_test(test_many_keys),     cmocka_unit_test(test_ties_of_tiles),
	    cmocka_unit_test(test_tiles),         cmocka_unit_test(test_ordered_tiles),
	    cmocka_unit_test(test_tile_refuses),  cmocka_unit_test(test_scratch_wraps),

	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
