/* AVX2 and FMA: 16 registers of 8 float32. */
#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 8
#define ROW_TILE 6
#define COL_TILE 2
#define KERNELS_NAME kernels_avx2
#define KERNELS_TEXT "avx2"
#define SET_OPERATIONS                                                                                       \
	INLINE vec fused(vec a, vec b, vec c)                                                                \
	{                                                                                                    \
		return _mm256_fmadd_ps(a, b, c);                                                             \
	}                                                                                                    \
	INLINE vec highest_of(vec a, vec b)                                                                  \
	{                                                                                                    \
		return _mm256_max_ps(a, b);                                                                  \
	}                                                                                                    \
	INLINE vec lowest_of(vec a, vec b)                                                                   \
	{                                                                                                    \
		return _mm256_min_ps(a, b);                                                                  \
	}                                                                                                    \
	INLINE vec where_less(vec x, vec y, vec a, vec b)                                                    \
	{                                                                                                    \
		return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_LT_OQ));                              \
	}                                                                                                    \
	INLINE void store_past_cache(float *at, vec v)                                                       \
	{                                                                                                    \
		_mm256_stream_ps(at, v);                                                                     \
	}                                                                                                    \
	INLINE void settle_stores(void)                                                                      \
	{                                                                                                    \
		_mm_sfence();                                                                                \
	}

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_avx2_not_for_this_processor;
#endif
