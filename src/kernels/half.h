/* One float16 as float32. */
#ifndef ATTN_KERNELS_HALF_H
#define ATTN_KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* IEEE 754 binary16, exactly.  Without branches and subnormal float32, so that loops of it can be
 * vectorised: an exponent of 0 is a subnormal number, one of 31 infinity or NaN. */
static inline float half_value(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7fff) << 13;
	uint32_t is_small = -(uint32_t)(rest < 0x00800000), is_huge = -(uint32_t)(rest >= 0x0f800000);
	float small = float_of_bits(rest | 113u << 23) - 0x1p-14f;
	uint32_t small_bits, bits = rest + (112u << 23) + (is_huge & 112u << 23);
	memcpy(&small_bits, &small, sizeof small_bits);
	return float_of_bits((bits & ~is_small) | (small_bits & is_small) | sign);
}

#endif
