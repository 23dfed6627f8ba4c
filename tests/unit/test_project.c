/* Products of rows and stored matrices, and norms of rows: every set of kernels and the reference
 * against float64, in all types and both ways round, at odd sizes and odd addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attention/blocks.h"
#include "attention/project.h"
#include "attention/row_norm.h"
#include "kernels_test.h"
#include "util/threads.h"

/* A matrix in memory that ends where a page ends, and its numbers as (rows, cols) float64. */
struct stored {
	struct matrix m;
	struct area room;
	double *numbers;
};

static void random_numbers(const struct matrix_type *type, unsigned char *to, size_t count)
{
	size_t bytes = type ? count / type->values * type->bytes : count * sizeof(float);
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)random_bits();
	for (size_t i = 0; i < count && !type; i++) {
		float number = between(-1, 1);
		memcpy(to + i * sizeof number, &number, sizeof number);
	}
	for (size_t i = 0; type && i < count / type->values; i++) {
		unsigned char *block = to + i * type->bytes;
		if (type == &matrix_bf16)
			block[1] = (unsigned char)((block[1] & 0x80) | 0x3e | (i & 1)); /* 1/8 to 2 */
		else if (type == &matrix_f16)
			block[1] &= 0xbb; /* below 2 */
		else
			block[1] = 0x24 + (i & 3); /* d: about 0.02 */
		if (type == &matrix_q4_k)
			block[3] = 0x20;
	}
}

/* `offset` bytes off the boundary of a float32, with `gap` numbers from one row, or column, to the
 * next. */
static struct stored stored_new(const struct matrix_type *type, bool by_column, size_t rows, size_t cols,
				size_t gap, size_t offset)
{
	size_t inner = by_column ? rows : cols, outer = by_column ? cols : rows, stride = inner + gap;
	size_t values = type ? type->values : 1, bytes = type ? type->bytes : sizeof(float);
	size_t count = (outer - 1) * stride + inner, size = count / values * bytes;
	struct stored s = {.room = input_new((size + offset + 3) / 4)};
	unsigned char *data = (unsigned char *)(s.room.data + s.room.count) - size - offset;
	float *wide = malloc(count * sizeof *wide);
	s.numbers = malloc(rows * cols * sizeof *s.numbers);
	assert_true(wide && s.numbers && count % values == 0);
	random_numbers(type, data, count);
	if (type)
		type->widen(NULL, data, count, wide);
	else
		memcpy(wide, data, count * sizeof *wide);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < cols; c++)
			s.numbers[r * cols + c] = (double)wide[by_column ? c * stride + r : r * stride + c];
	s.m = (struct matrix){data, rows, cols, stride, type, by_column};
	free(wide);
	return s;
}

static void stored_free(struct stored *s)
{
	area_free(&s->room);
	free(s->numbers);
}

static double *products(const float *x, size_t rows, const struct stored *w, const float *bias, double *sizes)
{
	size_t inner = w->m.rows, cols = w->m.cols;
	double *out = calloc(rows * cols, sizeof *out);
	assert_non_null(out);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < cols; c++) {
			double sum = bias ? (double)bias[c] : 0, size = fabs(sum);
			for (size_t i = 0; i < inner; i++) {
				double term = (double)x[r * inner + i] * w->numbers[i * cols + c];
				sum += term;
				size += fabs(term);
			}
			out[r * cols + c] = sum;
			sizes[r * cols + c] = size;
		}
	return out;
}

static float *random_row(size_t count, double most)
{
	float *row = malloc((count + 1) * sizeof *row);
	assert_non_null(row);
	for (size_t i = 0; i < count; i++)
		row[i] = between(-most, most);
	return row;
}

struct size {
	size_t rows, inner, cols, gap;
};

/* What float32 loses in sums of up to GEMM_BLOCK terms. */
static const double share = 4e-6;

