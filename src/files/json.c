/* JSON documents: an object whose keys are roles, or one bare array.
 *
 * Beside the roles there are "heads" (json_heads.c) and "source"; a key that
 * starts with '_' is a comment, any other is an error, so that a misspelt role
 * is never dropped without a word.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/formats.h"
#include "files/json_internal.h"
#include "files/suggest_internal.h"
#include "input/roles.h"
#include "util/number.h"

/* The short names that "source" uses for roles. */
static const struct {
	const char *key, *label;
	enum role_id role;
} source_keys[] = {
    {"tokens", "source.tokens", ROLE_SOURCE_TOKENS},
    {"embeddings", "source.embeddings", ROLE_SOURCE_EMBEDDINGS},
    {"values", "source.values", ROLE_SOURCE_VALUES},
};

enum {
	SOURCE_KEYS = sizeof source_keys / sizeof *source_keys
};

/* "[4, 0]" as "4,0", what the command line takes. */
static bool row_text(const struct json_row *row, char *text, size_t size)
{
	size_t length = 0;
	for (size_t i = 1; i + 1 < row->length; i++) {
		char c = row->text[i];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (length + 1 >= size)
			return false;
		text[length++] = c;
	}
	text[length] = '\0';
	return true;
}

/* null is as if it were not there. */
static enum attn_status read_setting(const struct json_document *doc, const cJSON *item,
				     const struct role *role)
{
	char number[100];
	const char *value = number;
	const struct json_row *row = role->kind == KIND_PAIR ? json_row(doc->rows, item) : NULL;
	if (cJSON_IsNull(item))
		return ATTN_OK;
	if (row && row->count == 2 && row_text(row, number, sizeof number))
		value = number;
	else if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
		number_format(item->valuedouble, number, sizeof number);
	else if (cJSON_IsBool(item))
		value = cJSON_IsTrue(item) ? "true" : "false";
	else if (cJSON_IsString(item))
		value = item->valuestring;
	else
		return attn_fail(doc->err, ATTN_BAD_INPUT, "'%s' is %s, expected %s", role->name,
				 cJSON_IsNumber(item) ? "beyond the range of float64" : json_kind(item),
				 role->form);
	return bundle_add_setting(doc->out, role->name, value, doc->origin, doc->err);
}

static enum attn_status read_role(const struct json_document *doc, const cJSON *item, const char *label,
				  const struct role *role)
{
	bool array = cJSON_IsArray(item) || json_row(doc->rows, item);
	if (role_is_setting(role) || (role->kind == KIND_PER_HEAD && !array))
		return read_setting(doc, item, role);
	if (role->kind == KIND_TEXT) {
		struct string_list list;
		enum attn_status status = json_strings(item, label, &list, doc->err);
		if (status != ATTN_OK)
			return status;
		return bundle_add_text(doc->out, role->name, doc->origin, &list, doc->err);
	}
	/* JSON has no infinity; a masked score is null. */
	bool null_allowed = role->about & ABOUT_INFINITY;
	struct tensor t;
	enum attn_status status =
	    role->kind == KIND_RESULT
		? json_weights(doc->rows, item, label, role->name, doc->origin, null_allowed, &t, doc->err)
		: json_tensor(doc->rows, item, label, role->name, doc->origin, null_allowed, &t, doc->err);
	return status == ATTN_OK ? bundle_add_tensor(doc->out, &t, doc->err) : status;
}

static enum attn_status fail_unknown(const struct json_document *doc, const char *where, const char *key,
				     const char *nearest)
{
	if (nearest)
		return attn_fail(doc->err, ATTN_BAD_INPUT, "unknown key '%s%.100s', did you mean '%s'", where,
				 key, nearest);
	return attn_fail(doc->err, ATTN_BAD_INPUT,
			 "unknown key '%s%.100s', expected a role such as embeddings, wq or tokens, "
			 "or '_' before a comment (from a file of another program, bind what you need with "
			 "ROLE=FILE:KEY)",
			 where, key);
}

static enum attn_status read_source_key(const struct json_document *doc, const cJSON *object,
					const cJSON *item)
{
	if (item->string[0] == '_')
		return ATTN_OK;
	struct suggestion best = {0};
	for (int i = 0; i < SOURCE_KEYS; i++) {
		suggest(&best, item->string, source_keys[i].key);
		if (strcmp(item->string, source_keys[i].key) != 0)
			continue;
		if (json_repeated(object, item))
			return attn_fail(doc->err, ATTN_BAD_INPUT, "'%s' may be given only once",
					 source_keys[i].label);
		return read_role(doc, item, source_keys[i].label, &roles[source_keys[i].role]);
	}
	if (best.name)
		return fail_unknown(doc, "source.", item->string, best.name);
	return attn_fail(doc->err, ATTN_BAD_INPUT,
			 "unknown key 'source.%.100s', expected tokens, embeddings or values", item->string);
}

