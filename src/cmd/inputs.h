/* From operands to a source of weight rows: what every command that takes an
 * INPUT or a RESULT begins with. */
#ifndef ATTN_CMD_INPUTS_H
#define ATTN_CMD_INPUTS_H

#include <stdbool.h>

#include "attention/plan.h"
#include "cmd/model_input.h"
#include "cmd/options.h"
#include "input/problem.h"
#include "result/arrays.h"
#include "result/subject.h"
#include "result/view.h"

struct inputs {
	struct model_options model_options; /* a model instead of operands, as given */
	struct model_input model;           /* and opened */
	struct bundle bundle;               /* all operands; settings of the command line go in first */
	struct problem problem;             /* where rows are computed; its names have moved to `rows` */
	struct plan plan;                   /* where they have been planned */
	struct named_rows rows;             /* what is shown; no source until inputs_plan */
	struct row_source *all;       /* the source of all rows: that of `rows`, unless that is a view */
	struct rows_info whole;       /* with a view: the names of all rows */
	struct subject subject;       /* what the rows are of */
	const struct rows_info *info; /* of `rows` */
	char *note;                   /* what the view does, for pictures; owned; or NULL */
	struct bundle *shards; /* the shards of a run instead, owned: then the bundle has settings only */
	size_t shard_count;
	bool told;       /* set before: it is opened the second time, and its notes were said */
	char **operands; /* as they were given */
	int operand_count;
	struct string_list shown_queries, shown_keys; /* labels as people read them */
};

/* Take an OPTION_SETTING option into the bundle. */
enum attn_status inputs_setting(struct inputs *in, const struct options *o, struct attn_error *err);

/* The same for the option --NAME of a role; NULL is "true". */
enum attn_status inputs_set(struct inputs *in, const char *name, enum role_id role, const char *value,
			    struct attn_error *err);

/* Take an option that is_model_option. */
enum attn_status inputs_model_option(struct inputs *in, int id, const struct options *o,
				     struct attn_error *err);

/* Read the operands argv[0..argc) (none is ATTN_USAGE), and check them: nothing is computed
 * before rows are streamed.  Notes go to standard error. */
enum attn_status inputs_open(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct attn_error *err);

/* The two halves of that for operands, one or more: settings may be taken in between. */
enum attn_status inputs_read(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct attn_error *err);
enum attn_status inputs_open_read(struct inputs *in, const struct command *self, struct attn_error *err);

/* Whether what was read is contexts, scores or outputs alone, and opening that: see arrays_open. */
bool inputs_are_arrays(const struct inputs *in);
enum attn_status inputs_open_arrays(struct inputs *in, const struct command *self,
				    const struct rows_info *like, const struct arrays_want *want,
				    struct attn_error *err);

/* The same for tensors that are in in->bundle, of a problem, and no operands. */
enum attn_status inputs_open_made(struct inputs *in, const struct command *self, struct attn_error *err);

/* The same for operands that are the shards of a run, of which `want` is wanted. */
enum attn_status inputs_open_shards(struct inputs *in, const struct command *self, int argc, char **argv,
				    struct rows_want want, struct attn_error *err);

/* ATTN_USAGE where writing to `path` would replace a file that an operand names; to be asked
 * before anything is made. */
enum attn_status inputs_spare(const struct inputs *in, const char *path, struct attn_error *err);

/* Make in->rows a source of the selected heads (NULL: of all) with what is wanted.
 * ATTN_USAGE for scores of rows that are read. */
enum attn_status inputs_plan(struct inputs *in, const struct rows_selection *selection, struct rows_want want,
			     struct attn_error *err);

/* Of a model, go on with its one selected layer as if that had been the input, for what needs more of
 * it than rows; `option` is that, in ATTN_USAGE where not one layer is selected.  Else nothing. */
struct selection;
enum attn_status inputs_focus(struct inputs *in, struct selection *selection, const char *option,
			      struct attn_error *err);

/* Show what weights make of values, as --norms says: ATTN_USAGE where there are none. */
enum attn_status inputs_show_norms(struct inputs *in, const struct selection *selection,
				   struct attn_error *err);

