/* safetensors: tensors, and from the metadata texts and settings. */
#include "files/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/formats.h"
#include "files/json_internal.h"
#include "input/roles.h"

struct reader {
	const char *origin;
	struct bundle *out;
	struct attn_error *err;
};

/* List a tensor whose dtype is not computed with. */
static enum attn_status add_unread(const struct reader *r, const struct safetensors_tensor *e)
{
	struct attn_error why;
	attn_fail(
	    &why, ATTN_BAD_INPUT,
	    "'%.200s' has dtype '%.50s', expected F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8 to I64, U8 to "
	    "U64 or BOOL",
	    e->name, e->unread);
	struct other *other = bundle_add_other(r->out, e->name, r->origin, e->unread, why.message, r->err);
	if (!other)
		return ATTN_FAILED;
	other->rank = e->rank;
	memcpy(other->shape, e->shape, sizeof e->shape);
	return ATTN_OK;
}

static enum attn_status add_tensor(const struct reader *r, const struct safetensors_tensor *e)
{
	struct tensor t;
	if (e->unread)
		return add_unread(r, e);
	TRY(tensor_init(&t, e->name, r->origin, e->dtype, e->rank, e->shape, r->err));
	TRY(tensor_take_le(&t, e->data, e->bytes, r->err));
	return bundle_add_tensor(r->out, &t, r->err);
}

/* Metadata holds only strings, so lists of strings are JSON inside a string. */
static enum attn_status add_text(const struct reader *r, const cJSON *item)
{
	cJSON *array;
	struct string_list list;
	enum attn_status status = json_text_parse((const unsigned char *)item->valuestring,
						  strlen(item->valuestring), &array, r->err);
	if (status == ATTN_OK)
		status = json_strings(array, item->string, &list, r->err);
	cJSON_Delete(array);
	if (status == ATTN_BAD_INPUT) {
		struct attn_error why;
		attn_fail(&why, ATTN_BAD_INPUT, "metadata '%s' is not a JSON list of strings: %.300s",
			  item->string, r->err ? r->err->message : "");
		struct other *other =
		    bundle_add_other(r->out, item->string, r->origin, "string", why.message, r->err);
		if (!other)
			return ATTN_FAILED;
		other->value = strdup(item->valuestring);
		return other->value ? ATTN_OK : attn_fail_memory(r->err);
	}
	if (status != ATTN_OK)
		return status;
	return bundle_add_text(r->out, item->string, r->origin, &list, r->err);
}

static enum attn_status read_metadata(const struct reader *r, const cJSON *object)
{
	enum attn_status status = ATTN_OK;
	size_t count = 0;
	for (const cJSON *item = object->child; item && status == ATTN_OK; item = item->next) {
		enum role_id role = role_find(item->string);
		if (++count > READER_MAX_NAMES)
			return attn_fail(r->err, ATTN_BAD_INPUT,
					 "'__metadata__' has more than %d keys, expected at most %d",
					 READER_MAX_NAMES, READER_MAX_NAMES);
		if (!cJSON_IsString(item))
			return attn_fail(r->err, ATTN_BAD_INPUT, "metadata '%.200s' is %s, expected a string",
					 item->string, json_kind(item));
		if (role && roles[role].kind == KIND_TEXT)
			status = add_text(r, item);
		else if (bundle_setting(r->out, item->string))
			status = attn_fail(r->err, ATTN_BAD_INPUT, "metadata '%.200s' may be given only once",
					   item->string);
		else
			status =
			    bundle_add_setting(r->out, item->string, item->valuestring, r->origin, r->err);
	}
	return status;
}

enum attn_status safetensors_parse(const unsigned char *data, size_t length, const char *origin,
				   struct bundle *out, struct attn_error *err)
{
	struct safetensors s;
	struct reader r = {origin, out, err};
	TRY(safetensors_open(&s, data, length, READER_MAX_NAMES, err));
	enum attn_status status = s.metadata ? read_metadata(&r, s.metadata) : ATTN_OK;
	for (size_t i = 0; i < s.count && status == ATTN_OK; i++)
		status = add_tensor(&r, &s.tensors[i]);
	safetensors_release(&s);
	return status;
}
