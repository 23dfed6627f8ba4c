/* AVX2 and FMA: 16 registers of 8 float32. */
#if defined(__x86_64__)
#define LANES 8
#define KERNELS_NAME kernels_avx2
#define KERNELS_TEXT "avx2"

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_avx2_not_for_this_processor;
#endif
