#include "input/tensor.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/strings.h"

static const struct {
	const char *name;
	size_t size;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_F64] = {"float64", 8},   [DTYPE_F32] = {"float32", 4},     [DTYPE_F16] = {"float16", 2},
    [DTYPE_BF16] = {"bfloat16", 2}, [DTYPE_F8_E4M3] = {"F8_E4M3", 1}, [DTYPE_F8_E5M2] = {"F8_E5M2", 1},
    [DTYPE_I64] = {"int64", 8},     [DTYPE_I32] = {"int32", 4},       [DTYPE_I16] = {"int16", 2},
    [DTYPE_I8] = {"int8", 1},       [DTYPE_U64] = {"uint64", 8},      [DTYPE_U32] = {"uint32", 4},
    [DTYPE_U16] = {"uint16", 2},    [DTYPE_U8] = {"uint8", 1},        [DTYPE_BOOL] = {"bool", 1},
};

size_t dtype_size(enum dtype dtype)
{
	return dtypes[dtype].size;
}

const char *dtype_name(enum dtype dtype)
{
	return dtypes[dtype].name;
}

bool dtype_is_float(enum dtype dtype)
{
	return dtype == DTYPE_F64 || dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 ||
	       dtype == DTYPE_F8_E4M3 || dtype == DTYPE_F8_E5M2;
}

enum attn_status tensor_init(struct tensor *t, const char *name, const char *origin, enum dtype dtype,
			     int rank, const size_t *shape, struct attn_error *err)
{
	*t = (struct tensor){.dtype = dtype, .rank = rank, .count = 1};
	if (rank < 0 || rank > TENSOR_MAX_RANK)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has %d dimensions, expected at most %d", name,
				 rank, TENSOR_MAX_RANK);
	for (int i = 0; i < rank; i++) {
		t->shape[i] = shape[i];
		if (!size_mul(t->count, shape[i], &t->count))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s' has more elements than memory can hold",
					 name);
	}
	size_t bytes;
	if (!size_mul(t->count, dtype_size(dtype), &bytes))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has more elements than memory can hold", name);
	t->name = strdup(name);
	t->origin = origin ? strdup(origin) : NULL;
	if (!t->name || (origin && !t->origin)) {
		tensor_release(t);
		return attn_fail_memory(err);
	}
	return ATTN_OK;
}

void tensor_drop_axis(struct tensor *t, int axis)
{
	memmove(&t->shape[axis], &t->shape[axis + 1], (size_t)(t->rank - axis - 1) * sizeof *t->shape);
	t->rank--;
}

void tensor_insert_axis(struct tensor *t, int axis)
{
	memmove(&t->shape[axis + 1], &t->shape[axis], (size_t)(t->rank - axis) * sizeof *t->shape);
	t->shape[axis] = 1;
	t->rank++;
}

void tensor_release(struct tensor *t)
{
	free(t->name);
	free(t->origin);
	free(t->owned);
	free(t->source);
	*t = (struct tensor){0};
}

enum attn_status tensor_load(struct tensor *t, struct attn_error *err)
{
	enum attn_status status = t->load ? t->load(t, err) : ATTN_OK;
	if (status == ATTN_OK) {
		free(t->source);
		t->load = NULL;
		t->source = NULL;
	}
	return status;
}

static float f32_from_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

