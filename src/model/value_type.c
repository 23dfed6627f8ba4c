#include "model/value_type.h"

#define ALONE(kind, label, size, is_computed)                                                                \
	[kind] = {.name = (label), .values = 1, .bytes = (size), .dtype = (kind), .computed = (is_computed)}

/* Numbers of eight bits mean little without scales, which each program stores its own way. */
static const struct value_type plain[DTYPE_COUNT] = {
    ALONE(DTYPE_F64, "float64", 8, true),      ALONE(DTYPE_F32, "float32", 4, true),
    ALONE(DTYPE_F16, "float16", 2, true),      ALONE(DTYPE_BF16, "bfloat16", 2, true),
    ALONE(DTYPE_F8_E4M3, "F8_E4M3", 1, false), ALONE(DTYPE_F8_E5M2, "F8_E5M2", 1, false),
    ALONE(DTYPE_I64, "int64", 8, false),       ALONE(DTYPE_I32, "int32", 4, false),
    ALONE(DTYPE_I16, "int16", 2, false),       ALONE(DTYPE_I8, "int8", 1, false),
    ALONE(DTYPE_U64, "uint64", 8, false),      ALONE(DTYPE_U32, "uint32", 4, false),
    ALONE(DTYPE_U16, "uint16", 2, false),      ALONE(DTYPE_U8, "uint8", 1, false),
    ALONE(DTYPE_BOOL, "bool", 1, false),
};

const struct value_type value_type_other = {.name = "other"};

const struct value_type *value_type_of(enum dtype dtype)
{
	return &plain[dtype];
}
