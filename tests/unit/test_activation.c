/* Activation functions: each set of kernels and the reference against the formulas that define them,
 * written another way and in float64, over numbers of all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/activation.h"
#include "kernels/reference.h"
#include "kernels_test.h"

/* By the definition, with long double where terms of almost the same size are subtracted. */
static double formula(enum activation activation, double x)
{
	long double y = (long double)x;
	switch (activation) {
	case ACTIVATION_LINEAR:
		return x;
	case ACTIVATION_GELU:
		return (double)(y * (1 + erfl(y / sqrtl(2))) / 2);
	case ACTIVATION_GELU_TANH:
		return (double)(y * (1 + tanhl(sqrtl(2 / acosl(-1)) * (y + 0.044715L * y * y * y))) / 2);
	case ACTIVATION_GELU_10:
		return fmin(fmax(formula(ACTIVATION_GELU, x), -10), 10);
	case ACTIVATION_QUICK_GELU:
		return x * formula(ACTIVATION_SIGMOID, 1.702 * x);
	case ACTIVATION_SILU:
		return x * formula(ACTIVATION_SIGMOID, x);
	case ACTIVATION_MISH:
		return x * tanh(x > 30 ? x : log(1 + exp(x)));
	case ACTIVATION_RELU:
		return fmax(x, 0);
	case ACTIVATION_RELU2:
		return fmax(x, 0) * fmax(x, 0);
	case ACTIVATION_RELU6:
		return fmin(fmax(x, 0), 6);
	case ACTIVATION_SIGMOID:
		return x < 0 ? exp(x) / (exp(x) + 1) : 1 / (1 + exp(-x));
	default:
		return (exp(2 * fmin(x, 300)) - 1) / (exp(2 * fmin(x, 300)) + 1);
	}
}

enum {
	NUMBERS = 1003, /* not of whole vectors */
	STEP = 131101   /* of bits: all signs, exponents and many fractions */
};

static double worst[ACTIVATIONS];

static void check_numbers(const struct kernels *k, enum activation activation, const float *x, size_t count)
{
	struct area got = output_new(count, 3);
	memcpy(got.data, x, count * sizeof *x);
	activate(k, activation, got.data, count);
	check_guards(&got, "activate");
	for (size_t i = 0; i < count; i++) {
		double want = formula(activation, (double)x[i]);
		if (fabs(want) > 3.4e38) /* relu2 */
			want = INFINITY;
		double error = fabs((double)got.data[i] - want) / fmax(1, fabs(want));
		bool good = isinf(want) ? (double)got.data[i] == want : error <= 2e-7;
		CHECK(good, "%s, function %d of %.9g: %.9g, expected %.9g", kernels_name(k), (int)activation,
		      (double)x[i], (double)got.data[i], want);
		worst[activation] = fmax(worst[activation], isinf(want) ? 0 : error);
	}
	digest_add(got.data, count);
	area_free(&got);
}

static void check_functions(const struct kernels *k)
{
	float x[NUMBERS];
	size_t count = 0;
	memset(worst, 0, sizeof worst);
	for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += STEP) {
		uint32_t low = (uint32_t)bits;
		memcpy(x + count, &low, sizeof low);
		count += isfinite(x[count]) != 0;
		if (count == NUMBERS) {
			for (int a = 0; a < ACTIVATIONS; a++)
				check_numbers(k, (enum activation)a, x, count);
			count = 0;
		}
	}
	for (int round = 0; round < 40; round++) { /* where they are not almost straight */
		for (size_t i = 0; i < NUMBERS; i++)
			x[i] = between(-20, 20) * (round % 2 ? 1 : 0.2f);
		for (int a = 0; a < ACTIVATIONS; a++)
			check_numbers(k, (enum activation)a, x, NUMBERS);
	}
	for (int a = 0; a < ACTIVATIONS; a++)
		print_message("%s: function %d is within %.2g\n", kernels_name(k), a, worst[a]);
}

static void test_functions(void **state)
{
	(void)state;
	check_functions(NULL);
	with_every_set("activations", check_functions);
}

