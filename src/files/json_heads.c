/* "heads": [{"name": ..., "wq": [[...]], "wk": ..., "wv": ...}, ...], the form
 * for matrices written by hand, head by head.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/json_internal.h"
#include "files/suggest_internal.h"
#include "util/memory.h"

/* What a head has: matrices (D, d), then biases (d). */
static const struct {
	const char *name;
	int rank;
	bool required;
} parts[] = {
    {"wq", 2, true}, {"wk", 2, true}, {"wv", 2, true}, {"bq", 1, false}, {"bk", 1, false}, {"bv", 1, false},
};

enum {
	PARTS = sizeof parts / sizeof *parts
};

struct head {
	const char *name; /* the document's, or NULL */
	struct tensor parts[PARTS];
};

struct heads {
	struct head *items;
	size_t count;
	const struct json_rows *rows;
	const char *origin;
	struct attn_error *err;
};

static enum attn_status fail_unknown(const struct heads *heads, const char *key)
{
	struct suggestion best = {0};
	suggest(&best, key, "name");
	for (int p = 0; p < PARTS; p++)
		suggest(&best, key, parts[p].name);
	return attn_fail(
	    heads->err, ATTN_BAD_INPUT,
	    "'heads[%zu]' has the unknown key '%.100s', expected name, wq, wk, wv, bq, bk or bv%s%s%s",
	    heads->count, key, best.name ? ", did you mean '" : "", best.name ? best.name : "",
	    best.name ? "'" : "");
}

static enum attn_status read_part(struct heads *heads, struct head *head, int p, const cJSON *item)
{
	char label[64];
	struct tensor *t = &head->parts[p];
	snprintf(label, sizeof label, "heads[%zu].%s", heads->count, parts[p].name);
	enum attn_status status =
	    json_tensor(heads->rows, item, label, parts[p].name, heads->origin, false, t, heads->err);
	if (status != ATTN_OK)
		return status;
	if (t->dtype != DTYPE_F64)
		return attn_fail(heads->err, ATTN_BAD_INPUT, "'%s' holds true and false, expected numbers",
				 label);
	if (t->rank != parts[p].rank)
		return attn_fail(heads->err, ATTN_BAD_INPUT, "'%s' has %d dimensions, expected %d", label,
				 t->rank, parts[p].rank);
	return ATTN_OK;
}

static enum attn_status read_key(struct heads *heads, struct head *head, const cJSON *object,
				 const cJSON *item)
{
	if (item->string[0] == '_')
		return ATTN_OK; /* a comment */
	bool name = strcmp(item->string, "name") == 0;
	int p = 0;
	while (!name && p < PARTS && strcmp(item->string, parts[p].name) != 0)
		p++;
	if (p == PARTS)
		return fail_unknown(heads, item->string);
	if (json_repeated(object, item))
		return attn_fail(heads->err, ATTN_BAD_INPUT,
				 "'heads[%zu]' has '%s' twice: it may be given only once", heads->count,
				 item->string);
	if (!name)
		return read_part(heads, head, p, item);
	if (!cJSON_IsString(item))
		return attn_fail(heads->err, ATTN_BAD_INPUT, "'heads[%zu].name' is %s, expected a string",
				 heads->count, json_kind(item));
	head->name = item->valuestring;
	return ATTN_OK;
}

/* Head `h` must have what head 0 has, in the same shape. */
static enum attn_status check_head(const struct heads *heads, size_t h)
{
	for (int p = 0; p < PARTS; p++) {
		const struct tensor *first = &heads->items[0].parts[p], *t = &heads->items[h].parts[p];
		char found[200], expected[200];
		if (!t->name && parts[p].required)
			return attn_fail(heads->err, ATTN_BAD_INPUT, "'heads[%zu]' has no '%s'", h,
					 parts[p].name);
		if (!t->name != !first->name)
			return attn_fail(heads->err, ATTN_BAD_INPUT,
					 "'heads[%zu]' has no '%s', but 'heads[%zu]' has one",
					 t->name ? (size_t)0 : h, parts[p].name, t->name ? h : (size_t)0);
		if (memcmp(t->shape, first->shape, sizeof t->shape) != 0)
			return attn_fail(
			    heads->err, ATTN_BAD_INPUT, "'heads[%zu].%s' is %s, expected %s as in 'heads[0]'",
			    h, parts[p].name, tensor_shape_text(t->rank, t->shape, found, sizeof found),
			    tensor_shape_text(first->rank, first->shape, expected, sizeof expected));
	}
	return ATTN_OK;
}

