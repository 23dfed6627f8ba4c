#include "cmd/ranking_output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/buffer.h"
#include "util/memory.h"
#include "util/width.h"

enum table_format table_format_of(int option)
{
	switch (option) {
	case OPTION_TSV:
		return TABLE_TSV;
	case OPTION_JSON:
		return TABLE_JSON;
	case OPTION_JSONL:
		return TABLE_JSONL;
	default:
		return TABLE_TEXT;
	}
}

enum attn_status table_format_columns(enum table_format *format, const char *columns, struct attn_error *err)
{
	if (columns && *format == TABLE_TEXT)
		return attn_fail(err, ATTN_USAGE,
				 "'--columns' is for tables, and '--text' is none: give --tsv, --json or "
				 "--jsonl");
	if (columns && *format == TABLE_DEFAULT)
		*format = TABLE_TSV;
	return ATTN_OK;
}

enum attn_status ranking_columns(struct table_columns *t, const struct rows_info *info, const char *list,
				 struct attn_error *err)
{
	static const char *const names[] = {"layer", "head", "query",     "query_token",
					    "rank",  "key",  "key_token", "weight"};
	*t = (struct table_columns){0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(t, names[i]);
	if (info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

enum table_format table_format_settle(enum table_format format)
{
	if (format != TABLE_DEFAULT)
		return format;
	return isatty(STDOUT_FILENO) ? TABLE_TEXT : TABLE_TSV;
}

/* One row of a ranking, wherever it is printed. */
struct row {
	size_t batch, layer, head, query, rank, key;
	float weight;
};

struct printer {
	FILE *stream;
	const struct ranking_table *view;
	struct buffer text;     /* the row in the making */
	struct table_row cells; /* and its cells */
	size_t rows;
	size_t pair_width; /* columns of the widest "query -> key", for bars */
	float highest;     /* the weight whose bar is full */
	bool bars;
	bool gap;                               /* an empty line comes before the next row */
	bool *repeated_queries, *repeated_keys; /* another has the same text */
};

void table_add_number_or_name(struct buffer *text, enum table_format format, size_t number, const char *name)
{
	const char *quote = format == TABLE_TSV ? "" : "\"";
	if (name)
		buffer_printf(text, "%s%s%s", quote, name, quote);
	else
		buffer_printf(text, "%zu", number);
}

void table_add_label(struct buffer *text, enum table_format format, const char *label)
{
	if (format == TABLE_TSV)
		buffer_add_tsv(text, label);
	else
		buffer_add_json_string(text, label);
}

/* The cells of a row, in the order of ranking_columns. */
static void add_cells(struct printer *p, const struct row *row)
{
	const struct rows_info *info = p->view->in->info;
	struct table_row *cells = &p->cells;
	struct buffer *text = &cells->text;
	enum table_format format = p->view->format;
	bool mean = row->head == ranking_mean(p->view->ranking);
	table_row_clear(cells);
	table_add_number_or_name(text, format, layer_number(info, row->layer), info->joined_layers);
	table_end_cell(cells);
	table_add_number_or_name(text, format, mean ? 0 : head_number(info, row->head),
				 mean ? "mean" : info->joined_heads);
	table_end_cell(cells);
	buffer_printf(text, "%zu", query_number(info, row->query));
	table_end_cell(cells);
	table_add_label(text, format, info->query_labels.items[row->query]);
	table_end_cell(cells);
	buffer_printf(text, "%zu", row->rank);
	table_end_cell(cells);
	buffer_printf(text, "%zu", key_number(info, row->key));
	table_end_cell(cells);
	table_add_label(text, format, info->key_labels.items[row->key]);
	table_end_cell(cells);
	buffer_add_float(text, row->weight);
	table_end_cell(cells);
	buffer_printf(text, "%zu", row->batch);
	table_end_cell(cells);
}

static void print_tsv(struct printer *p, const struct row *row)
{
	add_cells(p, row);
	table_add_tsv(p->view->columns, &p->cells, &p->text);
}

static void print_json(struct printer *p, const struct row *row)
{
	bool lines = p->view->format == TABLE_JSONL;
	if (!lines)
		buffer_add_string(&p->text, p->rows ? ",\n  " : "\n  ");
	add_cells(p, row);
	table_add_object(p->view->columns, &p->cells, &p->text);
	if (lines)
		buffer_add_char(&p->text, '\n');
}

/* A bar of at most 20 columns in eighths. */
static void add_bar(struct buffer *text, float share)
{
	enum {
		COLUMNS = 20
	};
	size_t eighths = (size_t)(share * COLUMNS * 8 + 0.5f);
	for (; eighths >= 8; eighths -= 8)
		buffer_add_string(text, "\xe2\x96\x88"); /* U+2588, a full block */
	if (eighths > 0) {
		const char part[4] = {'\xe2', '\x96', (char)(0x90 - eighths),
				      '\0'}; /* U+2588 + 8 - eighths */
		buffer_add_string(text, part);
	}
}

static void add_token(struct buffer *text, const struct string_list *shown, size_t index, bool numbered,
		      size_t number)
{
	buffer_add_clean(text, shown->items[index]);
	if (numbered)
		buffer_printf(text, " #%zu", number);
}

/* "it -> animal"; a token with its index where another has the same text. */
static void add_pair(struct buffer *text, const struct printer *p, const struct row *row)
{
	const struct inputs *in = p->view->in;
	add_token(text, &in->shown_queries, row->query, p->repeated_queries[row->query],
		  query_number(in->info, row->query));
	buffer_add_string(text, " -> ");
	add_token(text, &in->shown_keys, row->key, p->repeated_keys[row->key],
		  key_number(in->info, row->key));
}

static void print_text(struct printer *p, const struct row *row)
{
	struct buffer *text = &p->text;
	if (p->gap)
		buffer_add_char(text, '\n');
	p->gap = false;
	size_t before = text->length;
	add_pair(text, p, row);
	if (p->bars && !text->failed) {
		size_t width = text_width(text->data + before);
		for (; width < p->pair_width; width++)
			buffer_add_char(text, ' ');
	}
	buffer_printf(text, " %.3f", (double)row->weight);
	if (p->bars && row->weight > 0) {
		buffer_add_string(text, "  ");
		add_bar(text, row->weight / p->highest);
	}
	buffer_add_char(text, '\n');
}

static void flush_text(struct printer *p)
{
	fwrite(p->text.data, 1, p->text.length, p->stream);
	buffer_clear(&p->text);
}

static void print_row(struct printer *p, const struct row *row)
{
	if (p->view->format == TABLE_TEXT)
		print_text(p, row);
	else if (p->view->format == TABLE_TSV)
		print_tsv(p, row);
	else
		print_json(p, row);
	flush_text(p);
	p->rows++;
}

/* Before printing with bars: how wide and how heavy the rows are. */
static void measure_row(struct printer *p, const struct row *row)
{
	buffer_clear(&p->text);
	add_pair(&p->text, p, row);
	size_t width = p->text.failed ? 0 : text_width(p->text.data);
	if (width > p->pair_width)
		p->pair_width = width;
	if (row->weight > p->highest)
		p->highest = row->weight;
	buffer_clear(&p->text);
}

static void each_in_list(struct printer *p, struct row *row, size_t subject,
			 void (*visit)(struct printer *, const struct row *))
{
	struct ranking *ranking = p->view->ranking;
	bool to = ranking->options.to;
	size_t count;
	const struct ranked *list = ranking_list(ranking, row->batch, row->layer, row->head, subject, &count);
	for (size_t i = 0; i < count && i < p->view->top; i++) {
		row->query = to ? list[i].index : subject;
		row->key = to ? subject : list[i].index;
		row->rank = i + 1;
		row->weight = list[i].weight;
		visit(p, row);
	}
}

/* "layer 1, head 3" over the lists of a head. */
static void print_heading(struct printer *p, const struct row *row)
{
	const struct rows_info *info = p->view->in->info;
	struct buffer *text = &p->text;
	char name[200];
	if (p->rows > 0)
		buffer_add_char(text, '\n');
	if (info->has_batch)
		buffer_printf(text, "batch %zu ", row->batch);
	if (info->layer_known)
		buffer_printf(text, "%s%s", layer_title(info, row->layer, name, sizeof name),
			      info->joined_layers ? ", " : " ");
	if (row->head == ranking_mean(p->view->ranking))
		buffer_add_string(text, "mean over heads");
	else
		buffer_add_clean(text, head_title(info, row->head, name, sizeof name));
	buffer_add_char(text, '\n');
	flush_text(p);
}

static void each_row(struct printer *p, void (*visit)(struct printer *, const struct row *))
{
	const struct rows_info *info = p->view->in->info;
	const struct selection *s = p->view->selection;
	bool headings = p->view->format == TABLE_TEXT && visit == print_row;
	size_t subjects = p->view->ranking->subject_count, heads = info->shape.heads + p->view->mean;
	struct row row = {0};
	for (row.layer = 0; row.layer < info->shape.layers; row.layer++) {
		for (row.batch = 0; row.batch < info->shape.batch; row.batch++) {
			for (row.head = 0; row.head < heads; row.head++) {
				if (!rows_chosen(s->layers, row.layer) || !rows_chosen(s->batch, row.batch) ||
				    (row.head < info->shape.heads && !rows_chosen(s->heads, row.head)))
					continue;
				if (headings)
					print_heading(p, &row);
				size_t before = p->rows;
				for (size_t subject = 0; subject < subjects; subject++) {
					if (headings && p->view->apart && p->rows > before)
						p->gap = true;
					each_in_list(p, &row, subject, visit);
				}
				p->gap = false;
			}
		}
	}
}

static void print_frame(struct printer *p, bool opening)
{
	if (p->view->format == TABLE_TSV && opening) {
		table_add_names(p->view->columns, &p->text);
		flush_text(p);
	}
	if (p->view->format == TABLE_JSON)
		fputs(opening ? "{\"version\": 1, \"rankings\": [" : p->rows ? "\n]}\n" : "]}\n", p->stream);
}

struct token {
	const char *text;
	size_t index;
};

static int compare_tokens(const void *a, const void *b)
{
	return strcmp(((const struct token *)a)->text, ((const struct token *)b)->text);
}

/* Mark tokens whose text is that of another; the caller frees the array. */
static bool *find_repeated(const struct string_list *shown)
{
	struct token *tokens = array_alloc(shown->count, sizeof *tokens);
	bool *repeated = array_alloc(shown->count, sizeof *repeated);
	if (!tokens || !repeated) {
		free(tokens);
		free(repeated);
		return NULL;
	}
	for (size_t i = 0; i < shown->count; i++)
		tokens[i] = (struct token){shown->items[i], i};
	qsort(tokens, shown->count, sizeof *tokens, compare_tokens);
	for (size_t i = 1; i < shown->count; i++)
		if (strcmp(tokens[i - 1].text, tokens[i].text) == 0)
			repeated[tokens[i - 1].index] = repeated[tokens[i].index] = true;
	free(tokens);
	return repeated;
}

static enum attn_status print_ranking(FILE *stream, void *context, struct attn_error *err)
{
	struct printer *p = context;
	p->stream = stream;
	if (p->bars)
		each_row(p, measure_row);
	print_frame(p, true);
	each_row(p, print_row);
	print_frame(p, false);
	return p->text.failed ? attn_fail_memory(err) : ATTN_OK;
}

enum attn_status min_distance_check(size_t distance, const struct rows_info *info, struct attn_error *err)
{
	if (distance == 0 || !info->shape.cross)
		return ATTN_OK;
	return attn_fail(
	    err, ATTN_USAGE,
	    "'--min-distance' is for self-attention, found cross-attention, whose queries have no "
	    "place among its keys");
}

enum attn_status ranking_write(const struct command *self, const char *path, const struct ranking_table *view,
			       struct attn_error *err)
{
	struct printer p = {.view = view, .text = BUFFER_INIT, .highest = 1e-30f};
	p.bars = view->format == TABLE_TEXT && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
	p.repeated_queries = find_repeated(&view->in->shown_queries);
	p.repeated_keys = find_repeated(&view->in->shown_keys);
	enum attn_status status = p.repeated_queries && p.repeated_keys
				      ? write_file(self, path, print_ranking, &p, err)
				      : attn_fail_memory(err);
	free(p.repeated_queries);
	free(p.repeated_keys);
	table_row_release(&p.cells);
	buffer_release(&p.text);
	return status;
}
