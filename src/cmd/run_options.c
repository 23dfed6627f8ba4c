#include "cmd/run_options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "result/shards.h"
#include "util/number.h"

/* What attn run and attn merge can write. */
#define OUTPUTS_USAGE(scores, pretty)                                                                        \
	"Only these, where any is given; '-' is standard output, and the ending picks the\n"                 \
	"format: .safetensors .npy .npz .json .tsv\n"                                                        \
	"      --context FILE      context vectors, heads side by side\n"                                    \
	"      --output FILE       context after the output projection\n"                                    \
	"      --weights FILE      attention weights\n" scores                                               \
	"      --rankings FILE     which keys each query attends to: .tsv .json .jsonl\n"                    \
	"      --heatmaps DIR      a PNG for each head and for all\n"                                        \
	"\n"                                                                                                 \
	"      --format FORMAT     where no ending says it: safetensors npy npz json tsv [npy]\n"            \
	"      --top N             how many keys a ranking keeps for each query, or 'all' [5]\n"             \
	"      --min-distance D    a ranking lists only pairs at least D tokens apart\n"                     \
	"      --text, --tsv, --json, --jsonl\n"                                                             \
	"                          form of a ranking on standard output [text on a terminal,\n"              \
	"                          else tsv]\n" pretty                                                       \
	"      --columns LIST      only these columns of a ranking, in this order [all]\n"                   \
	"\n" PICTURE_USAGE

#define SCORES_USAGE                                                                                         \
	"      --scores FILE       scores before the softmax\n"                                              \
	"      --scores-stage S    product (not scaled), raw (scaled), capped (after softcap) or\n"          \
	"                          masked [raw]\n"                                                           \
	"      --q FILE, --k FILE, --v FILE\n"                                                               \
	"                          Q, K and V as they enter the scores: projected, normalised,\n"            \
	"                          rotated, joined with the KV cache and appended keys\n"

#define PRETTY_USAGE                                                                                         \
	"      --pretty            the same as --text, also beside --model, where --text is the text\n"

const char run_usage[] =
    "usage: attn run [options] INPUT...\n"
    "       attn run [options] --model MODEL --text TEXT\n"
    "\n"
    "Compute attention.  Writes DIR/attention.safetensors (context, output, weights),\n"
    "DIR/rankings.tsv and a heatmap PNG for each head and for all, and prints which key each\n"
    "query attends to most.  INPUT is a file (JSON, npy, npz, safetensors), '-', or\n"
    "ROLE=FILE[:TENSOR]; see attn-formats(5).\n"
    "\n"
    "  -o, --directory DIR     where to write [attn-out]\n"
    "      --shard I/N         only shard I of N: write DIR/part-I-of-N.safetensors, from\n"
    "                          which 'attn merge' makes the outputs that are asked for\n"
    "      --dry-run           compute and write nothing: print what it would cost\n"
    "      --lengths LIST      with it: on these many tokens, such as 1024,2048\n"
    "      --plot FILE         and plot that\n"
    "\n" OUTPUTS_USAGE(
	SCORES_USAGE,
	PRETTY_USAGE) "\n"
		      "Which heads (then without context and output) and layers:\n"
		      "      --head LIST         heads by number or name, such as 0,3-5; mean or max of "
		      "all,\n"
		      "                          or of some, as in max:0,3-5 [all]\n"
		      "      --layer LIST        layers of a stored result or model; mean or max of\n"
		      "                          all [all]\n"
		      "      --norms             weights by the lengths of values\n"
		      "      --rollout, --flow   all layers as one\n"
		      "      --mean              one mean of the heads of --head LIST, the layers of\n"
		      "                          --layer LIST\n"
		      "\n"
		      "What weights, rankings and heatmaps show:\n" MATRIX_USAGE VIEW_USAGE "\n"
		      "Of a model alone:\n"
		      "      --hidden FILE       (layers + 1, tokens, width)\n"
		      "      --logits FILE       (tokens, ids)\n"
		      "      --next K            K likeliest next tokens\n";

const char run_usage_end[] = "      --threads N         threads [the processors that this process may use]\n"
			     "      --quiet             say nothing beside results but errors\n"
			     "  -h, --help              show this help\n"
			     "\n"
			     "attn run x.json --rankings - | sort -t$'\\t' -k8 -gr | head\n";

