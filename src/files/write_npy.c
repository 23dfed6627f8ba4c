/* npy, version 1.0: magic, version, the length of a header (2 bytes,
 * little-endian), the header (a Python dictionary, padded to 64 bytes in all),
 * and the elements. */
#include "files/tensor_writer_internal.h"

enum {
	ALIGNMENT = 64,
	PREFIX = 10 /* bytes before the dictionary */
};

void npy_header(struct buffer *buf, const struct tensor_spec *spec)
{
	struct buffer dictionary = BUFFER_INIT;
	buffer_printf(&dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (",
		      spec->dtype == DTYPE_F32   ? "<f4"
		      : spec->dtype == DTYPE_I64 ? "<i8"
						 : "|b1");
	for (int k = 0; k < spec->rank; k++)
		buffer_printf(&dictionary, "%s%zu", k > 0 ? ", " : "", spec->axes[k].length);
	buffer_add_string(&dictionary, spec->rank == 1 ? ",), }" : "), }");
	while ((PREFIX + dictionary.length + 1) % ALIGNMENT != 0 && !dictionary.failed)
		buffer_add_char(&dictionary, ' ');
	buffer_add_char(&dictionary, '\n');

	buffer_add(buf, "\x93NUMPY\x01\x00", 8);
	buffer_add_le(buf, dictionary.length, 2); /* rank is at most 8, so it fits */
	buffer_add(buf, dictionary.data, dictionary.failed ? 0 : dictionary.length);
	buf->failed |= dictionary.failed;
	buffer_release(&dictionary);
}

static enum attn_status start(struct tensor_writer *w, const struct tensor_spec *spec, struct attn_error *err)
{
	(void)err;
	npy_header(&w->text, spec);
	return ATTN_OK;
}

static enum attn_status put(struct tensor_writer *w, const void *elements, size_t count,
			    struct attn_error *err)
{
	return writer_put_raw(w, elements, count, NULL, err);
}

const struct tensor_format npy_format = {.binary = true, .one_tensor = true, .start = start, .put = put};
