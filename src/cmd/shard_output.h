/* attn run --shard: one part of a run, for attn merge. */
#ifndef ATTN_CMD_SHARD_OUTPUT_H
#define ATTN_CMD_SHARD_OUTPUT_H

#include "cmd/run_options.h"

/* Compute the part's rows and write them, as far as `want` goes, with what merging
 * needs, to DIR/part-I-of-N.safetensors. */
enum attn_status shard_write(const struct command *self, const struct inputs *in, const struct run_options *r,
			     struct engine_want want, struct attn_error *err);

#endif
