#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/figures.h"
#include "cmd/ranking_output.h"
#include "cmd/results.h"
#include "io/output.h"
#include "sinks/context.h"
#include "sinks/masked.h"
#include "util/buffer.h"
#include "util/checked.h"

static const char usage[] =
    "usage: attn run [options] INPUT...\n"
    "\n"
    "Compute attention.  Writes DIR/attention.safetensors (context, output, weights),\n"
    "DIR/rankings.tsv and a heatmap PNG for each head and for all, and prints which key each\n"
    "query attends to most.  INPUT is a file (JSON, npy, npz, safetensors), '-', or\n"
    "ROLE=FILE[:TENSOR]; see attn-formats(5).\n"
    "\n"
    "  -o, --directory DIR     where to write [attn-out]\n"
    "\n"
    "Only these, where any is given; '-' is standard output, and the ending picks the\n"
    "format: .safetensors .npy .npz .json .tsv\n"
    "      --context FILE      context vectors, heads side by side\n"
    "      --output FILE       context after the output projection\n"
    "      --weights FILE      attention weights\n"
    "      --scores FILE       scores before the softmax\n"
    "      --rankings FILE     which keys each query attends to: .tsv .json .jsonl\n"
    "      --heatmaps DIR      a PNG for each head and for all\n"
    "\n"
    "      --scores-stage S    raw (scaled products), capped (after softcap) or masked [raw]\n"
    "      --format FORMAT     of a tensor on standard output: safetensors npy npz json tsv [npy]\n"
    "      --top N             how many keys a ranking keeps for each query [5]\n"
    "      --text, --tsv, --json, --jsonl\n"
    "                          form of a ranking on standard output [text on a terminal,\n"
    "                          else tsv]\n"
    "\n"
    "Pictures: --colormap NAME, --cell PIXELS, --size PIXELS, --dpi NUMBER, --title TEXT,\n"
    "      --transpose, --numbers auto|on|off, --reduce max|mean, --max X; see\n"
    "      'attn heatmap --help'\n"
    "\n"
    "Attention (override what files say):\n"
    "      --num-heads N       query heads\n"
    "      --num-kv-heads N    key and value heads, shared by groups of query heads\n"
    "      --packed            q, k, v hold their heads side by side\n"
    "      --causal            a query sees no key after its own position\n"
    "      --scale X           factor of the scores [1/sqrt(head size)]\n"
    "      --softcap X         scores s become X tanh(s/X) [none]\n"
    "      --add-zero-attn     append a key and a value of zeros\n"
    "      --layout L          weight matrices are stored 'in,out' or 'out,in' [in,out]\n"
    "      --axes A            what stands before the head in stored weights: layer, batch or\n"
    "                          layer,batch [layer]\n"
    "\n"
    "  -h, --help              show this help\n"
    "\n"
    "attn run x.json --rankings - | sort -t$'\\t' -k8 -gr | head\n";

enum {
	OPTION_CONTEXT = OPTION_OWN,
	OPTION_OUTPUT,
	OPTION_WEIGHTS,
	OPTION_SCORES,
	OPTION_RANKINGS,
	OPTION_HEATMAPS,
	OPTION_STAGE,
	OPTION_FORMAT,
};

static const struct option table[] = {
    {"directory", required_argument, NULL, 'o'},
    {"context", required_argument, NULL, OPTION_CONTEXT},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"weights", required_argument, NULL, OPTION_WEIGHTS},
    {"scores", required_argument, NULL, OPTION_SCORES},
    {"rankings", required_argument, NULL, OPTION_RANKINGS},
    {"heatmaps", required_argument, NULL, OPTION_HEATMAPS},
    {"scores-stage", required_argument, NULL, OPTION_STAGE},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"top", required_argument, NULL, OPTION_TOP},
    TABLE_OPTIONS,
    PICTURE_OPTIONS,
    SETTING_OPTIONS,
    HELP_OPTION,
    END_OPTION,
};

/* Weights beyond this are stored only when asked for. */
static const size_t WEIGHTS_LIMIT = (size_t)1 << 30;

enum {
	MAX_FILES = 4,
	MAX_SINKS = MAX_FILES + 5
};

struct job {
	const struct command *self;
	bool help;
	const char *directory, *context, *output, *weights, *scores, *rankings, *heatmaps;
	bool everything; /* no single output is asked for */
	enum score_stage stage;
	enum format format;
	size_t top;
	enum table_format table_format;
	struct figure_options figure;

	struct inputs in;
	struct selection all; /* nothing chosen: all rows */
	struct buffer result_path, rankings_path;
	struct result_file files[MAX_FILES];
	size_t file_count;
	struct context_sink contexts;
	struct masked_sink masked;
	struct ranking_sink ranking;
	struct grid_sink grids, overview;
	struct row_sink *sinks[MAX_SINKS];
	size_t sink_count;
	float *projected; /* the output, (B, N, any) */
};

