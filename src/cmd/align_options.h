/* The options of attn align. */
#ifndef ATTN_CMD_ALIGN_OPTIONS_H
#define ATTN_CMD_ALIGN_OPTIONS_H

#include "cmd/align_draw.h"
#include "cmd/align_output.h"
#include "cmd/align_scores.h"

struct align_options {
	bool help;
	struct align_request request;
	struct inputs given; /* a model's options and settings alone: each input has a copy */
	const char *list;    /* a file with a path a line; NULL: none */
	bool together;
	const char *output; /* of links; NULL: standard output, unless there are scores */
	const char *draw;   /* a picture; NULL: none */
	const char *columns;
	enum table_format format; /* as given */
	struct figure_options figure;
	struct align_output links;
	struct align_scores scores;

	/* Private. */
	bool method, first_given;
	const char *picture; /* the last option that is of pictures, or NULL */
};

extern const char align_usage[], align_usage_end[];

/* Read the command line: argv[optind] is then the first operand.  Formats are settled, and what cannot go
 * together is ATTN_USAGE. */
enum attn_status align_options_parse(struct align_options *a, const struct command *self, int argc,
				     char **argv, struct attn_error *err);
void align_options_release(struct align_options *a); /* safe on a zeroed one */

#endif
