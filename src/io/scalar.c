#include "io/scalar_internal.h"

#include <stdio.h>
#include <string.h>

#include "core/roles.h"
#include "util/number.h"

/* What is not supported may be an array, too, which then stays one. */
static bool is_setting(const char *name, size_t count)
{
	const struct role *role = role_find(name);
	return (role && role->kind == ROLE_SETTING) || (unsupported_find(name) && count == 1);
}

static enum attn_status add_tensor(struct bundle *b, struct tensor *t, struct attn_error *err)
{
	char text[200];
	if (t->count != 1)
		return attn_fail(
		    err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected one number: it is a setting",
		    origin_name(t->origin), t->name, tensor_shape_text(t->rank, t->shape, text, sizeof text));
	enum attn_status status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	double value = tensor_get(t, 0);
	if (t->dtype == DTYPE_BOOL)
		snprintf(text, sizeof text, "%s", value != 0 ? "true" : "false");
	else
		number_format(value, text, sizeof text);
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
		if (!is_setting(b->tensors[i].name, b->tensors[i].count))
			continue;
		status = add_tensor(b, &b->tensors[i], err);
		if (status == ATTN_OK)
			bundle_remove_tensor(b, i--);
	}
	for (size_t i = 0; i < b->text_count && status == ATTN_OK; i++) {
		if (!is_setting(b->texts[i].name, 1))
			continue;
		status = add_text(b, &b->texts[i], err);
		if (status == ATTN_OK)
			bundle_remove_text(b, i--);
	}
	return status;
}
