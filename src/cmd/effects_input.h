/* Effects of heads of an input, which has no layers behind. */
#ifndef ATTN_CMD_EFFECTS_INPUT_H
#define ATTN_CMD_EFFECTS_INPUT_H

#include "cmd/effects.h"

/* A line for each chosen head and batch item: what its context is of the contexts of all heads, and what its
 * part of the output is of the output, both as lengths over all queries.  ATTN_USAGE for stored results, and
 * where there are no values. */
enum attn_status effects_of_input(struct effects *e, struct inputs *in, const struct selection *selected,
				  const struct command *self, struct attn_error *err);

#endif
