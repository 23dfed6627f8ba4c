/* What a config is made of, and how it is made of other things than a file of JSON. */
#ifndef ATTN_MODEL_CONFIG_INTERNAL_H
#define ATTN_MODEL_CONFIG_INTERNAL_H

#include "files/json_text.h"
#include "model/config.h"

enum value_kind {
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_NUMBER,
	VALUE_TEXT,
	VALUE_LIST,
	VALUE_OBJECT,
};

/* A value; those of a list or an object stand together. */
struct value {
	const char *key; /* in an object, whose values are sorted by it */
	enum value_kind kind;
	const char *text;
	double number;       /* of true 1, of false 0 */
	size_t first, count; /* of what a list or object holds */
};

struct config {
	char *origin;
	cJSON *tree;          /* has the strings */
	struct value *values; /* the whole object first, then breadth first what is in it */
	size_t count;
};

/* Make a config of an object; `tree` is taken over, also on failure.  *rows, which arrays of it may
 * stand for, is not needed later. */
enum attn_status config_of_tree(struct config **out, cJSON *tree, const struct json_rows *rows,
				const char *origin, struct attn_error *err);

#endif
