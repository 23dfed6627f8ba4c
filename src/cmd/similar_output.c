#include "cmd/similar_output.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/head_groups.h"
#include "consumers/head_pattern.h"
#include "util/memory.h"

/* A head that was compared. */
struct member {
	size_t layer, head; /* indices of the rows */
	size_t group;       /* the first one of its group; then its number, from 0 */
	size_t nearest;     /* another one; SIZE_MAX: there is no other */
	const char *pattern;
};

struct group {
	size_t first, size; /* in the order of printing: members [first, first + size) of `order` */
	double widest;      /* the largest distance of two members */
};

struct printer {
	const struct heads_table *view;
	const struct head_similarity *similarity;
	double limit;
	double *distances;      /* (count, count) */
	struct member *members; /* (count), in the order layer, head */
	size_t count;
	struct group *groups; /* the largest first */
	size_t group_count;
	size_t *order; /* (count): members, group by group */
	struct buffer text;
	struct table_row cells;
};

enum attn_status similar_columns(struct table_columns *t, const char *list, struct attn_error *err)
{
	static const char *const names[] = {"group",         "size",         "widest",
					    "layer",         "head",         "pattern",
					    "nearest_layer", "nearest_head", "nearest_distance"};
	*t = (struct table_columns){0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_add_column(t, names[i]);
	return table_choose(t, list, err);
}

/* --- grouping ------------------------------------------------------------------------------- */

/* The pattern of a head: that of the first chosen batch item. */
static const char *pattern_of(const struct printer *p, size_t layer, size_t head)
{
	size_t batch = 0;
	while (!rows_chosen(p->view->selection->batch, batch))
		batch++;
	struct head_statistics s = head_statistics_of(p->view->heads, batch, layer, head);
	const struct head_pattern *pattern = head_pattern_of(&s);
	return pattern ? pattern->name : NULL;
}

static void find_members(struct printer *p)
{
	const struct rows_shape *shape = &p->view->in->info->shape;
	const struct selection *s = p->view->selection;
	size_t i = 0;
	for (size_t layer = 0; layer < shape->layers; layer++)
		for (size_t head = 0; head < shape->heads; head++)
			if (rows_chosen(s->layers, layer) && rows_chosen(s->heads, head))
				p->members[i++] =
				    (struct member){layer, head, 0, SIZE_MAX, pattern_of(p, layer, head)};
	for (i = 0; i < p->count; i++) {
		const double *row = p->distances + i * p->count;
		size_t best = SIZE_MAX;
		for (size_t j = 0; j < p->count; j++)
			if (j != i && (best == SIZE_MAX || row[j] < row[best]))
				best = j;
		p->members[i].nearest = best;
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* From the first member of each one's group (`firsts`) to groups in the order of printing. */
static void order_groups(struct printer *p, const size_t *firsts)
{
	size_t placed = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (firsts[i] != i)
			continue;
		struct group g = {.first = i};
		for (size_t j = i; j < p->count; j++)
			g.size += firsts[j] == i;
		p->groups[p->group_count++] = g;
	}
	qsort(p->groups, p->group_count, sizeof *p->groups, compare_groups);
	for (size_t n = 0; n < p->group_count; n++) {
		struct group *g = &p->groups[n];
		size_t begin = placed;
		for (size_t j = g->first; j < p->count; j++) {
			if (firsts[j] != g->first)
				continue;
			p->members[j].group = n;
			for (size_t k = begin; k < placed; k++)
				g->widest = fmax(g->widest, p->distances[j * p->count + p->order[k]]);
			p->order[placed++] = j;
		}
		g->first = begin;
	}
}

static enum attn_status group_heads(struct printer *p, struct attn_error *err)
{
	size_t *firsts = array_alloc(p->count, sizeof *firsts);
	p->distances = array_alloc(p->count, p->count * sizeof *p->distances);
	p->members = array_alloc(p->count, sizeof *p->members);
	p->groups = array_alloc(p->count, sizeof *p->groups);
	p->order = array_alloc(p->count, sizeof *p->order);
	bool ok = firsts && p->distances && p->members && p->groups && p->order;
	enum attn_status status = ok ? ATTN_OK : attn_fail_memory(err);
	if (ok) {
		similarity_distances(p->similarity, p->distances);
		find_members(p);
		status = find_groups(p->distances, p->count, p->limit, firsts, err);
	}
	if (status == ATTN_OK)
		order_groups(p, firsts);
	free(firsts);
	return status;
}

/* --- for programs -------------------------------------------------------------------------- */

static void end_cell(struct printer *p)
{
	table_end_cell(&p->cells);
}

/* The layer and the head of a member, or two empty cells for SIZE_MAX. */
static void add_place(struct printer *p, size_t member)
{
	const struct rows_info *info = p->view->in->info;
	const char *none = p->view->format == TABLE_TSV ? "" : "null";
	const struct member *m = member == SIZE_MAX ? NULL : &p->members[member];
	struct buffer *text = &p->cells.text;
	if (m)
		table_add_number_or_name(text, p->view->format, layer_number(info, m->layer),
					 info->joined_layers);
	else
		buffer_add_string(text, none);
	end_cell(p);
	if (m)
		table_add_number_or_name(text, p->view->format, head_number(info, m->head),
					 info->joined_heads);
	else
		buffer_add_string(text, none);
	end_cell(p);
}

/* The cells of a member, in the order of similar_columns. */
static void add_cells(struct printer *p, size_t member)
{
	const struct member *m = &p->members[member];
	const struct group *g = &p->groups[m->group];
	const char *none = p->view->format == TABLE_TSV ? "" : "null";
	struct buffer *text = &p->cells.text;
	table_row_clear(&p->cells);
	buffer_printf(text, "%zu", m->group + 1);
	end_cell(p);
	buffer_printf(text, "%zu", g->size);
	end_cell(p);
	buffer_add_float(text, (float)g->widest);
	end_cell(p);
	add_place(p, member);
	if (m->pattern)
		table_add_label(text, p->view->format, m->pattern);
	else
		buffer_add_string(text, none);
	end_cell(p);
	add_place(p, m->nearest);
	if (m->nearest == SIZE_MAX)
		buffer_add_string(text, none);
	else
		buffer_add_float(text, (float)p->distances[member * p->count + m->nearest]);
	end_cell(p);
}

static void add_rows(struct printer *p)
{
	enum table_format format = p->view->format;
	if (format == TABLE_TSV)
		table_add_names(p->view->columns, &p->text);
	if (format == TABLE_JSON) {
		buffer_add_string(&p->text, "{\"version\": 1, \"limit\": ");
		buffer_add_float(&p->text, (float)p->limit);
		buffer_printf(&p->text, ", \"queries\": %zu, \"groups\": %zu, \"heads\": [",
			      p->similarity->queries, p->group_count);
	}
	for (size_t i = 0; i < p->count; i++) {
		add_cells(p, p->order[i]);
		if (format == TABLE_TSV) {
			table_add_tsv(p->view->columns, &p->cells, &p->text);
			continue;
		}
		if (format == TABLE_JSON)
			buffer_add_string(&p->text, i ? ",\n  " : "\n  ");
		table_add_object(p->view->columns, &p->cells, &p->text);
		if (format == TABLE_JSONL)
			buffer_add_char(&p->text, '\n');
	}
	if (format == TABLE_JSON)
		buffer_add_string(&p->text, "\n]}\n");
}

/* --- for people ---------------------------------------------------------------------------- */

/* " 0.1 0.7 1.3": layer and head where layers are known, else the head. */
static void add_heads(struct printer *p, const struct group *g)
{
	const struct rows_info *info = p->view->in->info;
	for (size_t i = g->first; i < g->first + g->size; i++) {
		const struct member *m = &p->members[p->order[i]];
		buffer_add_char(&p->text, ' ');
		if (info->layer_known && !info->joined_layers)
			buffer_printf(&p->text, "%zu.", layer_number(info, m->layer));
		if (info->joined_heads)
			buffer_add_string(&p->text, info->joined_heads);
		else
			buffer_printf(&p->text, "%zu", head_number(info, m->head));
	}
}

/* " (3 local, 1 mixed)": the most frequent first. */
static void add_patterns(struct printer *p, const struct group *g)
{
	const size_t end = g->first + g->size;
	const char *before = " (";
	for (size_t wanted = g->size; wanted > 0; wanted--) {
		for (size_t i = g->first; i < end; i++) {
			const char *pattern = p->members[p->order[i]].pattern;
			size_t same = 0, first = end;
			for (size_t k = g->first; k < end && pattern; k++) {
				if (p->members[p->order[k]].pattern != pattern)
					continue;
				first = first == end ? k : first;
				same++;
			}
			if (same != wanted || first != i)
				continue;
			buffer_printf(&p->text, "%s%zu %s", before, same, pattern);
			before = ", ";
		}
	}
	if (*before == ',')
		buffer_add_char(&p->text, ')');
}

/* A paragraph for each group, and one for the heads that are alone. */
static void add_text(struct printer *p)
{
	size_t n = 0;
	for (; n < p->group_count && p->groups[n].size > 1; n++) {
		const struct group *g = &p->groups[n];
		buffer_printf(&p->text, "group %zu: %zu heads at most %.2f apart", n + 1, g->size, g->widest);
		add_patterns(p, g);
		buffer_add_string(&p->text, "\n ");
		add_heads(p, g);
		buffer_add_char(&p->text, '\n');
	}
	if (n == p->group_count)
		return;
	buffer_printf(&p->text, "alone: %zu head%s\n ", p->group_count - n,
		      p->group_count - n == 1 ? "" : "s");
	for (; n < p->group_count; n++)
		add_heads(p, &p->groups[n]);
	buffer_add_char(&p->text, '\n');
}

enum attn_status similar_write(const struct heads_table *view, const struct head_similarity *similarity,
			       double limit, const struct command *self, struct attn_error *err)
{
	struct printer p = {.view = view,
			    .similarity = similarity,
			    .limit = limit,
			    .count = similarity->head_count,
			    .text = BUFFER_INIT};
	enum attn_status status = group_heads(&p, err);
	if (status == ATTN_OK) {
		if (view->format == TABLE_TEXT)
			add_text(&p);
		else
			add_rows(&p);
		status = write_text(self, "-", &p.text, err);
	}
	free(p.distances);
	free(p.members);
	free(p.groups);
	free(p.order);
	table_row_release(&p.cells);
	buffer_release(&p.text);
	return status;
}
