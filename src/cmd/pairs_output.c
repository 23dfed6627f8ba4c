#include "cmd/pairs_output.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/table_writer.h"
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
	size_t heads;
	double baseline; /* of the group */
	long long offset;
	struct table_writer table;
};

/* --- cells -------------------------------------------------------------------------------- */

static void add_span(struct printer *p, const struct span *span, bool key)
{
	const struct inputs *in = p->view->in;
	const struct rows_info *info = in->info;
	const struct string_list *raw = key ? &info->key_labels : &info->query_labels;
	const struct string_list *shown = key ? &in->shown_keys : &in->shown_queries;
	const struct string_list *list = p->view->format == TABLE_TEXT ? shown : raw;
	struct buffer text = BUFFER_INIT;
	size_t last = span->end - 1;
	table_writer_count(&p->table, key ? key_number(info, span->first) : query_number(info, span->first));
	for (size_t i = span->first; i < span->end; i++) {
		buffer_add_string(&text, i > span->first ? " " : "");
		buffer_add_string(&text, list->items[i]);
	}
	table_writer_text(&p->table, text.failed ? "" : text.data);
	p->table.out.failed |= text.failed;
	buffer_release(&text);
	table_writer_count(&p->table, key ? key_number(info, last) : query_number(info, last));
}

static void add_rank(struct printer *p, size_t rank, bool known)
{
	if (known)
		table_writer_count(&p->table, rank);
	else
		table_writer_none(&p->table);
}

static void add_pair(struct printer *p, const struct line *line)
{
	const struct pair *pair = &p->view->pairs->items[line->pair];
	const struct pair_figures *f = line->figures;
	const struct rows_info *info = p->view->in->info;
	bool other = f->other != SIZE_MAX;
	add_span(p, &pair->query, false);
	add_span(p, &pair->key, true);
	table_writer_figure(&p->table, (double)f->weight);
	add_rank(p, f->rank, f->rank > 0);
	table_writer_figure(&p->table, f->rank > 0 ? (double)f->margin : NAN);
	add_rank(p, other ? key_number(info, f->other) : 0, other);
	if (other)
		table_writer_text(&p->table, p->view->format == TABLE_TEXT
						 ? p->view->in->shown_keys.items[f->other]
						 : info->key_labels.items[f->other]);
	else
		table_writer_none(&p->table);
}

static void add_score(struct printer *p, const struct line *line)
{
	const struct pair_score *s = &line->score;
	table_writer_count(&p->table, s->count);
	table_writer_figure(&p->table, s->accuracy);
	table_writer_figure(&p->table, s->rank > 0 ? s->rank : NAN);
	table_writer_figure(&p->table, s->weight);
	table_writer_figure(&p->table, p->baseline);
	table_writer_offset(&p->table, p->offset);
}

/* --- lines --------------------------------------------------------------------------------- */

static void print_line(struct printer *p, const struct line *line)
{
	const struct rows_info *info = p->view->in->info;
	const struct string_list *relations = &p->view->pairs->relations;
	size_t group = p->view->score ? line->score.group : p->view->pairs->items[line->pair].group;
	if (relations->count > 0)
		table_writer_text(&p->table, relations->items[group]);
	table_writer_name(&p->table, layer_number(info, line->score.layer), info->joined_layers);
	table_writer_name(&p->table, head_number(info, line->score.head), info->joined_heads);
	if (p->view->score)
		add_score(p, line);
	else
		add_pair(p, line);
	if (info->has_batch)
		table_writer_count(&p->table, line->score.batch);
	table_writer_end_row(&p->table);
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

enum attn_status pairs_write(const struct command *self, const struct pairs_table *view,
			     struct attn_error *err)
{
	const struct rows_shape *shape = &view->in->info->shape;
	struct printer p = {.view = view,
			    .heads = shape->layers * shape->batch * shape->heads,
			    .table = {.columns = *view->columns, .format = view->format}};
	p.lines = array_alloc(p.heads, sizeof *p.lines);
	if (!p.lines)
		return attn_fail_memory(err);
	table_writer_begin(&p.table, view->score ? "scores" : "pairs");
	enum attn_status status = print_all(&p, err);
	table_writer_end(&p.table);
	if (status == ATTN_OK)
		status = write_text(self, "-", &p.table.out, err);
	free(p.lines);
	table_writer_release(&p.table);
	return status;
}
