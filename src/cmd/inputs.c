#include "cmd/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "files/output.h"
#include "input/given.h"
#include "input/unused.h"
#include "kernels/kernels.h"
#include "result/shards.h"
#include "result/stored.h"
#include "tokens/token.h"
#include "util/memory.h"

enum attn_status inputs_setting(struct inputs *in, const struct options *o, struct attn_error *err)
{
	return inputs_set(in, o->name, option_role(o), o->value, err);
}

enum attn_status inputs_set(struct inputs *in, const char *name, enum role_id role, const char *value,
			    struct attn_error *err)
{
	char option[ROLE_NAME + 2];
	snprintf(option, sizeof option, "--%s", name);
	return bundle_override(&in->bundle, roles[role].name, value ? value : "true", option, err);
}

enum attn_status inputs_model_option(struct inputs *in, int id, const struct options *o,
				     struct attn_error *err)
{
	return model_option(&in->model_options, id, o, err);
}

/* The subject of rows in in->rows. */
static enum attn_status settle(struct inputs *in, const struct attention *attention,
			       const struct masking *masking, const struct output_layer *output,
			       struct attn_error *err)
{
	in->info = &in->rows.info;
	in->all = in->rows.source;
	in->subject = (struct subject){.settings = &in->bundle,
				       .attention = attention,
				       .info = in->info,
				       .whole = in->info,
				       .masking = masking,
				       .output = output};
	if (!tokens_shown(&in->info->query_labels, &in->shown_queries) ||
	    !tokens_shown(&in->info->key_labels, &in->shown_keys))
		return attn_fail_memory(err);
	return ATTN_OK;
}

static void say_notes(const struct inputs *in, const struct command *self, const struct string_list *notes)
{
	if (!in->told)
		report_notes(self, notes);
}

static enum attn_status open_stored(struct inputs *in, const struct command *self, struct attn_error *err)
{
	static const struct output_layer no_context = {0};
	const struct masking *masking;
	struct string_list notes = {0};
	enum attn_status status = unknown_check(&in->bundle, &notes, err);
	if (status == ATTN_OK)
		status = stored_open(&in->rows, &masking, &in->bundle, &notes, err);
	if (status == ATTN_OK)
		status = unused_check_stored(&in->bundle, &notes, err);
	say_notes(in, self, &notes);
	string_list_release(&notes);
	return status == ATTN_OK ? settle(in, NULL, masking, &no_context, err) : status;
}

static enum attn_status open_problem(struct inputs *in, const struct command *self, struct attn_error *err)
{
	const struct attention *a = &in->problem.attention;
	enum attn_status status = problem_init(&in->problem, &in->bundle, err);
	if (status != ATTN_OK)
		return status;
	say_notes(in, self, &in->problem.notes);
	in->rows.info = in->problem.info;
	in->problem.info = (struct rows_info){0};
	return settle(in, a, &a->masking, &a->output, err);
}

/* Settings are of inputs: a model's are in its folder. */
static enum attn_status check_settings(const struct bundle *b, struct attn_error *err)
{
	if (b->setting_count == 0)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "'%s' and '--model' cannot be combined: what a model's attention is stands in its "
			 "folder",
			 b->settings[0].origin);
}

static enum attn_status open_model(struct inputs *in, const struct command *self, int argc, char **argv,
				   struct attn_error *err)
{
	if (argc > 0)
		return attn_fail(err, ATTN_USAGE, "'%s' and '--model' cannot be combined: give one of them",
				 argv[0]);
	TRY(check_settings(&in->bundle, err));
	TRY(kernels_check(err));
	TRY(model_input_open(&in->model, self, &in->model_options, &in->bundle, &in->rows.info, err));
	return settle(in, NULL, &in->model.masking, &in->model.output, err);
}

enum attn_status inputs_open(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct attn_error *err)
{
	TRY(model_options_check(&in->model_options, err));
	if (in->model_options.model)
		return open_model(in, self, argc, argv, err);
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE,
				 "no input: give a file, '-' or ROLE=FILE, or --model and a text (see '%s "
				 "--help')",
				 self->title);
	TRY(inputs_read(in, self, argc, argv, err));
	return inputs_open_read(in, self, err);
}

enum attn_status inputs_read(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct attn_error *err)
{
	TRY(kernels_check(err));
	in->operands = argv;
	in->operand_count = argc;
	for (int i = 0; i < argc; i++)
		TRY(input_add(&in->bundle, argv[i], err));
	say_notes(in, self, &in->bundle.notes);
	if (!bundle_is_shard(&in->bundle))
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' is a shard of a run, expected a whole input: join shards by 'attn merge'",
			 origin_name(bundle_setting(&in->bundle, "attn_part")->origin));
}

enum attn_status inputs_open_read(struct inputs *in, const struct command *self, struct attn_error *err)
{
	return given_tensor(&in->bundle, ROLE_WEIGHTS) ? open_stored(in, self, err)
						       : open_problem(in, self, err);
}

