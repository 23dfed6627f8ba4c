/* Rows of a table for programs: cells under names, of which --columns chooses some and their
 * order. */
#ifndef ATTN_CMD_TABLE_H
#define ATTN_CMD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/error.h"

enum {
	TABLE_COLUMNS = 32 /* at most */
};

/* The columns of a table, and which of them are written. */
struct table_columns {
	const char *names[TABLE_COLUMNS]; /* not owned */
	size_t count;
	size_t chosen[TABLE_COLUMNS], chosen_count;
};

/* Append a column, which is chosen until table_choose says otherwise. */
void table_add_column(struct table_columns *t, const char *name);

/* Append one that is written only where --columns asks for it. */
void table_add_hidden(struct table_columns *t, const char *name);

/* Take the value of --columns, "key_token,weight" (NULL: all columns as they are).  ATTN_USAGE for
 * a name that is not among the columns, with a suggestion, or one that comes more than once. */
enum attn_status table_choose(struct table_columns *t, const char *list, struct attn_error *err);

/* A row in the making: the text of each cell, in the order of the columns. */
struct table_row {
	struct buffer text; /* owned */
	size_t ends[TABLE_COLUMNS], count;
};

void table_row_clear(struct table_row *row); /* keeps the memory */
void table_row_release(struct table_row *row);

/* What has been added to row->text since the last cell is the next one. */
void table_end_cell(struct table_row *row);

/* Append the names in their order, or a row: with tabs and a newline, or as an object, whose cells
 * are JSON already and whose empty ones are left out. */
void table_add_names(const struct table_columns *t, struct buffer *out);
void table_add_tsv(const struct table_columns *t, const struct table_row *row, struct buffer *out);
void table_add_object(const struct table_columns *t, const struct table_row *row, struct buffer *out);

#endif
