/* From operands to a source of weight rows: what every command that takes an
 * INPUT or a RESULT begins with. */
#ifndef ATTN_CMD_INPUTS_H
#define ATTN_CMD_INPUTS_H

#include <stdbool.h>

#include "attention/plan.h"
#include "cmd/options.h"
#include "input/problem.h"
#include "result/subject.h"

struct inputs {
	struct bundle bundle;         /* all operands; settings of the command line go in first */
	struct problem problem;       /* where rows are computed; its names have moved to `rows` */
	struct plan plan;             /* where they have been planned */
	struct named_rows rows;       /* what is shown; no source until inputs_plan */
	struct row_source *all;       /* the source of all rows: that of `rows`, unless that is a view */
	struct rows_info whole;       /* with a view: the names of all rows */
	struct subject subject;       /* what the rows are of */
	const struct rows_info *info; /* of `rows` */
	char *note;                   /* what the view does, for pictures; owned; or NULL */
	struct bundle *shards; /* the shards of a run instead, owned: then the bundle has settings only */
	size_t shard_count;
	struct string_list shown_queries, shown_keys; /* labels as people read them */
};

/* Take an OPTION_SETTING option into the bundle. */
enum attn_status inputs_setting(struct inputs *in, const struct options *o, struct attn_error *err);

/* Read the operands argv[0..argc) (none is ATTN_USAGE), and check them: nothing is computed
 * before rows are streamed.  Notes go to standard error. */
enum attn_status inputs_open(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct attn_error *err);

/* The same for operands that are the shards of a run, of which `want` is wanted. */
enum attn_status inputs_open_shards(struct inputs *in, const struct command *self, int argc, char **argv,
				    struct rows_want want, struct attn_error *err);

/* Make in->rows a source of the selected heads (NULL: of all) with what is wanted.
 * ATTN_USAGE for scores of rows that are read. */
enum attn_status inputs_plan(struct inputs *in, const struct rows_selection *selection, struct rows_want want,
			     struct attn_error *err);

/* The same for the weights of a selection. */
struct selection;
enum attn_status plan_weights(struct inputs *in, const struct selection *selection, struct attn_error *err);

/* Show *view instead, which wraps what was shown before and becomes in->rows. */
void inputs_show(struct inputs *in, struct named_rows *view);
void inputs_release(struct inputs *in); /* safe on a zeroed one */

/* What to call a head in messages, tables and titles: "3", or with its name
 * "3 (coreference)", into text[size]. */
const char *head_text(const struct rows_info *info, size_t head, char *text, size_t size);

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
