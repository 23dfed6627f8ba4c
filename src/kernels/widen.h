/* Numbers of 16 bits as float32. */
#ifndef ATTN_KERNELS_WIDEN_H
#define ATTN_KERNELS_WIDEN_H

#include <string.h>

#include "kernels/half.h"
#include "kernels/vector.h"

typedef uint16_t halves __attribute__((vector_size(2 * LANES)));

INLINE uvec load_halves(const unsigned char *at)
{
	halves h;
	memcpy(&h, at, sizeof h);
	return __builtin_convertvector(h, uvec);
}

/* As half_value does. */
static void widen_f16(const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	size_t i = 0;
	for (; i + LANES <= count; i += LANES) {
		uvec half = load_halves(from + 2 * i);
		uvec rest = (half & 0x7fff) << 13, exponent = rest & 0x0f800000;
		uvec small = (uvec)((vec)(rest | 113u << 23) - 0x1p-14f), normal = rest + (112u << 23);
		uvec is_small = (uvec)(exponent == 0), is_last = (uvec)(exponent == 0x0f800000);
		uvec bits = (small & is_small) | (normal & ~is_small);
		bits += is_last & 112u << 23;
		store(out + i, (vec)(bits | (half & 0x8000) << 16));
	}
	for (; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = half_value(half);
	}
}

static void widen_bf16(const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(out + i, (vec)(load_halves(from + 2 * i) << 16));
	for (; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = float_of_bits((uint32_t)half << 16);
	}
}

#endif
