#include <stdlib.h>
#include <string.h>

#include "cmd/align_options.h"
#include "files/input.h"

/* The command while it goes from input to input. */
struct align_run {
	const struct command *self;
	struct align_options *options;
	size_t sentences; /* so far */
	bool noted_self, noted_layer, noted_rows;
};

/* What is worth a note, once. */
static void note(struct align_run *r, const struct align_input *input)
{
	const struct rows_info *info = input->in.info;
	const struct view_request *view = &r->options->request.view;
	if (input->defaulted && !r->noted_layer) {
		report_note(r->self, "aligning by the last of %zu layers: choose with --layer",
			    input->in.subject.whole->shape.layers);
		r->noted_layer = true;
	}
	if (input->shifted && !r->noted_rows) {
		report_note(r->self,
			    "rows are of the tokens that they write, since the first one read is a mark: "
			    "--rows says otherwise");
		r->noted_rows = true;
	}
	if (!info->shape.cross && !view->query && !view->key && !r->noted_self) {
		report_note(r->self, "queries and keys are the same words: choose source words by --key, and "
				     "target words by --query");
		r->noted_self = true;
	}
}

static enum attn_status align_batch_item(struct align_run *r, struct align_input *input, size_t batch,
					 struct attn_error *err)
{
	struct align_options *o = r->options;
	const struct link_list *gold = NULL;
	if (o->scores.path) {
		TRY(align_scores_add(&o->scores, input, r->sentences, batch, err));
		TRY(align_scores_gold(&o->scores, input, r->sentences, &gold, err));
	}
	if (o->output || !o->scores.path)
		TRY(align_output_add(&o->links, input, r->sentences, batch, err));
	if (o->draw)
		TRY(align_draw(input, batch, gold, &o->figure, o->draw, r->self, err));
	r->sentences++;
	return ATTN_OK;
}

/* ATTN_USAGE for a picture of several sentences, or an output that is an input. */
static enum attn_status check(const struct align_run *r, const struct align_input *input,
			      struct attn_error *err)
{
	const struct align_options *o = r->options;
	size_t items = 0;
	for (size_t b = 0; b < input->in.info->shape.batch; b++)
		items += rows_chosen(input->selected.batch, b);
	if (o->draw && items + r->sentences > 1)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--draw' is of one sentence, and there are more: choose with --batch, or give "
		    "one INPUT");
	if (o->output)
		TRY(inputs_spare(&input->in, o->output, err));
	return o->draw ? inputs_spare(&input->in, o->draw, err) : ATTN_OK;
}

static enum attn_status align_opened(struct align_run *r, struct align_input *input, struct attn_error *err)
{
	TRY(check(r, input, err));
	if (r->options->figure.keep_markers)
		TRY(view_keep_markers(&r->options->request.view, &input->in, err));
	note(r, input);
	TRY(align_input_stream(input, r->self, err));
	for (size_t b = 0; b < input->in.info->shape.batch; b++)
		if (rows_chosen(input->selected.batch, b))
			TRY(align_batch_item(r, input, b, err));
	return ATTN_OK;
}

/* Operands of one sentence, or of a batch. */
static enum attn_status align_input(struct align_run *r, int argc, char **argv, struct attn_error *err)
{
	struct align_options *o = r->options;
	struct align_input input = {0};
	enum attn_status status = align_input_open(&input, &o->request, &o->given, r->self, argc, argv, err);
	if (status == ATTN_OK)
		status = align_opened(r, &input, err);
	align_input_release(&input);
	return status;
}

/* The paths of --list. */
static enum attn_status read_list(const char *path, struct string_list *paths, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open_text(&bytes, path, err));
	char *copy = strndup(bytes.length ? (const char *)bytes.data : "", bytes.length);
	char *rest = copy, *line;
	enum attn_status status = copy ? ATTN_OK : attn_fail_memory(err);
	for (size_t number = 1; status == ATTN_OK && (line = strsep(&rest, "\n")); number++) {
		line[strcspn(line, "\r")] = '\0';
		if (*line == '\0' && !rest)
			break;
		if (*line == '\0')
			status = attn_fail(err, ATTN_BAD_INPUT, "'%s': line %zu is empty, expected a path",
					   path, number);
		else if (!string_list_add(paths, line))
			status = attn_fail_memory(err);
	}
	if (status == ATTN_OK && paths->count == 0)
		status = attn_fail(err, ATTN_BAD_INPUT, "'%s' is empty, expected a path a line", path);
	free(copy);
	file_bytes_release(&bytes);
	return status;
}

static enum attn_status align_list(struct align_run *r, struct attn_error *err)
{
	struct string_list paths = {0};
	enum attn_status status = read_list(r->options->list, &paths, err);
	for (size_t i = 0; i < paths.count && status == ATTN_OK; i++)
		status = align_input(r, 1, &paths.items[i], err);
	string_list_release(&paths);
	return status;
}

static enum attn_status align_all(struct align_run *r, int argc, char **argv, struct attn_error *err)
{
	const struct align_options *o = r->options;
	bool model = o->given.model_options.model != NULL, together = o->together || model || argc == 0;
	if (o->list && (o->together || model || argc > 0))
		return attn_fail(err, ATTN_USAGE, "'--list' gives all inputs: give no other");
	if (o->list)
		return align_list(r, err);
	for (int i = 0; i < argc; i++)
		together |= input_is_binding(argv[i]);
	if (together)
		return align_input(r, argc, argv, err);
	for (int i = 0; i < argc; i++)
		TRY(align_input(r, 1, argv + i, err));
	return ATTN_OK;
}

/* Tokens that a user named and no input has. */
static void note_unmet(const struct align_run *r, const char *option, const struct named_tokens *tokens)
{
	for (size_t i = 0; i < tokens->names.count && tokens->met; i++)
		if (!tokens->met[i])
			report_note(r->self, "'%s %s' changes nothing: no input has such a token", option,
				    tokens->names.items[i]);
}

static enum attn_status align(struct align_options *o, const struct command *self, int argc, char **argv,
			      struct attn_error *err)
{
	struct align_run r = {.self = self, .options = o};
	TRY(align_all(&r, argc, argv, err));
	note_unmet(&r, "--special", &o->request.special);
	note_unmet(&r, "--null", &o->request.nulls);
	if (o->output || !o->scores.path)
		TRY(align_output_write(&o->links, o->output ? o->output : "-", self, err));
	return o->scores.path ? align_scores_write(&o->scores, r.sentences, self, err) : ATTN_OK;
}

static enum attn_status run(const struct command *self, int argc, char **argv, struct attn_error *err)
{
	struct align_options o = {0};
	enum attn_status status = align_options_parse(&o, self, argc, argv, err);
	if (status == ATTN_OK)
		status = o.help ? print_usage(self, err) : align(&o, self, argc - optind, argv + optind, err);
	align_options_release(&o);
	return status;
}

const struct command command_align = {
    "align",         run, "attn align", "word alignments from attention, and their scores", align_usage,
    align_usage_end,
};
