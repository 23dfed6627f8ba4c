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
	size_t printed; /* rows of tables, or tables in text, or heads in a summary */
};

/* The numbers of a vector with something between them. */
static void add_vector(struct buffer *text, struct step_vector v, const char *between)
{
	for (size_t i = 0; i < v.size; i++) {
		buffer_add_string(text, i ? between : "");
		buffer_add_float(text, v.data[i]);
	}
}

/* --steps=full: the vectors of a line, in the order of vector_names. */
static const char *const vector_names[] = {"x", "q", "k"};

static void add_vectors(struct printer *p, const struct step_line *line)
{
	const struct step_vector vectors[] = {steps_x(p->s, &p->table), steps_q(p->s, &p->table),
					      steps_k(p->s, &p->table, line->key)};
	for (size_t i = 0; i < 3; i++) {
		if (p->format == TABLE_TSV) {
			buffer_add_char(&p->text, '\t');
			add_vector(&p->text, vectors[i], " ");
			continue;
		}
		buffer_printf(&p->text, ", \"%s\": %s", vector_names[i], vectors[i].data ? "[" : "null");
		add_vector(&p->text, vectors[i], ", ");
		buffer_add_string(&p->text, vectors[i].data ? "]" : "");
	}
}

static void print_tsv(struct printer *p, const struct step_line *line)
{
	const struct rows_info *info = p->s->in->info;
	struct buffer *text = &p->text;
	buffer_printf(text, "%zu\t%zu\t%zu\t", info->first_layer, p->table.head, p->table.query);
	buffer_add_tsv(text, info->query_labels.items[p->table.query]);
	if (line->key == SIZE_MAX)
		buffer_add_string(text, "\t\t" STEP_SINK);
	else
		buffer_printf(text, "\t%zu\t", line->key);
	if (line->key != SIZE_MAX)
		buffer_add_tsv(text, info->key_labels.items[line->key]);
	for (size_t step = 0; step < STEP_COUNT; step++) {
		buffer_add_char(text, '\t');
		if (isfinite(line->values[step]))
			buffer_add_float(text, (float)line->values[step]);
	}
	if (p->s->full)
		add_vectors(p, line);
	if (info->has_batch)
		buffer_printf(text, "\t%zu", p->table.batch);
	buffer_add_char(text, '\n');
}

static void print_json(struct printer *p, const struct step_line *line)
{
	const struct rows_info *info = p->s->in->info;
	struct buffer *text = &p->text;
	if (p->format == TABLE_JSON)
		buffer_add_string(text, p->printed ? ",\n  " : "\n  ");
	buffer_printf(text,
		      "{\"layer\": %zu, \"head\": %zu, \"query\": %zu, \"query_token\": ", info->first_layer,
		      p->table.head, p->table.query);
	buffer_add_json_string(text, info->query_labels.items[p->table.query]);
	if (line->key == SIZE_MAX)
		buffer_add_string(text, ", \"key\": null, \"key_token\": \"" STEP_SINK "\"");
	else
		buffer_printf(text, ", \"key\": %zu, \"key_token\": ", line->key);
	if (line->key != SIZE_MAX)
		buffer_add_json_string(text, info->key_labels.items[line->key]);
	for (size_t step = 0; step < STEP_COUNT; step++) {
		buffer_printf(text, ", \"%s\": ", step_names[step]);
		if (isfinite(line->values[step]))
			buffer_add_float(text, (float)line->values[step]);
		else
			buffer_add_string(text, "null");
	}
	if (p->s->full)
		add_vectors(p, line);
	if (info->has_batch)
		buffer_printf(text, ", \"batch\": %zu", p->table.batch);
	buffer_add_string(text, p->format == TABLE_JSON ? "}" : "}\n");
}

static void flush_text(struct printer *p)
{
	fwrite(p->text.data, 1, p->text.length, p->stream);
	buffer_clear(&p->text);
}

static void print_line(struct printer *p, const struct step_line *line)
{
	if (p->format == TABLE_TSV)
		print_tsv(p, line);
	else
		print_json(p, line);
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
	struct spread scaled = spread_of(&p->s->scaled, batch, head);
	buffer_printf(text,
		      "%s\n  {\"layer\": %zu, \"head\": %zu, \"queries\": %zu, \"pairs\": %zu, \"scaled\": ",
		      p->printed++ ? "," : "", info->first_layer, head, scaled.queries, scaled.pairs);
	add_spread(p, text, scaled);
	buffer_add_string(text, ", \"unscaled\": ");
	add_spread(p, text, p->s->unscaled ? spread_of(&p->s->product, batch, head) : scaled);
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
		fputs("layer\thead\tquery\tquery_token\tkey\tkey_token", stream);
		for (size_t step = 0; step < STEP_COUNT; step++)
			fprintf(stream, "\t%s", step_names[step]);
		for (size_t i = 0; i < 3 && p->s->full; i++)
			fprintf(stream, "\t%s", vector_names[i]);
		fputs(p->s->in->info->has_batch ? "\tbatch\n" : "\n", stream);
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
			     struct attn_error *err)
{
	struct printer p = {.s = s, .format = format, .text = BUFFER_INIT};
	p.table.lines = array_alloc(s->rows.keys, sizeof *p.table.lines);
	enum attn_status status =
	    p.table.lines ? write_file(self, "-", print, &p, err) : attn_fail_memory(err);
	free(p.table.lines);
	buffer_release(&p.text);
	return status;
}
