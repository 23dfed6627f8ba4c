/* Lines of attn compare, and their tables for programs. */
#include <math.h>
#include <stdlib.h>

#include "cmd/compare_internal.h"
#include "util/memory.h"

enum column_id {
	COLUMN_RANK,
	COLUMN_WHAT,
	COLUMN_LAYER,
	COLUMN_HEAD,
	COLUMN_LARGEST,
	COLUMN_QUERY,
	COLUMN_QUERY_TOKEN,
	COLUMN_KEY,
	COLUMN_KEY_TOKEN,
	COLUMN_COMPONENT,
	COLUMN_A,
	COLUMN_B,
	COLUMN_DIFFERENCE,
	COLUMN_MEAN,
	COLUMN_JS_LARGEST,
	COLUMN_JS_QUERY,
	COLUMN_JS_MEAN,
	COLUMN_BEYOND,
	COLUMN_BATCH,
	COLUMN_LAYER_B,
	COLUMN_HEAD_B,
	COLUMN_QUERY_TOKEN_B,
	COLUMN_KEY_TOKEN_B,
	COLUMN_IDS
};

static const char *const names[COLUMN_IDS] = {
    "rank",      "what",      "layer", "head",    "largest",    "query",         "query_token", "key",
    "key_token", "component", "a",     "b",       "difference", "mean",          "js_largest",  "js_query",
    "js_mean",   "beyond",    "batch", "layer_b", "head_b",     "query_token_b", "key_token_b"};

/* --- which columns there are ---------------------------------------------------------------------- */

static bool other_number(const struct compare_table *t, bool layers)
{
	const struct rows_info *a = &t->sides->in.rows.info, *b = &t->sides->b.in.rows.info;
	size_t count = layers ? a->shape.layers : a->shape.heads;
	bool other = false;
	for (size_t i = 0; i < count; i++)
		other |= layers ? layer_number(a, i) != layer_number(b, i)
				: head_number(a, i) != head_number(b, i);
	return other;
}

static bool has_column(const struct compare_table *t, enum column_id id)
{
	const struct sides *s = t->sides;
	bool words = s->view->words;
	switch (id) {
	case COLUMN_RANK:
	case COLUMN_A:
	case COLUMN_B:
	case COLUMN_DIFFERENCE:
		return t->top != NULL;
	case COLUMN_LARGEST:
	case COLUMN_MEAN:
	case COLUMN_JS_LARGEST:
	case COLUMN_JS_QUERY:
	case COLUMN_JS_MEAN:
	case COLUMN_BEYOND:
		return t->top == NULL;
	case COLUMN_BATCH:
		return s->in.info->has_batch;
	case COLUMN_LAYER_B:
		return other_number(t, true);
	case COLUMN_HEAD_B:
		return other_number(t, false);
	case COLUMN_QUERY_TOKEN_B:
	case COLUMN_KEY_TOKEN_B:
		return s->labels_differ && !words;
	default:
		return true;
	}
}

enum attn_status compare_table_init(struct compare_table *t, const char *list, struct attn_error *err)
{
	for (unsigned id = 0; id < COLUMN_IDS; id++) {
		if (!has_column(t, (enum column_id)id))
			continue;
		t->ids[t->columns.count] = (unsigned char)id;
		table_add_column(&t->columns, names[id]);
	}
	return table_choose(&t->columns, list, err);
}

void compare_table_release(struct compare_table *t)
{
	free(t->lines);
	t->lines = NULL;
}

/* --- lines ------------------------------------------------------------------------------------------ */

static enum attn_status take_cells(struct compare_table *t, struct attn_error *err)
{
	t->lines = array_alloc(t->top->count, sizeof *t->lines);
	if (!t->lines)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->top->count; i++) {
		const struct cell_difference *cell = &t->top->cells[i];
		t->lines[i] =
		    (struct compare_line){t->top->kind, cell->layer, cell->batch, cell->head, cell->query,
					  cell->column, i + 1,       NULL,        cell};
	}
	t->line_count = t->top->count;
	return ATTN_OK;
}

enum attn_status compare_table_heads(struct compare_table *t, struct attn_error *err)
{
	const struct rows_shape *shape = &t->sides->in.rows.info.shape;
	size_t all = shape->layers * shape->batch * shape->heads;
	t->lines = array_alloc(all, DIFFERENCE_KINDS * sizeof *t->lines);
	if (!t->lines)
		return attn_fail_memory(err);
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++) {
		const struct difference *of = t->differences->heads[kind];
		for (size_t i = 0; of && i < all; i++) {
			size_t head = i % shape->heads, batch = i / shape->heads % shape->batch;
			if (!rows_chosen(t->sides->rows.batch, batch) ||
			    (kind == DIFFERENCE_OUTPUT && head > 0))
				continue;
			t->lines[t->line_count++] = (struct compare_line){(enum difference_kind)kind,
									  i / shape->heads / shape->batch,
									  batch,
									  head,
									  of[i].query,
									  of[i].column,
									  0,
									  &of[i],
									  NULL};
		}
	}
	return ATTN_OK;
}

/* --- cells for programs ------------------------------------------------------------------------------- */

/* Without a digit JSON has no infinity: 1e999 is one in whatever reads it. */
static void add_number(struct buffer *text, double value, bool json)
{
	if (isinf(value) && json)
		buffer_add_string(text, value < 0 ? "-1e999" : "1e999");
	else if (!isnan(value))
		buffer_printf(text, "%.9g", value);
}

