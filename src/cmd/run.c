#include <stdlib.h>
#include <string.h>

#include "cmd/cost.h"
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "consumers/context.h"
#include "consumers/masked.h"
#include "files/output.h"
#include "result/result_file.h"
#include "result/shard_file.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"

/* Weights beyond this are stored only when asked for. */
static const size_t WEIGHTS_LIMIT = (size_t)1 << 30;

enum {
	MAX_FILES = 4,
	MAX_CONSUMERS = MAX_FILES + 5
};

struct job {
	const struct command *self;
	struct run_options options;
	struct inputs in;
	struct cost cost;     /* of a dry run */
	struct selection all; /* nothing chosen: all rows */
	struct buffer result_path, rankings_path;
	struct result_file files[MAX_FILES];
	size_t file_count;
	struct shard_file shard;
	struct context_consumer contexts;
	struct masked_count masked;
	struct ranking ranking;
	struct figures figures;
	struct head_figures heads;
	struct row_consumer *consumers[MAX_CONSUMERS]; /* of in.rows.source */
	size_t consumer_count;
	float *projected; /* the output, (B, N, any) */
};

static bool weights_are_small(const struct rows_info *info)
{
	size_t bytes;
	return size_mul(info->shape.batch * info->shape.layers * info->shape.heads, info->shape.queries,
			&bytes) &&
	       size_mul(bytes, info->shape.keys * sizeof(float), &bytes) && bytes <= WEIGHTS_LIMIT;
}

static enum attn_status open_file(struct job *job, const char *path, struct result_parts parts,
				  struct attn_error *err)
{
	enum format format = job->options.format; /* where the ending says nothing */
	if (job->options.dry_run) {
		uint64_t size;
		bool exact;
		enum attn_status sized =
		    result_size(&job->in.subject, path, format, parts, &size, &exact, err);
		return sized == ATTN_OK ? cost_add_file(&job->cost, path, size, exact, err) : sized;
	}
	struct result_file *file = &job->files[job->file_count++];
	enum attn_status status = result_open(file, &job->in.subject, path, format, parts, err);
	if (status == ATTN_OK && (parts.weights || parts.scores))
		job->consumers[job->consumer_count++] = &file->consumer;
	return status;
}

/* attention.safetensors: all that this problem has. */
static enum attn_status open_result(struct job *job, struct attn_error *err)
{
	const struct subject *subject = &job->in.subject;
	struct result_parts parts = {.weights = true,
				     .context = subject->output->context_size > 0,
				     .output = subject_output_size(subject) > 0};
	if (!weights_are_small(job->in.info)) {
		parts.weights = false;
		report_note(job->self,
			    "weights beyond 1 GiB are stored only when asked for, with --weights FILE");
	}
	if (!parts.weights && !parts.context)
		return ATTN_OK;
	buffer_printf(&job->result_path, "%s/attention.safetensors", job->options.directory);
	return job->result_path.failed ? attn_fail_memory(err)
				       : open_file(job, job->result_path.data, parts, err);
}

static enum attn_status open_files(struct job *job, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (job->options.everything) {
		if (!job->options.dry_run)
			status = make_directories(job->options.directory, err);
		return status == ATTN_OK ? open_result(job, err) : status;
	}
	const struct {
		const char *path;
		struct result_parts parts;
	} single[] = {
	    {job->options.weights, {.weights = true}},
	    {job->options.scores, {.scores = true, .stage = job->options.stage}},
	    {job->options.context, {.context = true}},
	    {job->options.output, {.output = true}},
	};
	for (size_t i = 0; i < MAX_FILES && status == ATTN_OK; i++)
		if (single[i].path)
			status = open_file(job, single[i].path, single[i].parts, err);
	if (job->options.heatmaps && status == ATTN_OK && !job->options.dry_run)
		status = make_directories(job->options.heatmaps, err);
	return status;
}

