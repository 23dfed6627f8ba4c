#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"
#include "cmd/effects.h"
#include "util/memory.h"

static const char *const figure_names[EFFECT_FIGURES] = {
    "hidden", "divergence",  "logit",   "probability", "probability_change",
    "loss",   "loss_change", "context", "output"};

void effects_release(struct effects *e)
{
	free(e->lines);
	*e = (struct effects){0};
}

enum attn_status effects_add(struct effects *e, const struct effect_line *line, struct attn_error *err)
{
	if (e->count == e->room) {
		size_t room = 2 * e->room + 64;
		struct effect_line *more = realloc(e->lines, room * sizeof *more);
		if (!more)
			return attn_fail_memory(err);
		e->lines = more;
		e->room = room;
	}
	e->lines[e->count++] = *line;
	return ATTN_OK;
}

double effect_size(const struct effect_line *line)
{
	static const enum effect_figure order[] = {EFFECT_DIVERGENCE, EFFECT_HIDDEN, EFFECT_OUTPUT,
						   EFFECT_CONTEXT};
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (!isnan(line->figures[order[i]]))
			return line->figures[order[i]];
	return 0;
}

void effect_figures(const struct effect *effect, const struct effect *whole, double figures[EFFECT_FIGURES])
{
	figures[EFFECT_HIDDEN] = effect->hidden;
	figures[EFFECT_DIVERGENCE] = effect->divergence;
	figures[EFFECT_LOGIT] = effect->logit;
	figures[EFFECT_PROBABILITY] = effect->probability;
	figures[EFFECT_PROBABILITY_CHANGE] = effect->probability - whole->probability;
	figures[EFFECT_LOSS] = effect->loss;
	figures[EFFECT_LOSS_CHANGE] = effect->loss - whole->loss;
	figures[EFFECT_CONTEXT] = figures[EFFECT_OUTPUT] = (double)NAN;
}

static bool of_model(enum effect_figure figure)
{
	return figure < EFFECT_CONTEXT;
}

