#include "cmd/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/strings.h"

void table_add_column(struct table_columns *t, const char *name)
{
	t->chosen[t->chosen_count++] = t->count;
	table_add_hidden(t, name);
}

void table_add_hidden(struct table_columns *t, const char *name)
{
	t->names[t->count++] = name;
}

static size_t find_column(const struct table_columns *t, const char *name)
{
	size_t i = 0;
	while (i < t->count && strcmp(t->names[i], name) != 0)
		i++;
	return i;
}

static enum attn_status fail_column(const struct table_columns *t, const char *name, struct attn_error *err)
{
	struct buffer names = BUFFER_INIT;
	const char *near = NULL;
	size_t nearest = strlen(name) / 2 + 1;
	for (size_t i = 0; i < t->count; i++) {
		size_t distance = edit_distance(name, t->names[i]);
		if (distance < nearest) {
			nearest = distance;
			near = t->names[i];
		}
		buffer_printf(&names, "%s%s", i ? ", " : "", t->names[i]);
	}
	enum attn_status status =
	    near ? attn_fail(err, ATTN_USAGE,
			     "'--columns' has '%s', which is none of the table's, did you mean '%s'", name,
			     near)
		 : attn_fail(err, ATTN_USAGE, "'--columns' has '%s', expected some of %s", name,
			     names.failed ? "the table's" : names.data);
	buffer_release(&names);
	return status;
}

static enum attn_status choose_one(struct table_columns *t, const char *name, struct attn_error *err)
{
	size_t column = find_column(t, name);
	if (column == t->count)
		return fail_column(t, name, err);
	for (size_t i = 0; i < t->chosen_count; i++)
		if (t->chosen[i] == column)
			return attn_fail(err, ATTN_USAGE, "'--columns' has '%s' twice, expected each once",
					 name);
	t->chosen[t->chosen_count++] = column;
	return ATTN_OK;
}

enum attn_status table_choose(struct table_columns *t, const char *list, struct attn_error *err)
{
	if (!list)
		return ATTN_OK;
	char *copy = strdup(list), *rest = copy, *name;
	enum attn_status status = copy ? ATTN_OK : attn_fail_memory(err);
	t->chosen_count = 0;
	while (status == ATTN_OK && (name = strsep(&rest, ",")))
		status = choose_one(t, name, err);
	free(copy);
	return status;
}

void table_row_clear(struct table_row *row)
{
	buffer_clear(&row->text);
	row->count = 0;
}

void table_row_release(struct table_row *row)
{
	buffer_release(&row->text);
	row->count = 0;
}

void table_end_cell(struct table_row *row)
{
	row->ends[row->count++] = row->text.length;
}

void table_add_names(const struct table_columns *t, struct buffer *out)
{
	for (size_t i = 0; i < t->chosen_count; i++) {
		buffer_add_string(out, i ? "\t" : "");
		buffer_add_string(out, t->names[t->chosen[i]]);
	}
	buffer_add_char(out, '\n');
}

/* The text of a cell, which is not terminated. */
static const char *cell_text(const struct table_row *row, size_t column, size_t *length)
{
	size_t start = column ? row->ends[column - 1] : 0;
	*length = row->ends[column] - start;
	return row->text.data ? row->text.data + start : "";
}

void table_add_tsv(const struct table_columns *t, const struct table_row *row, struct buffer *out)
{
	out->failed |= row->text.failed;
	for (size_t i = 0, length; i < t->chosen_count && !out->failed; i++) {
		const char *cell = cell_text(row, t->chosen[i], &length);
		if (i)
			buffer_add_char(out, '\t');
		buffer_add(out, cell, length);
	}
	buffer_add_char(out, '\n');
}

void table_add_object(const struct table_columns *t, const struct table_row *row, struct buffer *out)
{
	const char *before = "{\"";
	out->failed |= row->text.failed;
	for (size_t i = 0, length; i < t->chosen_count && !out->failed; i++) {
		const char *cell = cell_text(row, t->chosen[i], &length);
		if (length == 0)
			continue;
		buffer_add_string(out, before);
		buffer_add_string(out, t->names[t->chosen[i]]);
		buffer_add_string(out, "\": ");
		buffer_add(out, cell, length);
		before = ", \"";
	}
	buffer_add_string(out, before[0] == '{' ? "{}" : "}");
}