static enum attn_status parse_stage(struct job *job, const struct options *o, struct attn_error *err)
{
	if (strcmp(o->value, "raw") == 0)
		job->stage = SCORES_RAW;
	else if (strcmp(o->value, "capped") == 0)
		job->stage = SCORES_CAPPED;
	else if (strcmp(o->value, "masked") == 0)
		job->stage = SCORES_MASKED;
	else
		return option_fail(o, "'raw', 'capped' or 'masked'", err);
	return ATTN_OK;
}

static enum attn_status parse_format(struct job *job, const struct options *o, struct attn_error *err)
{
	static const enum format accepted[] = {FORMAT_SAFETENSORS, FORMAT_NPY, FORMAT_NPZ, FORMAT_JSON,
					       FORMAT_TSV};
	for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
		if (strcmp(o->value, format_name(accepted[i])) == 0) {
			job->format = accepted[i];
			return ATTN_OK;
		}
	}
	return option_fail(o, "safetensors, npy, npz, json or tsv", err);
}

static enum attn_status parse_one(struct job *job, int id, struct options *o, struct attn_error *err)
{
	const char **const paths[] = {&job->context, &job->output,   &job->weights,
				      &job->scores,  &job->rankings, &job->heatmaps};
	if (id >= OPTION_CONTEXT && id <= OPTION_HEATMAPS) {
		*paths[id - OPTION_CONTEXT] = o->value;
		return ATTN_OK;
	}
	switch (id) {
	case -1:
		return ATTN_USAGE;
	case 'h':
	case OPTION_HELP:
		job->help = true;
		return ATTN_OK;
	case 'o':
		job->directory = o->value;
		return ATTN_OK;
	case OPTION_STAGE:
		return parse_stage(job, o, err);
	case OPTION_FORMAT:
		return parse_format(job, o, err);
	case OPTION_TOP:
		return option_count(o, 1, SIZE_MAX, &job->top, err);
	case OPTION_TSV:
	case OPTION_JSON:
	case OPTION_JSONL:
	case OPTION_TEXT:
		job->table_format = table_format_of(id);
		return ATTN_OK;
	case OPTION_SETTING:
		return inputs_setting(&job->in, o, err);
	default:
		return figure_option(&job->figure, id, o, err);
	}
}

/* Options that do not go together. */
static enum attn_status validate(struct job *job, struct attn_error *err)
{
	const char *const outputs[] = {job->context, job->output,   job->weights,
				       job->scores,  job->rankings, job->heatmaps};
	size_t given = 0, standard = 0;
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
		given += outputs[i] != NULL;
		standard += outputs[i] && strcmp(outputs[i], "-") == 0;
	}
	if (job->heatmaps && strcmp(job->heatmaps, "-") == 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--heatmaps' is '-', expected a directory (attn heatmap -o - writes one)");
	if (standard > 1)
		return attn_fail(err, ATTN_USAGE,
				 "%zu outputs are '-', expected one: standard output holds one file",
				 standard);
	if (given && job->directory)
		return attn_fail(err, ATTN_USAGE,
				 "'-o' makes all files: leave it out where single outputs are asked for");
	if (job->format != FORMAT_UNKNOWN &&
	    (standard == 0 || (job->rankings && strcmp(job->rankings, "-") == 0)))
		return attn_fail(err, ATTN_USAGE,
				 "'--format' is for a tensor on standard output: a file's ending picks its "
				 "format");
	if (job->stage != SCORES_NONE && !job->scores)
		return attn_fail(err, ATTN_USAGE, "'--scores-stage' needs '--scores FILE'");
	if (job->scores && job->stage == SCORES_NONE)
		job->stage = SCORES_RAW;
	job->everything = given == 0;
	if (!job->directory)
		job->directory = "attn-out";
	return ATTN_OK;
}

static bool weights_are_small(const struct rows_info *info)
{
	size_t bytes;
	return size_mul(info->batch * info->layers * info->heads, info->queries, &bytes) &&
	       size_mul(bytes, info->keys * sizeof(float), &bytes) && bytes <= WEIGHTS_LIMIT;
}

static enum attn_status open_file(struct job *job, const char *path, struct result_parts parts,
				  struct attn_error *err)
{
	struct result_file *file = &job->files[job->file_count++];
	enum format format = strcmp(path, "-") == 0 ? job->format : FORMAT_UNKNOWN;
	enum attn_status status = result_open(file, &job->in, path, format, parts, err);
	if (status == ATTN_OK && (parts.weights || parts.scores))
		job->sinks[job->sink_count++] = &file->sink;
	return status;
}

