/* Printing rankings: text for people, TSV, JSON and JSON lines for programs. */
#ifndef ATTN_CMD_RANKING_OUTPUT_H
#define ATTN_CMD_RANKING_OUTPUT_H

#include <stdio.h>

#include "cmd/inputs.h"
#include "sinks/ranking.h"

enum table_format {
	TABLE_DEFAULT, /* text on a terminal, else TSV */
	TABLE_TEXT,
	TABLE_TSV,
	TABLE_JSON,
	TABLE_JSONL,
};

/* OPTION_TSV and its kind. */
enum table_format table_format_of(int option);

/* What TABLE_DEFAULT means for standard output. */
enum table_format table_format_settle(enum table_format format);

struct ranking_view {
	const struct inputs *in;
	struct ranking_sink *ranking;
	const struct selection *selection; /* which layers, batch items and heads */
	bool mean;                         /* print the mean over heads, too */
	enum table_format format;          /* settled: not TABLE_DEFAULT */
	bool bars;                         /* text has bars: it is for a terminal */
	size_t top;                        /* print at most so many of each list */
};

/* Write to the stream, which the caller flushes and checks.  Returns the number
 * of rows in *rows (which may be NULL).  ATTN_FAILED: out of memory. */
enum attn_status ranking_print(FILE *stream, const struct ranking_view *view, size_t *rows,
			       struct attn_error *err);

#endif
