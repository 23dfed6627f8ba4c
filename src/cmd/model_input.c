#include "cmd/model_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/output.h"
#include "tokenizer/tokenizer.h"
#include "util/memory.h"
#include "util/number.h"

/* --- from a text to ids --------------------------------------------------------- */

static enum attn_status allocate(struct model_input *in, size_t count, struct attn_error *err)
{
	in->ids = array_alloc(count, sizeof *in->ids);
	in->types = array_alloc(count, sizeof *in->types);
	in->text = (struct text_ids){in->ids, in->types, count};
	return in->ids && in->types ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status take_encoding(struct model_input *in, const struct encoding *e,
				      struct attn_error *err)
{
	TRY(allocate(in, e->count, err));
	for (size_t i = 0; i < e->count; i++) {
		in->ids[i] = e->tokens[i].id;
		in->types[i] = e->tokens[i].type;
		if (!string_list_add(&in->tokens, e->tokens[i].text))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

static enum attn_status encode(struct model_input *in, const struct model_options *options,
			       struct attn_error *err)
{
	struct encoding encoding = {0};
	struct buffer text = BUFFER_INIT;
	TRY(tokenizer_open(&in->tokenizer, options->model, err));
	enum attn_status status = model_options_text(options, &text, err);
	if (status == ATTN_OK)
		status = tokenizer_encode(in->tokenizer, text.data ? text.data : "", text.length,
					  options->pair, options->pair ? strlen(options->pair) : 0,
					  !options->no_special, &encoding, err);
	if (status == ATTN_OK)
		status = take_encoding(in, &encoding, err);
	encoding_release(&encoding);
	buffer_release(&text);
	return status;
}

/* Tokens of ids, from the tokenizer if the model has one: without one the ids themselves. */
static enum attn_status name_ids(struct model_input *in, const char *path, struct attn_error *err)
{
	bool ok = true;
	if (tokenizer_open(&in->tokenizer, path, NULL) != ATTN_OK)
		in->tokenizer = NULL;
	for (size_t i = 0; i < in->text.count && ok; i++) {
		const char *token = in->tokenizer ? tokenizer_token(in->tokenizer, in->ids[i]) : NULL;
		char number[24];
		snprintf(number, sizeof number, "%zu", in->ids[i]);
		ok = string_list_add(&in->tokens, token ? token : number);
	}
	return ok ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status read_ids(struct model_input *in, const struct model_options *options,
				 struct attn_error *err)
{
	TRY(model_options_numbers(options->ids, "ids", &in->ids, &in->text.count, err));
	in->text.ids = in->ids;
	return name_ids(in, options->model, err);
}

static enum attn_status read_types(struct model_input *in, const struct model_options *options,
				   struct attn_error *err)
{
	size_t count;
	if (!options->type_ids)
		return ATTN_OK;
	if (in->model->a.token_types == 0)
		return attn_fail(err, ATTN_USAGE, "'--type-ids' has no effect: a %s model has no token types",
				 in->model->a.family->title);
	free(in->types);
	in->types = NULL;
	TRY(model_options_numbers(options->type_ids, "type-ids", &in->types, &count, err));
	in->text.types = in->types;
	if (count == in->text.count)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'--type-ids' has %zu types, expected %zu, one a token", count,
			 in->text.count);
}

static enum attn_status read_text(struct model_input *in, const struct model_options *options,
				  struct attn_error *err)
{
	TRY(options->ids ? read_ids(in, options, err) : encode(in, options, err));
	TRY(read_types(in, options, err));
	if (in->text.count == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "the text has no tokens, expected one at least");
	return model_check_text(in->model, &in->text, err);
}

/* --- what its rows are ------------------------------------------------------------- */

static enum attn_status copy_labels(struct string_list *to, const struct string_list *from,
				    struct attn_error *err)
{
	for (size_t i = 0; i < from->count; i++)
		if (!string_list_add(to, from->items[i]))
			return attn_fail_memory(err);
	return ATTN_OK;
}

static enum attn_status describe_rows(const struct model_input *in, struct rows_info *info,
				      struct attn_error *err)
{
	const struct architecture *a = &in->model->a;
	size_t tokens = in->text.count;
	*info = (struct rows_info){
	    .shape = {.batch = 1, .layers = a->layers, .heads = a->heads, .queries = tokens, .keys = tokens},
	    .has_layers = true,
	    .layer_known = true,
	    .has_tokens = true,
	};
	TRY(copy_labels(&info->query_labels, &in->tokens, err));
	return copy_labels(&info->key_labels, &in->tokens, err);
}

/* What masks keys in every layer; windows that only some have are not told. */
static enum attn_status describe_masking(struct model_input *in, const struct rows_shape *shape,
					 struct bundle *settings, struct attn_error *err)
{
	const struct architecture *a = &in->model->a;
	const char *origin = checkpoint_path(in->model->checkpoint);
	bool all = a->window > 0;
	char window[32];
	in->masking = masking_of_all(shape);
	if (!a->family->causal)
		return ATTN_OK;
	in->masking.causal = true;
	TRY(bundle_add_setting(settings, "causal", "true", origin, err));
	for (size_t i = 0; i < a->layers; i++)
		all = all && architecture_slides(a, i);
	if (!all)
		return ATTN_OK;
	in->masking.left_bound = true;
	in->masking.left = a->window - 1;
	snprintf(window, sizeof window, "%zu,-1", a->window - 1);
	return bundle_add_setting(settings, "window", window, origin, err);
}

enum attn_status model_input_open(struct model_input *in, const struct command *self,
				  const struct model_options *options, struct bundle *settings,
				  struct rows_info *info, struct attn_error *err)
{
	const char *kind = options->kind;
	TRY(model_open(&in->model, options->model, err));
	const struct architecture *a = &in->model->a;
	const char *only = a->family->causal ? "decoder" : "encoder";
	if (kind && strcmp(kind, "encoder") != 0 && strcmp(kind, "decoder") != 0)
		return attn_fail(err, ATTN_USAGE, "'--attention' is '%s', expected 'encoder' or 'decoder'",
				 kind);
	if (kind && strcmp(kind, only) != 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--attention' is '%s', expected '%s', the only one of a %s model", kind,
				 only, a->family->title);
	TRY(read_text(in, options, err));
	if (!in->model->positions && a->positions > 0 && in->text.count > a->positions)
		report_note(self, "the text has %zu tokens, more than the %zu that the model was made for",
			    in->text.count, a->positions);
	TRY(describe_rows(in, info, err));
	in->output.context_size = a->heads * a->head_size;
	return describe_masking(in, &info->shape, settings, err);
}

void model_input_release(struct model_input *in)
{
	attention_release(&in->focus);
	if (in->layers)
		in->layers->free(in->layers);
	masking_release(&in->masking);
	string_list_release(&in->tokens);
	free(in->ids);
	free(in->types);
	tokenizer_free(in->tokenizer);
	model_free(in->model);
	*in = (struct model_input){0};
}

bool model_input_reads(const struct model_input *in, const char *path)
{
	static const char *const others[] = {"config.json",
					     "model.safetensors.index.json",
					     "tokenizer.json",
					     "tokenizer_config.json",
					     "vocab.txt",
					     "vocab.json",
					     "merges.txt",
					     "special_tokens_map.json",
					     "spiece.model",
					     "tokenizer.model",
					     "bpe.codes",
					     "added_tokens.json",
					     "generation_config.json",
					     "sentencepiece.bpe.model"};
	const struct checkpoint *cp = in->model ? in->model->checkpoint : NULL;
	bool reads = false;
	size_t bytes;
	struct buffer name = BUFFER_INIT;
	for (size_t i = 0; cp && i < checkpoint_files(cp); i++)
		reads |= output_same_file(checkpoint_file(cp, i, &bytes), path);
	const char *weights = cp ? checkpoint_file(cp, 0, &bytes) : "", *slash = strrchr(weights, '/');
	int folder = slash ? (int)(slash - weights) + 1 : 0;
	for (size_t i = 0; cp && i < sizeof others / sizeof *others; i++) {
		buffer_clear(&name);
		buffer_printf(&name, "%.*s%s", folder, weights, others[i]);
		reads |= !name.failed && output_same_file(name.data, path);
	}
	buffer_release(&name);
	return reads;
}

enum attn_status model_input_plan(struct model_input *in, const struct rows_selection *selection,
				  struct rows_want want, struct row_source **source, struct attn_error *err)
{
	const struct model_want all = {.rows = want,
				       .selection = selection,
				       .hidden = in->hidden,
				       .logits = in->logits,
				       .last_logits = in->last_logits};
	return model_rows_new(source, in->model, &in->text, &all, err);
}

enum attn_status model_input_focus(struct model_input *in, size_t layer, struct attn_error *err)
{
	bool *layers = array_alloc(in->model->a.layers, sizeof *layers);
	if (!layers)
		return attn_fail_memory(err);
	layers[layer] = true;
	const struct rows_selection selection = {.layers = layers};
	const struct model_want want = {.selection = &selection};
	enum attn_status status = model_rows_new(&in->layers, in->model, &in->text, &want, err);
	free(layers);
	return status == ATTN_OK ? model_rows_attention(in->layers, layer, &in->focus, err) : status;
}
