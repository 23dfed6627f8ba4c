/* What the files of attn compare's tables have in common. */
#ifndef ATTN_CMD_COMPARE_INTERNAL_H
#define ATTN_CMD_COMPARE_INTERNAL_H

#include "cmd/compare_output.h"

/* A line: of a head, or of a cell of one. */
struct compare_line {
	enum difference_kind kind;
	size_t layer, batch, head, query, column, rank;
	const struct difference *head_difference; /* or */
	const struct cell_difference *cell;
};

/* Whether its columns are keys, and not components. */
static inline bool line_has_keys(const struct compare_line *line)
{
	return line->kind == DIFFERENCE_WEIGHTS || line->kind == DIFFERENCE_SCORES;
}

/* Make the lines those of all heads, one kind after the other. */
enum attn_status compare_table_heads(struct compare_table *t, struct attn_error *err);

/* Append the table for people. */
void compare_table_text(struct buffer *text, const struct compare_table *t);

#endif
