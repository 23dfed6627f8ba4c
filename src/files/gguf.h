/* GGUF, the files of ggml: keys with values, tensors, and where these are.
 *
 * "GGUF", version, numbers of tensors and pairs, pairs, tensors, padding, elements; all
 * little-endian (the specification is docs/gguf.md of ggml).  Versions 2 and 3 are read, which differ
 * in nothing here.
 */
#ifndef ATTN_FILES_GGUF_H
#define ATTN_FILES_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/value_type.h"
#include "util/error.h"

enum gguf_kind {
	GGUF_U8,
	GGUF_I8,
	GGUF_U16,
	GGUF_I16,
	GGUF_U32,
	GGUF_I32,
	GGUF_F32,
	GGUF_BOOL,
	GGUF_TEXT,
	GGUF_ARRAY,
	GGUF_U64,
	GGUF_I64,
	GGUF_F64,
	GGUF_KINDS
};

/* A key and its values: one, or those of an array. */
struct gguf_pair {
	char *key; /* owned; UTF-8 */
	bool array;
	enum gguf_kind kind;       /* of the values; never GGUF_ARRAY */
	size_t count;              /* of values */
	const unsigned char *data; /* the first, in the file */
};

struct gguf_tensor {
	char *name;                    /* owned; UTF-8 */
	unsigned long number;          /* ggml's number of its type */
	const struct value_type *type; /* value_type_other where that stands for none */
	int rank;
	size_t shape[TENSOR_MAX_RANK]; /* row-major: the file's, reversed */
	size_t count, bytes;           /* elements; bytes are 0 where the type's size is not known */
	const unsigned char *data;     /* in the file */
};

struct gguf {
	size_t version;
	struct gguf_pair *pairs; /* owned, in the file's order; so too tensors */
	size_t pair_count;
	struct gguf_tensor *tensors;
	size_t tensor_count;
	const struct gguf_pair **sorted; /* owned: pairs by key */
};

/* Whether data[length] begins as such a file does. */
bool is_gguf(const unsigned char *data, size_t length);

/* Read all but the elements of the file data[length], which must outlive *g.  Everything is in the
 * file as it says, and no key or name comes twice.  ATTN_BAD_INPUT without the file's name. */
enum attn_status gguf_open(struct gguf *g, const unsigned char *data, size_t length, struct attn_error *err);
void gguf_release(struct gguf *g); /* safe on a zeroed one */

/* The pair of a key, or NULL. */
const struct gguf_pair *gguf_pair(const struct gguf *g, const char *key);

/* Value `i` of numbers or bools, as a double. */
double gguf_number(const struct gguf_pair *p, size_t i);

/* The string at `at` in the file, of *length bytes and without an end; returns where the next one is.
 * The first is at pair->data. */
const unsigned char *gguf_text(const unsigned char *at, const char **text, size_t *length);

/* A copy of such a string as C has it; NULL where it is not UTF-8, holds a NUL, or there is no memory. */
char *gguf_string(const char *text, size_t length);

const char *gguf_kind_name(enum gguf_kind kind); /* "uint32" */
size_t gguf_kind_size(enum gguf_kind kind);      /* bytes of a value; of a string at least */

#endif
