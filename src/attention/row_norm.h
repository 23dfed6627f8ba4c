/* Norms of whole rows: of the hidden states of tokens. */
#ifndef ATTN_ATTENTION_ROW_NORM_H
#define ATTN_ATTENTION_ROW_NORM_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct kernels;

struct row_norm {
	enum {
		ROW_NORM_LAYER, /* (x - mean) / sqrt(variance + eps) gain + bias (Ba et al. 2016) */
		ROW_NORM_RMS,   /* x / sqrt(mean(x^2) + eps) gain + bias (Zhang and Sennrich 2019) */
	} kind;
	double eps;
	const float *gain, *bias; /* (width); either may be NULL */
	bool gain_from_one;       /* 1 + gain multiplies, as in Gemma */
};

/* out (rows, width) = the norm of x (rows, width), which may be the same.  Statistics are in float64.
 * NULL kernels: all is.  ATTN_BAD_INPUT where a result overflows float32. */
enum attn_status norm_rows(const struct kernels *kernels, const struct row_norm *norm, const float *x,
			   size_t rows, size_t width, float *out, struct attn_error *err);

#endif
