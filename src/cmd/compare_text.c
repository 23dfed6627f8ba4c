/* Tables of attn compare for people, and the answer of --tolerance. */
#include <stdio.h>

#include "cmd/columns.h"
#include "cmd/compare_internal.h"

/* "it -> animal", or of a context "it, component 3". */
static void add_cell_place(struct buffer *text, const struct compare_table *t,
			   const struct compare_line *line)
{
	const struct inputs *in = &t->sides->in;
	buffer_add_clean(text, in->shown_queries.items[line->query]);
	if (line_has_keys(line)) {
		buffer_add_string(text, " -> ");
		buffer_add_clean(text, in->shown_keys.items[line->column]);
	} else {
		buffer_printf(text, ", component %zu", line->column);
	}
}

static void add_clean(struct buffer *text, const char *words, const char *end)
{
	buffer_add_clean(text, words);
	buffer_add_string(text, end);
}

/* "layer 2 head 3, it -> animal" */
static void add_place(struct buffer *text, const struct compare_table *t, const struct compare_line *line)
{
	const struct rows_info *info = &t->sides->in.rows.info;
	char title[200];
	if (info->layer_known || info->has_layers || info->joined_layers)
		add_clean(text, layer_title(info, line->layer, title, sizeof title), " ");
	if (info->has_batch)
		buffer_printf(text, "batch item %zu ", line->batch);
	if (line->kind == DIFFERENCE_OUTPUT)
		buffer_add_string(text, "output, ");
	else
		add_clean(text, head_title(info, line->head, title, sizeof title), ", ");
	add_cell_place(text, t, line);
}

enum {
	SHOWN = 8 /* columns of a table for people, at most */
};

/* The cells of a line, each with its NUL, one behind the other. */
struct shown {
	struct buffer text;
	size_t starts[SHOWN], count;
};

static void begin_cell(struct shown *cells)
{
	if (cells->count > 0)
		buffer_add(&cells->text, "", 1);
	cells->starts[cells->count++] = cells->text.length;
}

static void add_figure(struct shown *cells, double value, bool none)
{
	char figure[FIGURE_SIZE];
	figure_format(value, figure);
	begin_cell(cells);
	buffer_add_string(&cells->text, none ? "-" : figure);
}

static void show_place(struct shown *cells, const struct compare_table *t, const struct compare_line *line)
{
	const struct rows_info *info = &t->sides->in.rows.info;
	char title[200];
	begin_cell(cells);
	buffer_add_string(&cells->text, difference_names[line->kind]);
	begin_cell(cells);
	if (info->joined_layers)
		buffer_add_clean(&cells->text, info->joined_layers);
	else
		buffer_printf(&cells->text, "%zu", layer_number(info, line->layer));
	if (info->has_batch) {
		begin_cell(cells);
		buffer_printf(&cells->text, "%zu", line->batch);
	}
	begin_cell(cells);
	if (line->kind == DIFFERENCE_OUTPUT)
		buffer_add_char(&cells->text, '-');
	else
		buffer_add_clean(&cells->text, head_text(info, line->head, title, sizeof title));
}

static void show_line(struct shown *cells, const struct compare_table *t, const struct compare_line *line)
{
	const struct difference *d = line->head_difference;
	buffer_clear(&cells->text);
	cells->count = 0;
	show_place(cells, t, line);
	if (d) {
		add_figure(cells, d->largest, false);
		add_figure(cells, d->sum / (double)d->cells, false);
		add_figure(cells, d->js_largest, d->rows == 0);
	} else {
		add_figure(cells, (double)line->cell->a, false);
		add_figure(cells, (double)line->cell->b, false);
		add_figure(cells, (double)line->cell->a - (double)line->cell->b, false);
	}
	begin_cell(cells);
	add_cell_place(&cells->text, t, line);
	buffer_add(&cells->text, "", 1);
}

static void show_titles(struct shown *cells, const struct compare_table *t)
{
	static const char *const titles[2][SHOWN] = {
	    {"what", "layer", "batch", "head", "largest", "mean", "JS", "where"},
	    {"what", "layer", "batch", "head", "A", "B", "A - B", "where"}};
	for (size_t i = 0; i < SHOWN; i++) {
		if (i == 2 && !t->sides->in.rows.info.has_batch)
			continue;
		begin_cell(cells);
		buffer_add_string(&cells->text, titles[t->top != NULL][i]);
	}
	buffer_add(&cells->text, "", 1);
}

