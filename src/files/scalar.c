#include "files/scalar_internal.h"

#include <stdio.h>
#include <string.h>

#include "util/number.h"

static enum attn_status add_tensor(struct bundle *b, struct tensor *t, struct attn_error *err)
{
	char text[200];
	if (t->count != 1 && (t->count != 2 || roles[t->role].kind != KIND_PAIR))
		return attn_fail(
		    err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected one number: it is a setting",
		    origin_name(t->origin), t->name, tensor_shape_text(t->rank, t->shape, text, sizeof text));
	enum attn_status status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	size_t length = 0;
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		char number[40];
		number_format(value, number, sizeof number);
		if (t->dtype == DTYPE_BOOL)
			snprintf(number, sizeof number, "%s", value != 0 ? "true" : "false");
		length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? "," : "", number);
	}
	return bundle_add_setting(b, t->name, text, t->origin, err);
}

static enum attn_status add_text(struct bundle *b, struct text *text, struct attn_error *err)
{
	enum attn_status status = text_load(text, err);
	if (status != ATTN_OK)
		return status;
	if (text->list.count != 1)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': '%s' has %zu strings, expected one: it is a setting",
				 origin_name(text->origin), text->name, text->list.count);
	return bundle_add_setting(b, text->name, text->list.items[0], text->origin, err);
}

enum attn_status scalars_to_settings(struct bundle *b, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < b->tensor_count && status == ATTN_OK; i++) {
		if (!role_is_setting(&roles[b->tensors[i].role]))
			continue;
		status = add_tensor(b, &b->tensors[i], err);
		if (status == ATTN_OK)
			bundle_remove_tensor(b, i--);
	}
	for (size_t i = 0; i < b->text_count && status == ATTN_OK; i++) {
		const struct role *role = &roles[b->texts[i].role];
		if (b->texts[i].role == ROLE_NONE || role->kind == KIND_TEXT)
			continue;
		if (!role_is_setting(role) && role->kind != KIND_PER_HEAD)
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is text, expected numbers, %s",
					 origin_name(b->texts[i].origin), role->name, role->form);
		status = add_text(b, &b->texts[i], err);
		if (status == ATTN_OK)
			bundle_remove_text(b, i--);
	}
	return status;
}
