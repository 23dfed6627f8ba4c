/* AVX-512: 32 registers of 16 float32. */
#if defined(__x86_64__)
#define LANES 16
#define KERNELS_NAME kernels_avx512
#define KERNELS_TEXT "avx512"

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_avx512_not_for_this_processor;
#endif
