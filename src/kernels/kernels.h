/* The kernels behind the fast engine, one set for each kind of processor.
 *
 * All work on tiles of TILE columns: a column is a query (or, in a projection, an
 * output feature), and vectors lie along the columns.  Scores are kept as (keys,
 * queries), so that the softmax of a query needs nothing from its neighbours in a
 * vector, and no operand of attention has to be packed but Q.
 *
 * A tile buffer is (rows, TILE) float32, aligned to 64 bytes.  `cols` says how
 * many columns are in use; kernels may read and write columns up to the next
 * multiple of `lanes`.  Nothing else is padded or aligned.  Inputs and outputs do
 * not overlap.
 *
 * Sums are float32 with fused multiply-add, over blocks of at most
 * GEMM_BLOCK terms that are then added up.  e^x is within (1e-7 + 3e-9 |x|) of its
 * value, relative to it: 1.3e-7 where it is not small, 3.4e-7 at its least.
 *
 * Every set does the same operations on a column in the same order, so that all give
 * the same bits; the reference rounds in its own way, within the tolerance that
 * attn(1) states.
 */
#ifndef ATTN_KERNELS_KERNELS_H
#define ATTN_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/activation.h"
#include "util/error.h"

enum {
	TILE = 64,        /* columns of a tile */
	GEMM_BLOCK = 256, /* terms of a partial sum */
};

/* c (rows, cols) = a (rows, inner) x b (inner, cols), or += with `accumulate`; inner is
 * at least 1.
 * Element (r, i) of a is a[r * a_row + i * a_col]; b and c are tile-like, with
 * strides of at least cols rounded up to lanes. */
struct gemm {
	float *c;
	const float *a, *b;
	size_t c_stride, a_row, a_col, b_stride;
	size_t rows, inner, cols;
	bool accumulate;
};

/* Of magnitudes |w| at places a, as seen from a place b. */
struct weight_sums {
	double total;    /* sum |w| */
	double logs;     /* sum |w| log2 |w| */
	double distance; /* sum |w| |a - b| */
	double squares;  /* sum |w| (a - b)^2 */
	float largest;   /* of |w|; 0 for none */
};

struct kernels {
	const char *name; /* "avx512" */
	size_t lanes;     /* float32 in a vector; divides TILE */

	void (*gemm)(const struct gemm *g);

	/* Nothing but multiply-adds in registers, `rounds` times spin_operations
	 * floating-point operations: what the processor can do at most. */
	void (*spin)(size_t rounds, float *out); /* out: lanes numbers, so that it is not left out */
	size_t spin_operations;

	/* One step of the online softmax (Milakov and Gimelshein 2018, as in
	 * FlashAttention): given highest and sum of the keys before, turn scores (keys,
	 * TILE) into exp(score - highest), bring highest (TILE) and sum (TILE) up to
	 * date, and set rescale (TILE) to what multiplies everything summed before.
	 * `highest` follows the true maximum only when that rises by more than 8.
	 * Scores of -inf become exactly 0; highest is -inf while all were.  A score of
	 * +inf or NaN makes the sum of its column NaN.  Returns whether any rescale
	 * differs from 1. */
	bool (*softmax)(float *scores, size_t keys, size_t cols, float *highest, float *sum, float *rescale);

	/* rows (rows, TILE) *= factor (TILE), column by column. */
	void (*scale_columns)(float *rows, size_t count, size_t cols, const float *factor);

	/* The largest absolute value of `count` finite numbers; 0 for none. */
	float (*largest)(const float *numbers, size_t count);

	/* The sum of the absolute values of `count` finite numbers, in float64, and the largest of
	 * them; 0 for none. */
	double (*magnitudes)(const float *numbers, size_t count, float *largest);

	/* Add `count` finite numbers up to 1 in magnitude; `at` are their places, or NULL, and then nothing
	 * is added to distance and squares.  Sums are float64, and exact but for its rounding; the log is
	 * within 2e-7 of its value, relative to the larger of that and 1. */
	void (*weigh)(struct weight_sums *s, const float *weights, const double *at, double from,
		      size_t count);

	/* Whether rows (count, cols; stride) hold finite numbers only, in columns up to the next
	 * multiple of lanes. */
	bool (*all_finite)(const float *rows, size_t stride, size_t count, size_t cols);

