/* The exponential and the hyperbolic tangent of a vector. */
#ifndef ATTN_KERNELS_ELEMENTARY_H
#define ATTN_KERNELS_ELEMENTARY_H

#include "kernels/vector.h"

/* e^x for x up to 88, within (1e-7 + 3e-9 |x|) of its value, relative to it; exactly 0
 * below -87.3, where float32 has no normal numbers left, and for -inf; exactly 1 for 0.
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2, and e^r by a polynomial that is minimax for
 * the relative error (2.6e-9), fitted with its constant term held at 1.  n is found by
 * adding 1.5 * 2^23, which leaves it in the low bits, and goes into the exponent.
 * ln 2 is one float32: what it lacks is the error that grows with |x|, and a second one
 * would cost more than weights below e^-20 deserve. */
INLINE vec exponential(vec x)
{
	const float shift = 0x1.8p23f, least = -87.3f;
	vec n = fused(x, spread(1.44269504f), spread(shift));
	uvec exponent = (uvec)n << 23; /* unsigned: far below -87 it wraps, and is not used */
	n -= shift;
	vec r = fused(n, spread(-0.693147182f), x);
	vec p = fused(r, spread(0.001406127676f), spread(0.008379020735f));
	p = fused(p, r, spread(0.0416647765f));
	p = fused(p, r, spread(0.1666636531f));
	p = fused(p, r, spread(0.5000000435f));
	p = fused(p, r, spread(1.00000005f));
	p = fused(p, r, spread(1.0f));
	vec power = (vec)((uvec)p + exponent);
	return where_less(x, spread(least), (vec){0}, power);
}

/* tanh x = x P(x^2) / Q(x^2), within 3.2e-7 of its value, relative to it, and never
 * beyond +-1; exactly x for the smallest.
 *
 * Minimax for the relative error (1e-8) up to 8.3, fitted with both constant terms held
 * at 1, so that small x keep their digits.  The rest is rounding: the coefficients and
 * `most` were then chosen among their neighbours in float32 by trying all x.  Beyond
 * `most` the result is 1 - 1.2e-7. */
INLINE vec hyperbolic_tangent(vec x)
{
	const float most = 0x1.00e74cp+3f;
	x = highest_of(spread(-most), lowest_of(spread(most), x));
	vec square = x * x;
	vec p = fused(square, spread(0x1.f99594p-27f), spread(0x1.69a2b8p-16f));
	vec q = fused(square, spread(0x1.bec2cep-21f), spread(0x1.6246c4p-12f));
	p = fused(p, square, spread(0x1.d193dap-9f));
	q = fused(q, square, spread(0x1.ab79e8p-6f));
	p = fused(p, square, spread(0x1.130322p-3f));
	q = fused(q, square, spread(0x1.ded6dap-2f));
	p = fused(p, square, spread(1.0f));
	q = fused(q, square, spread(1.0f));
	return x * p / q;
}

#endif
