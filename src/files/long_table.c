/* Tables of one weight a row. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/table_internal.h"
#include "util/checked.h"
#include "util/memory.h"

enum column {
	LAYER,
	BATCH,
	HEAD,
	QUERY,
	KEY, /* those before are axes */
	AXES,
	QUERY_TOKEN = AXES,
	KEY_TOKEN,
	WEIGHT,
	COLUMNS
};

enum {
	NO_COLUMN = -1,
	MOST_CELLS = 1 << 24 /* of a sparse table; a dense one has a row for each */
};

/* What the columns are called, by us and by others. */
static const struct {
	enum column column;
	const char *name;
} names[] = {
    {LAYER, "layer"},
    {HEAD, "head"},
    {BATCH, "batch"},
    {QUERY, "query"},
    {QUERY, "q"},
    {QUERY, "from"},
    {QUERY, "row"},
    {QUERY, "i"},
    {QUERY, "query_index"},
    {QUERY, "query_idx"},
    {QUERY, "from_token"},
    {KEY, "key"},
    {KEY, "k"},
    {KEY, "to"},
    {KEY, "col"},
    {KEY, "column"},
    {KEY, "j"},
    {KEY, "key_index"},
    {KEY, "key_idx"},
    {KEY, "to_token"},
    {QUERY_TOKEN, "query_token"},
    {KEY_TOKEN, "key_token"},
    {WEIGHT, "weight"},
    {WEIGHT, "weights"},
    {WEIGHT, "attention"},
    {WEIGHT, "attn"},
    {WEIGHT, "attention_weight"},
    {WEIGHT, "attn_weight"},
    {WEIGHT, "value"},
    {WEIGHT, "w"},
    {WEIGHT, "score"},
    {QUERY, "query_pos"},
    {QUERY, "query_id"},
    {QUERY, "q_idx"},
    {KEY, "key_pos"},
    {KEY, "key_id"},
    {KEY, "k_idx"},
    {WEIGHT, "attention_score"},
    {WEIGHT, "attn_score"},
    {WEIGHT, "prob"},
    {WEIGHT, "probability"},
    {WEIGHT, "data"},
    {WEIGHT, "val"},
    {LAYER, "layer_idx"},
    {HEAD, "head_idx"},
    {BATCH, "batch_idx"},
};

struct long_table {
	const struct cells *cells;
	size_t first;                   /* row after the header */
	int columns[COLUMNS];           /* where each is, or NO_COLUMN */
	bool by_token;                  /* queries and keys are told by their tokens */
	size_t least[AXES], most[AXES]; /* numbers along each axis */
	struct string_list tokens[2];   /* of queries and keys, where known */
	bool escaped;                   /* tokens are written as we write them */
};

/* Take the header's names; false where what is needed is not there. */
static bool read_header(struct long_table *t)
{
	size_t width = cells_width(t->cells, 0);
	for (size_t c = 0; c < width; c++) {
		size_t i = 0;
		while (i < sizeof names / sizeof *names &&
		       strcasecmp(names[i].name, cell(t->cells, 0, c)) != 0)
			i++;
		if (i == sizeof names / sizeof *names || t->columns[names[i].column] != NO_COLUMN)
			return false;
		t->columns[names[i].column] = (int)c;
	}
	t->first = 1;
	t->escaped = t->columns[QUERY_TOKEN] != NO_COLUMN;
	for (int side = 0; side < 2; side++) {
		if (t->columns[QUERY + side] == NO_COLUMN) {
			t->columns[QUERY + side] = t->columns[QUERY_TOKEN + side];
			t->columns[QUERY_TOKEN + side] = NO_COLUMN;
		}
	}
	return t->columns[QUERY] != NO_COLUMN && t->columns[KEY] != NO_COLUMN &&
	       t->columns[WEIGHT] != NO_COLUMN;
}

static bool equal_widths(const struct cells *cells, size_t width)
{
	for (size_t r = 0; r < cells->row_count; r++)
		if (cells_width(cells, r) != width)
			return false;
	return cells->row_count > 0;
}