/* What was asked for must be there to give. */
static enum attn_status check_possible(const struct job *job, struct attn_error *err)
{
	const struct subject *subject = &job->in.subject;
	bool read = !subject->attention && !job->options.merge;
	if (!job->options.context && !job->options.output)
		return ATTN_OK;
	if (read)
		return attn_fail(
		    err, ATTN_USAGE,
		    "a stored result has no values to make a context from: give the input it was "
		    "made from");
	if (subject->output->context_size == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'v' (or 'wv') is missing, expected it for a context");
	if (job->options.output && subject_output_size(subject) == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'wo' is missing, expected it for --output");
	return ATTN_OK;
}

static enum attn_status open_ranking(struct job *job, struct attn_error *err)
{
	struct ranking_options options = {.top = job->options.top};
	enum attn_status status = ranking_init(&job->ranking, &job->in.info->shape, &options, err);
	if (status == ATTN_OK)
		job->consumers[job->consumer_count++] = &job->ranking.consumer;
	return status;
}

static enum attn_status open_figures(struct job *job, struct attn_error *err)
{
	const struct run_options *r = &job->options;
	struct attn_error cause = {ATTN_OK, ""};
	enum attn_status status = figures_init(&job->figures, job->self, &job->in, &r->figure, &cause);
	if (status != ATTN_OK)
		return attn_fail(err, status, "%s%s", cause.message,
				 r->everything ? " (single outputs, such as --weights FILE, need no pictures)"
					       : "");
	status = head_figures_init(&job->heads, &job->figures, r->heatmaps ? r->heatmaps : r->directory, err);
	if (status == ATTN_OK)
		job->consumers[job->consumer_count++] = &job->heads.consumer;
	return status;
}

static enum attn_status open_consumers(struct job *job, struct attn_error *err)
{
	const struct rows_shape *shape = &job->in.subject.whole->shape;
	size_t context_size = job->in.subject.output->context_size;
	bool context =
	    (job->options.everything && context_size > 0) || job->options.context || job->options.output;
	enum attn_status status = ATTN_OK;
	if (job->options.everything || job->options.heatmaps)
		status = open_figures(job, err);
	if (status == ATTN_OK && (job->options.everything || job->options.rankings))
		status = open_ranking(job, err);
	if (status == ATTN_OK)
		status = open_files(job, err);
	if (status == ATTN_OK && context) {
		status = context_consumer_init(&job->contexts, shape, context_size / shape->heads, err);
		if (status == ATTN_OK && !subject_is_view(&job->in.subject))
			job->consumers[job->consumer_count++] = &job->contexts.consumer;
	}
	masked_count_init(&job->masked);
	job->consumers[job->consumer_count++] = &job->masked.consumer;
	return status;
}

static enum attn_status project_output(struct job *job, struct attn_error *err)
{
	const struct subject *subject = &job->in.subject;
	size_t rows = subject->whole->shape.batch * subject->whole->shape.queries;
	size_t size = subject_output_size(subject);
	bool wanted = (job->options.everything || job->options.output) && size > 0;
	if (!wanted)
		return ATTN_OK;
	job->projected = array_alloc(rows, size * sizeof *job->projected);
	if (!job->projected)
		return attn_fail_memory(err);
	return output_layer_project(subject->output, job->contexts.context, rows, job->projected, err);
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
	struct ranking_view view = {
	    .in = &job->in, .ranking = &job->ranking, .selection = &job->all, .format = format, .top = top};
	return ranking_write(job->self, path, &view, err);
}

static enum attn_status finish(struct job *job, struct attn_error *err)
{
	const struct run_options *r = &job->options;
	enum attn_status status = commit_files(job, err);
	if (status == ATTN_OK && r->rankings)
		status = write_ranking(job, r->rankings, r->rankings_format, r->top, err);
	if (status == ATTN_OK && r->everything) {
		buffer_printf(&job->rankings_path, "%s/rankings.tsv", r->directory);
		status = job->rankings_path.failed
			     ? attn_fail_memory(err)
			     : write_ranking(job, job->rankings_path.data, TABLE_TSV, r->top, err);
	}
	if (status == ATTN_OK)
		status = figures_commit(&job->figures, err);
	if (status == ATTN_OK && job->masked.masked)
		report_note(job->self, "%zu of %zu rows have every key masked: their weights%s are 0",
			    job->masked.masked, job->masked.rows,
			    job->contexts.context && !subject_is_view(&job->in.subject) ? " and context"
											: "");
	if (status == ATTN_OK && r->everything)
		status = write_ranking(job, "-", r->rankings_format, 1, err);
	return status;
}

/* What rows have to carry. */
static struct rows_want wanted(const struct job *job)
{
	return (struct rows_want){
	    .weights = job->options.everything || job->options.weights || job->options.rankings ||
		       job->options.heatmaps,
	    .context = job->options.everything || job->options.context || job->options.output,
	    .scores = job->options.scores ? 1u << job->options.stage : 0,
	};
}

/* A view has no contexts: they are made of the whole. */
static enum attn_status stream(struct job *job, struct attn_error *err)
{
	struct row_consumer *contexts[] = {&job->contexts.consumer};
	enum attn_status status = ATTN_OK;
	if (subject_is_view(&job->in.subject) && job->contexts.context)
		status = progress_stream(job->self, job->in.all, NULL, contexts, 1, err);
	return status == ATTN_OK ? progress_stream(job->self, job->in.rows.source, NULL, job->consumers,
						   job->consumer_count, err)
				 : status;
}

static enum attn_status open_inputs(struct job *job, int argc, char **argv, struct attn_error *err)
{
	struct rows_want want = wanted(job);
	if (job->options.merge)
		return inputs_open_parts(&job->in, job->self, argc, argv, want, err);
	enum attn_status status = inputs_open(&job->in, job->self, argc, argv, err);
	if (status == ATTN_OK)
		status = inputs_plan(&job->in, NULL, want, err);
	return status;
}

/* --shard: one part of the rows, for attn merge. */
static enum attn_status write_shard(struct job *job, struct attn_error *err)
{
	const struct run_options *r = &job->options;
	struct row_consumer *consumers[] = {&job->shard.consumer};
	enum attn_status status = make_directories(r->directory, err);
	buffer_printf(&job->result_path, "%s/part-%zu-of-%zu.safetensors", r->directory, r->shard, r->shards);
	if (status == ATTN_OK && job->result_path.failed)
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = shard_file_open(&job->shard, &job->in.subject, r->shard, r->shards, wanted(job),
					 job->result_path.data, err);
	if (status == ATTN_OK && job->shard.rows > 0)
		status =
		    progress_stream(job->self, job->in.rows.source, &job->shard.blocks, consumers, 1, err);
	if (status == ATTN_OK)
		status = shard_file_commit(&job->shard, err);
	if (status == ATTN_OK)
		report_written(job->self, job->result_path.data);
	return status;
}

/* --dry-run: what it would cost, by the plan alone. */
static enum attn_status print_cost(struct job *job, struct attn_error *err)
{
	enum attn_status status = open_files(job, err);
	return status == ATTN_OK ? cost_print(&job->cost, job->self, &job->in, &job->options, err) : status;
}

static enum attn_status compute(struct job *job, int argc, char **argv, struct attn_error *err)
{
	enum attn_status status = open_inputs(job, argc, argv, err);
	if (status == ATTN_OK)
		status = check_possible(job, err);
	if (status == ATTN_OK && job->options.dry_run)
		return print_cost(job, err);
	if (status == ATTN_OK && job->options.shard)
		return write_shard(job, err);
	if (status == ATTN_OK)
		status = view_apply(&job->options.view, &job->in, job->self, err);
	if (status == ATTN_OK)
		status = view_top_keys(&job->options.view, &job->in, job->self, NULL, err);
	if (status == ATTN_OK)
		status = open_consumers(job, err);
	if (status == ATTN_OK)
		status = stream(job, err);
	return status == ATTN_OK ? finish(job, err) : status;
}

static void release(struct job *job)
{
	for (size_t i = 0; i < job->file_count; i++)
		result_abort(&job->files[i]);
	shard_file_release(&job->shard);
	free(job->projected);
	view_request_release(&job->options.view);
	cost_release(&job->cost);
	buffer_release(&job->result_path);
	buffer_release(&job->rankings_path);
	context_consumer_release(&job->contexts);
	ranking_release(&job->ranking);
	head_figures_release(&job->heads);
	figures_release(&job->figures);
	inputs_release(&job->in);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct job *job = calloc(1, sizeof *job);
	if (!job)
		return attn_fail_memory(err);
	job->self = self;
	enum attn_status status = run_options_parse(&job->options, &job->in, self, argc, argv, err);
	if (status == ATTN_OK)
		status = job->options.help ? print_usage(self, err)
					   : compute(job, argc - optind, argv + optind, err);
	release(job);
	free(job);
	return status;
}

const struct command command_run = {
    "run", run, "attn run", "compute; write context, weights, heatmaps, rankings", run_usage, run_usage_end};

const struct command command_merge = {
    "merge", run, "attn merge", "join the parts of a run on many machines", merge_usage, NULL};
