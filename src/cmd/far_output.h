/* Printing what windows would lose, and links between tokens that are far apart. */
#ifndef ATTN_CMD_FAR_OUTPUT_H
#define ATTN_CMD_FAR_OUTPUT_H

#include "cmd/inputs.h"
#include "cmd/ranking_output.h"
#include "cmd/table.h"
#include "consumers/far.h"

struct far_table {
	const struct inputs *in;
	const struct selection *selection; /* which layers, batch items and heads */
	const struct far_consumer *far;
	const struct far_options *options;
	bool links;                          /* a line a link, else one a head and window */
	const struct table_columns *columns; /* of far_columns */
	enum table_format format;            /* settled: not TABLE_DEFAULT */
};

/* The columns of losses, or of links, of which `list` (NULL: all) are chosen: ATTN_USAGE as
 * table_choose. */
enum attn_status far_columns(struct table_columns *t, const struct rows_info *info, bool links,
			     const char *list, struct attn_error *err);

/* On standard output.  Text has a line a head for losses, with a column for each window and the head's
 * strongest link. */
enum attn_status far_write(const struct far_table *view, const struct command *self, struct attn_error *err);

#endif