/* Three columns without a header, the first two indices in all rows, or tokens in some and
 * numbers in the last: more than a matrix could be. */
static bool is_bare(struct long_table *t)
{
	const struct cells *cells = t->cells;
	bool indices = true, words = false, fraction = false;
	double weight;
	if (!equal_widths(cells, 3))
		return false;
	/* A row of words before triples is a header in words of its own. */
	if (cells->row_count > 1 && !cell_as_number(cell(cells, 0, 2), &weight))
		t->first = 1;
	for (size_t r = t->first; r < cells->row_count; r++) {
		size_t index;
		if (!*cell(cells, r, 2) || !cell_as_number(cell(cells, r, 2), &weight))
			return false;
		for (size_t c = 0; c < 2; c++)
			indices &= cell_index(cell(cells, r, c), &index);
		words |= !cell_as_number(cell(cells, r, 1), &weight);
		fraction |= !cell_index(cell(cells, r, 2), &index);
	}
	t->columns[QUERY] = 0;
	t->columns[KEY] = 1;
	t->columns[WEIGHT] = 2;
	return words || (indices && fraction && !t->first && cells->row_count != 3);
}

static const char *at(const struct long_table *t, size_t row, enum column column)
{
	return cell(t->cells, row, (size_t)t->columns[column]);
}

/* Where a token is in a list, which gets it if it is not there; SIZE_MAX: no memory. */
static size_t place_of(struct string_list *list, const char *token)
{
	size_t i = 0;
	while (i < list->count && strcmp(list->items[i], token) != 0)
		i++;
	return i < list->count || string_list_add(list, token) ? i : SIZE_MAX;
}

/* "\t" and the like as the characters that they stand for. */
static void unescape(char *text)
{
	static const char from[] = "tnr\\", to[] = "\t\n\r\\";
	char *out = text;
	for (; *text; text++) {
		const char *found = *text == '\\' && text[1] ? strchr(from, text[1]) : NULL;
		*out++ = found ? to[found - from] : *text;
		text += found != NULL;
	}
	*out = '\0';
}

/* The number along an axis that a row says; false where it says none. */
static bool number_at(struct long_table *t, size_t row, enum column axis, size_t *value)
{
	*value = 0;
	if (t->columns[axis] == NO_COLUMN)
		return true;
	if (!t->by_token || axis < QUERY)
		return cell_index(at(t, row, axis), value);
	*value = place_of(&t->tokens[axis - QUERY], at(t, row, axis));
	return *value != SIZE_MAX;
}

/* Tokens that tell queries and keys: those of one sentence are told alike. */
static bool collect_tokens(struct long_table *t)
{
	enum {
		MOST = 1024 /* tokens: each is looked for among those before it */
	};
	size_t shared = 0;
	for (size_t r = t->first; r < t->cells->row_count; r++)
		for (int side = 0; side < 2; side++)
			if (place_of(&t->tokens[side], at(t, r, QUERY + side)) >= MOST)
				return false;
	struct string_list *queries = &t->tokens[0], *keys = &t->tokens[1];
	for (size_t i = 0; i < queries->count; i++)
		for (size_t j = 0; j < keys->count; j++)
			shared += strcmp(queries->items[i], keys->items[j]) == 0;
	if (shared < queries->count && shared < keys->count)
		return true;
	string_list_release(queries);
	string_list_release(keys);
	for (size_t r = t->first; r < t->cells->row_count; r++)
		for (int side = 0; side < 2; side++)
			for (int list = 0; list < 2; list++)
				if (place_of(&t->tokens[list], at(t, r, QUERY + side)) == SIZE_MAX)
					return false;
	return true;
}

