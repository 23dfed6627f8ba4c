/* Printing rankings: text for people, TSV, JSON and JSON lines for programs. */
#ifndef ATTN_CMD_RANKING_OUTPUT_H
#define ATTN_CMD_RANKING_OUTPUT_H

#include "cmd/inputs.h"
#include "cmd/table.h"
#include "consumers/ranking.h"

enum table_format {
	TABLE_DEFAULT, /* text on a terminal, else TSV */
	TABLE_TEXT,
	TABLE_TSV,
	TABLE_JSON,
	TABLE_JSONL,
};

/* OPTION_TSV and its kind. */
enum table_format table_format_of(int option);

/* --columns, which is for tables of programs: TABLE_DEFAULT is one then, and ATTN_USAGE where
 * --text was asked for. */
enum attn_status table_format_columns(enum table_format *format, const char *columns, struct attn_error *err);

/* The columns of a ranking, of which `list` (NULL: all) are chosen: ATTN_USAGE as table_choose. */
enum attn_status ranking_columns(struct table_columns *t, const struct rows_info *info, const char *list,
				 struct attn_error *err);

/* What TABLE_DEFAULT means for standard output. */
enum table_format table_format_settle(enum table_format format);

/* What tables of any format write for a label, and for a head or layer: its number, or the name of
 * what is joined (NULL: nothing is). */
void table_add_label(struct buffer *text, enum table_format format, const char *label);
void table_add_number_or_name(struct buffer *text, enum table_format format, size_t number, const char *name);

struct ranking_table {
	const struct inputs *in;
	struct ranking *ranking;
	const struct selection *selection; /* which layers, batch items and heads */
	bool mean;                         /* print the mean over heads, too */
	bool apart;                        /* text has an empty line between the lists of a head */
	const struct table_columns *columns;
	enum table_format format; /* settled: not TABLE_DEFAULT */
	size_t top;               /* print at most so many of each list */
};

/* ATTN_USAGE for a --min-distance (0: none) of rows that have no distances: cross-attention's. */
enum attn_status min_distance_check(size_t distance, const struct rows_info *info, struct attn_error *err);

/* Write into a file that appears as a whole, and say so; "-" is standard output.
 * Text has bars where it goes to a terminal. */
enum attn_status ranking_write(const struct command *self, const char *path, const struct ranking_table *view,
			       struct attn_error *err);

#endif
