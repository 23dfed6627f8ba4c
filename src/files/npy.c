/* npy, NumPy's format for one array.
 *
 * Arrays of numbers and booleans become tensors, lists of strings (dtype U or S,
 * as NumPy saves tokens) texts.  Objects, complex numbers and structures are not
 * read.
 */
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/formats.h"
#include "files/npy_internal.h"
#include "files/strings_internal.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/utf8.h"

static void copy_element(unsigned char *to, const unsigned char *from, size_t size, bool swap)
{
	if (swap) {
		for (size_t i = 0; i < size; i++)
			to[i] = from[size - 1 - i];
		return;
	}
	switch (size) { /* constant sizes, so that each is one move */
	case 1:
		*to = *from;
		break;
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	default:
		memcpy(to, from, 8);
	}
}

/* Transpose all axes: first index fastest becomes last index fastest.  Tiles over
 * the first and the last axis keep both sides in the cache. */
static void copy_fortran(unsigned char *to, const unsigned char *from, const struct npy_header *h,
			 size_t size)
{
	enum {
		TILE = 32
	};
	size_t first = h->shape[0], last = h->shape[h->rank - 1], middle = 1;
	for (int axis = 1; axis < h->rank - 1; axis++)
		middle *= h->shape[axis];
	for (size_t m = 0; m < middle; m++) {
		/* `m` counts the middle axes last index fastest; `f` is the same
		 * place counted first index fastest. */
		size_t f = 0, rest = m, place = middle;
		for (int axis = h->rank - 2; axis > 0; axis--) {
			place /= h->shape[axis];
			f += rest % h->shape[axis] * place;
			rest /= h->shape[axis];
		}
		for (size_t i0 = 0; i0 < first; i0 += TILE)
			for (size_t j0 = 0; j0 < last; j0 += TILE)
				for (size_t i = i0; i < first && i < i0 + TILE; i++)
					for (size_t j = j0; j < last && j < j0 + TILE; j++)
						copy_element(to + ((i * middle + m) * last + j) * size,
							     from + ((j * middle + f) * first + i) * size,
							     size, h->swap);
	}
}

static enum attn_status convert(struct tensor *t, const unsigned char *from, const struct npy_header *h,
				struct attn_error *err)
{
	size_t size = dtype_size(h->dtype);
	unsigned char *to = malloc(t->count * size);
	if (!to)
		return attn_fail_memory(err);
	if (h->fortran && h->rank > 1)
		copy_fortran(to, from, h, size);
	else
		for (size_t i = 0; i < t->count; i++)
			copy_element(to + i * size, from + i * size, size, h->swap);
	t->owned = to;
	t->data = to;
	return ATTN_OK;
}

enum attn_status npy_check_size(const struct npy_header *h, size_t found, struct attn_error *err)
{
	size_t expected = h->item ? h->item : dtype_size(h->dtype);
	if (h->type[0])
		return ATTN_OK; /* of a size that is not known */
	char shape[200];
	tensor_shape_text(h->rank, h->shape, shape, sizeof shape);
	for (int axis = 0; axis < h->rank; axis++)
		if (!size_mul(expected, h->shape[axis], &expected))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "shape %s has more elements than memory can hold", shape);
	if (found != expected)
		return attn_fail(err, ATTN_BAD_INPUT, "data is %zu bytes, expected %zu for %s of %s", found,
				 expected, shape, h->item ? "strings" : dtype_name(h->dtype));
	return ATTN_OK;
}

static enum attn_status add_tensor(const unsigned char *data, const struct npy_header *h,
				   unsigned char **owned, const char *name, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	struct tensor t;
	enum attn_status status = tensor_init(&t, name, origin, h->dtype, h->rank, h->shape, err);
	if (status != ATTN_OK)
		return status;
	if (t.count > 0 && (h->swap || (h->fortran && h->rank > 1))) {
		status = convert(&t, data, h, err);
		if (status != ATTN_OK) {
			tensor_release(&t);
			return status;
		}
	} else {
		t.data = data;
		t.owned = *owned;
		*owned = NULL;
	}
	return bundle_add_tensor(out, &t, err);
}

/* Append the string in at[h->item], which zeros fill up to its end.  False when
 * it is no text: not Unicode, or with a zero inside. */
static bool decode_string(const unsigned char *at, const struct npy_header *h, struct buffer *text)
{
	size_t width = h->wide ? UCS4_SIZE : 1;
	bool ended = false;
	for (size_t i = 0; i < h->item; i += width) {
		uint32_t code = at[i];
		char utf8[4];
		if (h->wide) {
			code = read_le32(at + i);
			if (h->swap != HOST_IS_BIG_ENDIAN)
				code = __builtin_bswap32(code);
		}
		if (code > 0x10ffff || (code != 0 && ended))
			return false;
		ended = code == 0;
		if (ended)
			continue;
		if (h->wide)
			buffer_add(text, utf8, utf8_encode(code, utf8));
		else
			buffer_add_char(text, (char)code);
	}
	return text->failed || utf8_valid(text->data ? text->data : "", text->length);
}

static enum attn_status read_strings(const unsigned char *data, const struct npy_header *h,
				     struct string_list *list, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	enum attn_status status = ATTN_OK;
	size_t count = (h->rank ? h->shape[0] : 1) * (h->rank > 1 ? h->shape[1] : 1);
	for (size_t i = 0; i < count && status == ATTN_OK; i++) {
		buffer_clear(&text);
		if (!decode_string(data + i * h->item, h, &text))
			status = attn_fail(err, ATTN_BAD_INPUT, "string %zu is not Unicode text", i);
		else if (text.failed || !string_list_add(list, text.data ? text.data : ""))
			status = attn_fail_memory(err);
	}
	buffer_release(&text);
	return status;
}

bool npy_is_list(const struct npy_header *h)
{
	for (int axis = 0; axis < h->rank; axis++)
		if (h->shape[axis] == 0)
			return false;
	return h->rank <= 2 && (h->rank < 2 || !h->fortran || h->shape[0] == 1);
}

static enum attn_status add_strings(const unsigned char *data, const struct npy_header *h, const char *name,
				    const char *origin, struct bundle *out, struct attn_error *err)
{
	struct string_list list = {0};
	char shape[200];
	if (!npy_is_list(h))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "strings have the shape %s, expected at most one dimension, not empty, or a "
				 "list for each batch item",
				 tensor_shape_text(h->rank, h->shape, shape, sizeof shape));
	enum attn_status status = read_strings(data, h, &list, err);
	if (status == ATTN_OK && h->rank == 2)
		status = string_lists_agree(&list, h->shape[0], "strings", err);
	if (status == ATTN_OK)
		return bundle_add_text(out, name, origin, &list, err);
	string_list_release(&list);
	return status;
}

enum attn_status npy_add(const unsigned char *data, size_t length, unsigned char *owned, const char *name,
			 const char *origin, struct bundle *out, struct attn_error *err)
{
	struct npy_header h;
	enum attn_status status = npy_header_parse(data, length, &h, err);
	if (status == ATTN_OK && h.type[0])
		status = npy_fail_type(&h, origin, err);
	if (status == ATTN_OK)
		status = npy_check_size(&h, length - h.body, err);
	if (status == ATTN_OK && h.item)
		status = add_strings(data + h.body, &h, name, origin, out, err);
	else if (status == ATTN_OK)
		status = add_tensor(data + h.body, &h, &owned, name, origin, out, err);
	free(owned);
	return status;
}

enum attn_status npy_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			   struct attn_error *err)
{
	return npy_add(data, length, NULL, "", origin, out, err);
}
