/* attn run --dry-run --lengths: what the same attention would cost on other lengths. */
#ifndef ATTN_CMD_RUN_LENGTHS_H
#define ATTN_CMD_RUN_LENGTHS_H

#include "cmd/growth.h"
#include "cmd/run_options.h"

/* Plan what `want` is of the opened input or model for each of r->lengths tokens, print the table, and plot
 * it where r->plot says so.  ATTN_USAGE for what has a length of its own: stored results, cross-attention,
 * masks. */
enum attn_status run_lengths(const struct run_options *r, const struct inputs *in, struct rows_want want,
			     const struct command *self, struct attn_error *err);

#endif
