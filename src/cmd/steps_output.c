#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "cmd/steps.h"
#include "util/memory.h"

struct printer {
	const struct steps *s;
	enum table_format format;
	FILE *stream;
	struct step_table table;
	struct buffer text;
	const struct table_columns *columns;
	struct table_row cells;
	size_t printed; /* rows of tables, or tables in text, or heads in a summary */
};

/* --steps=full: the vectors of a line. */
static const char *const vector_names[] = {"x", "q", "k"};

enum {
	VECTORS = sizeof vector_names / sizeof *vector_names
};

enum attn_status steps_columns(struct table_columns *t, const struct rows_info *info, bool full,
			       const char *list, struct attn_error *err)
{
	static const char *const names[] = {"layer", "head", "query", "query_token", "key", "key_token"};
	*t = (struct table_columns){0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(t, names[i]);
	for (size_t step = 0; step < STEP_COUNT; step++)
		table_add_column(t, step_names[step]);
	for (size_t i = 0; i < VECTORS && full; i++)
		table_add_column(t, vector_names[i]);
	if (info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

/* The cells of a line's vectors: numbers with blanks between, or arrays. */
static void add_vectors(struct printer *p, const struct step_line *line)
{
	const struct step_vector vectors[] = {steps_x(p->s, &p->table), steps_q(p->s, &p->table),
					      steps_k(p->s, &p->table, line->key)};
	struct buffer *text = &p->cells.text;
	bool tsv = p->format == TABLE_TSV;
	for (size_t i = 0; i < VECTORS; i++) {
		const struct step_vector *v = &vectors[i];
		if (!tsv)
			buffer_add_string(text, v->data ? "[" : "null");
		for (size_t c = 0; c < v->size; c++) {
			buffer_add_string(text, c == 0 ? "" : tsv ? " " : ", ");
			buffer_add_float(text, v->data[c]);
		}
		if (!tsv && v->data)
			buffer_add_char(text, ']');
		table_end_cell(&p->cells);
	}
}

/* The cells of a line, in the order of steps_columns. */
static void add_cells(struct printer *p, const struct step_line *line)
{
	const struct rows_info *info = p->s->in->info;
	struct table_row *cells = &p->cells;
	struct buffer *text = &cells->text;
	const char *none = p->format == TABLE_TSV ? "" : "null";
	table_row_clear(cells);
	const size_t numbers[] = {info->first_layer, p->table.head, p->table.query};
	for (size_t i = 0; i < 3; i++) {
		buffer_printf(text, "%zu", numbers[i]);
		table_end_cell(cells);
	}
	table_add_label(text, p->format, info->query_labels.items[p->table.query]);
	table_end_cell(cells);
	if (line->key == SIZE_MAX)
		buffer_add_string(text, none);
	else
		buffer_printf(text, "%zu", line->key);
	table_end_cell(cells);
	table_add_label(text, p->format,
			line->key == SIZE_MAX ? STEP_SINK : info->key_labels.items[line->key]);
	table_end_cell(cells);
	for (size_t step = 0; step < STEP_COUNT; step++) {
		if (isfinite(line->values[step]))
			buffer_add_float(text, (float)line->values[step]);
		else
			buffer_add_string(text, none);
		table_end_cell(cells);
	}
	if (p->s->full)
		add_vectors(p, line);
	buffer_printf(text, "%zu", p->table.batch);
	table_end_cell(cells);
}

static void flush_text(struct printer *p)
{
	fwrite(p->text.data, 1, p->text.length, p->stream);
	buffer_clear(&p->text);
}

static void print_line(struct printer *p, const struct step_line *line)
{
	if (p->format == TABLE_JSON)
		buffer_add_string(&p->text, p->printed ? ",\n  " : "\n  ");
	add_cells(p, line);
	if (p->format == TABLE_TSV)
		table_add_tsv(p->columns, &p->cells, &p->text);
	else
		table_add_object(p->columns, &p->cells, &p->text);
	if (p->format == TABLE_JSONL)
		buffer_add_char(&p->text, '\n');
	p->printed++;
	flush_text(p);
}

static void print_table(struct printer *p)
{
	if (p->format == TABLE_TEXT) {
		if (p->printed++)
			buffer_add_char(&p->text, '\n');
		steps_text_table(p->s, &p->table, &p->text);
		flush_text(p);
		return;
	}
	for (size_t i = 0; i < p->table.count; i++)
		print_line(p, &p->table.lines[i]);
	if (p->table.has_sink)
		print_line(p, &p->table.sink);
}

static void print_head_tables(struct printer *p, size_t batch, size_t head)
{
	const bool *places = p->s->places;
	for (size_t query = 0, slot = 0; query < p->s->in->info->shape.queries; query++) {
		if (!places[query])
			continue;
		steps_table(p->s, batch, head, slot++, query, &p->table);
		print_table(p);
	}
	if (p->format == TABLE_TEXT) {
		buffer_add_char(&p->text, '\n');
		steps_text_summary(p->s, batch, head, &p->text);
		flush_text(p);
	}
}

static void add_spread(const struct printer *p, struct buffer *text, struct spread spread)
{
	buffer_add_string(text, "{\"variance\": ");
	buffer_add_float(text, (float)spread.variance);
	buffer_add_string(text, ", \"entropy\": ");
	buffer_add_float(text, (float)spread.entropy);
	buffer_add_string(text, ", \"effective_keys\": ");
	buffer_add_float(text, (float)exp(spread.entropy));
	buffer_add_string(text, ", \"largest_weight\": ");
	buffer_add_float(text, (float)spread.largest);
	buffer_add_string(text, ", \"gradient\": ");
	if (step_terms_of(p->s->in->subject.attention, 0).normalizer)
		buffer_add_string(text, "null");
	else
		buffer_add_float(text, (float)spread.gradient);
	buffer_add_char(text, '}');
}

static void print_summary(struct printer *p, size_t batch, size_t head)
{
	const struct rows_info *info = p->s->in->info;
	struct buffer *text = &p->text;
	struct spread scaled = spread_of(&p->s->scaled, batch, 0, head);
	buffer_printf(text,
		      "%s\n  {\"layer\": %zu, \"head\": %zu, \"queries\": %zu, \"pairs\": %zu, \"scaled\": ",
		      p->printed++ ? "," : "", info->first_layer, head, scaled.queries, scaled.pairs);
	add_spread(p, text, scaled);
	buffer_add_string(text, ", \"unscaled\": ");
	add_spread(p, text, p->s->unscaled ? spread_of(&p->s->product, batch, 0, head) : scaled);
	if (info->has_batch)
		buffer_printf(text, ", \"batch\": %zu", batch);
	buffer_add_char(text, '}');
	flush_text(p);
}

static void each_head(struct printer *p, void (*visit)(struct printer *, size_t batch, size_t head))
{
	const struct rows_info *info = p->s->in->info;
	p->printed = 0;
	for (size_t batch = 0; batch < info->shape.batch; batch++)
		for (size_t head = 0; head < info->shape.heads; head++)
			if (rows_chosen(p->s->selection->batch, batch) &&
			    rows_chosen(p->s->selection->heads, head))
				visit(p, batch, head);
}

static enum attn_status print(FILE *stream, void *context, struct attn_error *err)
{
	struct printer *p = context;
	p->stream = stream;
	if (p->format == TABLE_TSV) {
		table_add_names(p->columns, &p->text);
		flush_text(p);
	}
	if (p->format == TABLE_JSON)
		fputs("{\"version\": 1, \"steps\": [", stream);
	each_head(p, print_head_tables);
	if (p->format == TABLE_JSON) {
		fputs("\n], \"summary\": [", stream);
		each_head(p, print_summary);
		fputs("\n]}\n", stream);
	}
	return p->text.failed ? attn_fail_memory(err) : ATTN_OK;
}

enum attn_status steps_write(const struct steps *s, const struct command *self, enum table_format format,
			     const struct table_columns *columns, struct attn_error *err)
{
	struct printer p = {.s = s, .format = format, .columns = columns, .text = BUFFER_INIT};
	p.table.lines = array_alloc(s->rows.keys, sizeof *p.table.lines);
	enum attn_status status =
	    p.table.lines ? write_file(self, "-", print, &p, err) : attn_fail_memory(err);
	free(p.table.lines);
	table_row_release(&p.cells);
	buffer_release(&p.text);
	return status;
}
