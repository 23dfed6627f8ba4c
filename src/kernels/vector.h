/* A vector of LANES float32 and its operations, in the compiler's vector types: 16 lanes
 * for AVX-512, 8 for AVX2 with FMA, 4 for NEON.  A file that is compiled for one of these
 * defines LANES before it includes this.
 *
 * + - * / and comparisons are C's own, lane by lane.  What is fused says so: left to the
 * compiler, the tail of a tile might round otherwise than a whole tile.
 */
#ifndef ATTN_KERNELS_VECTOR_H
#define ATTN_KERNELS_VECTOR_H

#include <stdint.h>
#include <string.h>

#if !defined(LANES)
#error "define LANES before vector.h: 16 for AVX-512, 8 for AVX2, 4 for NEON"
#elif LANES == 16 || LANES == 8
#include <immintrin.h>
#elif LANES == 4
#include <arm_neon.h>
#else
#error "vector.h knows no set of LANES lanes"
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));
typedef uint16_t narrow __attribute__((vector_size(2 * LANES)));
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* --- what every set does alike -------------------------------------------- */

/* LANES float32 at any float's place. */
INLINE vec load(const float *at)
{
	return *(const loose *)at;
}

INLINE void store(float *at, vec v)
{
	*(loose *)at = v;
}

/* LANES numbers of 16 bits, at any address, as 32 bits. */
INLINE uvec load_16_bits(const void *at)
{
	narrow numbers;
	memcpy(&numbers, at, sizeof numbers);
	return __builtin_convertvector(numbers, uvec);
}

/* x in every lane. */
INLINE vec spread(float x)
{
	return x - (vec){0};
}

/* The lanes of a and b, counted through both, that the constants after them name.
 * GCC has Clang's builtin only since 12. */
#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){__VA_ARGS__})
#endif

/* --- what has no operator in C -------------------------------------------- */

/* For each set:
 *
 * fused(a, b, c): a * b + c, rounded once.
 * highest_of(a, b), lowest_of(a, b): the larger, the smaller; NaN where b is.
 * where_less(x, y, a, b): a where x < y, else b.
 * interleave_low(a, b), interleave_high(a, b): a0 b0 a1 b1 ... of the lower, the upper
 *   halves.
 * store_past_cache(at, v): store v where it is not read soon; `at` is aligned to a vector.
 *   Plain where a vector does not fill a cache line (unpack says why).
 * from_halves(at): LANES float16 at any address, exactly.
 * settle_stores(): other threads see what store_past_cache stored before.
 *
 * REGISTERS: how many vectors the processor holds; COL_TILE: how many of them, side by
 *   side in a row of a tile, a kernel takes at once. */

#if LANES == 16

#define REGISTERS 32
#define COL_TILE 4

INLINE vec fused(vec a, vec b, vec c)
{
	return _mm512_fmadd_ps(a, b, c);
}

INLINE vec highest_of(vec a, vec b)
{
	return _mm512_max_ps(a, b);
}

INLINE vec lowest_of(vec a, vec b)
{
	return _mm512_min_ps(a, b);
}

INLINE vec where_less(vec x, vec y, vec a, vec b)
{
	return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a);
}

INLINE vec interleave_low(vec a, vec b)
{
	return SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE vec interleave_high(vec a, vec b)
{
	return SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

INLINE void store_past_cache(float *at, vec v)
{
	_mm512_stream_ps(at, v);
}

INLINE void settle_stores(void)
{
	_mm_sfence();
}

INLINE vec from_halves(const void *at)
{
	return _mm512_cvtph_ps(_mm256_loadu_si256(at));
}

#elif LANES == 8

#define REGISTERS 16
#define COL_TILE 2

INLINE vec fused(vec a, vec b, vec c)
{
	return _mm256_fmadd_ps(a, b, c);
}

INLINE vec highest_of(vec a, vec b)
{
	return _mm256_max_ps(a, b);
}

INLINE vec lowest_of(vec a, vec b)
{
	return _mm256_min_ps(a, b);
}

INLINE vec where_less(vec x, vec y, vec a, vec b)
{
	return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_LT_OQ));
}

INLINE vec interleave_low(vec a, vec b)
{
	return SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

INLINE vec interleave_high(vec a, vec b)
{
	return SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

#else

#define REGISTERS 32
#define COL_TILE 4

INLINE vec fused(vec a, vec b, vec c)
{
	return vfmaq_f32(c, a, b);
}

INLINE vec highest_of(vec a, vec b)
{
	return vmaxq_f32(a, b);
}

INLINE vec lowest_of(vec a, vec b)
{
	return vminq_f32(a, b);
}

INLINE vec where_less(vec x, vec y, vec a, vec b)
{
	return vbslq_f32(vcltq_f32(x, y), a, b);
}

INLINE vec interleave_low(vec a, vec b)
{
	return SHUFFLE(a, b, 0, 4, 1, 5);
}

INLINE vec interleave_high(vec a, vec b)
{
	return SHUFFLE(a, b, 2, 6, 3, 7);
}

#endif

#if LANES != 16

INLINE void store_past_cache(float *at, vec v)
{
	store(at, v);
}

INLINE void settle_stores(void)
{
}

/* As half_value does; the processor's own conversion is an extension that AVX2 is without. */
INLINE vec from_halves(const void *at)
{
	uvec half = load_16_bits(at);
	uvec rest = (half & 0x7fff) << 13;
	uvec is_small = (uvec)(rest < 0x00800000), is_huge = (uvec)(rest >= 0x0f800000);
	uvec small = (uvec)((vec)(rest | 113u << 23) - 0x1p-14f);
	uvec bits = rest + (112u << 23) + (is_huge & 112u << 23);
	return (vec)((bits & ~is_small) | (small & is_small) | (half & 0x8000) << 16);
}

#endif

#endif