/* Find the extent of each axis; false where a row has no number for one. */
static bool measure(struct long_table *t)
{
	size_t value;
	double weight;
	bool causal = true;
	for (int axis = 0; axis < AXES; axis++) {
		t->least[axis] = SIZE_MAX;
		t->most[axis] = 0;
	}
	for (size_t r = t->first; r < t->cells->row_count; r++) {
		if (!*at(t, r, WEIGHT) || !cell_as_number(at(t, r, WEIGHT), &weight))
			return false;
		for (enum column axis = LAYER; axis < AXES; axis++) {
			if (!number_at(t, r, axis, &value))
				return false;
			t->least[axis] = value < t->least[axis] ? value : t->least[axis];
			t->most[axis] = value > t->most[axis] ? value : t->most[axis];
		}
		causal &=
		    t->by_token || strtoull(at(t, r, KEY), NULL, 10) <= strtoull(at(t, r, QUERY), NULL, 10);
	}
	/* Queries and keys are counted from 0, and the last key of causal rows may have no weight. */
	t->least[QUERY] = t->least[KEY] = 0;
	if (!t->by_token && causal && t->most[KEY] < t->most[QUERY])
		t->most[KEY] = t->most[QUERY];
	if (t->by_token) {
		t->most[QUERY] = t->tokens[0].count - 1;
		t->most[KEY] = t->tokens[1].count - 1;
	}
	return true;
}

static enum attn_status add_cells(struct long_table *t, struct tensor *w, struct attn_error *err)
{
	unsigned char *seen = array_alloc(w->count, 1);
	float *weights = w->owned;
	enum attn_status status = seen ? ATTN_OK : attn_fail_memory(err);
	for (size_t r = t->first; r < t->cells->row_count && status == ATTN_OK; r++) {
		size_t place = 0, value;
		double weight = 0;
		for (enum column axis = LAYER; axis < AXES; axis++) {
			number_at(t, r, axis, &value);
			place = place * (t->most[axis] - t->least[axis] + 1) + value - t->least[axis];
		}
		cell_as_number(at(t, r, WEIGHT), &weight);
		weights[place] = (float)weight;
		if (seen[place]++)
			status = attn_fail(
			    err, ATTN_BAD_INPUT, "query '%.50s' and key '%.50s' are given twice%s",
			    at(t, r, QUERY), at(t, r, KEY),
			    t->by_token ? ": where a token comes more than once, give indices" : "");
	}
	free(seen);
	return status;
}

/* The weights, with layers and batch items only where there are columns for them. */
static enum attn_status add_weights(struct long_table *t, const char *origin, struct bundle *out,
				    struct attn_error *err)
{
	size_t shape[AXES], count = 1, rows = t->cells->row_count;
	int rank = 0;
	bool fits = true;
	for (enum column axis = LAYER; axis < AXES; axis++) {
		size_t length = t->most[axis] - t->least[axis] + 1;
		fits = fits && size_mul(count, length, &count) && (axis >= QUERY || length <= rows);
		if (axis >= HEAD || t->columns[axis] != NO_COLUMN)
			shape[rank++] = length;
	}
	if (!fits || (count > MOST_CELLS && count > rows))
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "%zu rows have numbers up to query %zu and key %zu, more than so few can fill", rows,
		    t->most[QUERY], t->most[KEY]);
	struct tensor w;
	enum attn_status status = tensor_init(&w, "weights", origin, DTYPE_F32, rank, shape, err);
	if (status != ATTN_OK)
		return status;
	w.data = w.owned = array_alloc(w.count, sizeof(float));
	status = w.owned ? add_cells(t, &w, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		return bundle_add_tensor(out, &w, err);
	tensor_release(&w);
	return status;
}

/* The tokens of one side by their indices: false where one is missing. */
static bool list_tokens(struct long_table *t, int side)
{
	size_t count = t->most[QUERY + side] + 1, index;
	const char **found = array_alloc(count, sizeof *found);
	bool whole = found != NULL && t->columns[QUERY_TOKEN + side] != NO_COLUMN;
	for (size_t r = t->first; r < t->cells->row_count && whole; r++)
		if (cell_index(at(t, r, QUERY + side), &index) && index < count)
			found[index] = at(t, r, QUERY_TOKEN + side);
	for (size_t i = 0; i < count && whole; i++)
		whole = found[i] && string_list_add(&t->tokens[side], found[i]);
	free(found);
	return whole;
}