static enum attn_status read_source(const struct json_document *doc, const cJSON *object)
{
	if (!json_is_object(object))
		return attn_fail(doc->err, ATTN_BAD_INPUT,
				 "'source' is %s, expected an object with tokens and embeddings",
				 json_kind(object));
	enum attn_status status = ATTN_OK;
	for (const cJSON *item = object->child; item && status == ATTN_OK; item = item->next)
		status = read_source_key(doc, object, item);
	return status;
}

/* The list of heads says these already. */
static enum attn_status check_heads_alone(const struct json_document *doc, const cJSON *object)
{
	for (const cJSON *item = object->child; item; item = item->next)
		if (roles[role_find(item->string)].about & ABOUT_HEAD_LIST)
			return attn_fail(doc->err, ATTN_BAD_INPUT,
					 "'%s' is given beside 'heads', expected one of the two",
					 item->string);
	return ATTN_OK;
}

enum attn_status json_read_key(const struct json_document *doc, const cJSON *object, const cJSON *item)
{
	if (item->string[0] == '_')
		return ATTN_OK;
	bool heads = strcmp(item->string, "heads") == 0, source = strcmp(item->string, "source") == 0;
	enum role_id role = role_find(item->string);
	if (!heads && !source && !role) {
		struct suggestion best = {0};
		const char *nearest = role_suggest(item->string);
		if (nearest)
			suggest(&best, item->string, nearest);
		suggest(&best, item->string, "heads");
		suggest(&best, item->string, "source");
		if (!best.name)
			best.name = nearest;
		return fail_unknown(doc, "", item->string, best.name);
	}
	/* Known keys are few, and the first that comes twice ends the search. */
	if (json_repeated(object, item))
		return attn_fail(doc->err, ATTN_BAD_INPUT, "'%s' may be given only once", item->string);
	if (role)
		return read_role(doc, item, item->string, &roles[role]);
	if (source)
		return read_source(doc, item);
	enum attn_status status = check_heads_alone(doc, object);
	return status == ATTN_OK ? json_heads(doc->rows, item, doc->origin, doc->out, doc->err) : status;
}

static enum attn_status read_bare_array(const struct json_document *doc, const cJSON *array)
{
	if (cJSON_IsString(array->child)) {
		struct string_list list;
		enum attn_status status = json_strings(array, "array", &list, doc->err);
		if (status != ATTN_OK)
			return status;
		return bundle_add_text(doc->out, "", doc->origin, &list, doc->err);
	}
	/* It may become a mask, so null is allowed; elsewhere the engine refuses
	 * infinities. */
	struct tensor t;
	enum attn_status status = json_tensor(doc->rows, array, "array", "", doc->origin, true, &t, doc->err);
	return status == ATTN_OK ? bundle_add_tensor(doc->out, &t, doc->err) : status;
}

static enum attn_status read_document(const struct json_document *doc, const cJSON *root)
{
	enum attn_status status = ATTN_OK;
	const cJSON *view = json_find_view(root);
	if (view)
		return json_add_view(doc, view, "weights");
	if (json_are_records(root))
		return json_add_records(doc, root);
	if (cJSON_IsArray(root) || json_row(doc->rows, root))
		return read_bare_array(doc, root);
	if (!json_is_object(root))
		return attn_fail(doc->err, ATTN_BAD_INPUT, "document is %s, expected an object or an array",
				 json_kind(root));
	for (const cJSON *item = root->child; item && status == ATTN_OK; item = item->next)
		status = json_read_key(doc, root, item);
	return status;
}

enum attn_status json_parse(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			    struct attn_error *err)
{
	struct json_rows rows;
	const struct json_document doc = {&rows, origin, out, err};
	struct buffer lines = BUFFER_INIT;
	cJSON *root = NULL;
	if (json_lines(data, length, &lines)) {
		data = (const unsigned char *)lines.data;
		length = lines.length;
	}
	enum attn_status status =
	    lines.failed ? attn_fail_memory(err) : json_rows_parse(data, length, false, &root, &rows, err);
	if (status == ATTN_OK) {
		status = read_document(&doc, root);
		json_rows_release(&rows);
	}
	cJSON_Delete(root);
	buffer_release(&lines);
	return status;
}
