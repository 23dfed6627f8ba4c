/* Activation functions of a vector (activation.h has their formulas), and what a gated layer and a
 * residual do to rows. */
#ifndef ATTN_KERNELS_ACTIVATIONS_H
#define ATTN_KERNELS_ACTIVATIONS_H

#include <string.h>

#include "kernels/activation.h"
#include "kernels/elementary.h"
#include "kernels/vector.h"

/* Where e^-x is 0, beside which any number is as good as infinity. */
#define FAR 104.0f

INLINE vec absolute(vec x)
{
	return (vec)((ivec)x & ((ivec)spread(-0.0f) ^ -1));
}

/* x in -FAR ... FAR; NaN stays NaN. */
INLINE vec not_far(vec x)
{
	return lowest_of(spread(FAR), highest_of(spread(-FAR), x));
}

/* x / (1 + e^-y), where y has the sign of x. */
INLINE vec times_sigmoid(vec x, vec y)
{
	vec t = exponential(-absolute(y)), near = highest_of(spread(-FAR), x);
	return where_less(x, (vec){0}, near * t, x) / (t + 1.0f);
}

/* x Phi(x) = max(x, 0) - |x| Phi(-|x|), and Phi(-a) = e^(-a^2 / 2) M(a), where M is Mills' ratio over
 * sqrt(2 pi): a polynomial of 1 / (1 + 0.3 a), minimax for the relative error (1.3e-7) up to 13.5,
 * where e^(-a^2 / 2) is 0. */
INLINE vec gelu(vec x)
{
	vec a = lowest_of(spread(13.5f), absolute(x)), s = 1.0f / fused(spread(0.3f), a, spread(1.0f));
	vec m = fused(spread(0.0359324105f), s, spread(-0.158278897f));
	m = fused(m, s, spread(0.20821175f));
	m = fused(m, s, spread(-0.0553987175f));
	m = fused(m, s, spread(0.129471838f));
	m = fused(m, s, spread(0.0996366739f));
	m = fused(m, s, spread(0.120798491f));
	m = fused(m, s, spread(0.119626381f));
	return highest_of((vec){0}, x) - a * (m * s) * exponential(a * a * -0.5f);
}

INLINE vec gelu_tanh(vec x)
{
	/* (1 + tanh u) / 2 = 1 / (1 + e^-2u) */
	const float root = 2 * 0.797884561f;
	return times_sigmoid(x, x * fused(x * x, spread(root * 0.044715f), spread(root)));
}

/* (1 - t) / (1 + t) with t = e^-2|x|; near 0, where that loses digits, as a quotient. */
INLINE vec tanh_of(vec x)
{
	vec near = not_far(x), a = absolute(near), t = exponential(a * -2.0f);
	vec far = (1.0f - t) / (t + 1.0f);
	far = where_less(near, (vec){0}, -far, far);
	return where_less(a, spread(0.5f), hyperbolic_tangent(near), far) + (near - near);
}

INLINE vec sigmoid(vec x)
{
	vec near = not_far(x), t = exponential(-absolute(near));
	return where_less(near, (vec){0}, t, spread(1.0f)) / (t + 1.0f) + (near - near);
}

/* x tanh(ln(1 + e^x)); with t = e^-|x|, tanh is 1 - 2 t^2 / (1 + 2 t + 2 t^2) from 0 on, and
 * t (t + 2) / (t (t + 2) + 2) below. */
INLINE vec mish(vec x)
{
	vec near = not_far(x), t = exponential(-absolute(near)), square = t * t * 2.0f;
	vec above = x - near * (square / (fused(spread(2.0f), t, spread(1.0f)) + square));
	vec inside = t * (t + 2.0f);
	return where_less(x, (vec){0}, near * inside / (inside + 2.0f), above);
}

INLINE vec relu(vec x)
{
	return highest_of((vec){0}, x);
}

INLINE vec activated(enum activation activation, vec x)
{
	switch (activation) {
	case ACTIVATION_GELU:
		return gelu(x);
	case ACTIVATION_GELU_TANH:
		return gelu_tanh(x);
	case ACTIVATION_GELU_10:
		return lowest_of(spread(10.0f), gelu(x));
	case ACTIVATION_QUICK_GELU:
		return times_sigmoid(x, x * 1.702f);
	case ACTIVATION_SILU:
		return times_sigmoid(x, x);
	case ACTIVATION_MISH:
		return mish(x);
	case ACTIVATION_RELU:
		return relu(x);
	case ACTIVATION_RELU2:
		return relu(x) * relu(x);
	case ACTIVATION_RELU6:
		return lowest_of(spread(6.0f), relu(x));
	case ACTIVATION_SIGMOID:
		return sigmoid(x);
	case ACTIVATION_TANH:
		return tanh_of(x);
	default:
		return x;
	}
}

/* A loop for each function, in which the switch is gone. */
INLINE void activate_all(const enum activation activation, float *x, size_t count)
{
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(x + i, activated(activation, load(x + i)));
	if (i < count) {
		float rest[LANES] = {0};
		memcpy(rest, x + i, (count - i) * sizeof *x);
		store(rest, activated(activation, load(rest)));
		memcpy(x + i, rest, (count - i) * sizeof *x);
	}
}

static void activate_numbers(enum activation activation, float *x, size_t count)
{
#define CASE(name)                                                                                           \
	case name:                                                                                           \
		activate_all(name, x, count);                                                                \
		break;
	switch (activation) {
		CASE(ACTIVATION_GELU)
		CASE(ACTIVATION_GELU_TANH)
		CASE(ACTIVATION_GELU_10)
		CASE(ACTIVATION_QUICK_GELU)
		CASE(ACTIVATION_SILU)
		CASE(ACTIVATION_MISH)
		CASE(ACTIVATION_RELU)
		CASE(ACTIVATION_RELU2)
		CASE(ACTIVATION_RELU6)
		CASE(ACTIVATION_SIGMOID)
		CASE(ACTIVATION_TANH)
	default:
		break;
	}
#undef CASE
}

static void multiply(float *x, const float *y, size_t count)
{
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(x + i, load(x + i) * load(y + i));
	for (; i < count; i++)
		x[i] *= y[i];
}

static void add(float *x, const float *y, size_t count)
{
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(x + i, load(x + i) + load(y + i));
	for (; i < count; i++)
		x[i] += y[i];
}

#endif
