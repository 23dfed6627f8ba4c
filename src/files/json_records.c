/* An array of objects of one weight each, as JSON lines often are: read as the table that it is. */
#include <stdio.h>
#include <string.h>

#include "files/formats.h"
#include "files/json_internal.h"

/* A cell in quotes. */
static void add_cell(struct buffer *csv, const char *text, bool escape)
{
	buffer_add_char(csv, '"');
	for (; *text; text++) {
		if (*text == '"' || (*text == '\\' && escape))
			buffer_add_char(csv, *text);
		buffer_add_char(csv, *text);
	}
	buffer_add_char(csv, '"');
}

bool json_are_records(const cJSON *array)
{
	static const char *const weights[] = {"weight", "attention", "value", "score", "attn"};
	const cJSON *first = cJSON_IsArray(array) ? array->child : NULL;
	bool weight = false;
	if (!first || !json_is_object(first))
		return false;
	for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
		weight |= cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(first, weights[i]));
	return weight;
}

/* A row of the table: the values that the object has for the keys of the first one. */
static enum attn_status add_row(const struct json_document *doc, const cJSON *first, const cJSON *object,
				size_t index, bool escape, struct buffer *csv)
{
	const cJSON *item = json_is_object(object) ? object->child : NULL;
	char number[40];
	for (const cJSON *key = first->child; key; key = key->next) {
		/* Mostly the keys come in one order. */
		const cJSON *value = item && strcmp(item->string, key->string) == 0
					 ? item
					 : cJSON_GetObjectItemCaseSensitive(object, key->string);
		item = item ? item->next : NULL;
		if (!cJSON_IsNumber(value) && !cJSON_IsString(value))
			return attn_fail(doc->err, ATTN_BAD_INPUT,
					 "'array[%zu].%.100s' is %s, expected a number or a string", index,
					 key->string, value ? json_kind(value) : "missing");
		if (key != first->child)
			buffer_add_char(csv, ',');
		snprintf(number, sizeof number, "%.17g", value->valuedouble);
		if (cJSON_IsString(value))
			add_cell(csv, value->valuestring, escape);
		else
			buffer_add_string(csv, number);
	}
	buffer_add_char(csv, '\n');
	return ATTN_OK;
}

enum attn_status json_add_records(const struct json_document *doc, const cJSON *array)
{
	struct buffer csv = BUFFER_INIT;
	const cJSON *first = array->child;
	bool escape = cJSON_GetObjectItemCaseSensitive(first, "query_token") != NULL;
	enum attn_status status = ATTN_OK;
	size_t index = 0;
	for (const cJSON *key = first->child; key; key = key->next) {
		add_cell(&csv, key->string, false);
		buffer_add_char(&csv, key->next ? ',' : '\n');
	}
	for (const cJSON *object = first; object && status == ATTN_OK; object = object->next)
		status = add_row(doc, first, object, index++, escape, &csv);
	if (status == ATTN_OK && csv.failed)
		status = attn_fail_memory(doc->err);
	if (status == ATTN_OK)
		status =
		    table_parse((const unsigned char *)csv.data, csv.length, doc->origin, doc->out, doc->err);
	buffer_release(&csv);
	if (status == ATTN_OK && !bundle_tensor(doc->out, "weights"))
		return attn_fail(
		    doc->err, ATTN_BAD_INPUT,
		    "'array[0]' is an object, expected one with 'query', 'key' and 'weight', and "
		    "perhaps 'head', 'layer' and 'batch'");
	return status;
}
