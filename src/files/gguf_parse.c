/* GGUF as a bundle: tensors of plain numbers, keys with one value as settings, and the rest, which no
 * role can be, as others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/formats.h"
#include "files/gguf.h"
#include "util/buffer.h"
#include "util/number.h"

enum {
	SHOWN = 16 /* values of an array at most */
};

struct reader {
	const char *origin;
	struct bundle *out;
	struct attn_error *err;
};

static enum attn_status add_blocks(const struct reader *r, const struct gguf_tensor *from)
{
	struct attn_error why;
	char type[40];
	snprintf(type, sizeof type, "%s", from->type->name);
	if (from->type == &value_type_other)
		snprintf(type, sizeof type, "type %lu", from->number);
	attn_fail(&why, ATTN_BAD_INPUT,
		  "'%.200s' is of %s, expected numbers that stand alone, such as float32", from->name, type);
	struct other *other = bundle_add_other(r->out, from->name, r->origin, type, why.message, r->err);
	if (!other)
		return ATTN_FAILED;
	other->rank = from->rank;
	memcpy(other->shape, from->shape, sizeof from->shape);
	return ATTN_OK;
}

static enum attn_status add_tensor(const struct reader *r, const struct gguf_tensor *from)
{
	struct tensor t;
	if (from->type->values != 1)
		return add_blocks(r, from);
	TRY(tensor_init(&t, from->name, r->origin, from->type->dtype, from->rank, from->shape, r->err));
	TRY(tensor_take_le(&t, from->data, from->bytes, r->err));
	return bundle_add_tensor(r->out, &t, r->err);
}

static void add_value(struct buffer *out, const struct gguf_pair *p, size_t i)
{
	char text[32];
	double number = gguf_number(p, i);
	number_format(number, text, sizeof text);
	if (p->kind == GGUF_BOOL)
		buffer_add_string(out, number != 0 ? "true" : "false");
	else if (p->kind == GGUF_F32)
		buffer_add_float(out, (float)number);
	else
		buffer_add_string(out, text);
}

/* Short lists whole, longer ones with their type and length alone. */
static enum attn_status add_array(const struct reader *r, const struct gguf_pair *p)
{
	struct attn_error why;
	struct buffer list = BUFFER_INIT;
	attn_fail(&why, ATTN_BAD_INPUT, "'%.200s' is a list in the keys of a GGUF file, expected a tensor",
		  p->key);
	struct other *other =
	    bundle_add_other(r->out, p->key, r->origin, gguf_kind_name(p->kind), why.message, r->err);
	if (!other)
		return ATTN_FAILED;
	other->rank = 1;
	other->shape[0] = p->count;
	if (p->kind == GGUF_TEXT || p->count > SHOWN)
		return ATTN_OK;
	for (size_t i = 0; i < p->count; i++) {
		buffer_add_string(&list, i ? ", " : "[");
		add_value(&list, p, i);
	}
	buffer_add_string(&list, p->count ? "]" : "[]");
	other->value = buffer_detach(&list);
	return other->value ? ATTN_OK : attn_fail_memory(r->err);
}

static enum attn_status add_text(const struct reader *r, const struct gguf_pair *p)
{
	struct attn_error why;
	const char *bytes;
	size_t length;
	gguf_text(p->data, &bytes, &length);
	char *text = gguf_string(bytes, length);
	if (text) {
		enum attn_status status = bundle_add_setting(r->out, p->key, text, r->origin, r->err);
		free(text);
		return status;
	}
	attn_fail(&why, ATTN_BAD_INPUT, "'%.200s' is no UTF-8 text", p->key);
	return bundle_add_other(r->out, p->key, r->origin, "string", why.message, r->err) ? ATTN_OK
											  : ATTN_FAILED;
}

static enum attn_status add_pair(const struct reader *r, const struct gguf_pair *p)
{
	struct buffer value = BUFFER_INIT;
	if (p->array)
		return add_array(r, p);
	if (p->kind == GGUF_TEXT)
		return add_text(r, p);
	add_value(&value, p, 0);
	enum attn_status status = value.failed
				      ? attn_fail_memory(r->err)
				      : bundle_add_setting(r->out, p->key, value.data, r->origin, r->err);
	buffer_release(&value);
	return status;
}

enum attn_status gguf_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			    struct attn_error *err)
{
	struct gguf g;
	const struct reader r = {origin, out, err};
	TRY(gguf_open(&g, data, length, err));
	enum attn_status status = ATTN_OK;
	if (g.tensor_count + g.pair_count > READER_MAX_NAMES)
		status =
		    attn_fail(err, ATTN_BAD_INPUT, "file holds %zu tensors and keys, expected at most %d",
			      g.tensor_count + g.pair_count, READER_MAX_NAMES);
	for (size_t i = 0; i < g.tensor_count && status == ATTN_OK; i++)
		status = add_tensor(&r, &g.tensors[i]);
	for (size_t i = 0; i < g.pair_count && status == ATTN_OK; i++)
		status = add_pair(&r, &g.pairs[i]);
	gguf_release(&g);
	return status;
}