static void check_product(const struct kernels *k, const struct matrix_type *type, bool by_column,
			  const struct size *s, size_t offset, bool ended)
{
	size_t count = s->rows * s->cols;
	size_t gap = type && type->values > 1 ? type->values : s->gap;
	struct stored w = stored_new(type, by_column, s->inner, s->cols, gap, offset);
	struct stored gate = stored_new(type, by_column, s->inner, s->cols, gap, offset);
	float *x = random_row(s->rows * s->inner, 1), *bias = random_row(s->cols, 1);
	float *rest = random_row(count, 3), *before = malloc(count * sizeof *before);
	struct area out = output_new(count, 5);
	double *sizes = malloc(count * sizeof *sizes), *other = malloc(count * sizeof *other);
	assert_true(before && sizes && other);
	double *want = products(x, s->rows, &w, bias, sizes);
	double *gates = products(x, s->rows, &gate, NULL, other);
	struct projection_end end = {.activation = ACTIVATION_SILU, .gate = &gate.m, .residual = rest};
	for (size_t i = 0; i < count && ended; i++) {
		double factor = gates[i] / (1 + exp(-gates[i]));
		sizes[i] = sizes[i] * fabs(factor) + 1.1 * other[i] * fabs(want[i]) + fabs((double)rest[i]);
		want[i] = want[i] * factor + (double)rest[i];
	}
	for (size_t threads = 1; threads <= 2; threads++) {
		struct attn_error err = {.message = ""};
		threads_set(threads);
		enum attn_status status =
		    project_rows(k, x, w.m.rows, s->rows, &w.m, bias, ended ? &end : NULL, out.data, w.m.cols,
				 "product", &err);
		CHECK(status == ATTN_OK, "%s", err.message);
		check_guards(&out, "project_rows");
		assert_true(threads == 1 || same_bits(out.data, before, count));
		memcpy(before, out.data, count * sizeof *before);
	}
	for (size_t i = 0; i < count; i++)
		CHECK(fabs((double)out.data[i] - want[i]) <= share * (sizes[i] + 1),
		      "%s, %s%s, %zu x %zu x %zu: number %zu is %.9g, expected %.9g", kernels_name(k),
		      type ? type->name : "float32", by_column ? " by column" : "", s->rows, s->inner,
		      s->cols, i, (double)out.data[i], want[i]);
	digest_add(out.data, count);
	stored_free(&w);
	stored_free(&gate);
	area_free(&out);
	free(x), free(bias), free(rest), free(before), free(sizes), free(other), free(want), free(gates);
}

/* Few rows and many, one panel and several, tails of all kinds, more than one block of terms. */
static const struct size sizes_tried[] = {
    {1, 1, 1, 0},    {1, 256, 64, 0},  {3, 257, 65, 1},   {47, 100, 130, 0},
    {49, 256, 1, 3}, {50, 300, 70, 0}, {600, 33, 200, 2}, {7, 519, 191, 5},
};

static void check_products(const struct kernels *k)
{
	const struct matrix_type *const alone[] = {NULL, &matrix_f16, &matrix_bf16};
	const struct matrix_type *const blocks[] = {&matrix_q4_0, &matrix_q8_0, &matrix_q4_k};
	for (size_t i = 0; i < sizeof sizes_tried / sizeof *sizes_tried; i++) {
		for (size_t t = 0; t < 3; t++)
			for (int way = 0; way < 4; way++)
				check_product(k, alone[t], way % 2, &sizes_tried[i], way / 2, way > 1);
		struct size whole = sizes_tried[i];
		whole.inner = (whole.inner + 255) / 256 * 256;
		for (size_t t = 0; t < 3; t++)
			check_product(k, blocks[t], true, &whole, i % 2, i % 3 == 0);
	}
}

static void test_products(void **state)
{
	(void)state;
	seed();
	check_products(NULL);
	with_every_set("products", check_products);
}

/* Activation alone, and a residual that is the output itself. */
static void check_ends(const struct kernels *k)
{
	const float x[] = {1, -2}, w[] = {3, 1, -1, 2}; /* (in, out): 5 -3 */
	const struct matrix m = matrix_plain(w, 2, 2, 2);
	const struct projection_end relu = {.activation = ACTIVATION_RELU};
	float out[2] = {10, 20};
	const struct projection_end add = {.activation = ACTIVATION_LINEAR, .residual = out};
	struct attn_error err;
	assert_int_equal(project_rows(k, x, m.rows, 1, &m, NULL, &add, out, m.cols, "product", &err),
			 ATTN_OK);
	assert_true(out[0] == 15 && out[1] == 17);
	assert_int_equal(project_rows(k, x, m.rows, 1, &m, NULL, &relu, out, m.cols, "product", &err),
			 ATTN_OK);
	assert_true(out[0] == 5 && out[1] == 0);
	struct matrix second = matrix_columns(&m, 1, 1), swapped = m;
	assert_int_equal(
	    project_rows(k, x, second.rows, 1, &second, NULL, NULL, out, second.cols, "product", &err),
	    ATTN_OK);
	assert_true(out[0] == -3);
	swapped.by_column = true; /* 1, -5 */
	second = matrix_columns(&swapped, 1, 1);
	assert_int_equal(
	    project_rows(k, x, second.rows, 1, &second, NULL, NULL, out, second.cols, "product", &err),
	    ATTN_OK);
	assert_true(out[0] == -5);
}