/* attention.safetensors: all that this problem has. */
static enum attn_status open_result(struct job *job, struct attn_error *err)
{
	const struct problem *p = &job->in.problem;
	struct result_parts parts = {.weights = true, .context = p->has_values, .output = p->output_size > 0};
	if (!weights_are_small(job->in.info)) {
		parts.weights = false;
		report_note(job->self,
			    "weights beyond 1 GiB are stored only when asked for, with --weights FILE");
	}
	if (!parts.weights && !parts.context)
		return ATTN_OK;
	buffer_printf(&job->result_path, "%s/attention.safetensors", job->directory);
	return job->result_path.failed ? attn_fail_memory(err)
				       : open_file(job, job->result_path.data, parts, err);
}

static enum attn_status open_files(struct job *job, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (job->everything) {
		status = make_directories(job->directory, err);
		return status == ATTN_OK ? open_result(job, err) : status;
	}
	const struct {
		const char *path;
		struct result_parts parts;
	} single[] = {
	    {job->weights, {.weights = true}},
	    {job->scores, {.scores = true}},
	    {job->context, {.context = true}},
	    {job->output, {.output = true}},
	};
	for (size_t i = 0; i < MAX_FILES && status == ATTN_OK; i++)
		if (single[i].path)
			status = open_file(job, single[i].path, single[i].parts, err);
	if (job->heatmaps && status == ATTN_OK)
		status = make_directories(job->heatmaps, err);
	return status;
}

