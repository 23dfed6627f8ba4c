/* The sets by name; internal to kernels/.  Which exist depends on the processor. */
#ifndef ATTN_KERNELS_SETS_H
#define ATTN_KERNELS_SETS_H

#include "kernels/kernels.h"

extern const struct kernels kernels_avx512, kernels_avx2, kernels_neon;

#endif
