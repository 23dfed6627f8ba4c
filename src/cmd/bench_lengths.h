/* attn bench --lengths: the cost of attention as length grows, planned and measured. */
#ifndef ATTN_CMD_BENCH_LENGTHS_H
#define ATTN_CMD_BENCH_LENGTHS_H

#include "cmd/bench_measure.h"
#include "cmd/bench_work.h"
#include "cmd/growth.h"

enum {
	BENCH_KINDS = 8,         /* at most */
	BENCH_SHAPES = 64,       /* likewise */
	BENCH_LONGEST = 1 << 24, /* tokens */
	BENCH_WIDEST = 1 << 16,  /* heads, and the size of one */
};

struct bench_lengths {
	size_t lengths[GROWTH_LENGTHS], count; /* count 0: not asked for */
	struct bench_kind kinds[BENCH_KINDS];
	size_t kind_count;
	const struct bench_shape *shapes; /* whose tokens are none */
	size_t shape_count;
	const bool *modes; /* (BENCH_COUNT) */
	const char *model; /* instead of shapes, modes and kinds; or NULL */
	bool dry_run;      /* plan alone */
};

/* Take --kind: names with commas between them. */
enum attn_status bench_kinds_option(struct bench_lengths *b, const struct options *o, struct attn_error *err);

/* Fill g->curves, and write them to `out` (NULL: nowhere) as they are measured by `meter`. */
enum attn_status bench_lengths_run(const struct bench_lengths *b, struct bench_meter *meter, struct growth *g,
				   FILE *out, struct attn_error *err);

#endif
