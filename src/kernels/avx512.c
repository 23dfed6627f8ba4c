/* AVX-512: 32 registers of 16 float32. */
#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 16
#define ROW_TILE 6
#define COL_TILE 4
#define KERNELS_NAME kernels_avx512
#define KERNELS_TEXT "avx512"
#define SET_OPERATIONS                                                                                       \
	INLINE vec fused(vec a, vec b, vec c)                                                                \
	{                                                                                                    \
		return _mm512_fmadd_ps(a, b, c);                                                             \
	}                                                                                                    \
	INLINE vec highest_of(vec a, vec b)                                                                  \
	{                                                                                                    \
		return _mm512_max_ps(a, b);                                                                  \
	}                                                                                                    \
	INLINE vec lowest_of(vec a, vec b)                                                                   \
	{                                                                                                    \
		return _mm512_min_ps(a, b);                                                                  \
	}                                                                                                    \
	INLINE vec where_less(vec x, vec y, vec a, vec b)                                                    \
	{                                                                                                    \
		return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a);                     \
	}                                                                                                    \
	INLINE void store_past_cache(float *at, vec v)                                                       \
	{                                                                                                    \
		_mm512_stream_ps(at, v);                                                                     \
	}                                                                                                    \
	INLINE void settle_stores(void)                                                                      \
	{                                                                                                    \
		_mm_sfence();                                                                                \
	}

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_avx512_not_for_this_processor;
#endif
