/* The header of a safetensors file: what tensors it holds and where. */
#ifndef ATTN_FILES_SAFETENSORS_H
#define ATTN_FILES_SAFETENSORS_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "input/tensor.h"
#include "util/error.h"

struct safetensors_tensor {
	const char *name;
	enum dtype dtype;
	const char *unread; /* a dtype that is not computed with, such as "C64"; else NULL */
	int rank;
	size_t shape[TENSOR_MAX_RANK];
	const unsigned char *data; /* in the file, little-endian */
	size_t bytes;
};

struct safetensors {
	cJSON *root;                        /* owned; the names are in it */
	const cJSON *metadata;              /* an object; NULL: there is none */
	struct safetensors_tensor *tensors; /* owned, in the header's order, each name once */
	size_t count;
};

/* Read the header of the file data[length], which must outlive *s, and check that its at most `most`
 * tensors have the sizes that they say and cover the data.  ATTN_BAD_INPUT without the file's
 * name. */
enum attn_status safetensors_open(struct safetensors *s, const unsigned char *data, size_t length,
				  size_t most, struct attn_error *err);
void safetensors_release(struct safetensors *s); /* safe on a zeroed one */

#endif
