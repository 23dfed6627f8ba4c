/* Rows of float32 against rows of float64. */
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

static void test_scratch_wraps(void **state)
{
	(void)state;
	assert_true(normalize_scratch(SIZE_MAX) == SIZE_MAX);
	assert_true(normalize_scratch(SIZE_MAX / 4) == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ties),          cmocka_unit_test(test_float_rows),
	    cmocka_unit_test(test_ordered_rows),  cmocka_unit_test(test_row_refused),
	    cmocka_unit_test(test_scratch_wraps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
