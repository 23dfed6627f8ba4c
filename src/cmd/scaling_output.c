/* The table of attn inspect heads --scaling. */
#include <math.h>

#include "cmd/columns.h"
#include "cmd/scaling.h"

static const char *const names[SCALING_FIGURES] = {"variance", "entropy", "largest", "gradient", "jacobian"};
static const char *const unscaled_names[SCALING_FIGURES] = {
    "unscaled_variance", "unscaled_entropy", "unscaled_largest", "unscaled_gradient", "unscaled_jacobian"};

enum attn_status scaling_columns(struct table_columns *t, bool has_batch, const char *list,
				 struct attn_error *err)
{
	static const char *const first[] = {"layer", "head", "size", "scale", "queries"};
	*t = (struct table_columns){0};
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		table_add_column(t, first[i]);
	for (size_t i = 0; i < SCALING_FIGURES; i++)
		table_add_column(t, names[i]);
	for (size_t i = 0; i < SCALING_FIGURES; i++)
		table_add_column(t, unscaled_names[i]);
	if (has_batch)
		table_add_column(t, "batch");
	return table_choose(t, list, err);
}

double scaling_value(const struct scaling_line *line, enum scaling_figure figure, bool unscaled)
{
	const struct spread *s = unscaled ? &line->unscaled : &line->scaled;
	bool of_softmax = figure == SCALING_GRADIENT || figure == SCALING_JACOBIAN;
	if (s->queries == 0 || (of_softmax && !line->softmax))
		return NAN;
	switch (figure) {
	case SCALING_VARIANCE:
		return s->variance;
	case SCALING_ENTROPY:
		return s->entropy / M_LN2;
	case SCALING_LARGEST:
		return s->largest;
	case SCALING_GRADIENT:
		return s->gradient;
	default:
		return s->jacobian;
	}
}

/* --- for programs -------------------------------------------------------------------------- */

static void add_cells(const struct scaling *s, const struct scaling_line *line, enum table_format format,
		      struct table_row *row)
{
	const struct rows_info *info = s->info;
	table_row_clear(row);
	buffer_printf(&row->text, "%zu", info ? layer_number(info, line->layer) : line->layer);
	table_end_cell(row);
	buffer_printf(&row->text, "%zu", info ? head_number(info, line->head) : line->head);
	table_end_cell(row);
	buffer_printf(&row->text, "%zu", line->size);
	table_end_cell(row);
	buffer_add_float(&row->text, (float)line->scale);
	table_end_cell(row);
	buffer_printf(&row->text, "%zu", line->scaled.queries);
	table_end_cell(row);
	for (size_t i = 0; i < 2 * (size_t)SCALING_FIGURES; i++) {
		double value = scaling_value(line, i % SCALING_FIGURES, i >= SCALING_FIGURES);
		if (!isnan(value))
			buffer_add_float(&row->text, (float)value);
		else if (format != TABLE_TSV)
			buffer_add_string(&row->text, "null");
		table_end_cell(row);
	}
	buffer_printf(&row->text, "%zu", line->batch);
	table_end_cell(row);
}

static void add_table(const struct scaling *s, const struct table_columns *columns, enum table_format format,
		      struct buffer *text)
{
	struct table_row row = {0};
	if (format == TABLE_TSV)
		table_add_names(columns, text);
	if (format == TABLE_JSON)
		buffer_add_string(text, "{\"version\": 1, \"heads\": [");
	for (size_t i = 0; i < s->count; i++) {
		add_cells(s, &s->lines[i], format, &row);
		if (format == TABLE_JSON)
			buffer_add_string(text, i ? ",\n  " : "\n  ");
		if (format == TABLE_TSV)
			table_add_tsv(columns, &row, text);
		else
			table_add_object(columns, &row, text);
		if (format == TABLE_JSONL)
			buffer_add_char(text, '\n');
	}
	if (format == TABLE_JSON)
		buffer_add_string(text, "\n]}\n");
	table_row_release(&row);
}

/* --- for people ---------------------------------------------------------------------------- */

enum {
	TEXT_BATCH,
	TEXT_LAYER,
	TEXT_HEAD,
	TEXT_SIZE,
	TEXT_SCALE,
	TEXT_FIGURES,
	TEXT_COLUMNS = TEXT_FIGURES + 2 * SCALING_FIGURES
};

/* What stands in a column of a line (NULL: of the headings). */
static void text_cell(const struct scaling *s, const struct scaling_line *line, size_t column,
		      struct buffer *cell)
{
	static const char *const headings[] = {"batch", "layer", "head", "d", "scale"};
	char number[FIGURE_SIZE], name[200];
	enum scaling_figure figure = (column - TEXT_FIGURES) / 2;
	bool unscaled = (column - TEXT_FIGURES) % 2;
	buffer_clear(cell);
	buffer_add(cell, "", 0);
	if (column >= TEXT_FIGURES) {
		double value = line ? scaling_value(line, figure, unscaled) : NAN;
		if (!line)
			buffer_add_string(cell, unscaled ? "without" : names[figure]);
		if (isnan(value))
			return;
		figure_format(value, number);
		buffer_add_string(cell, number);
	} else if (!line) {
		buffer_add_string(cell, headings[column]);
	} else if (column == TEXT_HEAD && s->info) {
		buffer_add_clean(cell, head_text(s->info, line->head, name, sizeof name));
	} else if (column == TEXT_SCALE) {
		figure_format(line->scale, number);
		buffer_add_string(cell, number);
	} else {
		size_t layer = s->info ? layer_number(s->info, line->layer) : line->layer;
		buffer_printf(cell, "%zu",
			      column == TEXT_BATCH   ? line->batch
			      : column == TEXT_LAYER ? layer
			      : column == TEXT_SIZE  ? line->size
						     : line->head);
	}
}

static bool is_shown(const struct scaling *s, size_t column)
{
	if (column == TEXT_BATCH)
		return s->has_batch;
	if (column == TEXT_LAYER)
		return s->info && s->info->layer_known;
	return column != TEXT_HEAD || s->info;
}

/* Measured first, then added: the headings, and a line for each head. */
static void add_text(const struct scaling *s, struct buffer *text)
{
	struct column columns[TEXT_COLUMNS] = {[TEXT_HEAD] = {.left = true}};
	struct buffer cell = BUFFER_INIT, line = BUFFER_INIT;
	for (int adding = 0; adding <= 1; adding++) {
		for (size_t i = 0; i <= s->count; i++) {
			buffer_clear(&line);
			for (size_t c = 0; c < TEXT_COLUMNS; c++) {
				text_cell(s, i ? &s->lines[i - 1] : NULL, c, &cell);
				if (cell.failed || !is_shown(s, c))
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

enum attn_status scaling_write(const struct scaling *s, const struct table_columns *columns,
			       enum table_format format, const struct command *self, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	if (format == TABLE_TEXT)
		add_text(s, &text);
	else
		add_table(s, columns, format, &text);
	enum attn_status status = write_text(self, "-", &text, err);
	buffer_release(&text);
	return status;
}
