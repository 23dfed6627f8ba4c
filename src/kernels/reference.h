/* The scalar kernels: plain loops, exact and clear, and what every faster kernel
 * is compared with.
 *
 * Inputs and outputs are float32, sums are float64 and rounded once, so that a
 * result is within one rounding of a float64 computation.  Arrays are row-major;
 * a stride is in elements; outputs must not overlap inputs.
 */
#ifndef ATTN_KERNELS_REFERENCE_H
#define ATTN_KERNELS_REFERENCE_H

#include <stddef.h>

/* scores (keys) = scale * q (d) . k (keys, d; k_stride). */
void reference_scores(double *scores, const float *q, const float *k, size_t k_stride, size_t d, size_t keys,
		      double scale);

/* scores (keys) = scale * the sum over a of v (inner) tanh(q (inner) + k (keys, inner;
 * k_stride)), with q and k projected and biased.  Bahdanau et al. 2014, appendix
 * A.1.2. */
void reference_additive(double *scores, const float *q, const float *k, size_t k_stride, const float *v,
			size_t inner, size_t keys, double scale);

/* scores (keys): s becomes cap * tanh(s / cap).  Bello et al. 2016, Gemma 2. */
void reference_softcap(double *scores, size_t keys, double cap);

/* weights (keys) = softmax of the scores, which it overwrites:
 * exp(s - max) / sum.  A score of -inf has weight exactly 0; when all are -inf all
 * weights are 0. */
void reference_softmax(float *weights, double *scores, size_t keys);

/* context (e) = sum over keys of weights (keys) * values (keys, e; v_stride).  A
 * weight of 0 is skipped, so that nothing leaks from a masked key.  `sums` is
 * scratch of e doubles. */
void reference_weighted_sum(float *context, const float *weights, const float *values, size_t v_stride,
			    size_t keys, size_t e, double *sums);

/* x becomes elu(x) + 1: x + 1 above 0, e^x elsewhere. */
void reference_feature_map(float *x, size_t count);

/* The sum of the absolute values of `count` numbers, and the largest of them; 0 for none. */
double reference_magnitudes(const float *numbers, size_t count, float *largest);

/* out (count) = the float16 or bfloat16 numbers from `data` on, which need not be aligned. */
void reference_widen_f16(const void *data, size_t count, float *out);
void reference_widen_bf16(const void *data, size_t count, float *out);

#endif