enum attn_status effects_columns(struct table_columns *t, const struct effects *e, bool model,
				 const char *list, struct attn_error *err)
{
	*t = (struct table_columns){0};
	if (e->curve) {
		table_add_column(t, "step");
		table_add_column(t, "left");
	}
	table_add_column(t, "layer");
	table_add_column(t, "head");
	for (size_t i = 0; i < EFFECT_FIGURES; i++)
		if (of_model(i) == model)
			table_add_column(t, figure_names[i]);
	if (e->info->has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

/* --- for programs -------------------------------------------------------------------------- */

static void add_count(struct table_row *row, size_t value)
{
	buffer_printf(&row->text, "%zu", value);
	table_end_cell(row);
}

static void add_cells(const struct effects *e, const struct effect_line *line, bool model,
		      enum table_format format, struct table_row *row)
{
	table_row_clear(row);
	if (e->curve) {
		add_count(row, line->step);
		add_count(row, line->left);
	}
	for (int head = 0; head <= 1; head++) {
		if (!line->whole)
			buffer_printf(&row->text, "%zu",
				      head ? head_number(e->info, line->head)
					   : layer_number(e->info, line->layer));
		table_end_cell(row);
	}
	for (size_t i = 0; i < EFFECT_FIGURES; i++) {
		if (of_model(i) != model)
			continue;
		if (isfinite(line->figures[i]))
			buffer_printf(&row->text, "%.9g", line->figures[i]);
		else if (format != TABLE_TSV)
			buffer_add_string(&row->text, "null");
		table_end_cell(row);
	}
	if (e->info->has_batch)
		add_count(row, line->batch);
}

static void add_table(const struct effects *e, const struct table_columns *columns, bool model,
		      enum table_format format, struct buffer *text)
{
	struct table_row row = {0};
	if (format == TABLE_TSV)
		table_add_names(columns, text);
	if (format == TABLE_JSON)
		buffer_printf(text, "{\"version\": 1, \"%s\": [", e->curve ? "steps" : "heads");
	for (size_t i = 0; i < e->count; i++) {
		add_cells(e, &e->lines[i], model, format, &row);
		if (format == TABLE_JSON)
			buffer_add_string(text, i ? ",\n  " : "\n  ");
		if (format == TABLE_TSV)
			table_add_tsv(columns, &row, text);
		else
			table_add_object(columns, &row, text);
		if (format == TABLE_JSONL)
			buffer_add_char(text, '\n');
		text->failed |= row.text.failed;
	}
	if (format == TABLE_JSON)
		buffer_add_string(text, "\n]}\n");
	table_row_release(&row);
}

/* --- for people ---------------------------------------------------------------------------- */

enum {
	TEXT_STEP,
	TEXT_LEFT,
	TEXT_BATCH,
	TEXT_LAYER,
	TEXT_HEAD,
	TEXT_FIGURES,
	TEXT_COLUMNS = TEXT_FIGURES + EFFECT_FIGURES
};

/* What stands in a column of a line (NULL: of the headings). */
static void text_cell(const struct effects *e, const struct effect_line *line, size_t column,
		      struct buffer *cell)
{
	static const char *const headings[] = {"step", "left", "batch", "layer", "head"};
	static const char *const short_names[EFFECT_FIGURES] = {
	    "hidden", "divergence", "logit", "probability", "change", "loss", "change", "context", "output"};
	char number[FIGURE_SIZE], name[200];
	buffer_clear(cell);
	buffer_add(cell, "", 0);
	if (column >= TEXT_FIGURES) {
		size_t figure = column - TEXT_FIGURES;
		if (!line)
			buffer_add_string(cell, short_names[figure]);
		else if (isfinite(line->figures[figure]))
			figure_format(line->figures[figure], number), buffer_add_string(cell, number);
	} else if (!line) {
		buffer_add_string(cell, headings[column]);
	} else if (line->whole && column >= TEXT_LAYER) {
		buffer_add_string(cell, "-");
	} else if (column == TEXT_HEAD) {
		buffer_add_clean(cell, head_text(e->info, line->head, name, sizeof name));
	} else {
		buffer_printf(cell, "%zu",
			      column == TEXT_STEP    ? line->step
			      : column == TEXT_LEFT  ? line->left
			      : column == TEXT_BATCH ? line->batch
						     : layer_number(e->info, line->layer));
	}
}

static bool is_shown(const struct effects *e, size_t column)
{
	bool any = false;
	if (column <= TEXT_LEFT)
		return e->curve;
	if (column == TEXT_BATCH)
		return e->info->has_batch;
	if (column == TEXT_LAYER)
		return e->info->layer_known;
	for (size_t i = 0; i < e->count && column >= TEXT_FIGURES; i++)
		any |= isfinite(e->lines[i].figures[column - TEXT_FIGURES]);
	return column == TEXT_HEAD || any;
}

/* Measured first, then added: the headings, and a line for each head. */
static void add_text(const struct effects *e, struct buffer *text)
{
	struct column columns[TEXT_COLUMNS] = {[TEXT_HEAD] = {.left = true}};
	struct buffer cell = BUFFER_INIT, line = BUFFER_INIT;
	for (int adding = 0; adding <= 1; adding++) {
		for (size_t i = 0; i <= e->count; i++) {
			buffer_clear(&line);
			for (size_t c = 0; c < TEXT_COLUMNS; c++) {
				text_cell(e, i ? &e->lines[i - 1] : NULL, c, &cell);
				if (cell.failed || !is_shown(e, c))
					continue;
				if (adding)
					column_add(&columns[c], &line, cell.data);
				else
					column_measure(&columns[c], cell.data);
			}
			columns_end(&line);
			if (adding && !line.failed)
				buffer_add(text, line.data + 2, line.length - 2); /* no margin */
		}
	}
	text->failed |= cell.failed || line.failed;
	buffer_release(&cell);
	buffer_release(&line);
}

enum attn_status effects_write(const struct effects *e, const struct table_columns *columns,
			       enum table_format format, const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	bool model = e->count == 0 || isnan(e->lines[0].figures[EFFECT_CONTEXT]);
	if (format == TABLE_TEXT)
		add_text(e, &text);
	else
		add_table(e, columns, model, format, &text);
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}

/* --- the curve ------------------------------------------------------------------------------- */

enum attn_status effects_plot(const struct effects *e, struct plot_request *plot, const struct command *self,
			      struct attn_error *err)
{
	static const struct {
		enum effect_figure figure;
		const char *title;
	} kinds[] = {{EFFECT_LOSS, "loss in bits a token"},
		     {EFFECT_DIVERGENCE, "divergence of predictions, in bits"},
		     {EFFECT_PROBABILITY, "probability of the next token"},
		     {EFFECT_HIDDEN, "change of the last states"}};
	enum {
		KINDS = sizeof kinds / sizeof *kinds
	};
	struct plot_series series[KINDS];
	struct plot_panel panels[KINDS];
	size_t count = 0;
	double *values = array_alloc((KINDS + 1) * e->count, sizeof *values), *steps = values;
	if (!values)
		return attn_fail_memory(err);
	for (size_t i = 0; i < e->count; i++)
		steps[i] = (double)e->lines[i].step;
	for (size_t k = 0; k < KINDS; k++) {
		double *y = values + (count + 1) * e->count;
		bool any = false;
		for (size_t i = 0; i < e->count; i++) {
			y[i] = e->lines[i].figures[kinds[k].figure];
			any |= isfinite(y[i]);
		}
		if (!any)
			continue;
		series[count] = (struct plot_series){
		    .x = steps, .y = y, .count = e->count, .marks = PLOT_LINE | PLOT_DOTS};
		panels[count] = (struct plot_panel){.title = kinds[k].title,
						    .x = {.title = "heads taken out"},
						    .series = &series[count],
						    .series_count = 1};
		count++;
	}
	const struct plot_figure figure = {
	    .title = "without the heads that do least", .panels = panels, .panel_count = count};
	enum attn_status status = plot_draw(plot, &figure, self, err);
	free(values);
	return status;
}
