/* A part of a JSON document, whatever the rest of it is: an item by its path, or a list of all
 * that there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/bytes_internal.h"
#include "files/formats.h"
#include "files/json_internal.h"
#include "util/buffer.h"
#include "util/number.h"

/* --- by path ------------------------------------------------------------------------------ */

/* Item `path` below `item`: "examples.0.attn" or "examples[0].attn".  A key may hold dots, too;
 * *path is left where what is found ends, which is its end but for a row's. */
static const cJSON *resolve(const cJSON *item, const char *path)
{
	if (!*path)
		return item;
	size_t index = 0, number = 0;
	bool bracket = *path == '[';
	const char *digits = path + bracket;
	size_t length = strspn(digits, "0123456789");
	if (json_is_object(item)) {
		for (const cJSON *child = item->child; child; child = child->next) {
			size_t key = strlen(child->string);
			if (strncmp(path, child->string, key) != 0)
				continue;
			const cJSON *found = path[key] == '.'    ? resolve(child, path + key + 1)
					     : path[key] == '['  ? resolve(child, path + key)
					     : path[key] == '\0' ? child
								 : NULL;
			if (found)
				return found;
		}
		return NULL;
	}
	if (!cJSON_IsArray(item) || length == 0 || length > 9 || (bracket && digits[length] != ']'))
		return NULL;
	for (size_t i = 0; i < length; i++)
		number = number * 10 + (size_t)(digits[i] - '0');
	const char *rest = digits + length + bracket;
	if (*rest && *rest != '.' && *rest != '[')
		return NULL;
	const cJSON *child = item->child;
	for (; child && index < number; child = child->next)
		index++;
	return child ? resolve(child, rest + (*rest == '.')) : NULL;
}

/* --- BertViz ------------------------------------------------------------------------------ */

static const cJSON *key_of(const cJSON *object, const char *name)
{
	if (!json_is_object(object))
		return NULL;
	for (const cJSON *item = object->child; item; item = item->next)
		if (strcmp(item->string, name) == 0)
			return item;
	return NULL;
}

static bool is_view(const cJSON *item)
{
	return key_of(item, "attn") && key_of(item, "left_text");
}

const cJSON *json_find_view(const cJSON *root)
{
	if (is_view(root))
		return root;
	const cJSON *views = key_of(root, "attention");
	const cJSON *all = key_of(views ? views : root, "all");
	if (all)
		return is_view(all) ? all : NULL;
	bool one = cJSON_IsArray(views) && views->child && !views->child->next;
	return one && is_view(views->child) ? views->child : NULL;
}

static enum attn_status add_labels(const struct json_document *doc, const cJSON *strings, const char *name)
{
	struct string_list list;
	enum attn_status status = json_strings(strings, strings->string, &list, doc->err);
	if (status == ATTN_OK)
		status = bundle_add_text(doc->out, name, doc->origin, &list, doc->err);
	if (status == ATTN_OK)
		doc->out->texts[doc->out->text_count - 1].implied = true;
	return status;
}

enum attn_status json_add_view(const struct json_document *doc, const cJSON *view, const char *name)
{
	struct tensor t;
	enum attn_status status =
	    json_weights(doc->rows, key_of(view, "attn"), "attn", name, doc->origin, false, &t, doc->err);
	if (status == ATTN_OK)
		status = bundle_add_tensor(doc->out, &t, doc->err);
	if (status == ATTN_OK)
		status = add_labels(doc, key_of(view, "left_text"), "tokens");
	const cJSON *right = key_of(view, "right_text");
	if (status == ATTN_OK && right)
		status = add_labels(doc, right, "source_tokens");
	return status;
}

/* --- what there is --------------------------------------------------------------------------- */

static enum attn_status add_other(const struct json_document *doc, const cJSON *item, const char *path,
				  const char *why)
{
	char number[40] = "";
	const char *not_finite = json_not_finite(item);
	const char *type = cJSON_IsString(item)                 ? "string"
			   : cJSON_IsNumber(item) || not_finite ? "number"
			   : cJSON_IsBool(item)                 ? "bool"
			   : cJSON_IsNull(item)                 ? "null"
			   : json_is_object(item)               ? "object"
								: "array";
	struct other *other = bundle_add_other(doc->out, path, doc->origin, type, why, doc->err);
	if (!other)
		return ATTN_FAILED;
	if (cJSON_IsNumber(item))
		number_format(item->valuedouble, number, sizeof number);
	const char *value = cJSON_IsString(item)   ? item->valuestring
			    : cJSON_IsBool(item)   ? (cJSON_IsTrue(item) ? "true" : "false")
			    : cJSON_IsNumber(item) ? number
						   : not_finite;
	other->value = value ? strdup(value) : NULL;
	return !value || other->value ? ATTN_OK : attn_fail_memory(doc->err);
}

/* Whether what an array holds, however deep, begins with a string or a token's object. */
static bool holds_strings(const cJSON *item)
{
	bool array = cJSON_IsArray(item);
	while (cJSON_IsArray(item) && item->child)
		item = item->child;
	return array && json_token(item) != NULL;
}

