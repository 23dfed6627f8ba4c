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

/* "layer 2 head 3, it -> animal" */
static void add_place(struct buffer *text, const struct compare_table *t, const struct compare_line *line)
{
	const struct rows_info *info = &t->sides->in.rows.info;
	char title[200];
	if (info->layer_known || info->has_layers || info->joined_layers)
		buffer_printf(text, "%s ", layer_title(info, line->layer, title, sizeof title));
	if (info->has_batch)
		buffer_printf(text, "batch item %zu ", line->batch);
	if (line->kind == DIFFERENCE_OUTPUT)
		buffer_add_string(text, "output, ");
	else
		buffer_printf(text, "%s, ", head_title(info, line->head, title, sizeof title));
	add_cell_place(text, t, line);
}

enum {
	SHOWN = 8, /* columns of a table for people, at most */
	PLACE_SIZE = 200
};

/* The cells of a line; how many there are. */
static size_t shown_cells(const struct compare_table *t, const struct compare_line *line,
			  char cells[SHOWN][PLACE_SIZE])
{
	const struct rows_info *info = &t->sides->in.rows.info;
	const struct difference *d = line->head_difference;
	struct buffer place = BUFFER_INIT;
	double numbers[3];
	size_t count = 0;
	snprintf(cells[count++], PLACE_SIZE, "%s", difference_names[line->kind]);
	if (info->joined_layers)
		snprintf(cells[count++], PLACE_SIZE, "%s", info->joined_layers);
	else
		snprintf(cells[count++], PLACE_SIZE, "%zu", layer_number(info, line->layer));
	if (line->kind == DIFFERENCE_OUTPUT)
		snprintf(cells[count++], PLACE_SIZE, "-");
	else
		head_text(info, line->head, cells[count++], PLACE_SIZE);
	numbers[0] = d ? d->largest : (double)line->cell->a;
	numbers[1] = d ? d->sum / (double)d->cells : (double)line->cell->b;
	numbers[2] = d ? d->js_largest : (double)line->cell->a - (double)line->cell->b;
	for (size_t i = 0; i < 3; i++) {
		char figure[FIGURE_SIZE];
		figure_format(numbers[i], figure);
		snprintf(cells[count++], PLACE_SIZE, "%s", d && i == 2 && d->rows == 0 ? "-" : figure);
	}
	add_cell_place(&place, t, line);
	snprintf(cells[count++], PLACE_SIZE, "%s", place.failed ? "" : place.data);
	buffer_release(&place);
	return count;
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
	static const char *const titles[2][7] = {{"what", "layer", "head", "largest", "mean", "JS", "where"},
						 {"what", "layer", "head", "A", "B", "A - B", "where"}};
	const char *const *title = titles[t->top != NULL];
	struct column columns[SHOWN] = {[0] = {.left = true}, [6] = {.left = true}};
	char cells[SHOWN][PLACE_SIZE];
	size_t count = 7;
	for (size_t k = 0; k < count; k++)
		column_measure(&columns[k], title[k]);
	for (size_t i = 0; i < t->line_count; i++) {
		shown_cells(t, &t->lines[i], cells);
		for (size_t k = 0; k < count; k++)
			column_measure(&columns[k], cells[k]);
	}
	for (size_t k = 0; k < count; k++)
		column_add(&columns[k], text, title[k]);
	columns_end(text);
	for (size_t i = 0; i < t->line_count; i++) {
		shown_cells(t, &t->lines[i], cells);
		for (size_t k = 0; k < count; k++)
			column_add(&columns[k], text, cells[k]);
		columns_end(text);
	}
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
