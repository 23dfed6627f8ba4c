/* Products of many rows and a matrix: projections, and the layers of a model. */
#ifndef ATTN_ATTENTION_PROJECT_H
#define ATTN_ATTENTION_PROJECT_H

#include "attention/matrix.h"
#include "kernels/activation.h"
#include "util/error.h"

/* What is done to x W + b before it is stored, in this order. */
struct projection_end {
	enum activation activation;

	/* NULL: the activation is of x W + b itself.  Else the activation of x gate + gate_bias, of
	 * the same shape, is what multiplies it (Shazeer 2020, "GLU variants"). */
	const struct matrix *gate;
	const float *gate_bias;

	const float *residual; /* (rows, cols), added; may be the output itself; or NULL */
};

/* out (rows, cols of w; out_stride) = end(x (rows, rows of w; x_stride) W + bias); `end` may be NULL:
 * nothing is done.  NULL kernels: in float64.  ATTN_BAD_INPUT where `what` overflows float32. */
enum attn_status project_rows(const struct kernels *kernels, const float *x, size_t x_stride, size_t rows,
			      const struct matrix *w, const float *bias, const struct projection_end *end,
			      float *out, size_t out_stride, const char *what, struct attn_error *err);

#endif
