/* Printing pairs and the scores of heads: text for people, TSV, JSON and JSON lines for programs. */
#ifndef ATTN_CMD_PAIRS_OUTPUT_H
#define ATTN_CMD_PAIRS_OUTPUT_H

#include "cmd/pairs_list.h"
#include "cmd/ranking_output.h"

struct pairs_table {
	const struct inputs *in;
	const struct pairs_list *pairs;
	const struct pairs_consumer *found;
	const struct selection *selection;
	bool score;               /* heads by how they score, else pairs by their heads */
	size_t top;               /* at most so many heads of each pair or relation */
	enum table_format format; /* settled */
	struct table_columns *columns;
};

/* The columns of either table, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status pairs_columns(struct table_columns *t, const struct rows_info *info, bool relations,
			       bool score, const char *list, struct attn_error *err);

/* Print on standard output. */
enum attn_status pairs_write(const struct command *self, const struct pairs_table *view,
			     struct attn_error *err);

#endif
