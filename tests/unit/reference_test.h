/* The reference against numbers worked out by hand.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_REFERENCE_TEST_H
#define ATTN_TESTS_REFERENCE_TEST_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "kernels/reference.h"

/* The natural logarithms of 2, 3 and 5. */
static const double log2_by_hand = 0.69314718055994531, log3_by_hand = 1.0986122886681098,
		    log5_by_hand = 1.6094379124341003;

static bool near(double got, double want, double error)
{
	return fabs(got - want) <= error * fabs(want);
}

/* float32 sums would lose the 1, and then leave its range. */
static void test_reference_sums_are_float64(void **state)
{
	(void)state;
	const float large[] = {0x1p30f, 1, -0x1p30f}, huge[] = {3e38f, 3e38f, -3e38f}, ones[] = {1, 1, 1};
	float out;
	double score, sums[1];
	reference_scores(&score, large, ones, 3, 3, 1, 2);
	assert_true(score == 2);
	reference_weighted_sum(&out, ones, large, 1, 3, 1, sums);
	assert_true(out == 1);
	reference_weighted_sum(&out, ones, huge, 1, 3, 1, sums);
	assert_true(out == 3e38f);
}

/* Five terms: four side by side and one after them. */
static void test_reference_scores(void **state)
{
	(void)state;
	const float q[] = {1, 2, -1, 0.5f, 3}, k[] = {1, 1, 1, 1, 1, NAN, 2, -1, 0, 4, -2};
	double scores[] = {0, 0, 7};
	reference_scores(scores, q, k, 6, 5, 2, 0.5);
	assert_true(scores[0] == 0.5 * (1 + 2 - 1 + 0.5 + 3));
	assert_true(scores[1] == 0.5 * (2 - 2 + 2 - 6));
	assert_true(scores[2] == 7);
}

/* tanh(ln 2) = 3/5, tanh(ln 3) = 4/5, tanh(ln(2) / 2) = 1/3; what lies between the rows of
 * keys is not read. */
static void test_reference_additive(void **state)
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
static void test_reference_additive_saturates(void **state)
{
	(void)state;
	const float q[] = {3e38f, -3e38f, 1e30f}, k[] = {3e38f, -3e38f, -2e30f}, v[] = {1, 2, 4};
	double score;
	reference_additive(&score, q, k, 3, v, 3, 1, 1);
	assert_true(score == 1 - 2 - 4);
}

/* tanh(ln 2) = 3/5, tanh(-ln 3) = -4/5. */
static void test_reference_softcap(void **state)
{
	(void)state;
	double scores[] = {2 * log2_by_hand, -2 * log3_by_hand, 0, INFINITY, -1e300, 7};
	const double want[] = {1.2, -1.6, 0, 2, -2};
	reference_softcap(scores, 5, 2);
	for (int j = 0; j < 5; j++)
		assert_true(near(scores[j], want[j], 1e-15));
	assert_true(scores[5] == 7);
}

/* exp(ln 1), exp(ln 2) and exp(ln 5) add up to 8; what is added to all scores is lost. */
static void test_reference_softmax(void **state)
{
	(void)state;
	const double shifts[] = {0, -1000, 1000};
	const float want[] = {0.125f, 0, 0.25f, 0.625f};
	for (int s = 0; s < 3; s++) {
		double scores[] = {shifts[s], -INFINITY, shifts[s] + log2_by_hand, shifts[s] + log5_by_hand};
		float weights[] = {9, 9, 9, 9, 9};
		reference_softmax(weights, scores, 4);
		for (int j = 0; j < 4; j++)
			assert_true(near((double)weights[j], (double)want[j], 0x1p-23));
		assert_true(weights[1] == 0 && weights[4] == 9);
	}
}

static void test_reference_softmax_extremes(void **state)
{
	(void)state;
	double masked[] = {-INFINITY, -INFINITY}, far[] = {-1e308, 1e308}, one[] = {-1e308};
	float weights[2] = {9, 9};
	reference_softmax(weights, masked, 2);
	assert_true(weights[0] == 0 && weights[1] == 0);
	reference_softmax(weights, far, 2);
	assert_true(weights[0] == 0 && weights[1] == 1);
	reference_softmax(weights, one, 1);
	assert_true(weights[0] == 1);
}

/* A value at weight 0 is skipped; a mean is no more than its values, though the weights
 * add up to more than 1. */
static void test_reference_weighted_sum(void **state)
{
	(void)state;
	const float weights[] = {0.25f, 0, 0.75f}, values[] = {4, -8, NAN, NAN, INFINITY, NAN, 0, 4};
	const float rounded[] = {0.5f, 0.5000001f}, most[] = {FLT_MAX, -FLT_MAX, FLT_MAX, -FLT_MAX};
	float context[] = {9, 9, 9};
	double sums[2];
	reference_weighted_sum(context, weights, values, 3, 3, 2, sums);
	assert_true(context[0] == 1 && context[1] == 1 && context[2] == 9);
	reference_weighted_sum(context, rounded, most, 2, 2, 2, sums);
	assert_true(context[0] == FLT_MAX && context[1] == -FLT_MAX);
	reference_weighted_sum(context, weights, values, 3, 0, 2, sums);
	assert_true(context[0] == 0 && context[1] == 0);
}

/* exp(-ln 2) = 1/2. */
static void test_reference_magnitudes(void **state)
{
	static const float numbers[] = {0.5f, -2, 1.25f, -0.0f};
	float most;
	(void)state;
	assert_true(reference_magnitudes(numbers, 4, &most) == 3.75);
	assert_true(most == 2);
	assert_true(reference_magnitudes(numbers, 0, &most) == 0);
	assert_true(most == 0);
}

static void test_reference_feature_map(void **state)
{
	(void)state;
	float x[] = {3, 0, -0.693147181f, -INFINITY, NAN, 9};
	reference_feature_map(x, 5);
	assert_true(x[0] == 4 && x[1] == 1 && x[3] == 0 && isnan(x[4]) && x[5] == 9);
	assert_true(near((double)x[2], 0.5, 1e-7));
}

#endif
