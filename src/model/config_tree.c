/* From JSON to a config: its tree as arrays, in which keys are found by halving. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "model/config_internal.h"
#include "util/memory.h"
#include "util/number.h"

enum {
	MAX_BYTES = 8 << 20 /* those of models with 20,000 classes have 2 MB */
};

/* The tree on its way: items[i] becomes values[i]. */
struct making {
	struct config *config;
	const struct json_rows *rows;
	const cJSON **items; /* NULL for the numbers of a row */
	size_t capacity;
};

static bool grow(struct making *m, size_t count)
{
	size_t needed = m->config->count + count;
	if (needed <= m->capacity)
		return true;
	size_t capacity = needed * 2;
	struct value *values = reallocarray(m->config->values, capacity, sizeof *values);
	if (values)
		m->config->values = values;
	const cJSON **items = values ? reallocarray(m->items, capacity, sizeof *items) : NULL;
	if (items)
		m->items = items;
	m->capacity = items ? capacity : m->capacity;
	return items;
}

static struct value scalar_of(const cJSON *item)
{
	const char *number = json_not_finite(item);
	struct value v = {.key = item->string};
	if (number) {
		v.kind = VALUE_NUMBER;
		v.number = number[0] == 'N' ? (double)NAN : number[0] == '-' ? -HUGE_VAL : HUGE_VAL;
	} else if (cJSON_IsBool(item)) {
		v.kind = VALUE_BOOL;
		v.number = cJSON_IsTrue(item);
	} else if (cJSON_IsNumber(item)) {
		v.kind = VALUE_NUMBER;
		v.number = item->valuedouble;
	} else if (cJSON_IsString(item)) {
		v.kind = VALUE_TEXT;
		v.text = item->valuestring;
	}
	return v;
}

static void append(struct making *m, const cJSON *item)
{
	m->items[m->config->count] = item;
	m->config->values[m->config->count++] = scalar_of(item);
}

static bool add_row(struct making *m, const struct json_row *row)
{
	const char *at = row->text;
	if (!grow(m, row->count))
		return false;
	for (size_t i = 0; i < row->count; i++) {
		at += strspn(at, "[, \t\r\n");
		m->items[m->config->count] = NULL;
		m->config->values[m->config->count++] =
		    (struct value){.kind = VALUE_NUMBER, .number = number_parse(at, &at)};
	}
	return true;
}

struct member {
	const cJSON *item;
	size_t place;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->item->string, y->item->string);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Of members with one key the last is meant. */
static bool add_members(struct making *m, const cJSON *object, size_t count)
{
	struct member *members = array_alloc(count, sizeof *members);
	size_t i = 0;
	if (!members)
		return false;
	for (const cJSON *item = object->child; item; item = item->next, i++)
		members[i] = (struct member){item, i};
	qsort(members, count, sizeof *members, by_key);
	for (i = 0; i < count; i++)
		if (i + 1 == count || strcmp(members[i].item->string, members[i + 1].item->string) != 0)
			append(m, members[i].item);
	free(members);
	return true;
}

/* Append what value `i`, a list or an object, holds. */
static bool add_children(struct making *m, size_t i)
{
	const cJSON *item = m->items[i];
	const struct json_row *row = json_row(m->rows, item);
	bool list = row || cJSON_IsArray(item), ok = true;
	size_t first = m->config->count, count = 0;
	if (row) {
		ok = add_row(m, row);
	} else {
		for (const cJSON *child = item->child; child; child = child->next)
			count++;
		ok = grow(m, count);
		if (ok && !list)
			ok = add_members(m, item, count);
		for (const cJSON *child = item->child; ok && list && child; child = child->next)
			append(m, child);
	}
	struct value *v = &m->config->values[i];
	v->kind = list ? VALUE_LIST : VALUE_OBJECT;
	v->first = first;
	v->count = m->config->count - first;
	return ok;
}

static bool sort_tree(struct config *c, const struct json_rows *rows)
{
	struct making m = {.config = c, .rows = rows};
	bool ok = grow(&m, 1);
	if (ok)
		append(&m, c->tree);
	for (size_t i = 0; ok && i < c->count; i++) {
		const cJSON *item = m.items[i];
		if (item && !json_not_finite(item) && (cJSON_IsArray(item) || cJSON_IsObject(item)))
			ok = add_children(&m, i);
	}
	free(m.items);
	return ok;
}

enum attn_status config_of_tree(struct config **out, cJSON *tree, const struct json_rows *rows,
				const char *origin, struct attn_error *err)
{
	struct config *c = *out = calloc(1, sizeof *c);
	if (!c) {
		cJSON_Delete(tree);
		return attn_fail_memory(err);
	}
	c->tree = tree;
	c->origin = strdup(origin);
	if (c->origin && sort_tree(c, rows))
		return ATTN_OK;
	config_free(c);
	*out = NULL;
	return attn_fail_memory(err);
}

enum attn_status config_parse(struct config **out, const unsigned char *data, size_t length,
			      const char *origin, struct attn_error *err)
{
	char file[320];
	cJSON *tree;
	struct json_rows rows;
	*out = NULL;
	snprintf(file, sizeof file, "'%.300s'", origin);
	enum attn_status status = json_rows_parse(data, length, true, &tree, &rows, err);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, file);
	if (status != ATTN_OK)
		return status;
	if (json_is_object(tree)) {
		status = config_of_tree(out, tree, &rows, origin, err);
	} else {
		status = attn_fail(err, ATTN_BAD_INPUT, "%s: document is %s, expected an object", file,
				   json_kind(tree));
		cJSON_Delete(tree);
	}
	json_rows_release(&rows);
	return status;
}

enum attn_status config_open(struct config **out, const char *path, struct attn_error *err)
{
	struct file_bytes bytes;
	*out = NULL;
	TRY(file_bytes_open_regular(&bytes, path, MAX_BYTES, err));
	enum attn_status status = config_parse(out, bytes.data, bytes.length, path, err);
	file_bytes_release(&bytes);
	return status;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	free(c->values);
	cJSON_Delete(c->tree);
	free(c->origin);
	free(c);
}