	/* scores: s becomes cap * tanh(s / cap), within 4.5e-7 of its value, relative to it;
	 * NaN where s is not finite, so that an overflow stays visible. */
	void (*softcap)(float *scores, size_t keys, size_t cols, float cap);

	/* scores (count, TILE): scores[j * TILE + q] = scale * the sum over a < inner of
	 * v[a] tanh(keys[j * key_stride + a] + queries[a * TILE + q]); queries is a tile
	 * (inner, TILE).  The score of Bahdanau et al. 2014, appendix A.1.2, once the
	 * projections are done.  tanh is within 3.2e-7 of its value for any sum, however
	 * large; NaN stays NaN. */
	void (*additive)(float *scores, const float *keys, size_t key_stride, const float *queries,
			 const float *v, size_t count, size_t inner, size_t cols, float scale);

	/* scores[j * TILE + q] += table[q - j]: a bias that depends on the distance alone
	 * (ALiBi, T5).  `table` points at distance 0, and is read from 1 - keys up to, not
	 * including, cols rounded up to lanes. */
	void (*add_by_distance)(float *scores, size_t keys, size_t cols, const float *table);

	/* x (count plain numbers) becomes elu(x) + 1: x + 1 from 0 on, e^x below, exactly 0
	 * below -87.3.  The feature map of Katharopoulos et al. 2020; NaN stays NaN. */
	void (*feature_map)(float *x, size_t count);

	/* sum (TILE) += rows (count, TILE), column by column; one float32 sum over all
	 * rows. */
	void (*sum_columns)(const float *rows, size_t count, size_t cols, float *sum);

	/* tile (inner, TILE) = the transpose of rows (cols, inner; row_stride), times
	 * `scale`; columns from cols up to the next multiple of lanes become 0. */
	void (*pack)(float *tile, const float *rows, size_t row_stride, size_t cols, size_t inner,
		     float scale);

	/* rows (cols, inner; row_stride) = the transpose of tile (inner, TILE), column q
	 * times factor[q].  With `past_cache` the rows are not read soon, and may be written
	 * so that they push nothing else out of the cache. */
	void (*unpack)(float *rows, size_t row_stride, const float *tile, size_t cols, size_t inner,
		       const float *factor, bool past_cache);

	/* out (count) = the float16 or bfloat16 numbers from `data` on, which need not be
	 * aligned: exactly, subnormals too. */
	void (*widen_f16)(const void *data, size_t count, float *out);
	void (*widen_bf16)(const void *data, size_t count, float *out);

	/* x (count plain numbers) becomes activation(x), as activation.h says of `activate`. */
	void (*activate)(enum activation activation, float *x, size_t count);

	/* x (count plain numbers) *= y, += y. */
	void (*multiply)(float *x, const float *y, size_t count);
	void (*add)(float *x, const float *y, size_t count);
};

/* The best set that this processor and operating system support, capped by the
 * environment's ATTN_KERNEL: "scalar", "avx2", "avx512" or "neon".  NULL: none, or
 * capped to scalar; the reference computes then.  Chosen once. */
const struct kernels *kernels_best(void);

/* ATTN_USAGE when ATTN_KERNEL names no set, or one that cannot run here. */
enum attn_status kernels_check(struct attn_error *err);

/* A set by its name, NULL for "scalar".  ATTN_USAGE, "'ORIGIN' is ..", when there is none, or it cannot
 * run here. */
enum attn_status kernels_find(const char *origin, const char *name, const struct kernels **set,
			      struct attn_error *err);

/* Have kernels_best give another set from now on, and return what it gave before: while one thread alone
 * plans or starts what is to be computed by that set. */
const struct kernels *kernels_swap(const struct kernels *set);

/* What a set is called; NULL is "scalar", the reference. */
static inline const char *kernels_name(const struct kernels *kernels)
{
	return kernels ? kernels->name : "scalar";
}

/* All sets that can run here, best first; NULL from the end on. */
const struct kernels *kernels_runnable(size_t i);

/* All sets that this build has, best first, also those that this processor lacks; NULL
 * from the end on. */
const struct kernels *kernels_built(size_t i);

#endif
