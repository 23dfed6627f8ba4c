/* A whole table in the making, in any of its formats: cells are added one by one, then the row is
 * ended, and at last the table is written. */
#ifndef ATTN_CMD_TABLE_WRITER_H
#define ATTN_CMD_TABLE_WRITER_H

#include "cmd/ranking_output.h"

struct table_writer {
	struct table_columns columns;
	enum table_format format; /* settled */
	size_t rows;
	struct buffer out;

	/* Private. */
	struct table_row cells;
	struct string_list text;  /* the cells of all rows, for people */
	bool left[TABLE_COLUMNS]; /* has texts */
};

/* Before the first cell, once columns and format are known: `name` is that of the rows in JSON. */
void table_writer_begin(struct table_writer *w, const char *name);

/* Append a cell: a text; a number, or the name of what is joined, unless that is NULL; a number, with or
 * without a sign; a figure, of which NAN is none; or nothing. */
void table_writer_text(struct table_writer *w, const char *text);
void table_writer_name(struct table_writer *w, size_t number, const char *joined);
void table_writer_count(struct table_writer *w, size_t value);
void table_writer_offset(struct table_writer *w, long long value);
void table_writer_figure(struct table_writer *w, double value);
void table_writer_none(struct table_writer *w);
void table_writer_end_row(struct table_writer *w);

/* After the last row: complete w->out, which has failed where there was no memory. */
void table_writer_end(struct table_writer *w);
void table_writer_release(struct table_writer *w); /* safe on a zeroed one */

#endif
