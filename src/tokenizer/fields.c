#include "tokenizer/fields.h"

#include <math.h>

#include "files/json_internal.h"

const cJSON *field_get(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNull(item) ? NULL : item;
}

static enum attn_status wrong_kind(const char *key, const cJSON *item, const char *expected,
				   struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %s, expected %s", key,
			 item ? json_kind(item) : "missing", expected);
}

enum attn_status field_string(const cJSON *object, const char *key, const char *otherwise, const char **out,
			      struct attn_error *err)
{
	const cJSON *item = field_get(object, key);
	if (item && !cJSON_IsString(item))
		return wrong_kind(key, item, "a string", err);
	*out = item ? item->valuestring : otherwise;
	return ATTN_OK;
}

enum attn_status field_text(const cJSON *object, const char *key, const char **out, struct attn_error *err)
{
	TRY(field_string(object, key, NULL, out, err));
	return *out ? ATTN_OK : wrong_kind(key, NULL, "a string", err);
}

enum attn_status field_bool(const cJSON *object, const char *key, bool otherwise, bool *out,
			    struct attn_error *err)
{
	const cJSON *item = field_get(object, key);
	if (item && !cJSON_IsBool(item))
		return wrong_kind(key, item, "true or false", err);
	*out = item ? cJSON_IsTrue(item) : otherwise;
	return ATTN_OK;
}

enum attn_status field_count(const cJSON *object, const char *key, size_t otherwise, size_t most, size_t *out,
			     struct attn_error *err)
{
	const cJSON *item = field_get(object, key);
	double number = cJSON_IsNumber(item) ? item->valuedouble : (double)otherwise;
	if (item && !cJSON_IsNumber(item))
		return wrong_kind(key, item, "a whole number", err);
	if (item && !(number >= 0 && number <= (double)most && number == floor(number)))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %g, expected a whole number up to %zu", key,
				 number, most);
	*out = item ? (size_t)number : otherwise;
	return ATTN_OK;
}

enum attn_status field_array(const cJSON *object, const char *key, const cJSON **out, struct attn_error *err)
{
	const cJSON *item = field_get(object, key);
	if (!cJSON_IsArray(item))
		return wrong_kind(key, item, "an array", err);
	*out = item->child;
	return ATTN_OK;
}

enum attn_status field_pattern(const cJSON *object, struct pattern **out, struct attn_error *err)
{
	const cJSON *item = field_get(object, "pattern");
	const char *literal, *regex;
	*out = NULL;
	if (!cJSON_IsObject(item))
		return wrong_kind("pattern", item, "an object", err);
	TRY(field_string(item, "String", NULL, &literal, err));
	TRY(field_string(item, "Regex", NULL, &regex, err));
	if (literal && !regex)
		return pattern_literal(out, literal, err);
	if (regex && !literal)
		return pattern_regex(out, regex, err);
	return attn_fail(err, ATTN_BAD_INPUT, "'pattern' has %s, expected 'String' or 'Regex'",
			 regex ? "both 'String' and 'Regex'" : "neither");
}
