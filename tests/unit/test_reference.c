/* The reference's scores against numbers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "kernels/reference.h"

/* tanh(ln 2) = 3/5, tanh(ln 3) = 4/5, tanh(ln(2) / 2) = 1/3; what lies between the rows of
 * keys is not read. */
static void test_additive_by_hand(void **state)
{
	(void)state;
	const float ln2 = 0.693147181f, ln3 = 1.09861229f;
	const float q[] = {ln2, 0}, v[] = {5, -15};
	const float k[] = {0, ln3, NAN, ln3 - ln2, -ln2 / 2, NAN, -2 * ln2, 0};
	double scores[4] = {0, 0, 0, 7};
	reference_additive(scores, q, k, 3, v, 2, 3, 0.5);
	const double want[] = {
	    0.5 * (5 * 0.6 - 15 * 0.8),       /* tanh(ln 2), tanh(ln 3) */
	    0.5 * (5 * 0.8 + 15 * (1.0 / 3)), /* tanh(ln 3), tanh(-ln 2 / 2) */
	    0.5 * (5 * -0.6),                 /* tanh(-ln 2), tanh(0) */
	    7,                                /* not a key */
	};
	for (int j = 0; j < 4; j++)
		assert_true(fabs(scores[j] - want[j]) <= 1e-6);
}

/* Where the sums are huge, tanh is 1, and adding is float64: no overflow. */
static void test_additive_saturates(void **state)
{
	(void)state;
	const float q[] = {3e38f, -3e38f, 1e30f}, k[] = {3e38f, -3e38f, -2e30f}, v[] = {1, 2, 4};
	double score;
	reference_additive(&score, q, k, 3, v, 3, 1, 1);
	assert_true(score == 1 - 2 - 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_additive_by_hand),
	    cmocka_unit_test(test_additive_saturates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
