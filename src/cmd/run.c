#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cost.h"
#include "cmd/progress.h"
#include "cmd/run_lengths.h"
#include "cmd/run_options.h"
#include "cmd/without_heads.h"
#include "consumers/context.h"
#include "consumers/masked.h"
#include "files/output.h"
#include "kernels/kernels.h"
#include "result/result_file.h"
#include "result/shard_file.h"
#include "result/vectors_file.h"
#include "result/without.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"

/* Weights beyond this are stored only when asked for. */
static const size_t WEIGHTS_LIMIT = (size_t)1 << 30;

enum {
	MAX_FILES = 4,
	MAX_CONSUMERS = MAX_FILES + 5
};

struct run_command {
	const struct command *self;
	struct run_options options;
	struct inputs in;
	struct cost cost;          /* of a dry run */
	struct selection selected; /* heads and layers; all, once they are shown */
	bool some;                 /* --head, --layer or --mean chose heads, or joined heads or layers */
	bool *context_layers;      /* which layers contexts are of, owned; NULL: all */
	struct buffer result_path, rankings_path;
	struct result_file files[MAX_FILES];
	size_t file_count;
	bool *without; /* (heads), owned: of an INPUT's heads those that are taken out; or NULL */
	struct vectors_file vectors[VECTORS_KINDS];
	size_t vectors_count;
	struct shard_file shard;
	struct context_consumer contexts;
	struct masked_count masked;
	struct ranking ranking;
	struct table_columns columns; /* of its tables */
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

static enum attn_status open_file(struct run_command *c, const char *path, struct result_parts parts,
				  struct attn_error *err)
{
	enum format format = c->options.format; /* where the ending says nothing */
	if (c->options.dry_run) {
		uint64_t size;
		bool exact;
		enum attn_status sized = result_size(&c->in.subject, path, format, parts, &size, &exact, err);
		return sized == ATTN_OK ? cost_add_file(&c->cost, path, size, exact, err) : sized;
	}
	struct result_file *file = &c->files[c->file_count++];
	enum attn_status status = result_open(file, &c->in.subject, path, format, parts, err);
	if (status == ATTN_OK && (parts.weights || parts.scores))
		c->consumers[c->consumer_count++] = &file->consumer;
	return status;
}

/* attention.safetensors: all that this problem has. */
static enum attn_status open_result(struct run_command *c, struct attn_error *err)
{
	const struct subject *subject = &c->in.subject;
	struct result_parts parts = {.weights = true,
				     .context = !c->some && subject->output->context_size > 0,
				     .output = !c->some && subject_output_size(subject) > 0};
	if (c->some && subject->output->context_size > 0)
		report_note(c->self, "a context has all heads side by side: none is stored of some");
	if (!weights_are_small(c->in.info)) {
		parts.weights = false;
		report_note(c->self,
			    "weights beyond 1 GiB are stored only when asked for, with --weights FILE");
	}
	if (!parts.weights && !parts.context)
		return ATTN_OK;
	buffer_printf(&c->result_path, "%s/attention.safetensors", c->options.directory);
	return c->result_path.failed ? attn_fail_memory(err) : open_file(c, c->result_path.data, parts, err);
}

/* --q, --k and --v. */
static enum attn_status open_vectors(struct run_command *c, struct attn_error *err)
{
	for (enum vectors_of which = VECTORS_Q; which < VECTORS_KINDS; which++) {
		const char *path = c->options.vectors[which];
		if (!path)
			continue;
		if (c->options.dry_run) {
			uint64_t size;
			bool exact;
			TRY(vectors_file_size(&c->in.subject, &c->in.plan, which, path, c->options.format,
					      &size, &exact, err));
			TRY(cost_add_file(&c->cost, path, size, exact, err));
			continue;
		}
		TRY(vectors_file_open(&c->vectors[c->vectors_count++], &c->in.subject, &c->in.plan, which,
				      path, c->options.format, err));
	}
	return ATTN_OK;
}

static enum attn_status open_files(struct run_command *c, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	if (c->options.everything) {
		if (!c->options.dry_run)
			status = make_directories(c->options.directory, err);
		return status == ATTN_OK ? open_result(c, err) : status;
	}
	const struct {
		const char *path;
		struct result_parts parts;
	} single[] = {
	    {c->options.weights, {.weights = true}},
	    {c->options.scores, {.scores = true, .stage = c->options.stage}},
	    {c->options.context, {.context = true}},
	    {c->options.output, {.output = true}},
	};
	for (size_t i = 0; i < MAX_FILES && status == ATTN_OK; i++)
		if (single[i].path)
			status = open_file(c, single[i].path, single[i].parts, err);
	if (status == ATTN_OK)
		status = open_vectors(c, err);
	if (c->options.heatmaps && status == ATTN_OK && !c->options.dry_run)
		status = make_directories(c->options.heatmaps, err);
	return status;
}

/* What was asked for must be there to give. */
static enum attn_status check_possible(const struct run_command *c, struct attn_error *err)
{
	const struct subject *subject = &c->in.subject;
	bool read = !subject->attention && !c->options.merge && !c->in.model.model;
	if (read && run_wants_vectors(&c->options))
		return attn_fail(err, ATTN_USAGE,
				 "a stored result has weights, but no Q, K and V: give the input it was made "
				 "from");
	if (c->options.vectors[VECTORS_V] && !subject->attention->has_values)
		return attn_fail(err, ATTN_BAD_INPUT, "'v' (or 'wv') is missing, expected it for --v");
	if (!c->options.context && !c->options.output)
		return ATTN_OK;
	if (read)
		return attn_fail(
		    err, ATTN_USAGE,
		    "a stored result has no values to make a context from: give the input it was "
		    "made from");
	if (subject->output->context_size == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'v' (or 'wv') is missing: a context also requires it");
	if (c->options.output && subject_output_size(subject) == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'wo' is missing: --output also requires it");
	return ATTN_OK;
}

static enum attn_status open_ranking(struct run_command *c, struct attn_error *err)
{
	struct ranking_options options = {
	    .top = c->options.top, .min_distance = c->options.min_distance, .info = c->in.info};
	enum attn_status status = ranking_init(&c->ranking, &c->in.info->shape, &options, err);
	if (status == ATTN_OK)
		c->consumers[c->consumer_count++] = &c->ranking.consumer;
	return status;
}

static enum attn_status open_figures(struct run_command *c, struct attn_error *err)
{
	const struct run_options *r = &c->options;
	struct attn_error cause = {ATTN_OK, ""};
	enum attn_status status = figures_init(&c->figures, c->self, &c->in, &r->figure, &cause);
	if (status != ATTN_OK)
		return attn_fail(err, status, "%s%s", cause.message,
				 r->everything ? " (single outputs, such as --weights FILE, need no pictures)"
					       : "");
	status = head_figures_init(&c->heads, &c->figures, r->heatmaps ? r->heatmaps : r->directory, err);
	if (status == ATTN_OK)
		c->consumers[c->consumer_count++] = &c->heads.consumer;
	return status;
}

static enum attn_status open_consumers(struct run_command *c, struct attn_error *err)
{
	const struct rows_shape *shape = &c->in.subject.whole->shape;
	size_t context_size = c->in.subject.output->context_size;
	bool context = (c->options.everything && !c->some && context_size > 0) || c->options.context ||
		       c->options.output;
	enum attn_status status = ATTN_OK;
	if (c->options.everything || c->options.heatmaps)
		status = open_figures(c, err);
	if (status == ATTN_OK && (c->options.everything || c->options.rankings))
		status = open_ranking(c, err);
	if (status == ATTN_OK)
		status = open_files(c, err);
	if (status == ATTN_OK && context) {
		status = context_consumer_init_layers(&c->contexts, shape, c->context_layers,
						      context_size / shape->heads, err);
		if (status == ATTN_OK && !subject_is_view(&c->in.subject))
			c->consumers[c->consumer_count++] = &c->contexts.consumer;
	}
	masked_count_init(&c->masked);
	c->consumers[c->consumer_count++] = &c->masked.consumer;
	return status;
}

static enum attn_status project_output(struct run_command *c, struct attn_error *err)
{
	const struct subject *subject = &c->in.subject;
	size_t rows = subject->whole->shape.batch * subject->whole->shape.queries;
	size_t size = subject_output_size(subject);
	bool wanted = ((c->options.everything && !c->some) || c->options.output) && size > 0;
	if (!wanted)
		return ATTN_OK;
	c->projected = array_alloc(rows, size * sizeof *c->projected);
	if (!c->projected)
		return attn_fail_memory(err);
	return output_layer_project(subject->output, c->contexts.context, rows, c->projected, err);
}

static enum attn_status commit_files(struct run_command *c, struct attn_error *err)
{
	enum attn_status status = project_output(c, err);
	for (size_t i = 0; i < c->file_count && status == ATTN_OK; i++) {
		status = result_commit(&c->files[i], c->contexts.context, c->projected, err);
		if (status == ATTN_OK)
			report_written(c->self, c->files[i].path);
	}
	for (size_t i = 0; i < c->vectors_count && status == ATTN_OK; i++) {
		status = vectors_file_commit(&c->vectors[i], c->in.all, err);
		if (status == ATTN_OK)
			report_written(c->self, c->vectors[i].path);
	}
	return status;
}

static enum attn_status write_ranking(struct run_command *c, const char *path, enum table_format format,
				      size_t top, struct attn_error *err)
{
	struct ranking_table view = {.in = &c->in,
				     .ranking = &c->ranking,
				     .selection = &c->selected,
				     .columns = &c->columns,
				     .format = format,
				     .top = top};
	return ranking_write(c->self, path, &view, err);
}

static enum attn_status finish(struct run_command *c, struct attn_error *err)
{
	const struct run_options *r = &c->options;
	enum attn_status status = commit_files(c, err);
	if (status == ATTN_OK && model_output_wanted(&r->model))
		status = model_output_write(&r->model, &c->in.model, c->self, c->in.all, r->format,
					    r->rankings_format, err);
	if (status == ATTN_OK && r->rankings)
		status = write_ranking(c, r->rankings, r->rankings_format, r->top, err);
	if (status == ATTN_OK && r->everything) {
		buffer_printf(&c->rankings_path, "%s/rankings.tsv", r->directory);
		status = c->rankings_path.failed
			     ? attn_fail_memory(err)
			     : write_ranking(c, c->rankings_path.data, TABLE_TSV, r->top, err);
	}
	if (status == ATTN_OK)
		status = figures_commit(&c->figures, err);
	if (status == ATTN_OK && c->masked.masked)
		report_note(c->self, "%zu of %zu rows have every key masked: their weights%s are 0",
			    c->masked.masked, c->masked.rows,
			    c->contexts.context && !subject_is_view(&c->in.subject) ? " and context" : "");
	if (status == ATTN_OK && r->everything)
		status = write_ranking(c, "-", r->rankings_format, 1, err);
	return status;
}

/* What rows have to carry. */
static struct rows_want wanted(const struct run_command *c)
{
	return (struct rows_want){
	    .weights =
		c->options.everything || c->options.weights || c->options.rankings || c->options.heatmaps,
	    .context = (c->options.everything && !c->some) || c->options.context || c->options.output,
	    .values = c->options.vectors[VECTORS_V] != NULL,
	    .scores = c->options.scores ? 1u << c->options.stage : 0,
	};
}

/* A view has no contexts: they are made of the whole. */
static enum attn_status stream(struct run_command *c, struct attn_error *err)
{
	struct row_consumer *contexts[] = {&c->contexts.consumer};
	const struct rows_selection layers = {.layers = c->context_layers};
	enum attn_status status = ATTN_OK;
	if (c->options.only_vectors) /* of which no row is needed */
		return c->in.all->start(c->in.all, err);
	if (c->options.only_model)
		return ATTN_OK;
	if (subject_is_view(&c->in.subject) && c->contexts.context)
		status = progress_stream(c->self, c->in.all, &layers, contexts, 1, err);
	return status == ATTN_OK
		   ? progress_stream(c->self, c->in.rows.source, NULL, c->consumers, c->consumer_count, err)
		   : status;
}

/* An option for what is of one layer of a model at a time, or NULL. */
static const char *of_one_layer(const struct run_options *r)
{
	return r->output               ? "--output"
	       : r->vectors[VECTORS_Q] ? "--q"
	       : r->vectors[VECTORS_K] ? "--k"
	       : r->vectors[VECTORS_V] ? "--v"
				       : NULL;
}

/* Once they are shown, the selection is of all that is shown. */
static enum attn_status keep_layers(struct run_command *c, struct attn_error *err)
{
	size_t layers = c->in.info->shape.layers;
	if (!c->selected.layers)
		return ATTN_OK;
	c->context_layers = array_alloc(layers, sizeof *c->context_layers);
	if (!c->context_layers)
		return attn_fail_memory(err);
	memcpy(c->context_layers, c->selected.layers, layers * sizeof *c->context_layers);
	return ATTN_OK;
}

/* --without-head of an INPUT: contexts, and what follows from them, are all that changes. */
static enum attn_status take_out_heads(struct run_command *c, struct attn_error *err)
{
	const struct attention *a = c->in.subject.attention;
	const char *list = c->in.model_options.without;
	if (!list || c->in.model.model)
		return ATTN_OK;
	if (!a || a->output.context_size == 0)
		return attn_fail(err, ATTN_USAGE, "'--without-head' changes contexts, and %s",
				 a ? "there are no values" : "a stored result has weights alone");
	if (!wanted(c).context)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--without-head' changes contexts and what is made of them, and none is asked "
		    "for");
	TRY(without_heads_parse(&c->without, list, false, 1, a->heads, err));
	TRY(bundle_override(&c->in.bundle, "_without_heads", list, NULL, err));
	return without_open(&c->in.rows.source, c->without, a->value_size, err);
}

static enum attn_status open_inputs(struct run_command *c, int argc, char **argv, struct attn_error *err)
{
	const struct selection_options *s = &c->options.selection;
	char joins[24];
	if (c->options.merge)
		return inputs_open_shards(&c->in, c->self, argc, argv, wanted(c), err);
	TRY(inputs_open(&c->in, c->self, argc, argv, err));
	TRY(model_output_check(&c->options.model, &c->in.model, err));
	TRY(selection_open(&c->selected, s, c->in.info, err));
	if (of_one_layer(&c->options))
		TRY(inputs_focus(&c->in, &c->selected, of_one_layer(&c->options), err));
	c->some = !selection_has_contexts(&c->selected, &c->in.info->shape);
	if (c->some && (c->options.context || c->options.output))
		return attn_fail(err, ATTN_USAGE,
				 "'%s' and '%s' cannot be combined: a context has all heads side by side, "
				 "whatever is shown of their weights",
				 selection_joins(&c->selected, s, joins, sizeof joins) ? joins : "--head",
				 c->options.context ? "--context" : "--output");
	if (c->options.scores && selection_joins(&c->selected, s, joins, sizeof joins))
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--scores' and '%s' cannot be combined: weights are joined, which no scores "
		    "would give",
		    joins);
	const struct rows_selection rows = selection_rows(&c->selected);
	struct rows_want want = wanted(c);
	want.values |= c->selected.norms;
	TRY(inputs_plan(&c->in, &rows, want, err));
	if (c->selected.norms)
		TRY(inputs_show_norms(&c->in, &c->selected, err));
	TRY(take_out_heads(c, err));
	TRY(keep_layers(c, err));
	return selection_show(&c->selected, &c->in, err);
}

/* --shard: one shard of the rows, for attn merge. */
static enum attn_status write_shard(struct run_command *c, struct attn_error *err)
{
	const struct run_options *r = &c->options;
	struct row_consumer *consumers[] = {&c->shard.consumer};
	enum attn_status status = make_directories(r->directory, err);
	buffer_printf(&c->result_path, "%s/part-%zu-of-%zu.safetensors", r->directory, r->shard, r->shards);
	if (status == ATTN_OK && c->result_path.failed)
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = shard_file_open(&c->shard, &c->in.subject, r->shard, r->shards, wanted(c),
					 kernels_name(kernels_best()), c->result_path.data, err);
	if (status == ATTN_OK && c->shard.rows > 0)
		status = progress_stream(c->self, c->in.rows.source, &c->shard.blocks, consumers, 1, err);
	if (status == ATTN_OK)
		status = shard_file_commit(&c->shard, err);
	if (status == ATTN_OK)
		report_written(c->self, c->result_path.data);
	return status;
}

/* --dry-run: what it would cost, by the plan alone. */
static enum attn_status print_cost(struct run_command *c, struct attn_error *err)
{
	if (c->options.length_count > 0)
		return run_lengths(&c->options, &c->in, wanted(c), c->self, err);
	TRY(open_files(c, err));
	TRY(model_output_cost(&c->options.model, &c->in.model, c->options.format, &c->cost, err));
	return cost_print(&c->cost, c->self, &c->in, &c->options, err);
}

/* A model's files are many and mapped: no output may replace one. */
static enum attn_status spare_model(const struct run_command *c, struct attn_error *err)
{
	const struct run_options *r = &c->options;
	const char *const outputs[] = {r->context,
				       r->output,
				       r->weights,
				       r->scores,
				       r->model.hidden,
				       r->model.logits,
				       r->vectors[VECTORS_Q],
				       r->vectors[VECTORS_K],
				       r->vectors[VECTORS_V]};
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs && c->in.model.model; i++)
		if (outputs[i])
			TRY(inputs_spare(&c->in, outputs[i], err));
	return ATTN_OK;
}

