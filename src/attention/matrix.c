#include "attention/matrix.h"

#include <stdint.h>
#include <string.h>

#include "kernels/kernels.h"

static float float_of_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Written so that the compiler's vectoriser can have it, without branches and subnormal floats: an
 * exponent of 0 is a subnormal number, one of 31 infinity or NaN. */
static inline float half_of(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7fff) << 13;
	uint32_t is_small = -(uint32_t)(rest < 0x00800000), is_huge = -(uint32_t)(rest >= 0x0f800000);
	float small = float_of_bits(rest | 113u << 23) - 0x1p-14f;
	uint32_t small_bits, bits = rest + (112u << 23) + (is_huge & 112u << 23);
	memcpy(&small_bits, &small, sizeof small_bits);
	return float_of_bits((bits & ~is_small) | (small_bits & is_small) | sign);
}

float matrix_half(const void *data)
{
	uint16_t half;
	memcpy(&half, data, sizeof half);
	return half_of(half);
}

static void widen_f16(const struct kernels *kernels, const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	(void)kernels;
	for (size_t i = 0; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = half_of(half);
	}
}

static void widen_bf16(const struct kernels *kernels, const void *data, size_t count, float *out)
{
	const unsigned char *from = data;
	(void)kernels;
	for (size_t i = 0; i < count; i++) {
		uint16_t half;
		memcpy(&half, from + 2 * i, sizeof half);
		out[i] = float_of_bits((uint32_t)half << 16);
	}
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

/* out (count) = the numbers from number `at` on as float32. */
static void numbers(const struct kernels *kernels, const struct matrix *m, size_t at, size_t count,
		    float *out)
{
	if (m->type)
		m->type->widen(kernels, number_at(m, at), count, out);
	else
		memcpy(out, number_at(m, at), count * sizeof *out);
}

/* Whether the numbers are float32 that can be read where they are. */
static bool is_aligned(const struct matrix *m)
{
	return !m->type && (uintptr_t)m->data % _Alignof(float) == 0;
}

/* Without kernels, the transpose of rows (cols, inner; stride) into a tile. */
static void transpose(float *tile, const float *rows, size_t stride, size_t cols, size_t inner)
{
	for (size_t i = 0; i < inner; i++)
		for (size_t c = 0; c < cols; c++)
			tile[i * TILE + c] = rows[c * stride + i];
}

void matrix_pack(const struct kernels *kernels, const struct matrix *m, size_t row, size_t rows, size_t col,
		 size_t cols, float *panel, float *scratch)
{
	const float *columns = scratch;
	size_t stride = rows;
	for (size_t r = 0; r < rows && !m->by_column; r++)
		numbers(kernels, m, (row + r) * m->stride + col, cols, panel + r * TILE);
	if (m->by_column && is_aligned(m)) {
		columns = number_at(m, col * m->stride + row);
		stride = m->stride;
	}
	for (size_t c = 0; c < cols && m->by_column && columns == scratch; c++)
		numbers(kernels, m, (col + c) * m->stride + row, rows, scratch + c * rows);
	if (m->by_column && kernels)
		kernels->pack(panel, columns, stride, cols, rows, 1);
	else if (m->by_column)
		transpose(panel, columns, stride, cols, rows);
	for (size_t r = 0; r < rows && cols < TILE; r++)
		memset(panel + r * TILE + cols, 0, (TILE - cols) * sizeof *panel);
}
