#include "cmd/far_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/columns.h"

static const char *const loss_names[] = {"layer", "head", "window", "queries",    "lost",
					 "half",  "most", "query",  "query_token"};
static const char *const link_names[] = {"layer", "head",      "rank",     "query", "query_token",
					 "key",   "key_token", "distance", "weight"};

enum {
	LOSSES = sizeof loss_names / sizeof *loss_names,
	LINKS = sizeof link_names / sizeof *link_names,
	MARGIN = 2, /* column_add's, which the first column is without */
};

struct place {
	size_t batch, layer, head;
};

struct printer {
	const struct far_table *view;
	size_t printed;
	struct table_row cells;
	struct string_list text; /* the cells of all lines, for people */
	struct buffer out;
};

enum attn_status far_columns(struct table_columns *t, const struct rows_info *info, bool links,
			     const char *list, struct attn_error *err)
{
	*t = (struct table_columns){0};
	for (size_t i = 0; i < (links ? (size_t)LINKS : (size_t)LOSSES); i++)
		table_add_column(t, links ? link_names[i] : loss_names[i]);
	if (info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

/* --- cells --------------------------------------------------------------------------------- */

static bool is_json(const struct printer *p)
{
	return p->view->format == TABLE_JSON || p->view->format == TABLE_JSONL;
}

static void add_text(struct printer *p, const char *text)
{
	if (p->view->format == TABLE_TEXT)
		buffer_add_clean(&p->cells.text, text);
	else
		table_add_label(&p->cells.text, p->view->format, text);
	table_end_cell(&p->cells);
}

static void add_nothing(struct printer *p)
{
	buffer_add_string(&p->cells.text, is_json(p) ? "null" : "");
	table_end_cell(&p->cells);
}

static void add_count(struct printer *p, size_t value)
{
	buffer_printf(&p->cells.text, "%zu", value);
	table_end_cell(&p->cells);
}

static void add_figure(struct printer *p, double value)
{
	if (isnan(value)) {
		add_nothing(p);
		return;
	}
	if (p->view->format == TABLE_TEXT)
		buffer_printf(&p->cells.text, "%.3f", value);
	else
		buffer_add_float(&p->cells.text, (float)value);
	table_end_cell(&p->cells);
}

static void add_place(struct printer *p, const struct place *at)
{
	const struct rows_info *info = p->view->in->info;
	enum table_format format = p->view->format;
	char name[200];
	if (format == TABLE_TEXT && !info->joined_heads) {
		if (info->joined_layers)
			add_text(p, info->joined_layers);
		else
			add_count(p, layer_number(info, at->layer));
		add_text(p, head_text(info, at->head, name, sizeof name));
		return;
	}
	table_add_number_or_name(&p->cells.text, format == TABLE_TEXT ? TABLE_TSV : format,
				 layer_number(info, at->layer), info->joined_layers);
	table_end_cell(&p->cells);
	table_add_number_or_name(&p->cells.text, format == TABLE_TEXT ? TABLE_TSV : format,
				 head_number(info, at->head), info->joined_heads);
	table_end_cell(&p->cells);
}

static const char *query_label(const struct printer *p, size_t query)
{
	const struct inputs *in = p->view->in;
	return p->view->format == TABLE_TEXT ? in->shown_queries.items[query]
					     : in->info->query_labels.items[query];
}

static const char *key_label(const struct printer *p, size_t key)
{
	const struct inputs *in = p->view->in;
	return p->view->format == TABLE_TEXT ? in->shown_keys.items[key] : in->info->key_labels.items[key];
}

static size_t distance_of(const struct printer *p, const struct far_link *link)
{
	const struct head_places *places = p->view->far->places;
	return (size_t)fabs(places->at[link->key] - (double)places->own[link->query]);
}

/* --- lines --------------------------------------------------------------------------------- */

/* Keep the cells of a line for people until all are known. */
static void keep_text(struct printer *p)
{
	const struct table_row *cells = &p->cells;
	bool ok = !cells->text.failed;
	for (size_t i = 0, start = 0; i < cells->count && ok; start = cells->ends[i++]) {
		char cell[400];
		snprintf(cell, sizeof cell, "%.*s", (int)(cells->ends[i] - start), cells->text.data + start);
		ok = string_list_add(&p->text, cell);
	}
	p->out.failed |= !ok;
}

static void end_line(struct printer *p)
{
	enum table_format format = p->view->format;
	if (format == TABLE_TEXT) {
		keep_text(p);
	} else if (format == TABLE_TSV) {
		table_add_tsv(p->view->columns, &p->cells, &p->out);
	} else {
		if (format == TABLE_JSON)
			buffer_add_string(&p->out, p->printed ? ",\n  " : "\n  ");
		table_add_object(p->view->columns, &p->cells, &p->out);
		if (format == TABLE_JSONL)
			buffer_add_char(&p->out, '\n');
	}
	p->printed++;
}

static void begin_line(struct printer *p, const struct place *at)
{
	table_row_clear(&p->cells);
	add_place(p, at);
}

/* A line for each window. */
static void add_losses(struct printer *p, const struct place *at)
{
	for (size_t i = 0; i < p->view->options->window_count; i++) {
		struct far_loss loss = far_loss_of(p->view->far, at->batch, at->layer, at->head, i);
		bool any = loss.most > 0;
		begin_line(p, at);
		add_count(p, p->view->options->windows[i]);
		add_count(p, loss.queries);
		add_figure(p, loss.lost);
		add_figure(p, loss.half);
		add_figure(p, loss.most);
		if (any) {
			add_count(p, query_number(p->view->in->info, loss.query));
			add_text(p, query_label(p, loss.query));
		} else {
			add_nothing(p);
			add_nothing(p);
		}
		add_count(p, at->batch);
		end_line(p);
	}
}

static void add_links(struct printer *p, const struct place *at)
{
	const struct rows_info *info = p->view->in->info;
	size_t count;
	const struct far_link *links = far_links_of(p->view->far, at->batch, at->layer, at->head, &count);
	for (size_t i = 0; i < count; i++) {
		begin_line(p, at);
		add_count(p, i + 1);
		add_count(p, query_number(info, links[i].query));
		add_text(p, query_label(p, links[i].query));
		add_count(p, key_number(info, links[i].key));
		add_text(p, key_label(p, links[i].key));
		add_count(p, distance_of(p, &links[i]));
		add_figure(p, (double)links[i].weight);
		add_count(p, at->batch);
		end_line(p);
	}
}

/* The line of a head for people: what each window loses, and the strongest link. */
static void add_head(struct printer *p, const struct place *at)
{
	size_t count;
	const struct far_link *link = far_links_of(p->view->far, at->batch, at->layer, at->head, &count);
	begin_line(p, at);
	for (size_t i = 0; i < p->view->options->window_count; i++)
		add_figure(p, far_loss_of(p->view->far, at->batch, at->layer, at->head, i).lost);
	if (count > 0) {
		buffer_add_clean(&p->cells.text, query_label(p, link->query));
		buffer_add_string(&p->cells.text, " -> ");
		buffer_add_clean(&p->cells.text, key_label(p, link->key));
		buffer_printf(&p->cells.text, " %.3f, %zu away", (double)link->weight, distance_of(p, link));
	}
	table_end_cell(&p->cells);
	add_count(p, at->batch);
	end_line(p);
}

static void each_head(struct printer *p, void (*visit)(struct printer *, const struct place *))
{
	const struct rows_shape *shape = &p->view->in->info->shape;
	const struct selection *s = p->view->selection;
	struct place at;
	for (at.layer = 0; at.layer < shape->layers; at.layer++)
		for (at.batch = 0; at.batch < shape->batch; at.batch++)
			for (at.head = 0; at.head < shape->heads; at.head++)
				if (rows_chosen(s->layers, at.layer) && rows_chosen(s->batch, at.batch) &&
				    rows_chosen(s->heads, at.head))
					visit(p, &at);
}

/* --- for people ---------------------------------------------------------------------------- */

/* The headings, as a line before the others. */
static void add_headings(struct printer *p)
{
	const struct far_options *o = p->view->options;
	table_row_clear(&p->cells);
	for (size_t i = 0; i < (p->view->links ? (size_t)LINKS : 2); i++) {
		buffer_add_string(&p->cells.text, link_names[i]);
		table_end_cell(&p->cells);
	}
	for (size_t i = 0; i < o->window_count && !p->view->links; i++)
		add_count(p, o->windows[i]);
	if (!p->view->links) {
		buffer_printf(&p->cells.text, "strongest link beyond %zu", o->distance);
		table_end_cell(&p->cells);
	}
	buffer_add_string(&p->cells.text, "batch");
	table_end_cell(&p->cells);
	keep_text(p);
}

static bool is_text_column(const struct printer *p, size_t column)
{
	return p->view->links ? column == 4 || column == 6 : column == 2 + p->view->options->window_count;
}

static void print_text(struct printer *p)
{
	size_t cols = p->view->links ? LINKS + 1 : p->view->options->window_count + 4;
	struct column columns[FAR_WINDOWS + LINKS] = {{0}};
	for (size_t i = 0; i < cols; i++)
		columns[i].left = is_text_column(p, i);
	for (size_t i = 0; i < p->text.count; i++)
		column_measure(&columns[i % cols], p->text.items[i]);
	if (!p->view->links)
		buffer_add_string(&p->out, "share of weight that a window of so many tokens would lose\n");
	for (size_t line = 0; line < p->text.count; line += cols) {
		size_t start = p->out.length;
		for (size_t i = 0; i < cols; i++)
			if ((i > 0 || p->view->in->info->layer_known) &&
			    (i + 1 < cols || p->view->in->info->has_batch))
				column_add(&columns[i], &p->out, p->text.items[line + i]);
		if (p->out.length >= start + MARGIN) {
			memmove(p->out.data + start, p->out.data + start + MARGIN,
				p->out.length - start - MARGIN);
			p->out.length -= MARGIN;
		}
		columns_end(&p->out);
	}
}

/* ------------------------------------------------------------------------------------------- */

enum attn_status far_write(const struct far_table *view, const struct command *self, struct attn_error *err)
{
	struct printer p = {.view = view, .out = BUFFER_INIT};
	if (view->format == TABLE_TEXT) {
		add_headings(&p);
		each_head(&p, view->links ? add_links : add_head);
		if (!p.out.failed)
			print_text(&p);
	} else {
		if (view->format == TABLE_TSV)
			table_add_names(view->columns, &p.out);
		if (view->format == TABLE_JSON)
			buffer_printf(&p.out, "{\"version\": 1, \"distance\": %zu, \"%s\": [",
				      view->options->distance, view->links ? "links" : "losses");
		each_head(&p, view->links ? add_links : add_losses);
		if (view->format == TABLE_JSON)
			buffer_add_string(&p.out, "\n]}\n");
	}
	p.out.failed |= p.cells.text.failed;
	enum attn_status status = write_text(self, "-", &p.out, err);
	string_list_release(&p.text);
	table_row_release(&p.cells);
	buffer_release(&p.out);
	return status;
}