static void add_value(struct buffer *text, float value, bool json)
{
	if (isinf(value))
		add_number(text, (double)value, json);
	else
		buffer_add_float(text, value);
}

static void add_token_of_b(struct buffer *text, const struct compare_table *t, bool key, size_t i)
{
	const struct side *b = &t->sides->b;
	const struct rows_info *info = &t->sides->in.rows.info;
	table_add_label(text, t->format,
			key ? b->key_labels.items[key_number(info, i)]
			    : b->query_labels.items[query_number(info, i)]);
}

static void add_layer_or_head(struct buffer *text, const struct compare_table *t,
			      const struct rows_info *info, const struct compare_line *line, bool layer)
{
	if (layer)
		table_add_number_or_name(text, t->format, layer_number(info, line->layer),
					 info->joined_layers);
	else if (line->kind != DIFFERENCE_OUTPUT)
		table_add_number_or_name(text, t->format, head_number(info, line->head), info->joined_heads);
}

/* Where a line is. */
static void add_place_cell(struct buffer *text, const struct compare_table *t,
			   const struct compare_line *line, enum column_id id)
{
	const struct rows_info *a = &t->sides->in.rows.info, *b = &t->sides->b.in.rows.info;
	bool keys = line_has_keys(line);
	if (id == COLUMN_LAYER || id == COLUMN_LAYER_B)
		add_layer_or_head(text, t, id == COLUMN_LAYER ? a : b, line, true);
	else if (id == COLUMN_HEAD || id == COLUMN_HEAD_B)
		add_layer_or_head(text, t, id == COLUMN_HEAD ? a : b, line, false);
	else if (id == COLUMN_QUERY)
		buffer_printf(text, "%zu", query_number(a, line->query));
	else if (id == COLUMN_QUERY_TOKEN)
		table_add_label(text, t->format, a->query_labels.items[line->query]);
	else if (id == COLUMN_QUERY_TOKEN_B)
		add_token_of_b(text, t, false, line->query);
	else if (id == COLUMN_KEY && keys)
		buffer_printf(text, "%zu", key_number(a, line->column));
	else if (id == COLUMN_KEY_TOKEN && keys)
		table_add_label(text, t->format, a->key_labels.items[line->column]);
	else if (id == COLUMN_KEY_TOKEN_B && keys)
		add_token_of_b(text, t, true, line->column);
	else if (id == COLUMN_COMPONENT && !keys)
		buffer_printf(text, "%zu", line->column);
	else if (id == COLUMN_BATCH)
		buffer_printf(text, "%zu", line->batch);
}

static void add_cell(struct buffer *text, const struct compare_table *t, const struct compare_line *line,
		     enum column_id id)
{
	const struct difference *d = line->head_difference;
	const struct cell_difference *cell = line->cell;
	bool json = t->format != TABLE_TSV;
	double rows = d && d->rows > 0 ? (double)d->rows : (double)NAN;
	if (id == COLUMN_WHAT)
		table_add_label(text, t->format, difference_names[line->kind]);
	else if (id == COLUMN_RANK)
		buffer_printf(text, "%zu", line->rank);
	else if (id == COLUMN_A || id == COLUMN_B)
		add_value(text, id == COLUMN_A ? cell->a : cell->b, json);
	else if (id == COLUMN_DIFFERENCE)
		add_number(text, (double)cell->a - (double)cell->b, json);
	else if (id == COLUMN_LARGEST)
		add_number(text, d->largest, json);
	else if (id == COLUMN_MEAN)
		add_number(text, d->sum / (double)d->cells, json);
	else if (id == COLUMN_JS_LARGEST)
		add_number(text, d->rows > 0 ? d->js_largest : (double)NAN, json);
	else if (id == COLUMN_JS_MEAN)
		add_number(text, d->js_sum / rows, json);
	else if (id == COLUMN_BEYOND)
		buffer_printf(text, "%zu", d->beyond);
	else if (id != COLUMN_JS_QUERY)
		add_place_cell(text, t, line, id);
	else if (d->rows > 0)
		buffer_printf(text, "%zu", query_number(&t->sides->in.rows.info, d->js_query));
}

static void add_table(struct buffer *text, const struct compare_table *t)
{
	struct table_row row = {0};
	bool tsv = t->format == TABLE_TSV;
	if (tsv)
		table_add_names(&t->columns, text);
	else if (t->format == TABLE_JSON)
		buffer_add_char(text, '[');
	for (size_t i = 0; i < t->line_count; i++) {
		table_row_clear(&row);
		for (size_t c = 0; c < t->columns.count; c++) {
			add_cell(&row.text, t, &t->lines[i], (enum column_id)t->ids[c]);
			table_end_cell(&row);
		}
		if (t->format == TABLE_JSON && i > 0)
			buffer_add_string(text, ",\n ");
		if (tsv)
			table_add_tsv(&t->columns, &row, text);
		else
			table_add_object(&t->columns, &row, text);
		if (t->format == TABLE_JSONL)
			buffer_add_char(text, '\n');
		text->failed |= row.text.failed;
	}
	if (t->format == TABLE_JSON)
		buffer_add_string(text, "]\n");
	table_row_release(&row);
}

/* --- printing ----------------------------------------------------------------------------------------- */

enum attn_status compare_table_write(struct compare_table *t, const struct command *self,
				     struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	t->format = table_format_settle(t->format);
	TRY(t->top ? take_cells(t, err) : compare_table_heads(t, err));
	if (t->format == TABLE_TEXT)
		compare_table_text(&text, t);
	else
		add_table(&text, t);
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
