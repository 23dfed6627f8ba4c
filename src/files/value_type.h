/* How the elements of a checkpoint are stored: one by one, or in blocks that share scales (the block
 * formats of ggml, which GGUF files have). */
#ifndef ATTN_FILES_VALUE_TYPE_H
#define ATTN_FILES_VALUE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/matrix.h"
#include "input/tensor.h"

struct value_type {
	const char *name;     /* "float32", "Q4_K" */
	size_t values, bytes; /* of a block; 1 value where elements stand alone; 0 and 0: not known */
	enum dtype dtype;     /* of elements that stand alone */
	bool computed;        /* whether weights of it are computed with */

	/* How a product reads matrices of it; NULL: as float32, or not at all. */
	const struct matrix_type *matrix;
};

const struct value_type *value_type_of(enum dtype dtype);

/* A type by ggml's number for it, or NULL where that stands for none. */
const struct value_type *value_type_of_ggml(unsigned long number);

/* What no type is known of; its name is the file's to tell. */
extern const struct value_type value_type_other;

#endif
