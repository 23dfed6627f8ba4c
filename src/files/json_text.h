/* JSON text to cJSON, strictly.
 *
 * cJSON alone would take control characters, NULs and 01 for JSON, so the text
 * is checked first; after it, a tree holds only valid UTF-8 without NULs.  Lists
 * are walked by ->next: cJSON's lookups by index take linear time, those by name
 * ignore case.
 */
#ifndef ATTN_FILES_JSON_TEXT_H
#define ATTN_FILES_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Arrays of plain numbers, left out of the tree of json_rows_parse: cJSON takes 64
 * bytes and 100 ns a number, which large matrices feel. */
struct json_rows {
	struct json_row {
		const char *text; /* in the caller's data: "[1, 2]" */
		size_t length;    /* bytes */
		size_t count;     /* numbers, at least 1 */
	} * items;                /* owned */
	size_t count;
};

void json_rows_release(struct json_rows *rows);

/* The row that an item of the tree stands for, or NULL when it is what it is. */
const struct json_row *json_row(const struct json_rows *rows, const cJSON *item);

bool json_is_row(const cJSON *item); /* whether it stands for one */

/* Parse all of data[length] as json_text_parse does, with every array of plain
 * numbers replaced by an item that json_row knows.  With `python`, NaN, Infinity and -Infinity
 * are values that json_not_finite knows, where they would be errors.  `data` must outlive *rows. */
enum attn_status json_rows_parse(const unsigned char *data, size_t length, bool python, cJSON **root,
				 struct json_rows *rows, struct attn_error *err);

/* Parse all of data[length], which may start with a byte order mark; the caller
 * frees *root by cJSON_Delete.  Errors say line and column. */
enum attn_status json_text_parse(const unsigned char *data, size_t length, cJSON **root,
				 struct attn_error *err);

/* Whether an item is an object of the document, and not a row. */
bool json_is_object(const cJSON *item);

/* "NaN", "Infinity" or "-Infinity" for what json_rows_parse takes for that, else NULL. */
const char *json_not_finite(const cJSON *item);

/* "a number", "an array": what an item is, for messages; a row is an array. */
const char *json_kind(const cJSON *item);

/* Whether `item` of `object` has the name of one before it.  Linear, so only for
 * objects whose keys are few. */
bool json_repeated(const cJSON *object, const cJSON *item);

#endif