const char merge_usage[] =
    "usage: attn merge [options] SHARD...\n"
    "\n"
    "Join the shards of a run, made by 'attn run --shard', into what 'attn run' writes: the same\n"
    "bytes.  SHARD is a file DIR/part-I-of-N.safetensors; all N are needed, in any order.\n"
    "\n"
    "  -o, --directory DIR     where to write [attn-out]\n"
    "\n" OUTPUTS_USAGE("",
		       "") "\n"
			   "      --threads N         threads [the processors that this process may use]\n"
			   "      --quiet             say nothing beside results but errors\n"
			   "  -h, --help              show this help\n"
			   "\n"
			   "attn merge shards/*.safetensors -o out\n";

enum {
	OPTION_CONTEXT = OPTION_OWN,
	OPTION_OUTPUT,
	OPTION_WEIGHTS,
	OPTION_SCORES,
	OPTION_RANKINGS,
	OPTION_HEATMAPS,
	OPTION_Q, /* in the order of enum vectors_of */
	OPTION_K,
	OPTION_V,
	OPTION_STAGE,
	OPTION_HIDDEN,
	OPTION_LOGITS,
	OPTION_NEXT,
	OPTION_SHARD,
	OPTION_DRY_RUN,
	OPTION_LENGTHS,
	OPTION_PLOT,
};

#define OUTPUT_OPTIONS                                                                                       \
	{"directory", required_argument, NULL, 'o'}, {"top", required_argument, NULL, OPTION_TOP},           \
	    {"context", required_argument, NULL, OPTION_CONTEXT},                                            \
	    {"output", required_argument, NULL, OPTION_OUTPUT},                                              \
	    {"weights", required_argument, NULL, OPTION_WEIGHTS},                                            \
	    {"rankings", required_argument, NULL, OPTION_RANKINGS},                                          \
	    {"heatmaps", required_argument, NULL, OPTION_HEATMAPS},                                          \
	    {"format", required_argument, NULL, OPTION_FORMAT},                                              \
	{                                                                                                    \
		"min-distance", required_argument, NULL, OPTION_MIN_DISTANCE                                 \
	}

static const struct option merge_table[] = {
    OUTPUT_OPTIONS, TABLE_OPTIONS, PICTURE_OPTIONS, THREADS_OPTION, QUIET_OPTION, HELP_OPTION, END_OPTION,
};

static const struct option run_table[] = {
    OUTPUT_OPTIONS,
    {"scores", required_argument, NULL, OPTION_SCORES},
    {"scores-stage", required_argument, NULL, OPTION_STAGE},
    {"q", required_argument, NULL, OPTION_Q},
    {"k", required_argument, NULL, OPTION_K},
    {"v", required_argument, NULL, OPTION_V},
    {"hidden", required_argument, NULL, OPTION_HIDDEN},
    {"logits", required_argument, NULL, OPTION_LOGITS},
    {"next", required_argument, NULL, OPTION_NEXT},
    {"shard", required_argument, NULL, OPTION_SHARD},
    MODEL_OPTIONS,
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"lengths", required_argument, NULL, OPTION_LENGTHS},
    {"plot", required_argument, NULL, OPTION_PLOT},
    SELECTION_OPTIONS,
    MATRIX_OPTIONS,
    VIEW_OPTIONS,
    TABLE_OPTIONS,
    PRETTY_OPTION,
    PICTURE_OPTIONS,
    THREADS_OPTION,
    QUIET_OPTION,
    HELP_OPTION,
    END_OPTION,
};

enum {
	LONGEST = 1 << 24, /* of --lengths */
};

static enum attn_status parse_stage(struct run_options *r, const struct options *o, struct attn_error *err)
{
	r->stage_given = true;
	if (!score_stage_find(o->value, &r->stage))
		return option_fail(o, SCORE_STAGES_EXPECTED, err);
	return ATTN_OK;
}

static enum attn_status parse_format(struct run_options *r, const struct options *o, struct attn_error *err)
{
	static const enum format accepted[] = {FORMAT_SAFETENSORS, FORMAT_NPY, FORMAT_NPZ, FORMAT_JSON,
					       FORMAT_TSV};
	for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
		if (strcmp(o->value, format_name(accepted[i])) == 0) {
			r->format = accepted[i];
			return ATTN_OK;
		}
	}
	return option_fail(o, "safetensors, npy, npz, json or tsv", err);
}

