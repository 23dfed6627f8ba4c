/* Keys of the objects that a tokenizer.json is made of.  A key that is missing and one that is null
 * are the same; messages name the key, callers put before them what it is in. */
#ifndef ATTN_TOKENIZER_FIELDS_H
#define ATTN_TOKENIZER_FIELDS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/pattern.h"
#include "util/error.h"

/* NULL where it is missing or null. */
const cJSON *field_get(const cJSON *object, const char *key);

/* ATTN_BAD_INPUT where the value is of another kind than asked for; the string belongs to the object. */
enum attn_status field_string(const cJSON *object, const char *key, const char *otherwise, const char **out,
			      struct attn_error *err);
enum attn_status field_bool(const cJSON *object, const char *key, bool otherwise, bool *out,
			    struct attn_error *err);

/* A whole number up to `most`. */
enum attn_status field_count(const cJSON *object, const char *key, size_t otherwise, size_t most, size_t *out,
			     struct attn_error *err);

/* An array, which must be there; its first item in *out, NULL where it is empty. */
enum attn_status field_array(const cJSON *object, const char *key, const cJSON **out, struct attn_error *err);

/* A string, which must be there. */
enum attn_status field_text(const cJSON *object, const char *key, const char **out, struct attn_error *err);

/* "pattern": {"String": S} or {"Regex": R}. */
enum attn_status field_pattern(const cJSON *object, struct pattern **out, struct attn_error *err);

#endif