/* No output may replace an input, but for a tensor's that names it. */
static enum attn_status spare_inputs(const struct run_command *c, struct attn_error *err)
{
	static const char *const names[] = {"attention.safetensors", "rankings.tsv"};
	const struct run_options *r = &c->options;
	char path[4096];
	TRY(spare_model(c, err));
	for (size_t i = 0; r->everything && !r->shard && i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", r->directory, names[i]);
		TRY(inputs_spare(&c->in, path, err));
	}
	snprintf(path, sizeof path, "%s/part-%zu-of-%zu.safetensors", r->directory, r->shard, r->shards);
	if (r->shard)
		TRY(inputs_spare(&c->in, path, err));
	if (r->rankings)
		TRY(inputs_spare(&c->in, r->rankings, err));
	return spare_model(c, err);
}

static enum attn_status compute(struct run_command *c, int argc, char **argv, struct attn_error *err)
{
	enum attn_status status = open_inputs(c, argc, argv, err);
	if (status == ATTN_OK)
		status = min_distance_check(c->options.min_distance, c->in.info, err);
	if (status == ATTN_OK)
		status = ranking_columns(&c->columns, c->in.info, c->options.columns, err);
	if (status == ATTN_OK)
		status = check_possible(c, err);
	if (status == ATTN_OK && !c->options.dry_run)
		status = spare_inputs(c, err);
	if (status == ATTN_OK && c->options.dry_run)
		return print_cost(c, err);
	if (status == ATTN_OK && c->options.shard)
		return write_shard(c, err);
	if (status == ATTN_OK && c->options.figure.keep_markers)
		status = view_keep_markers(&c->options.view, &c->in, err);
	if (status == ATTN_OK)
		status = view_apply(&c->options.view, &c->in, c->self, err);
	if (status == ATTN_OK)
		status = view_top_keys(&c->options.view, &c->in, c->self, NULL, err);
	if (status == ATTN_OK)
		status = open_consumers(c, err);
	if (status == ATTN_OK)
		status = stream(c, err);
	return status == ATTN_OK ? finish(c, err) : status;
}

