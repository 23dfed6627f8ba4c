/* Printing groups of similar heads. */
#ifndef ATTN_CMD_SIMILAR_OUTPUT_H
#define ATTN_CMD_SIMILAR_OUTPUT_H

#include "cmd/heads_output.h"
#include "consumers/head_similarity.h"

/* The columns of groups, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status similar_columns(struct table_columns *t, const char *list, struct attn_error *err);

/* Group the heads of view->heads that `similarity` compared, those within `limit` of each other, and
 * write them on standard output. */
enum attn_status similar_write(const struct heads_table *view, const struct head_similarity *similarity,
			       double limit, const struct command *self, struct attn_error *err);

#endif
