/* model.bin, the files of CTranslate2: a specification's name, variables, and other names of some.
 *
 * Version, specification, revision, number of variables; of each name, rank, shape, type, bytes and
 * elements; number of aliases; of each alias and name.  All little-endian, names with their length and a
 * closing 0 (ModelSpec.save of CTranslate2's model_spec.py).  Versions 1 to 6 are read.
 */
#ifndef ATTN_FILES_CTRANSLATE2_H
#define ATTN_FILES_CTRANSLATE2_H

#include <stdbool.h>
#include <stddef.h>

#include "files/value_type.h"
#include "util/error.h"

struct ct2_variable {
	char *name; /* owned; UTF-8, with dots: "encoder.layer_0.ffn.linear_0.weight" */
	const struct value_type *type;
	int rank;
	size_t shape[TENSOR_MAX_RANK];
	size_t count, bytes;
	const unsigned char *data; /* in the file, not aligned */
};

struct ct2 {
	size_t version;
	char *specification;            /* owned: "TransformerSpec" */
	struct ct2_variable *variables; /* owned, in the file's order, then aliases */
	size_t count;
};

/* Whether data[length] begins as such a file does. */
bool is_ct2(const unsigned char *data, size_t length);

/* Read all but the elements of the file data[length], which must outlive *c.  ATTN_BAD_INPUT without the
 * file's name. */
enum attn_status ct2_open(struct ct2 *c, const unsigned char *data, size_t length, struct attn_error *err);
void ct2_release(struct ct2 *c); /* safe on a zeroed one */

/* The variable of a name, or NULL. */
const struct ct2_variable *ct2_find(const struct ct2 *c, const char *name);

/* What a variable of one element is; `fallback` where it is none, or of more. */
double ct2_number(const struct ct2_variable *v, double fallback);

#endif
