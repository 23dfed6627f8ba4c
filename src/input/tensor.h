/* A named array of numbers as a file holds it.
 *
 * Row-major, last index fastest, native byte order: a reader that meets another
 * order converts.  `data` may point into memory that somebody else keeps (a
 * mapped file) and need not be aligned, so elements are read through the
 * functions below.
 */
#ifndef ATTN_INPUT_TENSOR_H
#define ATTN_INPUT_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "input/roles.h"
#include "util/error.h"

enum {
	TENSOR_MAX_RANK = 8
};

enum dtype {
	DTYPE_F64,
	DTYPE_F32,
	DTYPE_F16,
	DTYPE_BF16,
	DTYPE_F8_E4M3, /* of OCP: no infinity, 0x7f and 0xff are NaN (FN) */
	DTYPE_F8_E5M2, /* the upper half of a float16 */
	DTYPE_I64,
	DTYPE_I32,
	DTYPE_I16,
	DTYPE_I8,
	DTYPE_U64,
	DTYPE_U32,
	DTYPE_U16,
	DTYPE_U8,
	DTYPE_BOOL, /* one byte, 0 or not 0 */
	DTYPE_COUNT
};

struct tensor {
	char *name;        /* owned: a role, or what its file calls it */
	char *origin;      /* owned: the file it came from, for messages; may be NULL */
	enum role_id role; /* set by the bundle that it is in */
	bool used;         /* see given.h */
	enum dtype dtype;
	int rank; /* 0 (a scalar) to TENSOR_MAX_RANK */
	size_t shape[TENSOR_MAX_RANK];
	size_t count;     /* product of the shape: elements */
	const void *data; /* count * dtype_size(dtype) bytes */
	void *owned;      /* heap memory that `data` points into, or NULL */

	/* Where a file is compressed, what inflates the data, and its own heap memory:
	 * both NULL once tensor_load has been called, and `data` is NULL before. */
	enum attn_status (*load)(struct tensor *t, struct attn_error *err);
	void *source;
};

size_t dtype_size(enum dtype dtype);      /* bytes an element */
const char *dtype_name(enum dtype dtype); /* "float32" */
bool dtype_is_float(enum dtype dtype);

/* Fill name, origin (copied; origin may be NULL), dtype, rank, shape and count
 * of *t, leaving data and owned NULL.  ATTN_BAD_INPUT when the rank is too high
 * or the number of bytes would wrap. */
enum attn_status tensor_init(struct tensor *t, const char *name, const char *origin, enum dtype dtype,
			     int rank, const size_t *shape, struct attn_error *err);

/* Take an axis of length 1 out of the shape, or put one in before `axis` (rank is below
 * TENSOR_MAX_RANK). */
void tensor_drop_axis(struct tensor *t, int axis);
void tensor_insert_axis(struct tensor *t, int axis);

/* Free what *t owns and zero it. */
void tensor_release(struct tensor *t);

/* Make sure that the data is there: to be called before it is used.  ATTN_BAD_INPUT,
 * with the file's name, when it is damaged. */
enum attn_status tensor_load(struct tensor *t, struct attn_error *err);

/* Element `i` (flat, below t->count) as a double.  An int64 beyond 2^53 rounds. */
double tensor_get(const struct tensor *t, size_t i);

/* Write the shape as "2 x 3 x 8" ("a scalar" for rank 0) into text[size];
 * returns text. */
const char *tensor_shape_text(int rank, const size_t *shape, char *text, size_t size);

/* Write the index of flat element `i` as "name[1,0,3]" into text[size]. */
const char *tensor_index_text(const struct tensor *t, size_t i, char *text, size_t size);

/* Convert all elements to float32 in out[t->count].  ATTN_BAD_INPUT that names
 * tensor, file and index at the first NaN or infinity, or value beyond float32. */
enum attn_status tensor_to_f32(const struct tensor *t, float *out, struct attn_error *err);

/* The same for elements [first, first + count), which there must be, in out[count]. */
enum attn_status tensor_part_to_f32(const struct tensor *t, size_t first, size_t count, float *out,
				    struct attn_error *err);

float f16_to_f32(unsigned short bits);  /* IEEE 754 binary16, subnormals too */
float bf16_to_f32(unsigned short bits); /* the upper half of a float32 */
float e4m3_to_f32(unsigned char bits);  /* DTYPE_F8_E4M3; exact, as the others are */
float e5m2_to_f32(unsigned char bits);  /* DTYPE_F8_E5M2 */

#endif
