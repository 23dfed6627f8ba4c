#include "cmd/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "input/roles.h"
#include "kernels/kernels.h"
#include "result/shards.h"
#include "result/stored.h"
#include "tokens/token.h"
#include "util/checked.h"

enum attn_status inputs_setting(struct inputs *in, const struct options *o, struct attn_error *err)
{
	char name[40], option[44];
	snprintf(name, sizeof name, "%s", o->name);
	snprintf(option, sizeof option, "--%s", o->name);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return bundle_override(&in->bundle, name, o->value ? o->value : "true", option, err);
}

/* Options that say how rows are computed, where they are only read: all but those that
 * say what was hidden. */
static enum attn_status check_stored_settings(const struct bundle *b, struct attn_error *err)
{
	static const char *const about_rows[] = {"causal", "window", "dilation", "blocks", "prefix", "axes"};
	for (size_t i = 0; i < b->setting_count; i++) {
		const struct setting *s = &b->settings[i];
		bool allowed = !s->from_command;
		for (size_t a = 0; a < sizeof about_rows / sizeof *about_rows && !allowed; a++)
			allowed = strcmp(s->name, about_rows[a]) == 0;
		if (!allowed)
			return attn_fail(
			    err, ATTN_USAGE,
			    "a stored result, '%s', is read as it is: '%s' has nothing to change",
			    origin_name(bundle_tensor(b, "weights")->origin), s->origin);
	}
	return ATTN_OK;
}

/* Tensors to compute from, beside what would have come of them. */
static enum attn_status check_stored_tensors(const struct bundle *b, struct attn_error *err)
{
	static const char *const hiding[] = {"mask", "key_padding", "kv_lengths", "segments",
					     "source_segments"};
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct role *role = role_find(b->tensors[i].name);
		bool allowed = !role || (role->kind != ROLE_TENSOR && role->kind != ROLE_PER_HEAD);
		for (size_t h = 0; h < sizeof hiding / sizeof *hiding && !allowed; h++)
			allowed = strcmp(role->name, hiding[h]) == 0;
		if (!allowed)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'weights' of '%s' is a stored result, '%s' of '%s' is an input: give one of "
			    "them (choose with ROLE=FILE:TENSOR)",
			    origin_name(bundle_tensor(b, "weights")->origin), role->name,
			    origin_name(b->tensors[i].origin));
	}
	return ATTN_OK;
}

static enum attn_status open_source(struct inputs *in, const struct command *self, struct engine_want want,
				    struct attn_error *err)
{
	struct string_list notes = {0};
	if (bundle_is_shard(&in->bundle))
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s' is a part of a run, expected a whole input: join parts by 'attn merge'",
		    origin_name(bundle_setting(&in->bundle, "attn_part")->origin));
	in->stored = bundle_tensor(&in->bundle, "weights") != NULL;
	if (in->stored) {
		if (want.stage != SCORES_NONE)
			return attn_fail(err, ATTN_USAGE,
					 "a stored result has no scores: give the input it was made from");
		enum attn_status status = check_stored_settings(&in->bundle, err);
		if (status == ATTN_OK)
			status = check_stored_tensors(&in->bundle, err);
		if (status == ATTN_OK)
			status = stored_open(&in->source, &in->bundle, &notes, err);
		report_notes(self, &notes);
		string_list_release(&notes);
		return status;
	}
	enum attn_status status = problem_init(&in->problem, &in->bundle, err);
	if (status != ATTN_OK)
		return status;
	report_notes(self, &in->problem.notes);
	if (in->dry) {
		in->checked = (struct row_source){.info = &in->problem.info, .masking = &in->problem.masking};
		in->source = &in->checked;
		return ATTN_OK;
	}
	status = engine_new(&in->engine, &in->problem, want, err);
	if (status == ATTN_OK)
		in->source = engine_rows(in->engine);
	return status;
}

static enum attn_status show_labels(struct inputs *in, struct attn_error *err)
{
	in->whole = in->source;
	in->info = in->source->info;
	if (!tokens_shown(&in->info->query_labels, &in->shown_queries) ||
	    !tokens_shown(&in->info->key_labels, &in->shown_keys))
		return attn_fail_memory(err);
	return ATTN_OK;
}

enum attn_status inputs_open(struct inputs *in, const struct command *self, int argc, char **argv,
			     struct engine_want want, struct attn_error *err)
{
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE, "no input: give a file, '-' or ROLE=FILE (see '%s --help')",
				 self->title);
	enum attn_status status = kernels_check(err);
	for (int i = 0; i < argc && status == ATTN_OK; i++)
		status = input_add(&in->bundle, argv[i], err);
	if (status != ATTN_OK)
		return status;
	status = open_source(in, self, want, err);
	if (status != ATTN_OK)
		return status;
	return show_labels(in, err);
}

static enum attn_status read_part(struct inputs *in, const char *path, struct attn_error *err)
{
	struct bundle *part = &in->parts[in->part_count++];
	enum attn_status status = input_read_file(part, path, NULL, err);
	if (status != ATTN_OK || bundle_is_shard(part))
		return status;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' is no part of a run, expected what 'attn run --shard' writes", path);
}

enum attn_status inputs_open_parts(struct inputs *in, const struct command *self, int argc, char **argv,
				   struct engine_want want, struct attn_error *err)
{
	if (argc == 0)
		return attn_fail(err, ATTN_USAGE,
				 "no parts: give the files of 'attn run --shard' (see '%s --help')",
				 self->title);
	enum attn_status status = kernels_check(err);
	if (status != ATTN_OK)
		return status;
	in->parts = array_alloc((size_t)argc, sizeof *in->parts);
	if (!in->parts)
		return attn_fail_memory(err);
	for (int i = 0; i < argc && status == ATTN_OK; i++)
		status = read_part(in, argv[i], err);
	if (status == ATTN_OK)
		status = shards_open(&in->source, &in->problem, in->parts, in->part_count, ATTN_VERSION, want,
				     err);
	if (status != ATTN_OK)
		return status;
	report_notes(self, &in->problem.notes);
	const struct bundle *first = &in->parts[0];
	for (size_t i = 0; i < first->setting_count && status == ATTN_OK; i++) {
		const struct setting *s = &first->settings[i];
		if (role_find(s->name))
			status = bundle_add_setting(&in->bundle, s->name, s->value, s->origin, err);
	}
	return status == ATTN_OK ? show_labels(in, err) : status;
}

void inputs_release(struct inputs *in)
{
	free(in->note);
	string_list_release(&in->shown_queries);
	string_list_release(&in->shown_keys);
	if (in->source && in->source->free)
		in->source->free(in->source);
	problem_release(&in->problem);
	for (size_t i = 0; i < in->part_count; i++)
		bundle_release(&in->parts[i]);
	free(in->parts);
	bundle_release(&in->bundle);
	*in = (struct inputs){0};
}

const char *head_text(const struct rows_info *info, size_t head, char *text, size_t size)
{
	char number[24];
	snprintf(number, sizeof number, "%zu", head);
	if (info->head_names.count > head && strcmp(info->head_names.items[head], number) != 0)
		snprintf(text, size, "%s (%s)", number, info->head_names.items[head]);
	else
		snprintf(text, size, "%s", number);
	return text;
}
