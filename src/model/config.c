#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/config_internal.h"
#include "util/number.h"

const char *config_origin(const struct config *c)
{
	return c->origin;
}

/* strcmp(key[length], name) */
static int compare_key(const char *key, size_t length, const char *name)
{
	int order = strncmp(key, name, length);
	return order ? order : name[length] ? -1 : 0;
}

/* Item `key` of a list, counted from 0. */
static const struct value *find_item(const struct config *c, const struct value *list, const char *key,
				     size_t length)
{
	size_t i = 0;
	for (size_t k = 0; k < length; k++) {
		if (key[k] < '0' || key[k] > '9' || i >= list->count)
			return NULL;
		i = 10 * i + (size_t)(key[k] - '0');
	}
	return length > 0 && i < list->count ? &c->values[list->first + i] : NULL;
}

static const struct value *find_member(const struct config *c, const struct value *object, const char *key,
				       size_t length)
{
	size_t low = 0, high = object->kind == VALUE_OBJECT ? object->count : 0;
	if (object->kind == VALUE_LIST)
		return find_item(c, object, key, length);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct value *v = &c->values[object->first + middle];
		int order = compare_key(key, length, v->key);
		if (order == 0)
			return v;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* The value at a path, also null; or NULL. */
static const struct value *find(const struct config *c, const char *key)
{
	const struct value *at = c->values, *whole;
	while (!(whole = find_member(c, at, key, strlen(key)))) {
		const char *dot = strchr(key, '.');
		at = dot ? find_member(c, at, key, (size_t)(dot - key)) : NULL;
		if (!at)
			return NULL;
		key = dot + 1;
	}
	return whole;
}

/* The same, where null is none. */
static const struct value *given(const struct config *c, const char *key)
{
	const struct value *v = find(c, key);
	return v && v->kind != VALUE_NULL ? v : NULL;
}

/* A value as messages have it. */
static const char *found_text(const struct value *v, char *text, size_t size)
{
	switch (v->kind) {
	case VALUE_TEXT:
		snprintf(text, size, "\"%.80s\"", v->text);
		return text;
	case VALUE_NUMBER:
		number_format(v->number, text, size);
		return text;
	case VALUE_BOOL:
		return v->number != 0 ? "true" : "false";
	case VALUE_LIST:
		return "an array";
	case VALUE_OBJECT:
		return "an object";
	default:
		return "null";
	}
}

enum attn_status config_fail(const struct config *c, const char *key, const char *expected,
			     struct attn_error *err)
{
	char text[100];
	const struct value *v = find(c, key);
	if (!v)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.300s': '%.100s' is missing, expected %s", c->origin,
				 key, expected);
	return attn_fail(err, ATTN_BAD_INPUT, "'%.300s': '%.100s' is %s, expected %s", c->origin, key,
			 found_text(v, text, sizeof text), expected);
}

bool config_has(const struct config *c, const char *key)
{
	return given(c, key);
}

bool config_is_null(const struct config *c, const char *key)
{
	const struct value *v = find(c, key);
	return v && v->kind == VALUE_NULL;
}

const char *config_text(const struct config *c, const char *key, const char *fallback)
{
	const struct value *v = find(c, key);
	return v && v->kind == VALUE_TEXT ? v->text : fallback;
}

enum attn_status config_word(const struct config *c, const char *key, const char *fallback, const char **out,
			     struct attn_error *err)
{
	const struct value *v = given(c, key);
	if (v && v->kind != VALUE_TEXT)
		return config_fail(c, key, "a text", err);
	*out = v ? v->text : fallback;
	return ATTN_OK;
}

enum attn_status config_size(const struct config *c, const char *key, size_t fallback, size_t least,
			     size_t most, size_t *out, struct attn_error *err)
{
	char expected[100];
	const struct value *v = given(c, key);
	if (!v && fallback != CONFIG_REQUIRED) {
		*out = fallback;
		return ATTN_OK;
	}
	double number = v && v->kind == VALUE_NUMBER ? v->number : -1;
	if (number >= (double)least && number <= (double)most && number == floor(number) && number < 0x1p53) {
		*out = (size_t)number;
		return ATTN_OK;
	}
	snprintf(expected, sizeof expected, "a whole number from %zu to %zu", least, most);
	return config_fail(c, key, expected, err);
}

enum attn_status config_number(const struct config *c, const char *key, double fallback, double least,
			       double most, double *out, struct attn_error *err)
{
	char expected[100], low[32], high[32];
	const struct value *v = given(c, key);
	if (!v && !isnan(fallback)) {
		*out = fallback;
		return ATTN_OK;
	}
	if (v && v->kind == VALUE_NUMBER && v->number >= least && v->number <= most) {
		*out = v->number;
		return ATTN_OK;
	}
	number_format(least, low, sizeof low);
	number_format(most, high, sizeof high);
	snprintf(expected, sizeof expected, "a number from %s to %s", low, high);
	return config_fail(c, key, expected, err);
}

enum attn_status config_bool(const struct config *c, const char *key, bool fallback, bool *out,
			     struct attn_error *err)
{
	const struct value *v = given(c, key);
	if (v && v->kind != VALUE_BOOL)
		return config_fail(c, key, "true or false", err);
	*out = v ? v->number != 0 : fallback;
	return ATTN_OK;
}

static const struct value *list_item(const struct config *c, const char *key, size_t i)
{
	const struct value *v = find(c, key);
	return v && v->kind == VALUE_LIST && i < v->count ? &c->values[v->first + i] : NULL;
}

size_t config_list(const struct config *c, const char *key)
{
	const struct value *v = find(c, key);
	return v && v->kind == VALUE_LIST ? v->count : 0;
}

const char *config_list_text(const struct config *c, const char *key, size_t i)
{
	const struct value *v = list_item(c, key, i);
	return v && v->kind == VALUE_TEXT ? v->text : NULL;
}

double config_list_number(const struct config *c, const char *key, size_t i)
{
	const struct value *v = list_item(c, key, i);
	return v && v->kind == VALUE_NUMBER ? v->number : (double)NAN;
}
