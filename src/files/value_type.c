#include "files/value_type.h"

#include "attention/blocks.h"

#define ALONE(kind, label, size, is_computed)                                                                \
	[kind] = {.name = (label), .values = 1, .bytes = (size), .dtype = (kind), .computed = (is_computed)}

/* Numbers of eight bits mean little without scales, which each program stores its own way. */
static const struct value_type plain[DTYPE_COUNT] = {
    [DTYPE_F16] = {"float16", 1, 2, DTYPE_F16, true, &matrix_f16},
    [DTYPE_BF16] = {"bfloat16", 1, 2, DTYPE_BF16, true, &matrix_bf16},
    ALONE(DTYPE_F64, "float64", 8, true),
    ALONE(DTYPE_F32, "float32", 4, true),
    ALONE(DTYPE_F8_E4M3, "F8_E4M3", 1, false),
    ALONE(DTYPE_F8_E5M2, "F8_E5M2", 1, false),
    ALONE(DTYPE_I64, "int64", 8, false),
    ALONE(DTYPE_I32, "int32", 4, false),
    ALONE(DTYPE_I16, "int16", 2, false),
    ALONE(DTYPE_I8, "int8", 1, false),
    ALONE(DTYPE_U64, "uint64", 8, false),
    ALONE(DTYPE_U32, "uint32", 4, false),
    ALONE(DTYPE_U16, "uint16", 2, false),
    ALONE(DTYPE_U8, "uint8", 1, false),
    ALONE(DTYPE_BOOL, "bool", 1, false),
};

/* Those that are computed with, and others of which only the size is known. */
#define BLOCK(number, label, count, size, type)                                                              \
	[number] = {                                                                                         \
	    .name = (label), .values = (count), .bytes = (size), .computed = true, .matrix = &matrix_##type}
#define OTHER(number, label, count, size) [number] = {.name = (label), .values = (count), .bytes = (size)}

/* By ggml's numbers (enum ggml_type), which are never given to another type. */
static const struct value_type blocks[] = {
    BLOCK(2, "Q4_0", 32, 18, q4_0),
    BLOCK(3, "Q4_1", 32, 20, q4_1),
    BLOCK(6, "Q5_0", 32, 22, q5_0),
    BLOCK(7, "Q5_1", 32, 24, q5_1),
    BLOCK(8, "Q8_0", 32, 34, q8_0),
    OTHER(9, "Q8_1", 32, 36),
    BLOCK(10, "Q2_K", 256, 84, q2_k),
    BLOCK(11, "Q3_K", 256, 110, q3_k),
    BLOCK(12, "Q4_K", 256, 144, q4_k),
    BLOCK(13, "Q5_K", 256, 176, q5_k),
    BLOCK(14, "Q6_K", 256, 210, q6_k),
    OTHER(15, "Q8_K", 256, 292),
    OTHER(16, "IQ2_XXS", 256, 66),
    OTHER(17, "IQ2_XS", 256, 74),
    OTHER(18, "IQ3_XXS", 256, 98),
    OTHER(19, "IQ1_S", 256, 50),
    BLOCK(20, "IQ4_NL", 32, 18, iq4_nl),
    OTHER(21, "IQ3_S", 256, 110),
    OTHER(22, "IQ2_S", 256, 82),
    BLOCK(23, "IQ4_XS", 256, 136, iq4_xs),
    OTHER(29, "IQ1_M", 256, 56),
    OTHER(34, "TQ1_0", 256, 54),
    OTHER(35, "TQ2_0", 256, 66),
    BLOCK(39, "MXFP4", 32, 17, mxfp4),
    OTHER(40, "NVFP4", 0, 0),
    OTHER(41, "Q1_0", 0, 0),
};

const struct value_type value_type_other = {.name = "other"};

const struct value_type *value_type_of(enum dtype dtype)
{
	return &plain[dtype];
}

const struct value_type *value_type_of_ggml(unsigned long number)
{
	static const struct {
		unsigned long number;
		enum dtype dtype;
	} alone[] = {{0, DTYPE_F32}, {1, DTYPE_F16},  {30, DTYPE_BF16}, {28, DTYPE_F64},
		     {24, DTYPE_I8}, {25, DTYPE_I16}, {26, DTYPE_I32},  {27, DTYPE_I64}};
	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		if (alone[i].number == number)
			return &plain[alone[i].dtype];
	return number < sizeof blocks / sizeof *blocks && blocks[number].name ? &blocks[number] : NULL;
}
