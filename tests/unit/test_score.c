/* Score functions: pairs worked by hand, steps of kernels against rows of float64, and what
 * float32 can hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "attention/score.h"

enum {
	INNER = 5,
	KEYS = 7,
	COLS = 9,
};

static float numbers[COLS * INNER + KEYS * INNER + INNER];

static void fill(void)
{
	uint32_t draw = 7;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		draw = draw * 1664525 + 1013904223;
		numbers[i] = (float)(draw >> 8) * 0x1p-23f - 1;
	}
}

/* Each is found by its name and has all that the engine calls. */
static void test_table(void **state)
{
	size_t count = 0;
	(void)state;
	for (; score_function_table[count]; count++) {
		const struct score_function *f = score_function_table[count];
		assert_true(score_function_named(f->name) == f);
		assert_true(f->term && f->row && f->step && f->fits);
		assert_int_equal(f->needed & f->optional, 0);
		assert_true(!(f->needed & SCORE_U) || f->needed & SCORE_W);
	}
	assert_int_equal(count, 5);
	assert_true(score_function_table[0] == &score_scaled_dot);
	assert_null(score_function_named("euclidean"));
	assert_null(score_function_named(""));
}

static void test_scales(void **state)
{
	const float temperature[] = {1, 4};
	struct score s = {.scale = 0.5};
	(void)state;
	for (size_t i = 0; score_function_table[i]; i++)
		assert_true(score_default_scale(score_function_table[i], 16) == (i == 0 ? 0.25 : 1));
	assert_true(score_scale(&s, 1) == 0.5);
	s.temperature = temperature;
	assert_true(score_scale(&s, 0) == 0.5 && score_scale(&s, 1) == 0.125);
}

/* q = (1, 2) meets (3, 4) and (-1, 0.5), which lie 3 numbers apart. */
static void test_products_by_hand(void **state)
{
	const float q[] = {1, 2}, k[] = {3, 4, NAN, -1, 0.5f};
	const struct score_pairs pairs = {.queries = q, .keys = k, .key_stride = 3, .count = 2, .scale = 0.5};
	const struct score s = {.inner = 2};
	double scores[2];
	(void)state;
	for (size_t i = 0; score_function_table[i]; i++) {
		if (score_function_table[i]->needed & SCORE_V)
			continue;
		score_function_table[i]->row(&s, &pairs, scores);
		assert_true(scores[0] == 5.5 && scores[1] == 0);
	}
}

/* The second head's v, 2 and 10: 2 tanh(1 + 3) + 10 tanh(2 - 2). */
static void test_additive_by_hand(void **state)
{
	const float q[] = {1, 2}, k[] = {3, -2}, v[] = {NAN, NAN, 2, 10};
	const struct score_pairs pairs = {
	    .query_head = 1, .queries = q, .keys = k, .key_stride = 2, .count = 1, .scale = 3};
	const struct score s = {.inner = 2, .v = {v, 1, 2, 2}};
	double score;
	(void)state;
	score_additive.row(&s, &pairs, &score);
	assert_true(fabs(score - 6 * tanh(4)) < 1e-14);
}

/* Cosine scores are products of vectors of length 1; a vector of zeros stays one. */
static void test_unit_length(void **state)
{
	float x[] = {3, 4, 0, 0, -5, 0};
	const float expected[] = {0.6f, 0.8f, 0, 0, -1, 0};
	(void)state;
	score_cosine.prepare(x, 3, 2);
	for (size_t i = 0; i < 6; i++)
		assert_true(fabsf(x[i] - expected[i]) < 1e-7f);
	assert_null(score_scaled_dot.prepare);
}

static void check_steps(const struct kernels *kernels, const struct score_function *f)
{
	const float *q = numbers, *k = q + COLS * INNER, *v = k + KEYS * INNER;
	const struct score s = {.function = f, .inner = INNER, .v = {v, 1, INNER, 0}};
	_Alignas(64) float queries[INNER * TILE], scores[KEYS * TILE];
	struct score_pairs pairs = {
	    .queries = queries, .keys = k, .key_stride = INNER, .count = KEYS, .cols = COLS, .scale = 0.75};
	kernels->pack(queries, q, INNER, COLS, INNER, f->scales_queries ? 0.75f : 1);
	f->step(&s, kernels, &pairs, scores);
	for (size_t column = 0; column < COLS; column++) {
		double row[KEYS];
		pairs.queries = q + column * INNER;
		f->row(&s, &pairs, row);
		for (size_t j = 0; j < KEYS; j++)
			if (!(fabs((double)scores[j * TILE + column] - row[j]) < 2e-6))
				fail_msg("%s, %s: score (%zu, %zu) is %g, expected %g", kernels->name,
					 f->name, column, j, (double)scores[j * TILE + column], row[j]);
	}
}

static void test_steps(void **state)
{
	(void)state;
	fill();
	for (size_t i = 0; kernels_runnable(i); i++)
		for (size_t f = 0; score_function_table[f]; f++)
			check_steps(kernels_runnable(i), score_function_table[f]);
}

/* What is summed up must not leave float32, in products nor in sums of v. */
static void test_fits(void **state)
{
	const double most = (double)FLT_MAX;
	const struct score_bounds fine = {.q = 1e18, .k = 1e18, .v = 10, .scale = 1, .inner = 100};
	struct score_bounds b = fine;
	(void)state;
	assert_true(score_dot.fits(&fine) && score_additive.fits(&fine));
	b.scale = 4;
	assert_false(score_dot.fits(&b)); /* 4e38 in all */
	assert_true(score_additive.fits(&b));
	b = fine;
	b.v = most / 100;
	assert_true(score_dot.fits(&b));
	assert_false(score_additive.fits(&b));
	b = fine;
	b.q = most;
	b.k = 0;
	assert_false(score_dot.fits(&b)); /* a scaled query, already */
	assert_false(score_additive.fits(&b));
}

/* The engine's constants suit every set of kernels: what is read or written up to a multiple
 * of lanes stays within. */
static void test_lanes(void **state)
{
	(void)state;
	for (size_t i = 0; kernels_runnable(i); i++) {
		size_t lanes = kernels_runnable(i)->lanes;
		assert_true(TILE % lanes == 0 && WHOLE_ROWS % lanes == 0 && RELATIVE_SPARE >= lanes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_scales),
	    cmocka_unit_test(test_products_by_hand),
	    cmocka_unit_test(test_additive_by_hand),
	    cmocka_unit_test(test_unit_length),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_fits),
	    cmocka_unit_test(test_lanes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
