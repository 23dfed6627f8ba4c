/* From operands to a source of weight rows: what every command that takes an
 * INPUT or a RESULT begins with. */
#ifndef ATTN_CMD_INPUTS_H
#define ATTN_CMD_INPUTS_H

#include <stdbool.h>

#include "attention/engine.h"
#include "attention/rows.h"
#include "cmd/options.h"
#include "input/bundle.h"
#include "input/problem.h"

struct inputs {
	struct bundle bundle;      /* all operands; settings of the command line go in first */
	bool dry;                  /* set before opening: only check; `source` then has no rows to read */
	bool stored;               /* a stored result, else a problem for the engine */
	struct problem problem;    /* unless stored */
	struct row_source checked; /* the source where `dry` */
	struct engine *engine;     /* unless stored; freed through `source` */
	struct row_source *source; /* the rows */
	struct row_source *whole;  /* the same, unless `source` is a view of it (cmd/view_options.h) */
	char *note;                /* what the view does, for pictures; owned; or NULL */
	struct bundle *parts;      /* the parts of a run instead, owned: then the bundle has settings only */
	size_t part_count;
	const struct rows_info *info;
	struct string_list shown_queries, shown_keys; /* labels as people read them */
};

/* Take an OPTION_SETTING option into the bundle. */
enum attn_status inputs_setting(struct inputs *in, const struct options *o, struct attn_error *err);

/* Read the operands argv[0..argc) (none is ATTN_USAGE), check them, and open the
 * source; notes go to standard error.  `want` is for the engine; with a stored
 * result scores are ATTN_USAGE. */
enum attn_status inputs_open(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct engine_want want, struct attn_error *err);
/* The same for operands that are the parts of a run: `problem` then has what a result
 * is finished with. */
enum attn_status inputs_open_parts(struct inputs *in, const struct command *self, int argc, char **argv,
				   struct engine_want want, struct attn_error *err);
void inputs_release(struct inputs *in); /* safe on a zeroed one */

/* What to call a head in messages, tables and titles: "3", or with its name
 * "3 (coreference)", into text[size]. */
const char *head_text(const struct rows_info *info, size_t head, char *text, size_t size);

/* Turn "0,3-5" (or, for heads, names) into a bool array that the caller frees.
 * NULL list: *out is NULL, which selects all.  `first` is the number of item 0.
 * ATTN_USAGE for what is malformed or out of range. */
enum attn_status selection_parse(const char *option, const char *list, size_t first, size_t count,
				 const struct string_list *names, bool **out, struct attn_error *err);

/* --head, --layer and --batch of a command, as given. */
struct selection_options {
	const char *heads, *layers, *batch;
};

struct selection {
	bool *heads, *layers, *batch, *queries; /* owned, or NULL for all */
};

/* Take OPTION_HEAD, OPTION_LAYER or OPTION_BATCH. */
void selection_option(struct selection_options *s, int id, const char *value);
enum attn_status selection_open(struct selection *s, const struct selection_options *options,
				const struct rows_info *info, struct attn_error *err);
void selection_release(struct selection *s);
struct rows_selection selection_rows(const struct selection *s);

#endif
