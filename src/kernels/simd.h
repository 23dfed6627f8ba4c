/* A whole set of kernels, written once: for a file that defines LANES (vector.h),
 * KERNELS_NAME and KERNELS_TEXT, and is compiled for one kind of processor. */
#include "kernels/activations.h"
#include "kernels/gemm.h"
#include "kernels/kernels.h"
#include "kernels/row.h"
#include "kernels/softmax.h"
#include "kernels/tile.h"
#include "kernels/transpose.h"
#include "kernels/variants.h"
#include "kernels/vector.h"
#include "kernels/widen.h"

_Static_assert(TILE % LANES == 0, "the last vector of a tile's row ends with the row");

const struct kernels KERNELS_NAME = {
    .name = KERNELS_TEXT,
    .lanes = LANES,
    .gemm = gemm,
    .spin = spin,
    .spin_operations = (size_t)2 * ROW_TILE * COL_TILE * LANES,
    .softmax = softmax,
    .scale_columns = scale_columns,
    .largest = largest,
    .magnitudes = magnitudes,
    .weigh = weigh,
    .all_finite = all_finite,
    .softcap = softcap,
    .additive = additive,
    .add_by_distance = add_by_distance,
    .feature_map = feature_map,
    .sum_columns = sum_columns,
    .pack = pack,
    .unpack = unpack,
    .widen_f16 = widen_f16,
    .widen_bf16 = widen_bf16,
    .activate = activate_numbers,
    .multiply = multiply,
    .add = add,
};
