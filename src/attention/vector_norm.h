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
	bool whole;         /* x is the vectors of a token's heads side by side, not one of them */
};

/* Normalise x (size) in place by a norm that is not NONE, times gain (size) where that is not
 * NULL; norm->gain is not read.  Computed in float64 and rounded once.  False when a number
 * overflows float32. */
bool vector_normalize(const struct vector_norm *norm, const float *gain, float *x, size_t size);

/* The sum of the squares of x (size). */
double vector_squares(const float *x, size_t size);

/* Part x (size) of a vector of `whole` numbers whose squares sum to `squares`, likewise. */
bool vector_normalize_part(const struct vector_norm *norm, const float *gain, double squares, size_t whole,
			   float *x, size_t size);

#endif
