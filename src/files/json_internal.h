/* cJSON to tensors and strings, as the readers of JSON documents use it. */
#ifndef ATTN_FILES_JSON_INTERNAL_H
#define ATTN_FILES_JSON_INTERNAL_H

#include "files/json_text.h"
#include "input/bundle.h"
#include "input/tensor.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/strings.h"

/* If data[length] is JSON lines, of two or more arrays or objects that each take a line, append
 * them to *array as one array.  A JSON document is none.  An allocation that failed is seen in
 * array->failed. */
bool json_lines(const unsigned char *data, size_t length, struct buffer *array);

/* Read nested arrays of numbers (float64) or booleans as a tensor called `name`,
 * which owns its data.  `label` stands for it in messages.  null is minus
 * infinity where `null_allowed`. */
enum attn_status json_tensor(const struct json_rows *rows, const cJSON *array, const char *label,
			     const char *name, const char *origin, bool null_allowed, struct tensor *t,
			     struct attn_error *err);

/* The same for weights and scores, which may also be the steps of a generation, each with more
 * keys than the one before (see tensors_join). */
enum attn_status json_weights(const struct json_rows *rows, const cJSON *array, const char *label,
			      const char *name, const char *origin, bool null_allowed, struct tensor *t,
			      struct attn_error *err);

/* A document that is open, and what it is read into. */
struct json_document {
	const struct json_rows *rows;
	const char *origin;
	struct bundle *out;
	struct attn_error *err;
};

/* Read one key of the whole document, `object`: a role, "heads" or "source". */
enum attn_status json_read_key(const struct json_document *doc, const cJSON *object, const cJSON *item);

/* An object with weights and what they are between: BertViz's "attn", "left_text" and
 * "right_text".  Found in a document itself, in its only view, or in the one called "all"; NULL
 * where there is none. */
const cJSON *json_find_view(const cJSON *root);

/* Add its weights as `name`, and as implied texts its tokens. */
enum attn_status json_add_view(const struct json_document *doc, const cJSON *view, const char *name);

/* The text of a token: a string, or an object with a string "token", "text", "word" or "piece".
 * NULL: it is neither. */
const char *json_token(const cJSON *item);

/* Read an array of tokens, or a list of them for each batch item, into an empty list; on failure it is empty
 * again. */
enum attn_status json_strings(const cJSON *array, const char *label, struct string_list *list,
			      struct attn_error *err);

/* Read a "heads" list: join the heads' matrices side by side, and set num_heads
 * and head_names. */
enum attn_status json_heads(const struct json_rows *rows, const cJSON *array, const char *origin,
			    struct bundle *out, struct attn_error *err);

/* Whether an array is of objects with a weight, such as {"query": 0, "key": 1, "weight": 0.5}, and
 * read one as table_parse reads a table with their keys as its header. */
bool json_are_records(const cJSON *array);
enum attn_status json_add_records(const struct json_document *doc, const cJSON *array);

#endif
