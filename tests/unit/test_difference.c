/* Differences of rows, worked by hand, and the cells that differ most. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "consumers/top_differences.h"

static struct difference of(const float *a, const float *b, size_t count, double absolute, double relative)
{
	struct difference d = {0};
	difference_add_row(&d, &(struct tolerance){absolute, relative}, 3, a, b, count);
	return d;
}

static void test_row(void **state)
{
	(void)state;
	const float a[] = {1, 2, -3, 0}, b[] = {1, 2.5F, -1, 0.25F};
	struct difference d = of(a, b, 4, 0.25, 0.1); /* 0.25 + 0.1 |b|: .35, .5, .35, .275 */
	assert_true(d.largest == 2);
	assert_int_equal(d.query, 3);
	assert_int_equal(d.column, 2);
	assert_true(d.sum == 2.75);
	assert_int_equal(d.cells, 4);
	assert_int_equal(d.beyond, 1);
	assert_int_equal(of(a, b, 4, 0.25, 0).beyond, 2); /* 0.25 itself is not beyond */
	assert_int_equal(of(a, b, 4, 0, 0).beyond, 3);
	assert_int_equal(of(a, b, 4, 0, 1).beyond, 1);
}

static void test_infinity(void **state)
{
	(void)state;
	const float low = -INFINITY, some = 1;
	struct difference d = of(&low, &low, 1, 0, 1);
	assert_true(d.largest == 0 && d.sum == 0 && d.beyond == 0);
	d = of(&low, &some, 1, 1e300, 1e300);
	assert_true(isinf(d.largest) && d.beyond == 1);
	d = of(&some, &low, 1, 1e300, 1e300); /* the tolerance is infinite, too */
	assert_true(isinf(d.largest) && d.beyond == 1);
}

static void test_distance(void **state)
{
	(void)state;
	const float a[] = {1, 0, 0}, b[] = {0, 0.5F, 0.5F}, c[] = {2, 0, 0}, none[] = {0, 0, 0},
		    less[] = {1, -1, 0};
	assert_true(jensen_shannon(a, b, 3) == 1);
	assert_true(jensen_shannon(a, c, 3) == 0); /* each divided by its sum */
	assert_true(isnan(jensen_shannon(a, none, 3)));
	assert_true(isnan(jensen_shannon(less, a, 3)));
}

enum {
	ROWS = 2000,
	KEYS = 3
};

/* Cells whose differences repeat: of equals the first come first, however many were seen. */
static void test_top(void **state)
{
	(void)state;
	static float a[ROWS * KEYS], b[ROWS * KEYS];
	for (size_t i = 0; i < ROWS * KEYS; i++)
		a[i] = (float)(i * 37 % 100) * (i % 2 ? 1 : -1);
	const struct row_block pair[2] = {{.weights = a}, {.weights = b}};
	const struct row_block block = {.query = 10, .count = ROWS, .keys = KEYS, .pair = pair};
	struct top_differences t;
	top_differences_init(&t, 50, DIFFERENCE_WEIGHTS, SCORES_RAW, 0);
	assert_int_equal(t.consumer.consume(&t.consumer, &block, NULL), ATTN_OK);
	top_differences_sort(&t);
	assert_int_equal(t.count, 50);
	for (size_t n = 0; n < 50; n++) { /* i * 37 is 99 mod 100 where i is 27 mod 100 */
		size_t i = 27 + 100 * n;
		assert_true(fabsf(t.cells[n].a) == 99);
		assert_int_equal(t.cells[n].query, 10 + i / KEYS);
		assert_int_equal(t.cells[n].column, i % KEYS);
	}
	top_differences_release(&t);
	top_differences_init(&t, SIZE_MAX, DIFFERENCE_WEIGHTS, SCORES_RAW, 0);
	assert_int_equal(t.consumer.consume(&t.consumer, &block, NULL), ATTN_OK);
	top_differences_sort(&t);
	assert_int_equal(t.count, ROWS * KEYS * 99 / 100); /* those that are 0 are none */
	top_differences_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_row),
	    cmocka_unit_test(test_infinity),
	    cmocka_unit_test(test_distance),
	    cmocka_unit_test(test_top),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
