/* NEON of 64-bit Arm: 32 registers of 4 float32. */
#if defined(__aarch64__)
#include <arm_neon.h>

#define LANES 4
#define ROW_TILE 6
#define COL_TILE 4
#define KERNELS_NAME kernels_neon
#define KERNELS_TEXT "neon"
#define SET_OPERATIONS                                                                                       \
	INLINE vec fused(vec a, vec b, vec c)                                                                \
	{                                                                                                    \
		return vfmaq_f32(c, a, b);                                                                   \
	}                                                                                                    \
	INLINE vec highest_of(vec a, vec b)                                                                  \
	{                                                                                                    \
		return vmaxq_f32(a, b);                                                                      \
	}                                                                                                    \
	INLINE vec lowest_of(vec a, vec b)                                                                   \
	{                                                                                                    \
		return vminq_f32(a, b);                                                                      \
	}                                                                                                    \
	INLINE vec where_less(vec x, vec y, vec a, vec b)                                                    \
	{                                                                                                    \
		return vbslq_f32(vcltq_f32(x, y), a, b);                                                     \
	}                                                                                                    \
	INLINE void store_past_cache(float *at, vec v)                                                       \
	{                                                                                                    \
		store(at, v);                                                                                \
	}                                                                                                    \
	INLINE void settle_stores(void)                                                                      \
	{                                                                                                    \
		(void)0;                                                                                     \
	}

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_neon_not_for_this_processor;
#endif