/* What was asked for must be there to give. */
static enum attn_status check_possible(const struct job *job, struct attn_error *err)
{
	const struct inputs *in = &job->in;
	if ((job->context || job->output) && in->stored)
		return attn_fail(
		    err, ATTN_USAGE,
		    "a stored result has no values to make a context from: give the input it was "
		    "made from");
	if ((job->context || job->output) && !in->problem.has_values)
		return attn_fail(err, ATTN_BAD_INPUT, "'v' (or 'wv') is missing, expected it for a context");
	if (job->output && in->problem.output_size == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'wo' is missing, expected it for --output");
	return ATTN_OK;
}

static enum attn_status open_ranking(struct job *job, struct attn_error *err)
{
	struct ranking_options options = {.top = job->top};
	enum attn_status status = ranking_sink_init(&job->ranking, job->in.info, &options, err);
	if (status == ATTN_OK)
		job->sinks[job->sink_count++] = &job->ranking.sink;
	return status;
}

static enum attn_status open_grids(struct job *job, struct attn_error *err)
{
	const struct rows_info *info = job->in.info;
	enum attn_status status = figure_sink(&job->grids, &job->figure, info, &job->all, 1, err);
	if (status != ATTN_OK)
		return status;
	job->sinks[job->sink_count++] = &job->grids.sink;
	if (info->heads == 1)
		return ATTN_OK;
	status = figure_sink(&job->overview, &job->figure, info, &job->all, info->heads, err);
	if (status == ATTN_OK)
		job->sinks[job->sink_count++] = &job->overview.sink;
	return status;
}

static enum attn_status open_sinks(struct job *job, struct attn_error *err)
{
	const struct problem *p = &job->in.problem;
	bool context = (job->everything && p->has_values) || job->context || job->output;
	enum attn_status status = check_possible(job, err);
	if (status == ATTN_OK && (job->everything || job->heatmaps))
		status = open_grids(job, err);
	if (status == ATTN_OK && (job->everything || job->rankings))
		status = open_ranking(job, err);
	if (status == ATTN_OK)
		status = open_files(job, err);
	if (status == ATTN_OK && context) {
		status = context_sink_init(&job->contexts, job->in.info, p->value_size, err);
		job->sinks[job->sink_count++] = &job->contexts.sink;
	}
	masked_sink_init(&job->masked);
	job->sinks[job->sink_count++] = &job->masked.sink;
	return status;
}

static enum attn_status project_output(struct job *job, struct attn_error *err)
{
	const struct problem *p = &job->in.problem;
	size_t rows = p->batch * p->queries;
	bool wanted = (job->everything || job->output) && p->output_size > 0;
	if (!wanted)
		return ATTN_OK;
	job->projected = array_alloc(rows, p->output_size * sizeof *job->projected);
	if (!job->projected)
		return attn_fail_memory(err);
	return engine_output(p, job->contexts.context, rows, job->projected, err);
}

static enum attn_status commit_files(struct job *job, struct attn_error *err)
{
	enum attn_status status = project_output(job, err);
	for (size_t i = 0; i < job->file_count && status == ATTN_OK; i++) {
		status = result_commit(&job->files[i], job->contexts.context, job->projected, err);
		if (status == ATTN_OK)
			report_written(job->self, job->files[i].path);
	}
	return status;
}

static enum attn_status write_ranking(struct job *job, const char *path, enum table_format format, size_t top,
				      struct attn_error *err)
{
	struct output out = {0};
	struct ranking_view view = {.in = &job->in,
				    .ranking = &job->ranking,
				    .selection = &job->all,
				    .format = format,
				    .bars = isatty(STDOUT_FILENO) && strcmp(path, "-") == 0,
				    .top = top};
	enum attn_status status = output_open(&out, path, false, err);
	if (status == ATTN_OK)
		status = ranking_print(out.stream, &view, NULL, err);
	if (status != ATTN_OK) {
		output_abort(&out);
		return status;
	}
	status = output_commit(&out, err);
	if (status == ATTN_OK)
		report_written(job->self, path);
	return status;
}

static enum attn_status rankings_format(const struct job *job, enum table_format *out, struct attn_error *err)
{
	if (strcmp(job->rankings, "-") == 0) {
		*out = table_format_settle(job->table_format);
		return ATTN_OK;
	}
	switch (format_of_name(job->rankings)) {
	case FORMAT_TSV:
		*out = TABLE_TSV;
		return ATTN_OK;
	case FORMAT_JSON:
		*out = TABLE_JSON;
		return ATTN_OK;
	case FORMAT_JSONL:
		*out = TABLE_JSONL;
		return ATTN_OK;
	default:
		return attn_fail(err, ATTN_USAGE, "'%s' has no known ending, expected .tsv, .json or .jsonl",
				 job->rankings);
	}
}

static enum attn_status draw_heatmaps(struct job *job, const char *directory, struct attn_error *err)
{
	struct figures figures;
	enum attn_status status = figures_init(&figures, job->self, &job->in, &job->figure, err);
	if (status == ATTN_OK)
		status = figures_draw_all(&figures, &job->grids, &job->overview, directory, err);
	figures_release(&figures);
	return status;
}

static enum attn_status finish(struct job *job, enum table_format format, struct attn_error *err)
{
	enum attn_status status = commit_files(job, err);
	if (status == ATTN_OK && job->rankings)
		status = write_ranking(job, job->rankings, format, job->top, err);
	if (status == ATTN_OK && job->everything) {
		buffer_printf(&job->rankings_path, "%s/rankings.tsv", job->directory);
		status = job->rankings_path.failed
			     ? attn_fail_memory(err)
			     : write_ranking(job, job->rankings_path.data, TABLE_TSV, job->top, err);
	}
	if (status == ATTN_OK && (job->everything || job->heatmaps))
		status = draw_heatmaps(job, job->heatmaps ? job->heatmaps : job->directory, err);
	if (status == ATTN_OK && job->masked.masked)
		report_note(job->self, "%zu of %zu rows have every key masked: their weights%s are 0",
			    job->masked.masked, job->masked.rows,
			    job->contexts.context ? " and context" : "");
	if (status == ATTN_OK && job->everything)
		status = write_ranking(job, "-", table_format_settle(job->table_format), 1, err);
	return status;
}

/* What the engine has to give. */
static struct engine_want wanted(const struct job *job)
{
	return (struct engine_want){
	    .weights = job->everything || job->weights || job->rankings || job->heatmaps,
	    .context = job->everything || job->context || job->output,
	    .stage = job->stage,
	};
}

static enum attn_status compute(struct job *job, int argc, char **argv, struct attn_error *err)
{
	enum table_format format = TABLE_TSV;
	enum attn_status status = ATTN_OK;
	if (job->rankings)
		status = rankings_format(job, &format, err);
	if (status == ATTN_OK)
		status = inputs_open(&job->in, job->self, argc, argv, wanted(job), err);
	if (status == ATTN_OK)
		status = open_sinks(job, err);
	if (status == ATTN_OK)
		status = rows_stream(job->in.source, NULL, job->sinks, job->sink_count, err);
	return status == ATTN_OK ? finish(job, format, err) : status;
}

static void release(struct job *job)
{
	for (size_t i = 0; i < job->file_count; i++)
		result_abort(&job->files[i]);
	free(job->projected);
	buffer_release(&job->result_path);
	buffer_release(&job->rankings_path);
	context_sink_release(&job->contexts);
	ranking_sink_release(&job->ranking);
	grid_sink_release(&job->grids);
	grid_sink_release(&job->overview);
	inputs_release(&job->in);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct options o = {.self = self, .argc = argc, .argv = argv, .letters = "ho:", .table = table};
	struct job job = {.self = self, .top = 5};
	enum attn_status status = ATTN_OK;
	int id;
	while (status == ATTN_OK && (id = options_next(&o, err)) != 0)
		status = parse_one(&job, id, &o, err);
	if (status == ATTN_OK && job.help)
		status = print_usage(self);
	else if (status == ATTN_OK) {
		status = validate(&job, err);
		if (status == ATTN_OK)
			status = compute(&job, argc - optind, argv + optind, err);
	}
	release(&job);
	return status;
}

const struct command command_run = {"run", run, "attn run",
				    "compute; write context, weights, heatmaps, rankings", usage};
