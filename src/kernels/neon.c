/* NEON of 64-bit Arm: 32 registers of 4 float32. */
#if defined(__aarch64__)
#define LANES 4
#define KERNELS_NAME kernels_neon
#define KERNELS_TEXT "neon"

#include "kernels/sets.h"
#include "kernels/simd.h"
#else
typedef int kernels_neon_not_for_this_processor;
#endif