static bool same_lists(const struct string_list *a, const struct string_list *b)
{
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return a->count == b->count;
}

static enum attn_status add_tokens(struct long_table *t, const char *origin, struct bundle *out,
				   struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	bool known[2] = {t->by_token, t->by_token};
	for (int side = 0; side < 2 && !t->by_token; side++)
		known[side] = list_tokens(t, side);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < t->tokens[side].count && t->escaped; i++)
			unescape(t->tokens[side].items[i]);
	if (known[0] && known[1] && same_lists(&t->tokens[0], &t->tokens[1]))
		known[1] = false;
	for (int side = 0; side < 2 && status == ATTN_OK; side++)
		if (known[side])
			status = table_add_labels(out, side ? "source_tokens" : "tokens", origin,
						  &t->tokens[side], err);
	return status;
}

static enum attn_status add_setting(struct bundle *out, const char *name, const char *value,
				    const char *origin, struct attn_error *err)
{
	enum attn_status status = bundle_add_setting(out, name, value, origin, err);
	if (status == ATTN_OK)
		out->settings[out->setting_count - 1].implied = true;
	return status;
}

/* What a file's layers, heads and batch items are called. */
static enum attn_status add_settings(struct long_table *t, const char *origin, struct bundle *out,
				     struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	struct string_list heads = {0};
	char text[40];
	bool layer = t->columns[LAYER] != NO_COLUMN, batch = t->columns[BATCH] != NO_COLUMN;
	if (batch)
		status = add_setting(out, "axes", layer ? "layer,batch" : "batch", origin, err);
	snprintf(text, sizeof text, "%zu", t->least[LAYER]);
	if (status == ATTN_OK && layer && t->least[LAYER] > 0)
		status = add_setting(out, "layer", text, origin, err);
	for (size_t h = t->least[HEAD]; t->least[HEAD] > 0 && h <= t->most[HEAD] && status == ATTN_OK; h++) {
		snprintf(text, sizeof text, "%zu", h);
		if (!string_list_add(&heads, text))
			status = attn_fail_memory(err);
	}
	if (status == ATTN_OK && heads.count > 0)
		return table_add_labels(out, "head_names", origin, &heads, err);
	string_list_release(&heads);
	return status;
}

enum attn_status long_table_read(const struct cells *cells, const char *origin, bool *is_one,
				 struct bundle *out, struct attn_error *err)
{
	struct long_table t = {.cells = cells};
	enum attn_status status = ATTN_OK;
	size_t width = cells->row_count ? cells_width(cells, 0) : 0;
	*is_one = false;
	if (width < 3 || !equal_widths(cells, width))
		return ATTN_OK;
	for (int c = 0; c < COLUMNS; c++)
		t.columns[c] = NO_COLUMN;
	bool headed = cells->row_count > 1 && read_header(&t);
	if (!headed) {
		t.first = 0;
		for (int c = 0; c < COLUMNS; c++)
			t.columns[c] = NO_COLUMN;
		if (!is_bare(&t))
			return ATTN_OK;
	}
	size_t index;
	for (size_t r = t.first; r < cells->row_count && !t.by_token; r++)
		t.by_token = !cell_index(at(&t, r, QUERY), &index) || !cell_index(at(&t, r, KEY), &index);
	if ((!t.by_token || collect_tokens(&t)) && measure(&t)) {
		*is_one = true;
		status = add_weights(&t, origin, out, err);
		if (status == ATTN_OK)
			status = add_tokens(&t, origin, out, err);
		if (status == ATTN_OK)
			status = add_settings(&t, origin, out, err);
	}
	string_list_release(&t.tokens[0]);
	string_list_release(&t.tokens[1]);
	return status;
}
