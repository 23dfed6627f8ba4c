#include "cmd/heads_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"
#include "cmd/head_figures.h"
#include "consumers/head_pattern.h"

enum {
	FIGURES_AFTER = 3, /* weight, even_entropy and even_distance stand elsewhere than the others */
};

/* One line, wherever it is printed. */
struct line {
	size_t batch, layer, head;
	struct head_statistics s;
	const struct head_pattern *pattern; /* NULL: no query has a weight */
};

struct printer {
	FILE *stream;
	const struct heads_table *view;
	struct buffer text;
	struct table_row cells;
	size_t printed;
	struct column columns[TABLE_COLUMNS]; /* of text */
	bool filled[TABLE_COLUMNS];           /* some head has something there */
};

enum attn_status heads_columns(struct table_columns *t, const struct rows_info *info, bool rule,
			       const char *list, struct attn_error *err)
{
	static const char *const pair[] = {"query", "query_token", "key", "key_token", "weight", "pattern"};
	size_t before = head_figure_count - FIGURES_AFTER;
	*t = (struct table_columns){0};
	table_add_column(t, "layer");
	table_add_column(t, "head");
	for (size_t i = 0; i < before; i++)
		table_add_column(t, head_figures[i].name);
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
		table_add_column(t, pair[i]);
	if (rule)
		table_add_column(t, "rule");
	else
		table_add_hidden(t, "rule");
	for (size_t i = before + 1; i < head_figure_count; i++)
		table_add_hidden(t, head_figures[i].name);
	if (info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

/* --- for programs -------------------------------------------------------------------------- */

static const char *nothing(const struct printer *p)
{
	return p->view->format == TABLE_TSV ? "" : "null";
}

static void add_figure(struct printer *p, const struct line *line, size_t figure)
{
	double value = head_figure_value(&head_figures[figure], &line->s);
	if (isnan(value))
		buffer_add_string(&p->cells.text, nothing(p));
	else
		buffer_add_float(&p->cells.text, (float)value);
	table_end_cell(&p->cells);
}

static void add_label(struct printer *p, const char *label)
{
	if (label)
		table_add_label(&p->cells.text, p->view->format, label);
	else
		buffer_add_string(&p->cells.text, nothing(p));
	table_end_cell(&p->cells);
}

static void add_index(struct printer *p, bool known, size_t index)
{
	if (known)
		buffer_printf(&p->cells.text, "%zu", index);
	else
		buffer_add_string(&p->cells.text, nothing(p));
	table_end_cell(&p->cells);
}

/* The cells of a line, in the order of heads_columns. */
static void add_cells(struct printer *p, const struct line *line)
{
	const struct rows_info *info = p->view->in->info;
	const struct head_statistics *s = &line->s;
	size_t before = head_figure_count - FIGURES_AFTER;
	table_row_clear(&p->cells);
	table_add_number_or_name(&p->cells.text, p->view->format, layer_number(info, line->layer),
				 info->joined_layers);
	table_end_cell(&p->cells);
	table_add_number_or_name(&p->cells.text, p->view->format, head_number(info, line->head),
				 info->joined_heads);
	table_end_cell(&p->cells);
	for (size_t i = 0; i < before; i++)
		add_figure(p, line, i);
	add_index(p, s->has_pair, query_number(info, s->query));
	add_label(p, s->has_pair ? info->query_labels.items[s->query] : NULL);
	add_index(p, s->has_pair, key_number(info, s->key));
	add_label(p, s->has_pair ? info->key_labels.items[s->key] : NULL);
	add_figure(p, line, before);
	add_label(p, line->pattern ? line->pattern->name : NULL);
	add_label(p, line->pattern ? line->pattern->rule : NULL);
	for (size_t i = before + 1; i < head_figure_count; i++)
		add_figure(p, line, i);
	add_index(p, true, line->batch);
}

static void print_cells(struct printer *p, const struct line *line)
{
	if (p->view->format == TABLE_JSON)
		buffer_add_string(&p->text, p->printed ? ",\n  " : "\n  ");
	add_cells(p, line);
	if (p->view->format == TABLE_TSV)
		table_add_tsv(p->view->columns, &p->cells, &p->text);
	else
		table_add_object(p->view->columns, &p->cells, &p->text);
	if (p->view->format == TABLE_JSONL)
		buffer_add_char(&p->text, '\n');
	p->printed++;
}

/* --- for people ---------------------------------------------------------------------------- */

enum {
	TEXT_BATCH,
	TEXT_LAYER,
	TEXT_HEAD,
	TEXT_FIGURES
};

/* The columns of figures, and those behind them. */
static const struct {
	const char *name, *heading;
	int digits; /* behind the point */
} text_figures[] = {
    {"entropy", "entropy", 2},   {"effective_keys", "keys", 1}, {"largest", "largest", 2},
    {"diagonal", "diagonal", 2}, {"previous", "previous", 2},   {"next", "next", 2},
    {"first", "first", 2},       {"separator", "separator", 2}, {"within5", "within 5", 2},
    {"distance", "distance", 1}, {"distance_spread", "+-", 1},  {"induction", "induction", 2},
    {"coverage", "coverage", 2},
};

enum {
	TEXT_PAIR = TEXT_FIGURES + sizeof text_figures / sizeof *text_figures,
	TEXT_PATTERN,
	TEXT_RULE,
	TEXT_COLUMNS
};

static const struct head_figure *figure_called(const char *name)
{
	const struct head_figure *figure = head_figures;
	while (strcmp(figure->name, name) != 0)
		figure++;
	return figure;
}

/* What stands in a column of a line (NULL: of the headings), in *cell, which is emptied before. */
static void text_cell(const struct printer *p, const struct line *line, int column, struct buffer *cell)
{
	static const char *const headings[] = {"batch", "layer", "head"};
	static const char *const last[] = {"strongest pair", "pattern", "rule"};
	const struct inputs *in = p->view->in;
	const struct rows_info *info = in->info;
	char name[200];
	buffer_clear(cell);
	buffer_add(cell, "", 0);
	if (column >= TEXT_FIGURES && column < TEXT_PAIR) {
		const char *figure = text_figures[column - TEXT_FIGURES].name;
		double value = line ? head_figure_value(figure_called(figure), &line->s) : NAN;
		if (!line)
			buffer_add_string(cell, text_figures[column - TEXT_FIGURES].heading);
		else if (!isnan(value))
			buffer_printf(cell, "%.*f", text_figures[column - TEXT_FIGURES].digits, value);
	} else if (!line) {
		buffer_add_string(cell, column < TEXT_FIGURES ? headings[column] : last[column - TEXT_PAIR]);
	} else if (column == TEXT_BATCH) {
		buffer_printf(cell, "%zu", line->batch);
	} else if (column == TEXT_LAYER && info->joined_layers) {
		buffer_add_string(cell, info->joined_layers);
	} else if (column == TEXT_LAYER) {
		buffer_printf(cell, "%zu", layer_number(info, line->layer));
	} else if (column == TEXT_HEAD) {
		buffer_add_clean(cell, head_text(info, line->head, name, sizeof name));
	} else if (column == TEXT_PAIR && line->s.has_pair) {
		buffer_add_clean(cell, in->shown_queries.items[line->s.query]);
		buffer_add_string(cell, " -> ");
		buffer_add_clean(cell, in->shown_keys.items[line->s.key]);
		buffer_printf(cell, " %.3f", (double)line->s.weight);
	} else if (column > TEXT_PAIR && line->pattern) {
		buffer_add_string(cell, column == TEXT_RULE ? line->pattern->rule : line->pattern->name);
	}
}

static bool is_shown(const struct printer *p, int column)
{
	const struct rows_info *info = p->view->in->info;
	if (column == TEXT_BATCH)
		return info->has_batch;
	if (column == TEXT_LAYER)
		return info->layer_known;
	return column == TEXT_HEAD || (column == TEXT_RULE ? p->view->rule : p->filled[column]);
}

static void measure_line(struct printer *p, const struct line *line)
{
	struct buffer cell = BUFFER_INIT;
	for (int column = 0; column < TEXT_COLUMNS; column++) {
		text_cell(p, line, column, &cell);
		if (cell.failed)
			continue;
		column_measure(&p->columns[column], cell.data);
		p->filled[column] |= line && cell.length > 0;
	}
	p->text.failed |= cell.failed;
	buffer_release(&cell);
}

static void print_line(struct printer *p, const struct line *line)
{
	struct buffer cell = BUFFER_INIT;
	size_t before = p->text.length;
	for (int column = 0; column < TEXT_COLUMNS; column++) {
		text_cell(p, line, column, &cell);
		if (is_shown(p, column) && !cell.failed)
			column_add(&p->columns[column], &p->text, cell.data);
	}
	p->text.failed |= cell.failed;
	buffer_release(&cell);
	if (p->text.length >= before + 2 && !p->text.failed) { /* no margin */
		memmove(p->text.data + before, p->text.data + before + 2, p->text.length - before - 2);
		p->text.length -= 2;
	}
	columns_end(&p->text);
}

/* ------------------------------------------------------------------------------------------- */

static void each_head(struct printer *p, void (*visit)(struct printer *, const struct line *))
{
	const struct rows_shape *shape = &p->view->in->info->shape;
	const struct selection *s = p->view->selection;
	struct line line;
	for (line.layer = 0; line.layer < shape->layers; line.layer++) {
		for (line.batch = 0; line.batch < shape->batch; line.batch++) {
			for (line.head = 0; line.head < shape->heads; line.head++) {
				if (!rows_chosen(s->layers, line.layer) ||
				    !rows_chosen(s->batch, line.batch) || !rows_chosen(s->heads, line.head))
					continue;
				line.s =
				    head_statistics_of(p->view->heads, line.batch, line.layer, line.head);
				line.pattern = head_pattern_of(&line.s);
				visit(p, &line);
			}
		}
	}
}

static enum attn_status print(FILE *stream, void *context, struct attn_error *err)
{
	struct printer *p = context;
	if (p->view->format == TABLE_TEXT) {
		measure_line(p, NULL);
		each_head(p, measure_line);
		print_line(p, NULL);
		each_head(p, print_line);
	} else {
		if (p->view->format == TABLE_TSV)
			table_add_names(p->view->columns, &p->text);
		if (p->view->format == TABLE_JSON)
			buffer_add_string(&p->text, "{\"version\": 1, \"heads\": [");
		each_head(p, print_cells);
		if (p->view->format == TABLE_JSON)
			buffer_add_string(&p->text, "\n]}\n");
	}
	if (p->text.failed)
		return attn_fail_memory(err);
	fwrite(p->text.data, 1, p->text.length, stream);
	return ATTN_OK;
}

enum attn_status heads_write(const struct heads_table *view, const struct command *self,
			     struct attn_error *err)
{
	struct printer p = {.view = view, .text = BUFFER_INIT};
	for (int column = TEXT_PAIR; column < TEXT_COLUMNS; column++)
		p.columns[column].left = true;
	enum attn_status status = write_file(self, "-", print, &p, err);
	table_row_release(&p.cells);
	buffer_release(&p.text);
	return status;
}
