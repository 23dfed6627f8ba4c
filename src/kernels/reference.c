#include "kernels/reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/half.h"

/* Four sums, so that a multiply-add need not wait for the one before. */
static double dot(const float *a, const float *b, size_t count)
{
	double sums[4] = {0};
	size_t i = 0;
	for (; i + 4 <= count; i += 4)
		for (size_t lane = 0; lane < 4; lane++)
			sums[lane] += (double)a[i + lane] * (double)b[i + lane];
	for (; i < count; i++)
		sums[0] += (double)a[i] * (double)b[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void reference_scores(double *scores, const float *q, const float *k, size_t k_stride, size_t d, size_t keys,
		      double scale)
{
	for (size_t j = 0; j < keys; j++)
		scores[j] = scale * dot(q, k + j * k_stride, d);
}

void reference_additive(double *scores, const float *q, const float *k, size_t k_stride, const float *v,
			size_t inner, size_t keys, double scale)
{
	for (size_t j = 0; j < keys; j++) {
		const float *key = k + j * k_stride;
		double sum = 0;
		for (size_t a = 0; a < inner; a++)
			sum += (double)v[a] * tanh((double)q[a] + (double)key[a]);
		scores[j] = scale * sum;
	}
}

void reference_softcap(double *scores, size_t keys, double cap)
{
	for (size_t j = 0; j < keys; j++)
		scores[j] = cap * tanh(scores[j] / cap);
}

void reference_softmax(float *weights, double *scores, size_t keys)
{
	double highest = -INFINITY, sum = 0;
	for (size_t j = 0; j < keys; j++)
		highest = fmax(highest, scores[j]);
	if (highest == -INFINITY) {
		memset(weights, 0, keys * sizeof *weights);
		return;
	}
	for (size_t j = 0; j < keys; j++) {
		scores[j] = scores[j] == -INFINITY ? 0 : exp(scores[j] - highest);
		sum += scores[j];
	}
	for (size_t j = 0; j < keys; j++)
		weights[j] = (float)(scores[j] / sum);
}

void reference_weighted_sum(float *context, const float *weights, const float *values, size_t v_stride,
			    size_t keys, size_t e, double *sums)
{
	memset(sums, 0, e * sizeof *sums);
	for (size_t j = 0; j < keys; j++) {
		double weight = (double)weights[j];
		if (weight == 0)
			continue;
		for (size_t c = 0; c < e; c++)
			sums[c] += weight * (double)values[j * v_stride + c];
	}
	/* Rounded weights may add up to more than 1, but a mean is no more than its values. */
	const double most = (double)FLT_MAX;
	for (size_t c = 0; c < e; c++)
		context[c] = (float)(sums[c] > most ? most : sums[c] < -most ? -most : sums[c]);
}

void reference_feature_map(float *x, size_t count)
{
	for (size_t i = 0; i < count; i++)
		x[i] = x[i] > 0 ? x[i] + 1 : (float)exp((double)x[i]);
}

double reference_magnitudes(const float *numbers, size_t count, float *largest)
{
	double sum = 0;
	*largest = 0;
	for (size_t i = 0; i < count; i++) {
		sum += fabs((double)numbers[i]);
		*largest = fmaxf(*largest, fabsf(numbers[i]));
	}
	return sum;
}

void reference_widen_f16(const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	for (size_t i = 0; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = half_value(half);
	}
}

void reference_widen_bf16(const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	for (size_t i = 0; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = float_of_bits((uint32_t)half << 16);
	}
}