/* "3/8" */
static enum attn_status parse_shard(struct run_options *r, const struct options *o, struct attn_error *err)
{
	char first[24];
	size_t length = strcspn(o->value, "/");
	if (length < sizeof first && o->value[length] == '/') {
		memcpy(first, o->value, length);
		first[length] = '\0';
		if (parse_count(first, &r->shard) && parse_count(o->value + length + 1, &r->shards) &&
		    r->shard >= 1 && r->shard <= r->shards && r->shards <= SHARDS_MAX)
			return ATTN_OK;
	}
	return option_fail(o, "I/N, such as 3/8: shard I of N, from 1", err);
}

/* Remember an option that is for one kind of output only. */
static void note_option(char *text, size_t size, const struct options *o)
{
	snprintf(text, size, "--%s", o->name);
}

static enum attn_status parse_one(struct run_options *r, struct inputs *in, int id, const struct options *o,
				  struct attn_error *err)
{
	if (is_selection_option(id)) {
		selection_option(&r->selection, id, o->value);
		return ATTN_OK;
	}
	if (is_view_option(id))
		return view_option(&r->view, id, o, err);
	if (is_model_option(id))
		return inputs_model_option(in, id, o, err);
	const char **const paths[] = {&r->context, &r->output,   &r->weights,
				      &r->scores,  &r->rankings, &r->heatmaps};
	if (id >= OPTION_CONTEXT && id <= OPTION_HEATMAPS)
		return option_once(o, paths[id - OPTION_CONTEXT], err);
	if (id >= OPTION_Q && id <= OPTION_V)
		return option_once(o, &r->vectors[id - OPTION_Q], err);
	switch (id) {
	case -1:
		return ATTN_USAGE;
	case 'h':
	case OPTION_HELP:
		r->help = true;
		return ATTN_OK;
	case 'o':
		return option_once(o, &r->directory, err);
	case OPTION_STAGE:
		return parse_stage(r, o, err);
	case OPTION_FORMAT:
		return parse_format(r, o, err);
	case OPTION_DRY_RUN:
		r->dry_run = true;
		return ATTN_OK;
	case OPTION_LENGTHS:
		return option_counts(o, &(struct option_counts){1, LONGEST, r->lengths, GROWTH_LENGTHS},
				     &r->length_count, err);
	case OPTION_PLOT:
		return option_once(o, &r->plot, err);
	case OPTION_SHARD:
		return parse_shard(r, o, err);
	case OPTION_HIDDEN:
		return option_once(o, &r->model.hidden, err);
	case OPTION_LOGITS:
		return option_once(o, &r->model.logits, err);
	case OPTION_NEXT:
		return option_count(o, 1, SIZE_MAX, &r->model.next, err);
	case OPTION_TOP:
		note_option(r->top_option, sizeof r->top_option, o);
		return option_top(o, &r->top, err);
	case OPTION_MIN_DISTANCE:
		note_option(r->top_option, sizeof r->top_option, o);
		return option_count(o, 1, SIZE_MAX, &r->min_distance, err);
	case OPTION_COLUMNS:
		note_option(r->top_option, sizeof r->top_option, o);
		return option_once(o, &r->columns, err);
	case OPTION_TSV:
	case OPTION_JSON:
	case OPTION_JSONL:
	case OPTION_TEXT:
		note_option(r->table_option, sizeof r->table_option, o);
		r->table_format = table_format_of(id);
		return ATTN_OK;
	case OPTION_SETTING:
		return inputs_setting(in, o, err);
	default:
		note_option(r->picture_option, sizeof r->picture_option, o);
		return figure_option(&r->figure, id, o, err);
	}
}

bool run_wants_vectors(const struct run_options *r)
{
	return r->vectors[VECTORS_Q] || r->vectors[VECTORS_K] || r->vectors[VECTORS_V];
}