static void test_ends(void **state)
{
	(void)state;
	check_ends(NULL);
	with_every_set("ends", check_ends);
}

/* A function that would hide it, such as relu of -infinity, doesn't. */
static void check_overflow(const struct kernels *k)
{
	const float x[] = {1, 1, 3e38f, 3e38f}, w[] = {-1, -1};
	const struct matrix m = matrix_plain(w, 2, 1, 1);
	const struct projection_end end = {.activation = ACTIVATION_RELU};
	float out[2];
	struct attn_error err;
	assert_int_equal(project_rows(k, x, m.rows, 2, &m, NULL, &end, out, m.cols, "product", &err),
			 ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "product"));
	assert_non_null(strstr(err.message, "token 1 "));
	assert_int_equal(project_rows(k, x, m.rows, 1, &m, NULL, &end, out, m.cols, "product", &err),
			 ATTN_OK);
}

static void test_overflow(void **state)
{
	(void)state;
	check_overflow(NULL);
	with_every_set("overflow", check_overflow);
}

/* --- norms of rows ------------------------------------------------------------------ */

static void check_norm(const struct kernels *k, const struct row_norm *norm, size_t rows, size_t width)
{
	float *x = random_row(rows * width, 4), *out = random_row(rows * width, 1);
	struct attn_error err;
	for (size_t i = 0; i < rows * width; i++)
		x[i] += 1000; /* a mean that float32 would lose digits to */
	assert_int_equal(norm_rows(k, norm, x, rows, width, out, &err), ATTN_OK);
	for (size_t r = 0; r < rows; r++) {
		double mean = 0, square = 0;
		for (size_t c = 0; c < width && norm->kind == ROW_NORM_LAYER; c++)
			mean += (double)x[r * width + c] / (double)width;
		for (size_t c = 0; c < width; c++)
			square += pow((double)x[r * width + c] - mean, 2) / (double)width;
		for (size_t c = 0; c < width; c++) {
			double want = ((double)x[r * width + c] - mean) / sqrt(square + norm->eps);
			if (norm->gain)
				want *= (double)norm->gain[c] + (norm->gain_from_one ? 1 : 0);
			want += norm->bias ? (double)norm->bias[c] : 0;
			double got = (double)out[r * width + c];
			CHECK(fabs(got - want) <= 1e-6 * fmax(1, fabs(want)), "(%zu, %zu) is %g, expected %g",
			      r, c, got, want);
		}
	}
	float *there = malloc((rows * width + 1) * sizeof *there);
	assert_non_null(there);
	memcpy(there, x, rows * width * sizeof *x);
	assert_int_equal(norm_rows(k, norm, there, rows, width, there, &err), ATTN_OK);
	assert_true(same_bits(there, out, rows * width));
	free(there), free(x), free(out);
}

static void test_norms(void **state)
{
	(void)state;
	const size_t widths[] = {1, 7, 16, 33, 768};
	seed();
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		float *gain = random_row(widths[i], 2), *bias = random_row(widths[i], 2);
		const struct row_norm norms[] = {
		    {ROW_NORM_LAYER, 1e-5, gain, bias, false}, {ROW_NORM_LAYER, 1e-12, NULL, NULL, false},
		    {ROW_NORM_LAYER, 1e-5, NULL, bias, false}, {ROW_NORM_RMS, 1e-6, gain, NULL, false},
		    {ROW_NORM_RMS, 1e-6, gain, NULL, true},
		};
		for (size_t n = 0; n < sizeof norms / sizeof *norms; n++) {
			check_norm(NULL, &norms[n], 37, widths[i]);
			check_norm(kernels_best(), &norms[n], 37, widths[i]);
		}
		free(gain), free(bias);
	}
}

static void test_norm_overflow(void **state)
{
	(void)state;
	const float x[] = {1, 2, 3, 4}, gain[] = {3e38f, 3e38f};
	const struct row_norm norm = {.kind = ROW_NORM_RMS, .gain = gain};
	float out[4];
	struct attn_error err;
	assert_int_equal(norm_rows(kernels_best(), &norm, x, 2, 2, out, &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "token 0 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_products),      cmocka_unit_test(test_ends),
	    cmocka_unit_test(test_overflow),      cmocka_unit_test(test_norms),
	    cmocka_unit_test(test_norm_overflow),
	};
	choose_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