/* Infinity becomes the limit; NaN, whatever its bits, stays NaN. */
static void check_extremes(const struct kernels *k)
{
	static const float low[ACTIVATIONS] = {[ACTIVATION_LINEAR] = -INFINITY, [ACTIVATION_TANH] = -1};
	for (int a = 0; a < ACTIVATIONS; a++) {
		const uint32_t nans[] = {0x7fc00000, 0x7fc00001, 0xffc00fff, 0x7fffffff, 0xffffffff};
		float x[20] = {INFINITY, -INFINITY};
		memcpy(x + 2, nans, sizeof nans);
		bool one = a == ACTIVATION_SIGMOID || a == ACTIVATION_TANH;
		float high = one ? 1 : a == ACTIVATION_RELU6 ? 6 : a == ACTIVATION_GELU_10 ? 10 : INFINITY;
		activate(k, (enum activation)a, x, 20);
		CHECK(x[0] == high, "%s, function %d of infinity: %g", kernels_name(k), a, (double)x[0]);
		CHECK(x[1] == low[a], "%s, function %d of -infinity: %g", kernels_name(k), a, (double)x[1]);
		for (int i = 2; i < 7; i++)
			CHECK(isnan(x[i]), "%s, function %d of NaN: %g", kernels_name(k), a, (double)x[i]);
	}
}

static void test_extremes(void **state)
{
	(void)state;
	check_extremes(NULL);
	with_every_set("extremes", check_extremes);
}

static void test_names(void **state)
{
	(void)state;
	enum activation found = ACTIVATION_LINEAR;
	assert_true(activation_named("gelu_new", &found) && found == ACTIVATION_GELU_TANH);
	assert_true(activation_named("gelu", &found) && found == ACTIVATION_GELU);
	assert_true(activation_named("swish", &found) && found == ACTIVATION_SILU);
	assert_false(activation_named("gel", &found));
	assert_false(activation_named("", &found));
}

/* --- what stands beside them in kernels ------------------------------------------ */

static void check_multiply_and_add(const struct kernels *k)
{
	for (size_t count = 0; count < 70; count++) {
		struct area x = output_new(count, 1), y = input_new(count), before = input_new(count);
		for (size_t i = 0; i < count; i++) {
			y.data[i] = between(-3, 3);
			x.data[i] = before.data[i] = between(-3, 3);
		}
		k->multiply(x.data, y.data, count);
		for (size_t i = 0; i < count; i++)
			assert_true(x.data[i] == before.data[i] * y.data[i]);
		memcpy(x.data, before.data, count * sizeof *x.data);
		k->add(x.data, y.data, count);
		for (size_t i = 0; i < count; i++)
			assert_true(x.data[i] == before.data[i] + y.data[i]);
		check_guards(&x, "add");
		area_free(&x);
		area_free(&y);
		area_free(&before);
	}
}

static void test_multiply_and_add(void **state)
{
	(void)state;
	with_every_set("multiply and add", check_multiply_and_add);
}

/* All numbers of 16 bits, at odd addresses, by powers of two. */
static void check_widened(const struct kernels *k)
{
	enum {
		ALL = 1 << 16
	};
	static unsigned char bytes[2 * ALL + 1];
	static float wide[ALL], brain[ALL];
	for (int i = 0; i < ALL; i++) {
		bytes[2 * i + 1] = (unsigned char)i;
		bytes[2 * i + 2] = (unsigned char)(i >> 8);
	}
	if (k) {
		k->widen_f16(bytes + 1, ALL - 3, wide);
		k->widen_bf16(bytes + 1, ALL - 3, brain);
	} else {
		reference_widen_f16(bytes + 1, ALL - 3, wide);
		reference_widen_bf16(bytes + 1, ALL - 3, brain);
	}
	for (int i = 0; i < ALL - 3; i++) {
		int exponent = i >> 10 & 31, fraction = i & 1023;
		double want = ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
		if (exponent == 31)
			want = fraction ? NAN : INFINITY;
		want = i & 0x8000 ? -want : want;
		CHECK(isnan(want) ? isnan(wide[i]) : (double)wide[i] == want,
		      "float16 %04x is %g, expected %g", (unsigned)i, (double)wide[i], want);
		assert_true(!signbit(want) == !signbit(wide[i]) || isnan(want));
		exponent = i >> 7 & 255;
		fraction = i & 127;
		want = ldexp(exponent ? 128 + fraction : fraction, (exponent ? exponent : 1) - 134);
		if (exponent == 255)
			want = fraction ? NAN : INFINITY;
		want = i & 0x8000 ? -want : want;
		CHECK(isnan(want) ? isnan(brain[i]) : (double)brain[i] == want,
		      "bfloat16 %04x is %g, expected %g", (unsigned)i, (double)brain[i], want);
	}
}

static void test_widened(void **state)
{
	(void)state;
	check_widened(NULL);
	with_every_set("16-bit numbers", check_widened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_functions), cmocka_unit_test(test_extremes),
	    cmocka_unit_test(test_names),     cmocka_unit_test(test_multiply_and_add),
	    cmocka_unit_test(test_widened),
	};
	choose_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
