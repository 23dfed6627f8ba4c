/* Tables of attn compare: a line for each head, or for each of the cells that differ most. */
#ifndef ATTN_CMD_COMPARE_OUTPUT_H
#define ATTN_CMD_COMPARE_OUTPUT_H

#include "cmd/compare_sides.h"
#include "cmd/ranking_output.h"
#include "consumers/top_differences.h"

struct compare_table {
	const struct sides *sides;
	const struct difference_consumer *differences;
	const struct top_differences *top; /* its cells are listed instead of heads; NULL: heads */
	enum table_format format;          /* TABLE_DEFAULT: as ranking tables */
	struct table_columns columns;

	/* Private. */
	unsigned char ids[TABLE_COLUMNS];
	struct compare_line *lines; /* owned */
	size_t line_count;
};

/* The columns, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status compare_table_init(struct compare_table *t, const char *list, struct attn_error *err);
void compare_table_release(struct compare_table *t); /* safe on a zeroed one */

/* After streaming: print it. */
enum attn_status compare_table_write(struct compare_table *t, const struct command *self,
				     struct attn_error *err);

/* ATTN_NO_MATCH where something is beyond the tolerance: the message says how much, and where the
 * largest difference is. */
enum attn_status compare_judge(struct compare_table *t, const struct tolerance *tolerance,
			       struct attn_error *err);

#endif