/* Plan the weights of a selection, or what --norms makes of them. */
enum attn_status plan_weights(struct inputs *in, const struct selection *selection, struct attn_error *err);

/* Show *view instead, which wraps what was shown before and becomes in->rows. */
void inputs_show(struct inputs *in, struct named_rows *view);
void inputs_release(struct inputs *in); /* safe on a zeroed one */

/* What to call a head in messages, tables and titles: "3", or with its name
 * "3 (coreference)", or "mean of heads 3, 7", into text[size]. */
const char *head_text(const struct rows_info *info, size_t head, char *text, size_t size);

/* "head 3 (coreference)", or "mean of heads 3, 7"; "layer 1", or "mean of 12 layers". */
const char *head_title(const struct rows_info *info, size_t head, char *text, size_t size);
const char *layer_title(const struct rows_info *info, size_t layer, char *text, size_t size);

/* --head, --layer, --batch and --mean of a command, as given. */
struct selection_options {
	const char *heads, *layers, *batch;
	bool mean;
	enum layers_over over; /* --rollout, --flow */
	bool norms;            /* --norms */
};

struct selection {
	bool *heads, *layers, *batch, *queries; /* owned, or NULL for all */

	/* What selection_join makes one of; and whether the largest weights do. */
	bool join_heads, join_layers, largest;
	bool every_head; /* no list of heads was given */
	bool norms;      /* weights are those of values, too: by plan_weights */
	enum layers_over over;
};

/* --head, --layer and --mean in a table of options and a usage. */
#define SELECTION_OPTIONS                                                                                    \
	{"head", required_argument, NULL, OPTION_HEAD}, {"layer", required_argument, NULL, OPTION_LAYER},    \
	    {"norms", no_argument, NULL, OPTION_NORMS}, {"rollout", no_argument, NULL, OPTION_ROLLOUT},      \
	    {"flow", no_argument, NULL, OPTION_FLOW},                                                        \
	{                                                                                                    \
		"mean", no_argument, NULL, OPTION_MEAN                                                       \
	}

static inline bool is_selection_option(int id)
{
	return id == OPTION_HEAD || id == OPTION_LAYER || id == OPTION_BATCH || id == OPTION_MEAN ||
	       id == OPTION_ROLLOUT || id == OPTION_FLOW || id == OPTION_NORMS;
}

/* How --help tells of those that go over layers. */
#define OVER_LAYERS_USAGE                                                                                    \
	"      --norms           weights by the lengths of values\n"                                         \
	"      --rollout, --flow all layers as one\n"

/* Take one of these, or OPTION_BATCH. */
void selection_option(struct selection_options *s, int id, const char *value);

/* Heads are chosen by number or name; "all", and for heads and layers "mean" and "max", which
 * join all, unless a head is called so. */
enum attn_status selection_open(struct selection *s, const struct selection_options *options,
				const struct rows_info *info, struct attn_error *err);
void selection_release(struct selection *s);

/* How many of `count` are chosen (NULL: all). */
size_t selection_count(const bool *chosen, size_t count);

/* "--head mean" or the like: the option and its value that join heads or layers, into
 * text[size]; NULL: none do. */
const char *selection_joins(const struct selection *s, const struct selection_options *options, char *text,
			    size_t size);

/* Whether each head of each layer is chosen, and none joined. */
bool selection_is_whole(const struct selection *s, const struct rows_shape *shape);

/* Whether contexts of the chosen layers can be given: each of them whole, with all its heads. */
bool selection_has_contexts(const struct selection *s, const struct rows_shape *shape);

/* Show what is joined in the place of what was, of which then all is selected. */
enum attn_status selection_join(struct selection *s, struct inputs *in, struct attn_error *err);

/* Show only the chosen heads and layers, joined or not, of which then all is selected. */
enum attn_status selection_show(struct selection *s, struct inputs *in, struct attn_error *err);
struct rows_selection selection_rows(const struct selection *s);

#endif