/* Measure the cells, or with `text` add them as a line. */
static void take_shown(const struct shown *cells, struct column columns[SHOWN], struct buffer *text)
{
	for (size_t i = 0; i < cells->count && !cells->text.failed; i++) {
		const char *cell = cells->text.data + cells->starts[i];
		if (text)
			column_add(&columns[i], text, cell);
		else
			column_measure(&columns[i], cell);
	}
	if (text)
		columns_end(text);
}

static const struct compare_line *worst_line(const struct compare_table *t, enum difference_kind kind)
{
	const struct compare_line *worst = NULL;
	for (size_t i = 0; i < t->line_count; i++)
		if (t->lines[i].kind == kind &&
		    (!worst || t->lines[i].head_difference->largest > worst->head_difference->largest))
			worst = &t->lines[i];
	return worst;
}

/* "largest difference of weights 0.25: head 0, the -> the", a line a kind. */
static void add_sums(struct buffer *text, const struct compare_table *t)
{
	char figure[FIGURE_SIZE];
	buffer_add_char(text, '\n');
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++) {
		const struct compare_line *worst = worst_line(t, (enum difference_kind)kind);
		if (!worst)
			continue;
		figure_format(worst->head_difference->largest, figure);
		buffer_printf(text, "largest difference of %s %s: ", difference_names[kind], figure);
		add_place(text, t, worst);
		buffer_add_char(text, '\n');
	}
}

void compare_table_text(struct buffer *text, const struct compare_table *t)
{
	struct column columns[SHOWN] = {{0}};
	struct shown cells = {.text = BUFFER_INIT};
	columns[0].left = columns[t->sides->in.rows.info.has_batch ? SHOWN - 1 : SHOWN - 2].left = true;
	for (size_t pass = 0; pass < 2; pass++) {
		struct buffer *to = pass == 0 ? NULL : text;
		buffer_clear(&cells.text);
		cells.count = 0;
		show_titles(&cells, t);
		take_shown(&cells, columns, to);
		for (size_t i = 0; i < t->line_count; i++) {
			show_line(&cells, t, &t->lines[i]);
			take_shown(&cells, columns, to);
		}
	}
	text->failed |= cells.text.failed;
	buffer_release(&cells.text);
	if (!t->top)
		add_sums(text, t);
}

/* --- the answer --------------------------------------------------------------------------------------------
 */

/* "4 of 8 weights differ by more than 0.2 + 0 |b|, at most by 1: head 1, the -> the" */
static void add_beyond(struct buffer *text, const struct compare_table *t, const struct tolerance *tolerance,
		       enum difference_kind kind, size_t beyond, size_t cells)
{
	static const char *const things[DIFFERENCE_KINDS] = {"weights", "numbers of contexts", "scores",
							     "numbers of outputs"};
	const struct compare_line *worst = worst_line(t, kind);
	if (text->length > 0)
		buffer_add_string(text, "; ");
	buffer_printf(text, "%zu of %zu %s differ by more than %g + %g |b|, at most by %g: ", beyond, cells,
		      things[kind], tolerance->absolute, tolerance->relative,
		      worst->head_difference->largest);
	add_place(text, t, worst);
}

enum attn_status compare_judge(struct compare_table *t, const struct tolerance *tolerance,
			       struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	if (t->top) { /* lines are of heads from here on */
		compare_table_release(t);
		t->line_count = 0;
		TRY(compare_table_heads(t, err));
	}
	for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++) {
		size_t beyond = 0, cells = 0;
		for (size_t i = 0; i < t->line_count; i++)
			if (t->lines[i].kind == kind) {
				beyond += t->lines[i].head_difference->beyond;
				cells += t->lines[i].head_difference->cells;
			}
		if (beyond > 0)
			add_beyond(&text, t, tolerance, (enum difference_kind)kind, beyond, cells);
	}
	enum attn_status status = ATTN_OK;
	if (text.failed)
		status = attn_fail_memory(err);
	else if (text.length > 0)
		status = attn_fail(err, ATTN_NO_MATCH, "%s", text.data);
	buffer_release(&text);
	return status;
}
