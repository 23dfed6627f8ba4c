/* attn run --dry-run: what a run would cost. */
#ifndef ATTN_CMD_COST_H
#define ATTN_CMD_COST_H

#include <stdint.h>

#include "attention/plan.h"
#include "cmd/run_options.h"

struct cost_file {
	char *path;
	uint64_t bytes;
	bool exact; /* else about */
};

struct cost {
	struct plan_cost plan;
	size_t inputs, results, rankings, grids, program; /* bytes of memory */
	struct cost_file *files;
	size_t file_count;
};

/* Add a file of so many bytes, which is exact or an estimate; `path` is copied.  ATTN_FAILED:
 * no memory. */
enum attn_status cost_add_file(struct cost *cost, const char *path, uint64_t bytes, bool exact,
			       struct attn_error *err);

/* Work out the rest and print it: text on a terminal, else TSV, or JSON. */
enum attn_status cost_print(struct cost *cost, const struct command *self, const struct inputs *in,
			    const struct run_options *r, struct attn_error *err);
void cost_release(struct cost *cost); /* safe on a zeroed one */

#endif
