#include "cmd/table_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"

static bool is_json(const struct table_writer *w)
{
	return w->format == TABLE_JSON || w->format == TABLE_JSONL;
}

void table_writer_begin(struct table_writer *w, const char *name)
{
	if (w->format == TABLE_TSV)
		table_add_names(&w->columns, &w->out);
	else if (w->format == TABLE_JSON)
		buffer_printf(&w->out, "{\"version\": 1, \"%s\": [", name);
}

static void add_text(struct table_writer *w, const char *text)
{
	if (w->format == TABLE_TEXT)
		buffer_add_clean(&w->cells.text, text);
	else
		table_add_label(&w->cells.text, w->format, text);
	table_end_cell(&w->cells);
}

void table_writer_text(struct table_writer *w, const char *text)
{
	w->left[w->cells.count] = true;
	add_text(w, text);
}

void table_writer_name(struct table_writer *w, size_t number, const char *joined)
{
	if (joined)
		add_text(w, joined);
	else
		table_writer_count(w, number);
}

void table_writer_count(struct table_writer *w, size_t value)
{
	buffer_printf(&w->cells.text, "%zu", value);
	table_end_cell(&w->cells);
}

void table_writer_offset(struct table_writer *w, long long value)
{
	buffer_printf(&w->cells.text, "%lld", value);
	table_end_cell(&w->cells);
}

void table_writer_none(struct table_writer *w)
{
	buffer_add_string(&w->cells.text, is_json(w) ? "null" : "");
	table_end_cell(&w->cells);
}

void table_writer_figure(struct table_writer *w, double value)
{
	if (isnan(value)) {
		table_writer_none(w);
		return;
	}
	if (w->format == TABLE_TEXT)
		buffer_printf(&w->cells.text, "%.3f", value);
	else
		buffer_add_float(&w->cells.text, (float)value);
	table_end_cell(&w->cells);
}

static bool keep_text(struct table_writer *w)
{
	const struct table_row *cells = &w->cells;
	bool ok = !cells->text.failed;
	for (size_t i = 0, start = 0; i < cells->count && ok; start = cells->ends[i++]) {
		char *cell =
		    strndup(cells->text.data ? cells->text.data + start : "", cells->ends[i] - start);
		ok = cell && string_list_add(&w->text, cell);
		free(cell);
	}
	return ok;
}

void table_writer_end_row(struct table_writer *w)
{
	if (w->format == TABLE_TEXT) {
		w->out.failed |= !keep_text(w);
	} else if (w->format == TABLE_TSV) {
		table_add_tsv(&w->columns, &w->cells, &w->out);
	} else {
		if (w->format == TABLE_JSON)
			buffer_add_string(&w->out, w->rows ? ",\n  " : "\n  ");
		table_add_object(&w->columns, &w->cells, &w->out);
		if (w->format == TABLE_JSONL)
			buffer_add_char(&w->out, '\n');
	}
	w->rows++;
	table_row_clear(&w->cells);
}

static void add_pretty(struct table_writer *w)
{
	size_t count = w->columns.count;
	struct column columns[TABLE_COLUMNS] = {0};
	for (size_t i = 0; i < count; i++) {
		columns[i].left = w->left[i];
		column_measure(&columns[i], w->columns.names[i]);
	}
	for (size_t i = 0; i < w->text.count; i++)
		column_measure(&columns[i % count], w->text.items[i]);
	for (size_t i = 0; i < count; i++)
		column_add(&columns[i], &w->out, w->columns.names[i]);
	columns_end(&w->out);
	for (size_t i = 0; i < w->text.count; i++) {
		column_add(&columns[i % count], &w->out, w->text.items[i]);
		if (i % count == count - 1)
			columns_end(&w->out);
	}
}

void table_writer_end(struct table_writer *w)
{
	if (w->format == TABLE_TEXT)
		add_pretty(w);
	else if (w->format == TABLE_JSON)
		buffer_add_string(&w->out, w->rows ? "\n]}\n" : "]}\n");
}

void table_writer_release(struct table_writer *w)
{
	table_row_release(&w->cells);
	string_list_release(&w->text);
	buffer_release(&w->out);
}