bool inputs_are_arrays(const struct inputs *in)
{
	const struct bundle *b = &in->bundle;
	bool any = false;
	for (size_t i = 0; i < b->tensor_count; i++) {
		if (b->tensors[i].role == ROLE_NONE)
			continue;
		if (b->tensors[i].role == ROLE_WEIGHTS || roles[b->tensors[i].role].kind != KIND_RESULT)
			return false;
		any = true;
	}
	return any;
}

enum attn_status inputs_open_arrays(struct inputs *in, const struct command *self,
				    const struct rows_info *like, const struct arrays_want *want,
				    struct attn_error *err)
{
	static const struct output_layer no_context = {0};
	static const struct masking unknown = {0};
	struct named_rows none = {0};
	struct string_list notes = {0};
	enum attn_status status = unknown_check(&in->bundle, &notes, err);
	if (status == ATTN_OK)
		status = arrays_open(&in->rows, &none, &in->bundle, like, want, err);
	say_notes(in, self, &notes);
	string_list_release(&notes);
	return status == ATTN_OK ? settle(in, NULL, &unknown, &no_context, err) : status;
}

enum attn_status inputs_open_made(struct inputs *in, const struct command *self, struct attn_error *err)
{
	TRY(kernels_check(err));
	return open_problem(in, self, err);
}

enum attn_status inputs_plan(struct inputs *in, const struct rows_selection *selection, struct rows_want want,
			     struct attn_error *err)
{
	if (in->model.model && !in->subject.attention) {
		TRY(model_input_plan(&in->model, selection, want, &in->rows.source, err));
		in->all = in->rows.source;
		return ATTN_OK;
	}
	if (!in->subject.attention)
		return want.scores
			   ? attn_fail(err, ATTN_USAGE,
				       "a stored result has no scores: give the input it was made from")
			   : ATTN_OK;
	TRY(plan_init(&in->plan, in->subject.attention, selection, want, err));
	TRY(plan_run(&in->plan, &in->rows.source, err));
	in->all = in->rows.source;
	return ATTN_OK;
}

/* The one layer that is selected; ATTN_USAGE where there are more. */
static enum attn_status only_layer(const struct inputs *in, const struct selection *selection,
				   const char *option, size_t *layer, struct attn_error *err)
{
	size_t count = 0;
	for (size_t i = 0; i < in->info->shape.layers; i++)
		if (rows_chosen(selection->layers, i)) {
			*layer = i;
			count++;
		}
	if (count == 1)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "'%s' is of one layer, and the model has %zu: choose with --layer L", option,
			 in->info->shape.layers);
}

enum attn_status inputs_focus(struct inputs *in, struct selection *selection, const char *option,
			      struct attn_error *err)
{
	size_t layer = 0;
	char number[24];
	if (!in->model.model)
		return ATTN_OK;
	TRY(only_layer(in, selection, option, &layer, err));
	TRY(model_input_focus(&in->model, layer, err));
	free(selection->layers);
	selection->layers = NULL;
	in->rows.info.shape.layers = 1;
	in->rows.info.has_layers = false;
	in->rows.info.first_layer = layer;
	in->subject.attention = &in->model.focus;
	in->subject.masking = &in->model.focus.masking;
	in->subject.output = &in->model.focus.output;
	snprintf(number, sizeof number, "%zu", layer);
	return bundle_override(&in->bundle, "layer", number, NULL, err);
}

/* --norms, of rows that were planned with values. */
enum attn_status inputs_show_norms(struct inputs *in, const struct selection *selection,
				   struct attn_error *err)
{
	struct named_rows view;
	if (in->info->shape.signed_weights)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--norms' makes shares of weights of at least 0, found those of differential "
		    "attention");
	if (!in->rows.source->value_norms)
		return attn_fail(err, ATTN_USAGE, "'--norms' needs values, and %s",
				 in->subject.attention
				     ? "there are none"
				     : "a stored result has weights alone: give the input it was "
				       "made from");
	TRY(view_norms_open(&view, &in->rows, selection->heads, err));
	inputs_show(in, &view);
	in->note = strdup("weights times the lengths of values, as shares of a row");
	return in->note ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status plan_weights(struct inputs *in, const struct selection *selection, struct attn_error *err)
{
	const struct rows_selection rows = selection_rows(selection);
	TRY(inputs_plan(in, &rows, (struct rows_want){.weights = true, .values = selection->norms}, err));
	return selection->norms ? inputs_show_norms(in, selection, err) : ATTN_OK;
}

void inputs_show(struct inputs *in, struct named_rows *view)
{
	if (subject_is_view(&in->subject)) {
		rows_info_release(&in->rows.info);
	} else {
		in->whole = in->rows.info;
		in->subject.whole = &in->whole;
	}
	in->rows = *view;
	*view = (struct named_rows){0};
}