float f16_to_f32(unsigned short bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
	uint32_t exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
	if (exponent == 0x1f)
		return f32_from_bits(sign | 0x7f800000u | fraction << 13);
	if (exponent == 0) { /* zero and subnormals: fraction * 2^-24 */
		float value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	return f32_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

float bf16_to_f32(unsigned short bits)
{
	return f32_from_bits((uint32_t)bits << 16);
}

float e4m3_to_f32(unsigned char bits)
{
	uint32_t sign = (uint32_t)(bits & 0x80u) << 24;
	uint32_t exponent = bits >> 3 & 0xfu, fraction = bits & 0x7u;
	if (exponent == 0xf && fraction == 7)
		return f32_from_bits(sign | 0x7fc00000u);
	if (exponent == 0) { /* zero and subnormals: fraction * 2^-9 */
		float value = (float)fraction * 0x1p-9f;
		return sign ? -value : value;
	}
	return f32_from_bits(sign | (exponent + 120) << 23 | fraction << 20);
}

float e5m2_to_f32(unsigned char bits)
{
	return f16_to_f32((unsigned short)(bits << 8));
}

/* Read one element of a type at any address. */
#define LOAD(type, t, i) load_##type((const unsigned char *)(t)->data + (i) * sizeof(type))
#define DEFINE_LOAD(type)                                                                                    \
	static type load_##type(const unsigned char *at)                                                     \
	{                                                                                                    \
		type value;                                                                                  \
		memcpy(&value, at, sizeof value);                                                            \
		return value;                                                                                \
	}
DEFINE_LOAD(double)
DEFINE_LOAD(float)
DEFINE_LOAD(int64_t)
DEFINE_LOAD(int32_t)
DEFINE_LOAD(int16_t)
DEFINE_LOAD(int8_t)
DEFINE_LOAD(uint64_t)
DEFINE_LOAD(uint32_t)
DEFINE_LOAD(uint16_t)
DEFINE_LOAD(uint8_t)

double tensor_get(const struct tensor *t, size_t i)
{
	switch (t->dtype) {
	case DTYPE_F64:
		return LOAD(double, t, i);
	case DTYPE_F32:
		return (double)LOAD(float, t, i);
	case DTYPE_F16:
		return (double)f16_to_f32(LOAD(uint16_t, t, i));
	case DTYPE_BF16:
		return (double)bf16_to_f32(LOAD(uint16_t, t, i));
	case DTYPE_F8_E4M3:
		return (double)e4m3_to_f32(LOAD(uint8_t, t, i));
	case DTYPE_F8_E5M2:
		return (double)e5m2_to_f32(LOAD(uint8_t, t, i));
	case DTYPE_I64:
		return (double)LOAD(int64_t, t, i);
	case DTYPE_I32:
		return LOAD(int32_t, t, i);
	case DTYPE_I16:
		return LOAD(int16_t, t, i);
	case DTYPE_I8:
		return LOAD(int8_t, t, i);
	case DTYPE_U64:
		return (double)LOAD(uint64_t, t, i);
	case DTYPE_U32:
		return LOAD(uint32_t, t, i);
	case DTYPE_U16:
		return LOAD(uint16_t, t, i);
	case DTYPE_U8:
		return LOAD(uint8_t, t, i);
	case DTYPE_BOOL:
		return LOAD(uint8_t, t, i) != 0;
	case DTYPE_COUNT:
		break;
	}
	return NAN;
}

const char *tensor_shape_text(int rank, const size_t *shape, char *text, size_t size)
{
	if (rank == 0)
		snprintf(text, size, "a scalar");
	else
		text[0] = '\0';
	size_t used = 0;
	for (int i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? " x " : "", shape[i]);
	return text;
}

const char *tensor_index_text(const struct tensor *t, size_t i, char *text, size_t size)
{
	size_t index[TENSOR_MAX_RANK];
	for (int axis = t->rank - 1; axis >= 0; axis--) {
		index[axis] = i % t->shape[axis];
		i /= t->shape[axis];
	}
	size_t used = (size_t)snprintf(text, size, "%s", t->name);
	for (int axis = 0; axis < t->rank && used < size; axis++)
		used += (size_t)snprintf(text + used, size - used, "%c%zu", axis ? ',' : '[', index[axis]);
	if (t->rank > 0 && used < size)
		snprintf(text + used, size - used, "]");
	return text;
}

enum attn_status tensor_to_f32(const struct tensor *t, float *out, struct attn_error *err)
{
	return tensor_part_to_f32(t, 0, t->count, out, err);
}

enum attn_status tensor_part_to_f32(const struct tensor *t, size_t first, size_t count, float *out,
				    struct attn_error *err)
{
	for (size_t i = first; i < first + count; i++) {
		/* The direct way for what most files hold. */
		double value = t->dtype == DTYPE_F32 ? (double)LOAD(float, t, i) : tensor_get(t, i);
		float narrow = out[i - first] = (float)value;
		if (isfinite(narrow))
			continue;
		char place[300];
		tensor_index_text(t, i, place, sizeof place);
		if (isfinite(value))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, beyond float32",
					 origin_name(t->origin), place, value);
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected a finite number",
				 origin_name(t->origin), place,
				 isnan(value) ? "nan"
				 : value > 0  ? "inf"
					      : "-inf");
	}
	return ATTN_OK;
}
