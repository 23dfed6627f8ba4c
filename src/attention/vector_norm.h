/* Norms of single vectors: of Q and K before they are multiplied, and of latents. */
#ifndef ATTN_ATTENTION_VECTOR_NORM_H
#define ATTN_ATTENTION_VECTOR_NORM_H

#include <stdbool.h>
#include <stddef.h>

/* x / sqrt(mean(x^2) + eps), or x / max(|x|, eps), times the gain. */
struct vector_norm {
	enum {
		VECTOR_NORM_NONE,
		VECTOR_NORM_RMS,
		VECTOR_NORM_L2
	} kind;
	double eps;
	const float *gain;  /* (size) of head h at gain + h * gain_stride; or NULL */
	size_t gain_stride; /* 0: the heads share it */
};

/* Normalise x (size) in place by a norm that is not NONE, times gain (size) where that is not
 * NULL; norm->gain is not read.  Computed in float64 and rounded once.  False when a number
 * overflows float32. */
bool vector_normalize(const struct vector_norm *norm, const float *gain, float *x, size_t size);

#endif