/* Whether an operand, FILE or ROLE=FILE[:TENSOR] (or several with commas), names `path`. */
static bool reads_file(const char *operand, const char *path)
{
	char name[4096];
	const char *equals = strchr(operand, '=');
	if (output_same_file(operand, path))
		return true;
	for (const char *at = equals; at; at = strchr(at, ',')) {
		at++;
		size_t length = strcspn(at, ",");
		for (size_t end = length; end > 0 && end < sizeof name; end--) {
			if (end < length && at[end] != ':' && at[end] != '[')
				continue;
			snprintf(name, sizeof name, "%.*s", (int)end, at);
			if (output_same_file(name, path))
				return true;
		}
	}
	return false;
}

static enum attn_status fail_spare(const char *path, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE, "'%s' is an input and would be replaced, expected another output",
			 path);
}

enum attn_status inputs_spare(const struct inputs *in, const char *path, struct attn_error *err)
{
	const struct model_options *m = &in->model_options;
	const char *const texts[] = {m->file, m->ids, m->type_ids};
	if (model_input_reads(&in->model, path))
		return fail_spare(path, err);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i] && strcmp(texts[i], "-") != 0 && output_same_file(texts[i], path))
			return fail_spare(path, err);
	for (int i = 0; i < in->operand_count && strcmp(path, "-") != 0; i++)
		if (strcmp(in->operands[i], "-") != 0 && reads_file(in->operands[i], path))
			return fail_spare(path, err);
	return ATTN_OK;
}

static enum attn_status read_shard(struct inputs *in, const char *path, struct attn_error *err)
{
	struct bundle *shard = &in->shards[in->shard_count++];
	enum attn_status status = input_read_file(shard, path, NULL, err);
	if (status != ATTN_OK || bundle_is_shard(shard))
		return status;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' is not a shard of a run, expected what 'attn run --shard' writes", path);
}

/* The settings of the run, as the first part has them. */
static enum attn_status take_settings(struct inputs *in, struct attn_error *err)
{
	const struct bundle *first = &in->shards[0];
	for (size_t i = 0; i < first->setting_count; i++) {
		const struct setting *s = &first->settings[i];
		if (s->role)
			TRY(bundle_add_setting(&in->bundle, s->name, s->value, s->origin, err));
	}
	return ATTN_OK;
}

enum attn_status inputs_open_shards(struct inputs *in, const struct command *self, int argc, char **argv,
				    struct rows_want want, struct attn_error *err)
{
	struct opened_shards opened;
	struct string_list notes = {0};
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE,
				 "no shards: give the files of 'attn run --shard' (see '%s --help')",
				 self->title);
	enum attn_status status = kernels_check(err);
	if (status != ATTN_OK)
		return status;
	in->operands = argv;
	in->operand_count = argc;
	in->shards = array_alloc((size_t)argc, sizeof *in->shards);
	if (!in->shards)
		return attn_fail_memory(err);
	for (int i = 0; i < argc && status == ATTN_OK; i++)
		status = read_shard(in, argv[i], err);
	if (status == ATTN_OK)
		status = shards_open(&opened, in->shards, in->shard_count, ATTN_VERSION, want, &notes, err);
	if (status == ATTN_OK) {
		in->rows = opened.rows;
		report_notes(self, &notes);
		status = take_settings(in, err);
	}
	string_list_release(&notes);
	return status == ATTN_OK ? settle(in, NULL, opened.masking, opened.output, err) : status;
}

void inputs_release(struct inputs *in)
{
	free(in->note);
	string_list_release(&in->shown_queries);
	string_list_release(&in->shown_keys);
	named_rows_release(&in->rows);
	rows_info_release(&in->whole);
	plan_release(&in->plan);
	problem_release(&in->problem);
	model_input_release(&in->model);
	for (size_t i = 0; i < in->shard_count; i++)
		bundle_release(&in->shards[i]);
	free(in->shards);
	bundle_release(&in->bundle);
	*in = (struct inputs){0};
}

const char *head_text(const struct rows_info *info, size_t head, char *text, size_t size)
{
	char number[24];
	snprintf(number, sizeof number, "%zu", head_number(info, head));
	if (info->joined_heads)
		snprintf(text, size, "%s", info->joined_heads);
	else if (info->head_names.count > head && strcmp(info->head_names.items[head], number) != 0)
		snprintf(text, size, "%s (%s)", number, info->head_names.items[head]);
	else
		snprintf(text, size, "%s", number);
	return text;
}

const char *head_title(const struct rows_info *info, size_t head, char *text, size_t size)
{
	size_t used = info->joined_heads ? 0 : (size_t)snprintf(text, size, "head ");
	head_text(info, head, text + used, size - used);
	return text;
}

const char *layer_title(const struct rows_info *info, size_t layer, char *text, size_t size)
{
	if (info->joined_layers)
		snprintf(text, size, "%s", info->joined_layers);
	else
		snprintf(text, size, "layer %zu", layer_number(info, layer));
	return text;
}