static enum attn_status read_head(struct heads *heads, const cJSON *object)
{
	if (!json_is_object(object))
		return attn_fail(heads->err, ATTN_BAD_INPUT,
				 "'heads[%zu]' is %s, expected an object with wq, wk and wv", heads->count,
				 json_kind(object));
	/* Doubled at powers of two. */
	if ((heads->count & (heads->count - 1)) == 0) {
		size_t capacity = heads->count ? heads->count * 2 : 1;
		struct head *items = reallocarray(heads->items, capacity, sizeof *items);
		if (!items)
			return attn_fail_memory(heads->err);
		heads->items = items;
	}
	struct head *head = &heads->items[heads->count];
	*head = (struct head){0};
	enum attn_status status = ATTN_OK;
	for (const cJSON *item = object->child; item && status == ATTN_OK; item = item->next)
		status = read_key(heads, head, object, item);
	heads->count++;
	return status == ATTN_OK ? check_head(heads, heads->count - 1) : status;
}

/* Put part `p` of all heads side by side: (D, d) each, (D, H d) together. */
static enum attn_status join_part(const struct heads *heads, int p, struct bundle *out)
{
	const struct tensor *first = &heads->items[0].parts[p];
	if (!first->name)
		return ATTN_OK;
	int last = first->rank - 1;
	size_t rows = last ? first->shape[0] : 1, columns = first->shape[last];
	size_t shape[2] = {rows, 0};
	shape[last] = columns * heads->count; /* no more than the elements that exist */
	struct tensor t;
	enum attn_status status =
	    tensor_init(&t, parts[p].name, heads->origin, DTYPE_F64, first->rank, shape, heads->err);
	if (status != ATTN_OK)
		return status;
	double *to = array_alloc(t.count, sizeof *to);
	if (!to) {
		tensor_release(&t);
		return attn_fail_memory(heads->err);
	}
	t.data = t.owned = to;
	for (size_t row = 0; row < rows; row++)
		for (size_t h = 0; h < heads->count; h++, to += columns)
			memcpy(to, (const double *)heads->items[h].parts[p].data + row * columns,
			       columns * sizeof *to);
	return bundle_add_tensor(out, &t, heads->err);
}

/* The names, if any head has one; the others are called by their number. */
static enum attn_status add_names(const struct heads *heads, struct bundle *out)
{
	struct string_list names = {0};
	bool any = false;
	for (size_t h = 0; h < heads->count; h++) {
		char number[24];
		const char *name = heads->items[h].name;
		snprintf(number, sizeof number, "%zu", h);
		any |= name != NULL;
		if (!string_list_add(&names, name ? name : number)) {
			string_list_release(&names);
			return attn_fail_memory(heads->err);
		}
	}
	if (any)
		return bundle_add_text(out, "head_names", heads->origin, &names, heads->err);
	string_list_release(&names);
	return ATTN_OK;
}

static enum attn_status read_heads(struct heads *heads, const cJSON *array, struct bundle *out)
{
	if (json_row(heads->rows, array))
		return attn_fail(heads->err, ATTN_BAD_INPUT,
				 "'heads[0]' is a number, expected an object with wq, wk and wv");
	if (!cJSON_IsArray(array) || !array->child)
		return attn_fail(heads->err, ATTN_BAD_INPUT, "'heads' is %s, expected an array of heads",
				 cJSON_IsArray(array) ? "empty" : json_kind(array));
	enum attn_status status = ATTN_OK;
	for (const cJSON *item = array->child; item && status == ATTN_OK; item = item->next)
		status = read_head(heads, item);
	for (int p = 0; p < PARTS && status == ATTN_OK; p++)
		status = join_part(heads, p, out);
	if (status == ATTN_OK)
		status = add_names(heads, out);
	if (status != ATTN_OK)
		return status;
	char number[24];
	snprintf(number, sizeof number, "%zu", heads->count);
	out->head_list = heads->count;
	return bundle_add_setting(out, roles[ROLE_NUM_HEADS].name, number, heads->origin, heads->err);
}

enum attn_status json_heads(const struct json_rows *rows, const cJSON *array, const char *origin,
			    struct bundle *out, struct attn_error *err)
{
	struct heads heads = {.rows = rows, .origin = origin, .err = err};
	enum attn_status status = read_heads(&heads, array, out);
	for (size_t h = 0; h < heads.count; h++)
		for (int p = 0; p < PARTS; p++)
			tensor_release(&heads.items[h].parts[p]);
	free(heads.items);
	return status;
}
