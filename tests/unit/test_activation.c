/* Activations against libm, in float64, and numbers that are known. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/kernels.h"

static void test_names(void **state)
{
	(void)state;
	enum activation a;
	assert_true(activation_named("gelu", &a) && a == ACTIVATION_GELU);
	assert_true(activation_named("gelu_new", &a) && a == ACTIVATION_GELU_TANH);
	assert_true(activation_named("swish", &a) && a == ACTIVATION_SILU);
	assert_false(activation_named("Gelu", &a));
	assert_false(activation_named("", &a));
}

/* Phi(1) = 0.841344746068543, sigma(1) = 0.731058578630005, ln(1 + e) = 1.313261687518223. */
static void test_known(void **state)
{
	(void)state;
	static const struct {
		enum activation activation;
		double x, value;
	} known[] = {
	    {ACTIVATION_LINEAR, -3, -3},
	    {ACTIVATION_GELU, 1, 0.841344746068543},
	    {ACTIVATION_GELU, -1, 0.841344746068543 - 1},
	    {ACTIVATION_GELU_TANH, 1, 0.841191990608276},
	    {ACTIVATION_GELU_10, 12, 10},
	    {ACTIVATION_GELU_10, -1, 0.841344746068543 - 1},
	    {ACTIVATION_QUICK_GELU, 1, 0.845795765978838},
	    {ACTIVATION_SILU, 1, 0.731058578630005},
	    {ACTIVATION_SILU, -1, 0.731058578630005 - 1},
	    {ACTIVATION_MISH, 1, 0.865098388405085},
	    {ACTIVATION_RELU, -2, 0},
	    {ACTIVATION_RELU, 2, 2},
	    {ACTIVATION_RELU2, 3, 9},
	    {ACTIVATION_RELU2, -3, 0},
	    {ACTIVATION_RELU6, 7, 6},
	    {ACTIVATION_SIGMOID, 1, 0.731058578630005},
	    {ACTIVATION_TANH, 1, 0.761594155955765},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		double value = activation_value(known[i].activation, known[i].x);
		if (!(fabs(value - known[i].value) < 1e-9))
			fail_msg("activation %d of %g is %.15g, expected %.15g", known[i].activation,
				 known[i].x, value, known[i].value);
	}
}

static void check_array(const struct kernels *k, enum activation activation, const float *x, size_t count)
{
	float y[100];
	for (size_t i = 0; i < count; i++)
		y[i] = x[i];
	activate(k, activation, y, count);
	for (size_t i = 0; i < count; i++) {
		double expected = activation_value(activation, (double)x[i]);
		if (!(fabs((double)y[i] - expected) <= 1e-6 * fmax(1, fabs(expected))))
			fail_msg("%s: activation %d of %a is %.9g, expected %.9g", kernels_name(k),
				 activation, (double)x[i], (double)y[i], expected);
	}
}

/* All sets, over small, usual and large numbers, in arrays of every length modulo a vector. */
static void test_values(void **state)
{
	(void)state;
	for (size_t set = 0; kernels_runnable(set); set++)
		for (enum activation a = 0; a < ACTIVATIONS; a++) {
			float x[100];
			size_t count = 0;
			for (double v = -30; v <= 30; v += 0.00091) {
				x[count++] = (float)v;
				if (count >= 1 + (size_t)fabs(v * 3)) {
					check_array(kernels_runnable(set), a, x, count);
					count = 0;
				}
			}
			const float far[] = {0,    -0.0f, 1e-30f, -1e-30f, FLT_MIN, 100,
					     -100, 1e4f,  -1e4f,  88.1f,   -88.1f};
			check_array(kernels_runnable(set), a, far, sizeof far / sizeof *far);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_known),
	    cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
