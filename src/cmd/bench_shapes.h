/* attn bench: how fast shapes, or a model, are. */
#ifndef ATTN_CMD_BENCH_SHAPES_H
#define ATTN_CMD_BENCH_SHAPES_H

#include <stdio.h>

#include "cmd/bench_measure.h"
#include "cmd/bench_work.h"
#include "cmd/ranking_output.h"

struct bench_shapes {
	const struct bench_shape *shapes; /* (count) */
	size_t count;
	const bool *modes; /* (BENCH_COUNT) */
	bool causal;
	const char *model;        /* instead of shapes and modes; or NULL */
	size_t tokens;            /* of a model; 0: 512 */
	enum table_format format; /* settled: text, TSV or JSON */
	struct bench_meter *meter;
};

/* Measure, and write the table to `out` line by line. */
enum attn_status bench_shapes_run(const struct bench_shapes *b, FILE *out, struct attn_error *err);

#endif