static bool is_standard(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* An option whose output is not made would be ignored. */
static enum attn_status check_needed(const struct run_options *r, struct attn_error *err)
{
	if (view_exclusion(&r->view) && !r->view.renormalise && !r->everything && !r->heatmaps)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is about a scale of colours: it also requires --heatmaps DIR or "
				 "--renormalise",
				 view_exclusion(&r->view));
	if (r->everything)
		return ATTN_OK;
	if (*r->top_option && !r->rankings)
		return attn_fail(err, ATTN_USAGE, "'%s' is for a ranking: it also requires --rankings FILE",
				 r->top_option);
	if (*r->table_option && !is_standard(r->rankings) && !r->dry_run && r->model.next == 0)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is for a ranking on standard output: it also requires '--rankings -'",
				 r->table_option);
	if (*r->picture_option && !r->heatmaps && !r->plot)
		return attn_fail(err, ATTN_USAGE, "'%s' is for pictures: it also requires --heatmaps DIR",
				 r->picture_option);
	return ATTN_OK;
}

/* Two outputs in one file: the second would replace the first. */
static enum attn_status check_distinct(const char *const *outputs, const char *const *names, size_t count,
				       struct attn_error *err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (outputs[i] && outputs[j] && !is_standard(outputs[i]) &&
			    !is_standard(outputs[j]) && output_same_file(outputs[j], outputs[i]))
				return attn_fail(err, ATTN_USAGE,
						 "'--%s' and '--%s' are both '%s', expected two files",
						 names[j], names[i], outputs[i]);
	return ATTN_OK;
}

static enum attn_status check_standard(struct run_options *r, size_t standard, struct attn_error *err)
{
	if (is_standard(r->heatmaps))
		return attn_fail(err, ATTN_USAGE,
				 "'--heatmaps' is '-', expected a directory (attn heatmap -o - writes one)");
	if (standard > 1)
		return attn_fail(err, ATTN_USAGE,
				 "%zu outputs are '-', expected one: standard output holds one file",
				 standard);
	const char *const tensors[] = {r->context,
				       r->output,
				       r->weights,
				       r->scores,
				       r->vectors[VECTORS_Q],
				       r->vectors[VECTORS_K],
				       r->vectors[VECTORS_V],
				       r->model.hidden,
				       r->model.logits};
	bool needed = false; /* by a tensor whose name has no known ending */
	for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
		needed |= tensors[i] && format_of_name(tensors[i]) == FORMAT_UNKNOWN;
	if (r->format != FORMAT_UNKNOWN && !needed)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--format' is for a tensor on standard output, or in a file whose ending names "
		    "none");
	return ATTN_OK;
}

static enum attn_status settle_rankings(struct run_options *r, struct attn_error *err)
{
	if (r->columns && (r->dry_run || r->shard))
		return attn_fail(err, ATTN_USAGE,
				 "'--columns' and '%s' cannot be combined: no ranking is made",
				 r->dry_run ? "--dry-run" : "--shard");
	TRY(table_format_columns(&r->table_format, r->columns, err));
	r->rankings_format = table_format_settle(r->table_format);
	if (!r->rankings || is_standard(r->rankings))
		return ATTN_OK;
	switch (format_of_name(r->rankings)) {
	case FORMAT_TSV:
		r->rankings_format = TABLE_TSV;
		return ATTN_OK;
	case FORMAT_JSON:
		r->rankings_format = TABLE_JSON;
		return ATTN_OK;
	case FORMAT_JSONL:
		r->rankings_format = TABLE_JSONL;
		return ATTN_OK;
	default:
		return attn_fail(err, ATTN_USAGE, "'%s' has no known ending, expected .tsv, .json or .jsonl",
				 r->rankings);
	}
}

/* What a view is not made of. */
static enum attn_status check_view(const struct run_options *r, struct attn_error *err)
{
	const char *option = r->view.option;
	if (!*option)
		return ATTN_OK;
	bool whole = r->scores || run_wants_vectors(r);
	if (whole || r->shard || r->dry_run)
		return attn_fail(err, ATTN_USAGE, "'%s' and '--%s' cannot be combined: %s", option,
				 r->scores               ? "scores"
				 : r->vectors[VECTORS_Q] ? "q"
				 : r->vectors[VECTORS_K] ? "k"
				 : r->vectors[VECTORS_V] ? "v"
				 : r->shard              ? "shard"
							 : "dry-run",
				 whole      ? "it is for weights"
				 : r->shard ? "shards are of the whole"
					    : "ask for the cost of the whole run");
	if (!r->everything && !r->weights && !r->rankings && !r->heatmaps)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' is for weights, rankings and heatmaps, expected one of them", option);
	return ATTN_OK;
}

