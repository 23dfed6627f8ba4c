/* A file's contents, for operands that ask for all of it or for a part. */
#ifndef ATTN_FILES_INPUT_INTERNAL_H
#define ATTN_FILES_INPUT_INTERNAL_H

#include <stdbool.h>

#include "files/formats.h"
#include "input/bundle.h"

/* What is wanted of a file. */
struct want {
	bool part;        /* one tensor or text, or a list of what there is: the rest may be anything */
	const char *name; /* the part, or NULL */
	const char *role; /* what it is wanted for, or NULL */
	bool strings;     /* it is a text */
};

/* Read a file into an empty bundle, but leave what is compressed as it is; `format` may be NULL.
 * On failure the bundle is empty. */
enum attn_status input_read(struct bundle *out, const char *path, const struct want *want,
			    enum format *format, struct attn_error *err);

/* Load a bundle's texts: all, or those that are roles.  On failure the bundle is released. */
enum attn_status input_load_texts(struct bundle *b, bool all, struct attn_error *err);

#endif
