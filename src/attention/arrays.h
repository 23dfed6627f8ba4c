/* Arrays of float32 that stand in other arrays: where their elements are. */
#ifndef ATTN_ATTENTION_ARRAYS_H
#define ATTN_ATTENTION_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

/* How the numbers of a matrix are stored. */
struct matrix_type;

/* A matrix (rows, cols) that stands inside others, as it is used: x W has `rows` numbers of x and
 * gives `cols`.  Element (r, c) is number r * stride + c of the data, or, where `by_column`, number
 * c * stride + r.  NULL data: not given. */
struct matrix {
	const void *data; /* perhaps not aligned, where there is a type */
	size_t rows, cols, stride;
	const struct matrix_type *type; /* NULL: float32 */
	bool by_column;
};

/* Token vectors (batch, rows, cols), row-major; batch_stride is 0 where all
 * batch items share them. */
struct sequence {
	const float *data;
	size_t rows, cols, batch_stride;
};

/* One matrix a head, (batch, heads, tokens, size): element (b, h, t, c) is
 * data[b * batch_stride + h * head_stride + t * token_stride + c].  NULL data:
 * not given. */
struct heads_view {
	const float *data;
	size_t batch_stride, head_stride, token_stride;
};

/* Columns of a matrix that belong to heads: head h has the w.cols columns from
 * w.data + h * step on.  NULL w.data: not given. */
struct head_columns {
	struct matrix w; /* those of head 0 */
	size_t step;
};

/* A matrix or vector of each head, row-major, at data + h * head_stride; a stride of 0
 * means that the heads share it.  NULL data: not given. */
struct head_matrix {
	const float *data;
	size_t rows, cols, head_stride;
};

#endif
