/* Nested JSON arrays as tensors, and arrays of strings as texts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/join_internal.h"
#include "files/json_internal.h"
#include "files/strings_internal.h"
#include "util/memory.h"
#include "util/number.h"

/* A walk over nested arrays.  The shape is that of the first elements; all others
 * must have it too, which is checked before anything is allocated. */
struct walk {
	const struct json_rows *rows;
	const char *label;
	int rank;
	size_t shape[TENSOR_MAX_RANK];
	size_t index[TENSOR_MAX_RANK]; /* where the walk is */
	bool booleans;                 /* else numbers */
	bool null_allowed;
	struct attn_error *err;
};

static size_t array_size(const cJSON *array)
{
	size_t size = 0;
	for (const cJSON *item = array->child; item; item = item->next)
		size++;
	return size;
}

/* "'wq' row 2", "'wq[2,1]'": where the walk is, down to `depth` indices. */
static const char *place(const struct walk *w, int depth, char *text, size_t size)
{
	if (depth == 0 || (depth == 1 && w->rank == 2)) {
		int used = snprintf(text, size, "'%.100s'", w->label);
		if (depth == 1)
			snprintf(text + used, size - (size_t)used, " row %zu", w->index[0]);
		return text;
	}
	size_t used = (size_t)snprintf(text, size, "'%.100s", w->label);
	for (int i = 0; i < depth && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%c%zu", i ? ',' : '[', w->index[i]);
	if (used < size)
		snprintf(text + used, size - used, "]'");
	return text;
}

enum {
	PLACE = 400 /* bytes that hold any place */
};

/* Find rank and shape by going down the first elements. */
static enum attn_status measure(struct walk *w, const cJSON *array)
{
	char at[PLACE];
	const cJSON *item = array;
	const struct json_row *row = NULL;
	for (; !row && (cJSON_IsArray(item) || json_row(w->rows, item)); item = item->child) {
		row = json_row(w->rows, item);
		if (w->rank == TENSOR_MAX_RANK)
			return attn_fail(w->err, ATTN_BAD_INPUT,
					 "'%.100s' has more than %d levels of arrays, expected at most %d",
					 w->label, TENSOR_MAX_RANK, TENSOR_MAX_RANK);
		w->shape[w->rank++] = row ? row->count : array_size(item);
		if (!item->child) {
			int depth = w->rank - 1;
			return attn_fail(w->err, ATTN_BAD_INPUT, "%s is empty, expected numbers",
					 place(w, depth, at, sizeof at));
		}
	}
	if (w->rank == 0)
		return attn_fail(w->err, ATTN_BAD_INPUT, "'%.100s' is %s, expected an array of numbers",
				 w->label, json_kind(item));
	w->booleans = !row && cJSON_IsBool(item);
	return ATTN_OK;
}

static enum attn_status check_leaf(const struct walk *w, const cJSON *item)
{
	char at[PLACE];
	bool null = w->null_allowed && !w->booleans && cJSON_IsNull(item);
	if (null || (w->booleans && cJSON_IsBool(item)))
		return ATTN_OK;
	if (w->booleans || !cJSON_IsNumber(item))
		return attn_fail(w->err, ATTN_BAD_INPUT, "%s is %s, expected %s",
				 place(w, w->rank, at, sizeof at), json_kind(item),
				 w->booleans ? "true or false, as before it" : "a number");
	if (!isfinite(item->valuedouble))
		return attn_fail(w->err, ATTN_BAD_INPUT, "%s is beyond the range of float64",
				 place(w, w->rank, at, sizeof at));
	return ATTN_OK;
}

static bool is_array(const struct walk *w, const cJSON *item)
{
	return cJSON_IsArray(item) || json_row(w->rows, item) != NULL;
}

/* Check an array `depth` levels down; the recursion is as deep as the rank. */
static enum attn_status check(struct walk *w, const cJSON *array, int depth)
{
	const char *things = depth + 1 < w->rank ? "rows" : w->booleans ? "values" : "numbers";
	char at[PLACE];
	const struct json_row *row = depth + 1 == w->rank && !w->booleans ? json_row(w->rows, array) : NULL;
	bool last = depth + 1 == w->rank;
	const char *held = !row && json_row(w->rows, array) ? "numbers"
			   : last && cJSON_IsArray(array) && array->child && is_array(w, array->child)
			       ? "arrays"
			       : NULL;
	if (held)
		return attn_fail(w->err, ATTN_BAD_INPUT, "%s holds %s, expected %s",
				 place(w, depth, at, sizeof at), held,
				 !last         ? "arrays"
				 : w->booleans ? "true or false"
					       : "numbers");
	if (!cJSON_IsArray(array) && !row)
		return attn_fail(w->err, ATTN_BAD_INPUT, "%s is %s, expected an array of %zu %s",
				 place(w, depth, at, sizeof at), json_kind(array), w->shape[depth], things);
	size_t size = row ? row->count : array_size(array);
	if (size != w->shape[depth])
		return attn_fail(w->err, ATTN_BAD_INPUT, "%s has %zu %s, expected %zu",
				 place(w, depth, at, sizeof at), size, things, w->shape[depth]);
	enum attn_status status = ATTN_OK;
	w->index[depth] = 0;
	for (const cJSON *item = row ? NULL : array->child; item && status == ATTN_OK; item = item->next) {
		status = depth + 1 < w->rank ? check(w, item, depth + 1) : check_leaf(w, item);
		w->index[depth]++;
	}
	return status;
}

static unsigned char *fill_booleans(const cJSON *item, int rank, unsigned char *to)
{
	for (; item; item = item->next) {
		if (rank > 1)
			to = fill_booleans(item->child, rank - 1, to);
		else
			*to++ = cJSON_IsTrue(item) != 0;
	}
	return to;
}

/* Read the numbers of a row.  Its syntax is checked, and it ends with ']'. */
static enum attn_status fill_row(struct walk *w, const struct json_row *row, double **to)
{
	char at[PLACE];
	const char *text = row->text;
	for (size_t i = 0; i < row->count; i++) {
		text++; /* '[' or ',' */
		text += strspn(text, " \n\t\r");
		double value = number_parse(text, &text);
		text += strspn(text, " \n\t\r");
		if (!isfinite(value)) {
			w->index[w->rank - 1] = i;
			return attn_fail(w->err, ATTN_BAD_INPUT, "%s is beyond the range of float64",
					 place(w, w->rank, at, sizeof at));
		}
		*(*to)++ = value;
	}
	return ATTN_OK;
}

/* Fill from an array `depth` levels down, whose shape is checked. */
static enum attn_status fill_numbers(struct walk *w, const cJSON *array, int depth, double **to)
{
	const struct json_row *row = json_row(w->rows, array);
	if (row)
		return fill_row(w, row, to);
	enum attn_status status = ATTN_OK;
	w->index[depth] = 0;
	for (const cJSON *item = array->child; item && status == ATTN_OK; item = item->next) {
		if (depth + 1 < w->rank)
			status = fill_numbers(w, item, depth + 1, to);
		else
			*(*to)++ = cJSON_IsNull(item) ? -INFINITY : item->valuedouble;
		w->index[depth]++;
	}
	return status;
}

/* Numbers become float64, so that lengths stay exact and nothing is lost before
 * the engine looks. */
enum attn_status json_tensor(const struct json_rows *rows, const cJSON *array, const char *label,
			     const char *name, const char *origin, bool null_allowed, struct tensor *t,
			     struct attn_error *err)
{
	struct walk w = {.rows = rows, .label = label, .null_allowed = null_allowed, .err = err};
	*t = (struct tensor){0};
	enum attn_status status = measure(&w, array);
	if (status == ATTN_OK)
		status = check(&w, array, 0);
	if (status == ATTN_OK)
		status =
		    tensor_init(t, name, origin, w.booleans ? DTYPE_BOOL : DTYPE_F64, w.rank, w.shape, err);
	if (status != ATTN_OK)
		return status;
	t->owned = array_alloc(t->count, dtype_size(t->dtype));
	t->data = t->owned;
	if (!t->owned) {
		tensor_release(t);
		return attn_fail_memory(err);
	}
	double *numbers = t->owned;
	if (w.booleans)
		fill_booleans(array->child, w.rank, t->owned);
	else
		status = fill_numbers(&w, array, 0, &numbers);
	if (status != ATTN_OK)
		tensor_release(t);
	return status;
}

/* Ragged arrays are built up from tensors of their items. */
enum {
	MAX_ITEMS = 1 << 16 /* of one such array: each takes a struct */
};

static enum attn_status join_items(const struct json_rows *rows, const cJSON *array, size_t count, int depth,
				   const char *label, const char *name, const char *origin, bool null_allowed,
				   struct tensor *t, struct attn_error *err);

static enum attn_status read_weights(const struct json_rows *rows, const cJSON *array, int depth,
				     const char *label, const char *name, const char *origin,
				     bool null_allowed, struct tensor *t, struct attn_error *err)
{
	/* If the items do not make a whole, what counts is what was wrong at first. */
	struct attn_error first = {0}, ignored;
	enum attn_status status = json_tensor(rows, array, label, name, origin, null_allowed, t, &first);
	size_t count = cJSON_IsArray(array) ? array_size(array) : 0;
	bool ragged = status == ATTN_BAD_INPUT && depth < TENSOR_MAX_RANK && count >= 1 && count <= MAX_ITEMS;
	for (const cJSON *item = ragged ? array->child : NULL; item && ragged; item = item->next)
		ragged = cJSON_IsArray(item) || json_row(rows, item);
	if (ragged) {
		enum attn_status joined =
		    join_items(rows, array, count, depth, label, name, origin, null_allowed, t, &ignored);
		if (joined == ATTN_FAILED)
			return attn_fail_memory(err);
		status = joined == ATTN_OK ? ATTN_OK : status;
	}
	return status == ATTN_OK ? ATTN_OK : attn_fail(err, status, "%s", first.message);
}

static enum attn_status join_items(const struct json_rows *rows, const cJSON *array, size_t count, int depth,
				   const char *label, const char *name, const char *origin, bool null_allowed,
				   struct tensor *t, struct attn_error *err)
{
	struct tensor *parts = array_alloc(count, sizeof *parts);
	enum attn_status status = parts ? ATTN_OK : attn_fail_memory(err);
	enum join how;
	size_t filled = 0;
	for (const cJSON *item = array->child; item && status == ATTN_OK; item = item->next) {
		status = read_weights(rows, item, depth + 1, label, name, origin, null_allowed,
				      &parts[filled], err);
		filled += status == ATTN_OK;
	}
	if (status == ATTN_OK)
		status = tensors_join(parts, count, false, name, t, &how, err);
	for (size_t i = 0; i < filled; i++)
		tensor_release(&parts[i]);
	free(parts);
	return status;
}

enum attn_status json_weights(const struct json_rows *rows, const cJSON *array, const char *label,
			      const char *name, const char *origin, bool null_allowed, struct tensor *t,
			      struct attn_error *err)
{
	enum attn_status status = read_weights(rows, array, 0, label, name, origin, null_allowed, t, err);
	/* Of steps, the axis of one batch item goes; arrays of one shape stay as they are. */
	const cJSON *first = cJSON_IsArray(array) ? array->child : NULL;
	struct walk a = {.rows = rows, .label = label}, b = a;
	bool steps = status == ATTN_OK && t->rank == 5 && t->shape[1] == 1 && first && first->next &&
		     measure(&a, first) == ATTN_OK && measure(&b, first->next) == ATTN_OK &&
		     a.rank == b.rank && memcmp(a.shape, b.shape, sizeof a.shape) != 0;
	if (steps)
		tensor_drop_axis(t, 1);
	return status;
}

const char *json_token(const cJSON *item)
{
	static const char *const names[] = {"token", "text", "word", "piece"};
	if (cJSON_IsString(item))
		return item->valuestring;
	if (!json_is_object(item))
		return NULL;
	for (const cJSON *child = item->child; child; child = child->next)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (cJSON_IsString(child) && strcmp(child->string, names[i]) == 0)
				return child->valuestring;
	return NULL;
}

/* Append an array of strings. */
static enum attn_status add_strings(const cJSON *array, const char *label, struct string_list *list,
				    struct attn_error *err)
{
	for (const cJSON *item = array->child; item; item = item->next) {
		const char *token = json_token(item);
		if (!token)
			return attn_fail(err, ATTN_BAD_INPUT, "'%.100s[%zu]' is %s, expected a string", label,
					 list->count, json_kind(item));
		if (!string_list_add(list, token))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

/* A list for each batch item. */
static enum attn_status add_lists(const cJSON *array, const char *label, struct string_list *list,
				  struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	size_t items = 0, length = 0;
	for (const cJSON *item = array->child; item && status == ATTN_OK; item = item->next, items++) {
		size_t before = list->count;
		if (!cJSON_IsArray(item) || !item->child)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.100s[%zu]' is %s, expected a list of strings", label, items,
					 json_kind(item));
		status = add_strings(item, label, list, err);
		length = items ? length : list->count;
		if (status == ATTN_OK && list->count - before != length)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.100s[%zu]' has %zu strings and '%.100s[0]' %zu, but batch items "
					 "share their labels: choose one as in tokens=FILE:%.100s[%zu]",
					 label, items, list->count - before, label, length, label, items);
	}
	return status == ATTN_OK ? string_lists_agree(list, items, label, err) : status;
}

enum attn_status json_strings(const cJSON *array, const char *label, struct string_list *list,
			      struct attn_error *err)
{
	*list = (struct string_list){0};
	if (json_is_row(array)) /* nothing but numbers */
		return attn_fail(err, ATTN_BAD_INPUT, "'%.100s[0]' is a number, expected a string", label);
	if (!cJSON_IsArray(array))
		return attn_fail(err, ATTN_BAD_INPUT, "'%.100s' is %s, expected an array of strings", label,
				 json_kind(array));
	if (!array->child)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.100s' is empty, expected strings", label);
	enum attn_status status = cJSON_IsArray(array->child) ? add_lists(array, label, list, err)
							      : add_strings(array, label, list, err);
	if (status != ATTN_OK)
		string_list_release(list);
	return status;
}