static void release(struct run_command *c)
{
	for (size_t i = 0; i < c->file_count; i++)
		result_abort(&c->files[i]);
	for (size_t i = 0; i < c->vectors_count; i++)
		vectors_file_abort(&c->vectors[i]);
	shard_file_release(&c->shard);
	free(c->projected);
	free(c->context_layers);
	selection_release(&c->selected);
	view_request_release(&c->options.view);
	cost_release(&c->cost);
	buffer_release(&c->result_path);
	buffer_release(&c->rankings_path);
	context_consumer_release(&c->contexts);
	ranking_release(&c->ranking);
	head_figures_release(&c->heads);
	figures_release(&c->figures);
	inputs_release(&c->in);
	free(c->without);
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct run_command *c = calloc(1, sizeof *c);
	if (!c)
		return attn_fail_memory(err);
	c->self = self;
	c->in.model_options.of_inputs = true;
	enum attn_status status = run_options_parse(&c->options, &c->in, self, argc, argv, err);
	if (status == ATTN_OK)
		status =
		    c->options.help ? print_usage(self, err) : compute(c, argc - optind, argv + optind, err);
	release(c);
	free(c);
	return status;
}

const struct command command_run = {
    "run", run, "attn run", "compute; write context, weights, heatmaps, rankings", run_usage, run_usage_end};

const struct command command_merge = {
    "merge", run, "attn merge", "join the shards of a run on many machines", merge_usage, NULL};
