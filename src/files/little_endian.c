#include <stdlib.h>

#include "files/bytes_internal.h"
#include "input/tensor.h"

enum attn_status tensor_take_le(struct tensor *t, const unsigned char *data, size_t bytes,
				struct attn_error *err)
{
	size_t size = dtype_size(t->dtype);
	t->data = data;
	if (!HOST_IS_BIG_ENDIAN || size == 1 || bytes == 0)
		return ATTN_OK;
	unsigned char *to = t->owned = malloc(bytes);
	if (!to) {
		tensor_release(t);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < bytes; i++)
		to[i] = data[i - i % size + (size - 1 - i % size)];
	t->data = to;
	return ATTN_OK;
}
