/* Numbers of 16 bits as float32. */
#ifndef ATTN_KERNELS_WIDEN_H
#define ATTN_KERNELS_WIDEN_H

#include <string.h>

#include "kernels/half.h"
#include "kernels/vector.h"

static void widen_f16(const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	size_t i = 0;
	for (; i + LANES <= count; i += LANES)
		store(out + i, from_halves(from + 2 * i));
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
		store(out + i, (vec)(load_16_bits(from + 2 * i) << 16));
	for (; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = float_of_bits((uint32_t)half << 16);
	}
}

#endif
