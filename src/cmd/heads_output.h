/* Printing statistics of heads: an aligned table for people, TSV, JSON and JSON lines for programs. */
#ifndef ATTN_CMD_HEADS_OUTPUT_H
#define ATTN_CMD_HEADS_OUTPUT_H

#include "cmd/inputs.h"
#include "cmd/ranking_output.h"
#include "cmd/table.h"
#include "consumers/head_statistics.h"

struct heads_table {
	const struct inputs *in;
	const struct selection *selection; /* which layers, batch items and heads */
	const struct head_consumer *heads;
	const struct table_columns *columns;
	enum table_format format; /* settled: not TABLE_DEFAULT */
	bool rule;                /* text has the rule of each pattern */
};

/* The columns, with `rule` among those that are written unless asked for; of them `list` (NULL:
 * all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status heads_columns(struct table_columns *t, const struct rows_info *info, bool rule,
			       const char *list, struct attn_error *err);

/* A line for each chosen head on standard output. */
enum attn_status heads_write(const struct heads_table *view, const struct command *self,
			     struct attn_error *err);

#endif
