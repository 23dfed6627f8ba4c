/* Matrices as files store them: of any type and either way round, widened to float32 where they
 * are packed for a product, and never as a whole. */
#ifndef ATTN_ATTENTION_MATRIX_H
#define ATTN_ATTENTION_MATRIX_H

#include <stdint.h>

#include "attention/arrays.h"

struct kernels;

/* How numbers are stored: in blocks of `values` numbers and `bytes` bytes, such as 1 and 2 of
 * float16.  A matrix of larger blocks is by_column, and a column is whole blocks. */
struct matrix_type {
	const char *name; /* "float16" */
	size_t values, bytes;

	/* out (count) = the numbers from `data` on, of whole blocks, not aligned.  NULL kernels: by
	 * plain loops. */
	void (*widen)(const struct kernels *kernels, const void *data, size_t count, float *out);
};

extern const struct matrix_type matrix_f16, matrix_bf16;

float matrix_half(const void *data); /* a float16 at any address */

/* A float32 matrix used as it stands. */
struct matrix matrix_plain(const float *data, size_t rows, size_t cols, size_t stride);

/* Columns [first, first + count) of a matrix. */
struct matrix matrix_columns(const struct matrix *m, size_t first, size_t count);

/* Whether the numbers are float32 that can be read where they are. */
static inline bool matrix_is_in_place(const struct matrix *m)
{
	return !m->type && (uintptr_t)m->data % sizeof(float) == 0;
}

/* panel (rows, TILE) = rows [row, row + rows) of columns [col, col + cols), at most TILE of them, and 0
 * in columns from cols on.  `scratch` is (TILE, rows) floats; `row` is a multiple of the type's block. */
void matrix_pack(const struct kernels *kernels, const struct matrix *m, size_t row, size_t rows, size_t col,
		 size_t cols, float *panel, float *scratch);

#endif
