/* The options of attn run and attn merge, parsed and checked. */
#ifndef ATTN_CMD_RUN_OPTIONS_H
#define ATTN_CMD_RUN_OPTIONS_H

#include "attention/plan.h"
#include "cmd/figures.h"
#include "cmd/growth.h"
#include "cmd/model_output.h"
#include "cmd/ranking_output.h"
#include "cmd/view_options.h"
#include "files/formats.h"

struct run_options {
	bool help, merge;                             /* merge: of attn merge, which has other options */
	bool everything;                              /* no single output is asked for */
	const char *directory;                        /* where everything goes, or a part */
	bool dry_run;                                 /* say what it would cost, and write nothing */
	size_t lengths[GROWTH_LENGTHS], length_count; /* with dry_run: on these, not on the input's */
	const char *plot;                             /* of these, or NULL */
	size_t shard, shards;                         /* make part `shard` of `shards`; 0: no part */
	const char *context, *output, *weights, *scores, *rankings, *heatmaps; /* or NULL */
	struct model_output model;          /* hidden states and the like */
	const char *vectors[VECTORS_KINDS]; /* --q, --k, --v, or NULL */
	bool only_vectors;                  /* and nothing else */
	bool only_model;                    /* likewise of `model` */
	enum score_stage stage;             /* of scores */
	bool stage_given;
	enum format format;                /* of a tensor on standard output, or FORMAT_UNKNOWN */
	size_t min_distance;               /* of what a ranking lists; 0: any */
	size_t top;                        /* keys that a ranking keeps */
	const char *columns;               /* of a ranking's table, or NULL */
	enum table_format table_format;    /* of a ranking on standard output */
	enum table_format rankings_format; /* of the file `rankings` */
	struct figure_options figure;
	struct selection_options selection;
	struct view_request view; /* of weights, rankings and heatmaps */

	/* Private: the last option of a kind, "--json", or "". */
	char top_option[32], table_option[32], picture_option[32];
};

/* Whether any of --q, --k and --v is given. */
bool run_wants_vectors(const struct run_options *r);

extern const char run_usage[], run_usage_end[], merge_usage[];

/* Settings go to in->bundle.  optind is then the first operand. */
enum attn_status run_options_parse(struct run_options *r, struct inputs *in, const struct command *self,
				   int argc, char **argv, struct attn_error *err);

#endif
