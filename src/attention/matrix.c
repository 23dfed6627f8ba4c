#include "attention/matrix.h"

#include <stdint.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/kernels.h"
#include "kernels/reference.h"

float matrix_half(const void *data)
{
	uint16_t half;
	memcpy(&half, data, sizeof half);
	return half_value(half);
}

static void widen_f16(const struct kernels *kernels, const void *data, size_t count, float *out)
{
	if (kernels)
		kernels->widen_f16(data, count, out);
	else
		reference_widen_f16(data, count, out);
}

static void widen_bf16(const struct kernels *kernels, const void *data, size_t count, float *out)
{
	if (kernels)
		kernels->widen_bf16(data, count, out);
	else
		reference_widen_bf16(data, count, out);
}

const struct matrix_type matrix_f16 = {"float16", 1, 2, widen_f16};
const struct matrix_type matrix_bf16 = {"bfloat16", 1, 2, widen_bf16};

struct matrix matrix_plain(const float *data, size_t rows, size_t cols, size_t stride)
{
	return (struct matrix){.data = data, .rows = rows, .cols = cols, .stride = stride};
}

/* Number `number` of the data, at the start of a block. */
static const void *number_at(const struct matrix *m, size_t number)
{
	size_t values = m->type ? m->type->values : 1, bytes = m->type ? m->type->bytes : sizeof(float);
	return (const char *)m->data + number / values * bytes;
}

struct matrix matrix_columns(const struct matrix *m, size_t first, size_t count)
{
	struct matrix part = *m;
	part.data = number_at(m, m->by_column ? first * m->stride : first);
	part.cols = count;
	return part;
}

/* out (count) = the numbers from number `at` on. */
static void widen(const struct kernels *kernels, const struct matrix *m, size_t at, size_t count, float *out)
{
	if (m->type)
		m->type->widen(kernels, number_at(m, at), count, out);
	else
		memcpy(out, number_at(m, at), count * sizeof *out);
}

/* Without kernels, the transpose of rows (cols, inner) into a tile. */
static void transpose(float *tile, const float *rows, size_t cols, size_t inner)
{
	for (size_t i = 0; i < inner; i++) {
		for (size_t c = 0; c < cols; c++)
			tile[i * TILE + c] = rows[c * inner + i];
		memset(tile + i * TILE + cols, 0, (TILE - cols) * sizeof *tile);
	}
}

/* Where columns lie one after the other, they are transposed. */
static void pack_columns(const struct kernels *kernels, const struct matrix *m, size_t row, size_t rows,
			 size_t col, size_t cols, float *panel, float *scratch)
{
	if (kernels && matrix_is_in_place(m)) {
		const float *data = m->data;
		kernels->pack(panel, data + col * m->stride + row, m->stride, cols, rows, 1);
		return;
	}
	for (size_t c = 0; c < cols; c++)
		widen(kernels, m, (col + c) * m->stride + row, rows, scratch + c * rows);
	if (kernels)
		kernels->pack(panel, scratch, rows, cols, rows, 1);
	else
		transpose(panel, scratch, cols, rows);
}

void matrix_pack(const struct kernels *kernels, const struct matrix *m, size_t row, size_t rows, size_t col,
		 size_t cols, float *panel, float *scratch)
{
	if (m->by_column) {
		pack_columns(kernels, m, row, rows, col, cols, panel, scratch);
		return;
	}
	for (size_t r = 0; r < rows; r++) {
		widen(kernels, m, (row + r) * m->stride + col, cols, panel + r * TILE);
		memset(panel + r * TILE + cols, 0, (TILE - cols) * sizeof *panel);
	}
}