/* Read an array into a tensor or list called `path`. */
static enum attn_status read_array(const struct json_document *doc, const cJSON *item, const char *path)
{
	if (holds_strings(item)) {
		struct string_list list;
		enum attn_status status = json_strings(item, path, &list, doc->err);
		return status == ATTN_OK ? bundle_add_text(doc->out, path, doc->origin, &list, doc->err)
					 : status;
	}
	struct tensor t;
	enum attn_status status = json_weights(doc->rows, item, path, path, doc->origin, true, &t, doc->err);
	return status == ATTN_OK ? bundle_add_tensor(doc->out, &t, doc->err) : status;
}

static size_t names(const struct bundle *b)
{
	return b->tensor_count + b->text_count + b->other_count;
}

/* Whether an item that is no array of one shape is listed item by item: not rows of numbers. */
static bool is_listed_inside(const struct json_document *doc, const cJSON *item)
{
	const cJSON *child = json_row(doc->rows, item) || json_not_finite(item) ? NULL : item->child;
	if (!child || json_is_object(item))
		return child != NULL;
	return json_is_object(child) ||
	       (cJSON_IsArray(child) && child->child && !cJSON_IsNumber(child->child));
}

/* List an item, or what is in it; the recursion is as deep as the document may be. */
static enum attn_status list(const struct json_document *doc, const cJSON *item, const char *path)
{
	struct attn_error why = {0};
	const struct json_document attempt = {doc->rows, doc->origin, doc->out, &why};
	enum attn_status status = ATTN_BAD_INPUT;
	bool array = cJSON_IsArray(item) || json_row(doc->rows, item);
	if (names(doc->out) >= READER_MAX_NAMES)
		return ATTN_OK;
	if (array)
		status = read_array(&attempt, item, path);
	else
		attn_fail(&why, ATTN_BAD_INPUT, "'%.200s' is %s, expected an array", path, json_kind(item));
	if (status != ATTN_BAD_INPUT)
		return status == ATTN_OK ? status : attn_fail_memory(doc->err);
	if (!is_listed_inside(doc, item))
		return add_other(doc, item, path, why.message);
	size_t index = 0;
	status = ATTN_OK;
	for (const cJSON *child = item->child; child && status == ATTN_OK; child = child->next) {
		struct buffer below = BUFFER_INIT;
		if (json_is_object(item))
			buffer_printf(&below, "%s%s%s", path, *path ? "." : "", child->string);
		else
			buffer_printf(&below, "%s%s%zu", path, *path ? "." : "", index++);
		status = below.failed ? attn_fail_memory(doc->err) : list(doc, child, below.data);
		buffer_release(&below);
	}
	return status;
}

/* List a key of the document: what is a role as that, if it can be. */
static enum attn_status list_key(const struct json_document *doc, const cJSON *root, const cJSON *item)
{
	struct attn_error ignored;
	struct bundle role;
	bundle_init(&role);
	const struct json_document attempt = {doc->rows, doc->origin, &role, &ignored};
	enum attn_status status = json_read_key(&attempt, root, item);
	if (status == ATTN_OK)
		return bundle_merge(doc->out, &role, doc->err);
	bundle_release(&role);
	return status == ATTN_BAD_INPUT ? list(doc, item, item->string) : attn_fail_memory(doc->err);
}

static enum attn_status list_all(const struct json_document *doc, const cJSON *root)
{
	enum attn_status status = ATTN_OK;
	if (!json_is_object(root))
		return list(doc, root, "");
	for (const cJSON *item = root->child; item && status == ATTN_OK; item = item->next)
		status = list_key(doc, root, item);
	return status;
}

/* Read the array or view at a path; *found: there is one. */
static enum attn_status read_path(const struct json_document *doc, const cJSON *root, const char *path,
				  bool *found)
{
	const cJSON *item = resolve(root, path), *view = item ? json_find_view(item) : NULL;
	*found = view || (item && (cJSON_IsArray(item) || json_row(doc->rows, item)));
	if (view)
		return json_add_view(doc, view, path);
	return *found ? read_array(doc, item, path) : ATTN_OK;
}

static enum attn_status read_part(const struct json_document *doc, const cJSON *root, const char *wanted,
				  const char *role)
{
	bool found = false;
	const cJSON *view = wanted || !role ? NULL : json_find_view(root);
	enum attn_status status = ATTN_OK;
	if (view)
		return json_add_view(doc, view, "weights");
	if (!wanted && json_are_records(root))
		return json_add_records(doc, root);
	if (wanted || role)
		status = read_path(doc, root, wanted ? wanted : role, &found);
	return found || status != ATTN_OK ? status : list_all(doc, root);
}

enum attn_status json_parse_part(const unsigned char *data, size_t length, const char *origin,
				 const char *wanted, const char *role, struct bundle *out,
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
	    lines.failed ? attn_fail_memory(err) : json_rows_parse(data, length, true, &root, &rows, err);
	if (status == ATTN_OK) {
		status = read_part(&doc, root, wanted, role);
		json_rows_release(&rows);
	}
	cJSON_Delete(root);
	buffer_release(&lines);
	return status;
}