/* What is not made of chosen heads. */
static enum attn_status check_selection(const struct run_options *r, struct attn_error *err)
{
	const struct selection_options *s = &r->selection;
	const char *option = s->heads ? "--head" : s->layers ? "--layer" : "--mean";
	if (!s->heads && !s->layers && !s->mean)
		return ATTN_OK;
	if (r->shard || r->dry_run)
		return attn_fail(err, ATTN_USAGE, "'%s' and '--%s' cannot be combined: %s", option,
				 r->shard ? "shard" : "dry-run",
				 r->shard ? "shards are of the whole" : "ask for the cost of the whole run");
	return ATTN_OK;
}

static enum attn_status check_lengths(const struct run_options *r, struct attn_error *err)
{
	if (r->length_count > 0 && !r->dry_run)
		return attn_fail(err, ATTN_USAGE, "'--lengths' also requires '--dry-run'");
	if (r->plot && r->length_count == 0)
		return attn_fail(err, ATTN_USAGE, "'--plot' also requires '--lengths'");
	return ATTN_OK;
}

/* Options that cannot be combined. */
static enum attn_status validate(struct run_options *r, struct attn_error *err)
{
	static const char *const names[] = {"context", "output", "weights", "scores", "rankings", "heatmaps",
					    "q",       "k",      "v",       "hidden", "logits"};
	const char *const outputs[] = {r->context,
				       r->output,
				       r->weights,
				       r->scores,
				       r->rankings,
				       r->heatmaps,
				       r->vectors[VECTORS_Q],
				       r->vectors[VECTORS_K],
				       r->vectors[VECTORS_V],
				       r->model.hidden,
				       r->model.logits};
	enum {
		OUTPUTS = sizeof outputs / sizeof *outputs
	};
	size_t given = 0, standard = 0;
	for (size_t i = 0; i < OUTPUTS; i++) {
		given += outputs[i] != NULL;
		standard += is_standard(outputs[i]);
	}
	standard += r->model.next > 0; /* a table */
	r->everything = given == 0 && r->model.next == 0;
	r->only_vectors =
	    given == (size_t) !!r->vectors[VECTORS_Q] + !!r->vectors[VECTORS_K] + !!r->vectors[VECTORS_V] &&
	    given > 0;
	r->only_model = !r->everything && given == (size_t) !!r->model.hidden + !!r->model.logits;
	TRY(check_standard(r, standard, err));
	TRY(check_distinct(outputs, names, OUTPUTS, err));
	if (r->shard && r->dry_run)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--dry-run' and '--shard' cannot be combined: ask for the cost of the whole run");
	if (r->shard && r->scores)
		return attn_fail(err, ATTN_USAGE,
				 "'--scores' and '--shard' cannot be combined: shards hold no scores");
	if (r->shard && run_wants_vectors(r))
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--q', '--k' and '--v' cannot be combined with '--shard': shards hold rows");
	if (r->shard && (*r->top_option || *r->table_option || *r->picture_option))
		return attn_fail(
		    err, ATTN_USAGE,
		    "'%s' and '--shard' cannot be combined: give it to 'attn merge', which makes "
		    "rankings and pictures",
		    *r->top_option     ? r->top_option
		    : *r->table_option ? r->table_option
				       : r->picture_option);
	TRY(check_lengths(r, err));
	TRY(check_view(r, err));
	TRY(check_selection(r, err));
	if (given && r->directory && !r->shard)
		return attn_fail(err, ATTN_USAGE,
				 "'-o' makes all files: leave it out where single outputs are asked for");
	if (r->stage_given && !r->scores)
		return attn_fail(err, ATTN_USAGE, "'--scores-stage' needs '--scores FILE'");
	if (!r->directory)
		r->directory = "attn-out";
	TRY(check_needed(r, err));
	return settle_rankings(r, err);
}

enum attn_status run_options_parse(struct run_options *r, struct inputs *in, const struct command *self,
				   int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:"};
	enum attn_status status = ATTN_OK;
	int id;
	*r = (struct run_options){.top = 5, .stage = SCORES_RAW, .merge = self == &command_merge};
	o.table = r->merge ? merge_table : run_table;
	while (status == ATTN_OK && (id = options_next(&o, err)) != 0)
		status = parse_one(r, in, id, &o, err);
	return status == ATTN_OK && !r->help ? validate(r, err) : status;
}
