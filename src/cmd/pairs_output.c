#include "cmd/pairs_output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"
#include "util/memory.h"

static const char *const pair_names[] = {"layer",  "head",      "query",      "query_token", "query_last",
					 "key",    "key_token", "key_last",   "weight",      "rank",
					 "margin", "other",     "other_token"};
static const char *const score_names[] = {"layer", "head",   "pairs",    "accuracy",
					  "rank",  "weight", "baseline", "offset"};

enum {
	COUNT_PAIR = sizeof pair_names / sizeof *pair_names,
	COUNT_SCORE = sizeof score_names / sizeof *score_names
};

enum attn_status pairs_columns(struct table_columns *t, const struct rows_info *info, bool relations,
			       bool score, const char *list, struct attn_error *err)
{
	*t = (struct table_columns){0};
	if (relations)
		table_add_column(t, "relation");
	for (size_t i = 0; i < (score ? COUNT_SCORE : COUNT_PAIR); i++)
		table_add_column(t, score ? score_names[i] : pair_names[i]);
	if (info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

/* A line: a head, and what it makes of a pair or of a group. */
struct line {
	struct pair_score score; /* with its head; of a pair only that */
	const struct pair_figures *figures;
	size_t pair;
};

struct printer {
	const struct pairs_table *view;
	struct line *lines; /* of one pair or group */
	size_t heads, printed;
	double baseline; /* of the group */
	long long offset;
	struct table_row cells;
	struct string_list text; /* the cells of all lines, for people */
	struct buffer out;
};

/* --- cells -------------------------------------------------------------------------------- */

static bool is_json(const struct printer *p)
{
	return p->view->format == TABLE_JSON || p->view->format == TABLE_JSONL;
}

static void add_text(struct printer *p, const char *text)
{
	if (is_json(p))
		buffer_add_json_string(&p->cells.text, text);
	else if (p->view->format == TABLE_TSV)
		buffer_add_tsv(&p->cells.text, text);
	else
		buffer_add_clean(&p->cells.text, text);
	table_end_cell(&p->cells);
}

static void add_name(struct printer *p, size_t number, const char *joined)
{
	if (joined) {
		add_text(p, joined);
		return;
	}
	buffer_printf(&p->cells.text, "%zu", number);
	table_end_cell(&p->cells);
}

static void add_figure(struct printer *p, double value, bool known)
{
	if (known && p->view->format == TABLE_TEXT)
		buffer_printf(&p->cells.text, "%.3f", value);
	else if (known)
		buffer_add_float(&p->cells.text, (float)value);
	else
		buffer_add_string(&p->cells.text, is_json(p) ? "null" : "");
	table_end_cell(&p->cells);
}

static void add_count(struct printer *p, size_t value, bool known)
{
	if (known)
		buffer_printf(&p->cells.text, "%zu", value);
	else
		buffer_add_string(&p->cells.text, is_json(p) ? "null" : "");
	table_end_cell(&p->cells);
}

static void add_span(struct printer *p, const struct span *span, bool key)
{
	const struct inputs *in = p->view->in;
	const struct rows_info *info = in->info;
	const struct string_list *raw = key ? &info->key_labels : &info->query_labels;
	const struct string_list *shown = key ? &in->shown_keys : &in->shown_queries;
	const struct string_list *list = p->view->format == TABLE_TEXT ? shown : raw;
	struct buffer text = BUFFER_INIT;
	size_t last = span->end - 1;
	add_count(p, key ? key_number(info, span->first) : query_number(info, span->first), true);
	for (size_t i = span->first; i < span->end; i++) {
		buffer_add_string(&text, i > span->first ? " " : "");
		buffer_add_string(&text, list->items[i]);
	}
	add_text(p, text.failed ? "" : text.data);
	p->cells.text.failed |= text.failed;
	buffer_release(&text);
	add_count(p, key ? key_number(info, last) : query_number(info, last), true);
}

static void add_pair(struct printer *p, const struct line *line)
{
	const struct pair *pair = &p->view->pairs->items[line->pair];
	const struct pair_figures *f = line->figures;
	const struct rows_info *info = p->view->in->info;
	bool other = f->other != SIZE_MAX;
	add_span(p, &pair->query, false);
	add_span(p, &pair->key, true);
	add_figure(p, (double)f->weight, true);
	add_count(p, f->rank, f->rank > 0);
	add_figure(p, (double)f->margin, f->rank > 0);
	add_count(p, other ? key_number(info, f->other) : 0, other);
	if (other)
		add_text(p, p->view->format == TABLE_TEXT ? p->view->in->shown_keys.items[f->other]
							  : info->key_labels.items[f->other]);
	else
		add_count(p, 0, false);
}

static void add_score(struct printer *p, const struct line *line)
{
	const struct pair_score *s = &line->score;
	add_count(p, s->count, true);
	add_figure(p, s->accuracy, true);
	add_figure(p, s->rank, s->rank > 0);
	add_figure(p, s->weight, true);
	add_figure(p, p->baseline, true);
	buffer_printf(&p->cells.text, "%lld", p->offset);
	table_end_cell(&p->cells);
}

/* --- lines --------------------------------------------------------------------------------- */

static bool keep_text(struct printer *p)
{
	const struct table_row *cells = &p->cells;
	bool ok = !cells->text.failed;
	for (size_t i = 0, start = 0; i < p->view->columns->count && ok; start = cells->ends[i++]) {
		char *cell = strndup(cells->text.data + start, cells->ends[i] - start);
		ok = cell && string_list_add(&p->text, cell);
		free(cell);
	}
	return ok;
}

static void print_line(struct printer *p, const struct line *line)
{
	const struct rows_info *info = p->view->in->info;
	const struct table_columns *columns = p->view->columns;
	const struct string_list *relations = &p->view->pairs->relations;
	size_t group = p->view->score ? line->score.group : p->view->pairs->items[line->pair].group;
	table_row_clear(&p->cells);
	if (relations->count > 0)
		add_text(p, relations->items[group]);
	add_name(p, layer_number(info, line->score.layer), info->joined_layers);
	add_name(p, head_number(info, line->score.head), info->joined_heads);
	if (p->view->score)
		add_score(p, line);
	else
		add_pair(p, line);
	if (info->has_batch)
		add_count(p, line->score.batch, true);
	if (p->view->format == TABLE_TEXT) {
		p->out.failed |= !keep_text(p);
	} else if (p->view->format == TABLE_TSV) {
		table_add_tsv(columns, &p->cells, &p->out);
	} else {
		if (p->view->format == TABLE_JSON)
			buffer_add_string(&p->out, p->printed ? ",\n  " : "\n  ");
		table_add_object(columns, &p->cells, &p->out);
		if (p->view->format == TABLE_JSONL)
			buffer_add_char(&p->out, '\n');
	}
	p->printed++;
}

static int compare_numbers(double a, double b)
{
	return a > b ? -1 : a < b;
}

/* Best first: by accuracy, then weight; pairs have no accuracy.  Equal ones by layer and head. */
static int compare_lines(const void *a, const void *b)
{
	const struct line *p = a, *q = b;
	int by = compare_numbers(p->score.accuracy, q->score.accuracy);
	if (by == 0)
		by = compare_numbers(p->score.weight, q->score.weight);
	if (by == 0)
		by = compare_numbers((double)q->score.layer, (double)p->score.layer);
	if (by == 0)
		by = compare_numbers((double)q->score.batch, (double)p->score.batch);
	return by ? by : compare_numbers((double)q->score.head, (double)p->score.head);
}

/* The heads of a pair or group, best first. */
static void print_heads(struct printer *p, size_t number)
{
	const struct rows_shape *shape = &p->view->in->info->shape;
	const struct selection *s = p->view->selection;
	size_t count = 0;
	for (size_t l = 0; l < shape->layers; l++) {
		for (size_t b = 0; b < shape->batch; b++) {
			for (size_t h = 0; h < shape->heads; h++) {
				if (!rows_chosen(s->layers, l) || !rows_chosen(s->batch, b) ||
				    !rows_chosen(s->heads, h))
					continue;
				struct line *line = &p->lines[count++];
				*line = (struct line){.score = {.layer = l, .batch = b, .head = h},
						      .pair = number};
				if (p->view->score) {
					line->score = pair_score_of(p->view->found, l, b, h, number);
					continue;
				}
				line->figures = pair_figures_of(p->view->found, l, b, h, number);
				line->score.weight = (double)line->figures->weight;
			}
		}
	}
	qsort(p->lines, count, sizeof *p->lines, compare_lines);
	for (size_t i = 0; i < count && i < p->view->top; i++)
		print_line(p, &p->lines[i]);
}

static enum attn_status print_all(struct printer *p, struct attn_error *err)
{
	const struct pairs_list *list = p->view->pairs;
	const struct rows_info *info = p->view->in->info;
	size_t groups = list->relations.count ? list->relations.count : 1;
	if (!p->view->score)
		for (size_t i = 0; i < list->count; i++)
			print_heads(p, i);
	for (size_t group = 0; group < groups && p->view->score; group++) {
		if (!pairs_baseline(list->items, list->count, group, info->query_numbers, info->key_numbers,
				    &p->baseline, &p->offset))
			return attn_fail_memory(err);
		print_heads(p, group);
	}
	return ATTN_OK;
}

static bool is_word(const char *name)
{
	return strstr(name, "token") || strcmp(name, "relation") == 0;
}

static void add_pretty(struct printer *p)
{
	const struct table_columns *names = p->view->columns;
	size_t count = names->count;
	struct column columns[TABLE_COLUMNS] = {0};
	for (size_t i = 0; i < count; i++) {
		columns[i].left = is_word(names->names[i]);
		column_measure(&columns[i], names->names[i]);
	}
	for (size_t i = 0; i < p->text.count; i++)
		column_measure(&columns[i % count], p->text.items[i]);
	for (size_t i = 0; i < count; i++)
		column_add(&columns[i], &p->out, names->names[i]);
	columns_end(&p->out);
	for (size_t i = 0; i < p->text.count; i++) {
		column_add(&columns[i % count], &p->out, p->text.items[i]);
		if (i % count == count - 1)
			columns_end(&p->out);
	}
}

enum attn_status pairs_write(const struct command *self, const struct pairs_table *view,
			     struct attn_error *err)
{
	const struct rows_shape *shape = &view->in->info->shape;
	struct printer p = {.view = view, .heads = shape->layers * shape->batch * shape->heads};
	p.lines = array_alloc(p.heads, sizeof *p.lines);
	if (!p.lines)
		return attn_fail_memory(err);
	if (view->format == TABLE_TSV)
		table_add_names(view->columns, &p.out);
	else if (view->format == TABLE_JSON)
		buffer_printf(&p.out, "{\"version\": 1, \"%s\": [", view->score ? "scores" : "pairs");
	enum attn_status status = print_all(&p, err);
	if (view->format == TABLE_TEXT)
		add_pretty(&p);
	else if (view->format == TABLE_JSON)
		buffer_add_string(&p.out, p.printed ? "\n]}\n" : "]}\n");
	if (status == ATTN_OK)
		status = write_text(self, "-", &p.out, err);
	free(p.lines);
	string_list_release(&p.text);
	table_row_release(&p.cells);
	buffer_release(&p.out);
	return status;
}
