/* Activations of whole arrays. */
#ifndef ATTN_KERNELS_ACTIVATIONS_H
#define ATTN_KERNELS_ACTIVATIONS_H

#include <string.h>

#include "kernels/activation.h"
#include "kernels/elementary.h"
#include "kernels/vector.h"

/* erf x = x P(x^2) / Q(x^2), within 4e-7.  Minimax for the error of erf (1.7e-8) up to 3.92, the rest
 * is rounding; from there on it is 1. */
INLINE vec error_function(vec from)
{
	const float most = 3.92f;
	vec x = highest_of(spread(-most), lowest_of(spread(most), from));
	vec square = x * x;
	vec p = fused(square, spread(0x1.11165ap-19f), spread(0x1.2d7080p-12f));
	vec q = fused(square, spread(0x1.3f59e8p-15f), spread(0x1.3774eap-10f));
	p = fused(p, square, spread(0x1.fb0880p-9f));
	q = fused(q, square, spread(0x1.f12af4p-7f));
	p = fused(p, square, spread(0x1.b2ac0ap-5f));
	q = fused(q, square, spread(0x1.d76374p-4f));
	p = fused(p, square, spread(0x1.8ac898p-3f));
	q = fused(q, square, spread(0x1.0221fep-1f));
	p = fused(p, square, spread(0x1.20dd72p+0f));
	q = fused(q, square, spread(1.0f));
	vec value = where_less(from, spread(-most), spread(-1.0f), x * p / q);
	return where_less(spread(most), from, spread(1.0f), value);
}

/* 1 / (1 + e^-x); beyond -88 as at -88. */
INLINE vec sigmoid(vec x)
{
	return 1.0f / (1.0f + exponential(lowest_of(spread(88.0f), -x)));
}

INLINE vec gelu(vec x)
{
	return x * 0.5f * (1.0f + error_function(x * 0.707106781f));
}

INLINE vec gelu_tanh(vec x)
{
	vec inner = fused(x * x * x, spread(0.044715f), x) * 0.797884561f;
	vec factor = 1.0f + hyperbolic_tangent(inner);
	return x * 0.5f * where_less(inner, spread(-9.0f), (vec){0}, factor);
}

/* tanh(ln(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2); from 20 on that is 1. */
INLINE vec mish(vec x)
{
	vec e = exponential(lowest_of(spread(20.0f), x));
	vec n = e * (e + 2.0f);
	return x * n / (n + 2.0f);
}

INLINE vec relu(vec x)
{
	return highest_of(x, (vec){0});
}

#define ACTIVATE(value)                                                                                      \
	for (; i + LANES <= count; i += LANES) {                                                             \
		vec v = load(x + i);                                                                         \
		store(x + i, value);                                                                         \
	}                                                                                                    \
	break

/* Whole vectors of them; returns how many numbers these have. */
INLINE size_t activate_vectors(enum activation activation, float *x, size_t count)
{
	size_t i = 0;
	switch (activation) {
	case ACTIVATION_GELU:
		ACTIVATE(gelu(v));
	case ACTIVATION_GELU_TANH:
		ACTIVATE(gelu_tanh(v));
	case ACTIVATION_GELU_10:
		ACTIVATE(highest_of(spread(-10.0f), lowest_of(spread(10.0f), gelu(v))));
	case ACTIVATION_QUICK_GELU:
		ACTIVATE(v * sigmoid(v * 1.702f));
	case ACTIVATION_SILU:
		ACTIVATE(v * sigmoid(v));
	case ACTIVATION_MISH:
		ACTIVATE(mish(v));
	case ACTIVATION_RELU:
		ACTIVATE(relu(v));
	case ACTIVATION_RELU2:
		ACTIVATE(relu(v) * relu(v));
	case ACTIVATION_RELU6:
		ACTIVATE(lowest_of(spread(6.0f), relu(v)));
	case ACTIVATION_SIGMOID:
		ACTIVATE(sigmoid(v));
	case ACTIVATION_TANH:
		ACTIVATE(hyperbolic_tangent(v));
	default:
		return count;
	}
	return i;
}

#undef ACTIVATE

static void activate_array(enum activation activation, float *x, size_t count)
{
	size_t done = activate_vectors(activation, x, count);
	float rest[LANES] = {0};
	if (done == count)
		return;
	memcpy(rest, x + done, (count - done) * sizeof *x);
	activate_vectors(activation, rest, LANES);
	memcpy(x + done, rest, (count - done) * sizeof *x);
}

#endif
