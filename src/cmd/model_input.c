#include "cmd/model_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/output.h"
#include "model/generate.h"
#include "tokenizer/tokenizer.h"
#include "tokens/words.h"
#include "util/memory.h"
#include "util/number.h"

/* --- from a text to ids --------------------------------------------------------- */

static struct text_ids ids_of(const struct model_text *text)
{
	return (struct text_ids){.ids = text->ids, .types = text->types, .count = text->count};
}

static void model_text_release(struct model_text *text)
{
	free(text->ids);
	free(text->types);
	string_list_release(&text->tokens);
	if (!text->borrowed)
		tokenizer_free(text->tokenizer);
	*text = (struct model_text){0};
}

static enum attn_status take_encoding(struct model_text *to, const struct encoding *e, struct attn_error *err)
{
	to->count = e->count;
	to->ids = array_alloc(e->count, sizeof *to->ids);
	to->types = array_alloc(e->count, sizeof *to->types);
	if (!to->ids || !to->types)
		return attn_fail_memory(err);
	for (size_t i = 0; i < e->count; i++) {
		to->ids[i] = e->tokens[i].id;
		to->types[i] = e->tokens[i].type;
		if (!string_list_add(&to->tokens, e->tokens[i].text))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

static enum attn_status encode(struct model_text *to, const struct model_options *options,
			       struct attn_error *err)
{
	struct encoding encoding = {0};
	struct buffer text = BUFFER_INIT;
	TRY(tokenizer_open(&to->tokenizer, options->model, err));
	enum attn_status status = model_options_text(options, &text, err);
	if (status == ATTN_OK)
		status = tokenizer_encode(to->tokenizer, text.data ? text.data : "", text.length,
					  options->pair, options->pair ? strlen(options->pair) : 0,
					  !options->no_special, &encoding, err);
	if (status == ATTN_OK)
		status = take_encoding(to, &encoding, err);
	encoding_release(&encoding);
	buffer_release(&text);
	return status;
}

/* That of what the decoder writes, or the same as the text's. */
static enum attn_status open_target_tokenizer(struct model_input *in, const char *path,
					      struct attn_error *err)
{
	struct model_text *target = &in->text;
	TRY(tokenizer_open_target(&target->tokenizer, path, err));
	if (target->tokenizer)
		return ATTN_OK;
	target->tokenizer = in->source.tokenizer;
	target->borrowed = target->tokenizer != NULL;
	return target->tokenizer ? ATTN_OK : tokenizer_open(&target->tokenizer, path, err);
}

/* A token of an id, from the tokenizer if there is one: without one the id itself. */
static bool add_name(struct model_text *to, size_t id)
{
	const char *token = to->tokenizer ? tokenizer_token(to->tokenizer, id) : NULL;
	char number[24];
	snprintf(number, sizeof number, "%zu", id);
	return string_list_add(&to->tokens, token ? token : number);
}

static enum attn_status read_ids(struct model_text *to, const char *value, const char *option,
				 struct attn_error *err)
{
	bool ok = true;
	TRY(model_options_numbers(value, option, &to->ids, &to->count, err));
	for (size_t i = 0; i < to->count && ok; i++)
		ok = add_name(to, to->ids[i]);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status read_types(const struct model *m, struct model_text *text,
				   const struct model_options *options, struct attn_error *err)
{
	size_t count;
	if (!options->type_ids)
		return ATTN_OK;
	if (m->a.token_types == 0)
		return attn_fail(err, ATTN_USAGE, "'--type-ids' has no effect: a %s model has no token types",
				 m->a.family->title);
	free(text->types);
	text->types = NULL;
	TRY(model_options_numbers(options->type_ids, "type-ids", &text->types, &count, err));
	if (count == text->count)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'--type-ids' has %zu types, expected %zu, one a token", count,
			 text->count);
}

static enum attn_status check_text(const struct model *m, const struct model_text *text, const char *what,
				   struct attn_error *err)
{
	const struct text_ids ids = ids_of(text);
	if (text->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "the %s has no tokens, expected one at least", what);
	return model_check_text(m, &ids, err);
}

/* The text of --text and the others, for `m`. */
static enum attn_status read_text(const struct model *m, struct model_text *text,
				  const struct model_options *options, struct attn_error *err)
{
	if (options->ids && tokenizer_open(&text->tokenizer, options->model, NULL) != ATTN_OK)
		text->tokenizer = NULL;
	TRY(options->ids ? read_ids(text, options->ids, "ids", err) : encode(text, options, err));
	TRY(read_types(m, text, options, err));
	return check_text(m, text, "text", err);
}

/* What is fed to a decoder that is to predict a text token by token (teacher forcing): its first token
 * and the text's but for the last, which closes it and of which nothing follows. */
static enum attn_status shift_right(struct model_input *in, const struct encoding *e, bool closed,
				    struct attn_error *err)
{
	struct model_text *to = &in->text;
	size_t first = in->whole->a.first_token, kept = e->count - (closed && e->count > 0);
	to->count = kept + 1;
	to->ids = array_alloc(to->count, sizeof *to->ids);
	if (!to->ids)
		return attn_fail_memory(err);
	to->ids[0] = first == LAST_OF_TARGET && e->count > 0 ? e->tokens[e->count - 1].id : first;
	bool ok = add_name(to, to->ids[0]);
	for (size_t i = 0; i < kept && ok; i++) {
		to->ids[i + 1] = e->tokens[i].id;
		ok = string_list_add(&to->tokens, e->tokens[i].text);
	}
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* Whether each is one character, as of a model that spells, or of Chinese. */
static bool are_characters(const struct string_list *words)
{
	bool all = true;
	for (size_t i = 0; i < words->count; i++) {
		size_t characters = 0;
		for (const char *c = words->items[i]; *c; c++)
			characters += ((unsigned char)*c & 0xC0) != 0x80;
		all = all && characters == 1;
	}
	return all;
}

/* "5 tokens written: 'Lily . She loved'" */
static enum attn_status report_written_tokens(const struct model_input *in, const struct command *self,
					      size_t first, struct attn_error *err)
{
	struct string_list written = {0};
	struct words words = {0};
	struct buffer text = BUFFER_INIT;
	bool ok = true;
	for (size_t i = first; i < in->text.count && ok; i++)
		ok = string_list_add(&written, in->text.tokens.items[i]);
	ok = ok && words_add(&words, &written);
	const char *between = are_characters(&words.labels) ? "" : " ";
	for (size_t i = 0; i < words.count && ok; i++)
		buffer_printf(&text, "%s%s", i > 0 ? between : "", words.labels.items[i]);
	ok = ok && !text.failed;
	if (ok)
		report_note(self, "%zu tokens written: '%s'", written.count, text.data ? text.data : "");
	words_release(&words);
	string_list_release(&written);
	buffer_release(&text);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* What the model writes behind what it has read, as --generate asks for. */
static enum attn_status generate(struct model_input *in, const struct command *self,
				 const struct model_options *options, struct attn_error *err)
{
	size_t *written = NULL, count = 0, before = in->text.count;
	const struct text_ids text = ids_of(&in->text), source = ids_of(&in->source);
	if (options->generate == 0 || !in->model->a.family->causal)
		return ATTN_OK;
	enum attn_status status = model_generate(in->model, &text, in->model->encoder ? &source : NULL,
						 options->generate, &written, &count, err);
	size_t *ids = status == ATTN_OK ? array_alloc(before + count, sizeof *ids) : NULL;
	if (ids) {
		memcpy(ids, in->text.ids, before * sizeof *ids);
		memcpy(ids + before, written, count * sizeof *ids);
		free(in->text.ids);
		in->text.ids = ids;
		in->text.count = before + count;
	} else if (status == ATTN_OK) {
		status = attn_fail_memory(err);
	}
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		if (!add_name(&in->text, written[i]))
			status = attn_fail_memory(err);
	free(written);
	return status == ATTN_OK ? report_written_tokens(in, self, before, err) : status;
}

static enum attn_status read_target(struct model_input *in, const struct model_options *options,
				    struct attn_error *err)
{
	struct encoding encoding = {0};
	const char *target = options->target;
	enum attn_status status = open_target_tokenizer(in, options->model, target ? err : NULL);
	if (target)
		TRY(status);
	if (options->target_ids) {
		TRY(read_ids(&in->text, options->target_ids, "target-ids", err));
		return check_text(in->whole, &in->text, "target", err);
	}
	if (target)
		TRY(tokenizer_encode(in->text.tokenizer, target, strlen(target), NULL, 0,
				     !options->no_special, &encoding, err));
	status = shift_right(in, &encoding, target && !options->no_special, err);
	encoding_release(&encoding);
	return status == ATTN_OK ? check_text(in->whole, &in->text, "target", err) : status;
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
	const struct model_text *keys = in->crossing ? &in->source : &in->text;
	*info = (struct rows_info){
	    .shape = {.batch = 1,
		      .layers = a->layers,
		      .heads = a->heads,
		      .queries = in->text.count,
		      .keys = keys->count,
		      .cross = in->crossing},
	    .has_layers = true,
	    .layer_known = true,
	    .has_tokens = true,
	};
	TRY(copy_labels(&info->query_labels, &in->text.tokens, err));
	return copy_labels(&info->key_labels, &keys->tokens, err);
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
	if (!a->family->causal || in->crossing)
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

/* Which of the model's attentions is looked at: in->model, and in->crossing. */
static enum attn_status choose_kind(struct model_input *in, const struct command *self,
				    const struct model_options *options, struct attn_error *err)
{
	const struct family *family = in->whole->a.family;
	bool target = options->target || options->target_ids || options->generate > 0,
	     both = family->encoder != NULL;
	const char *only = family->causal ? "decoder" : "encoder";
	const char *kind = options->kind ? options->kind : !both ? only : target ? "cross" : "encoder";
	bool encoder = strcmp(kind, "encoder") == 0, cross = strcmp(kind, "cross") == 0;
	in->model = encoder && both ? in->whole->encoder : in->whole;
	in->crossing = cross;
	if (!encoder && !cross && strcmp(kind, "decoder") != 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--attention' is '%s', expected 'encoder', 'decoder' or 'cross'", kind);
	if (!both && strcmp(kind, only) != 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--attention' is '%s', expected '%s', the only one of a %s model", kind,
				 only, family->title);
	if ((options->target || options->target_ids) && !both)
		return attn_fail(err, ATTN_USAGE,
				 "'--%s' is of an encoder with a decoder, which a %s model is not",
				 options->target ? "target" : "target-ids", family->title);
	if (options->generate > 0 && !family->causal)
		return attn_fail(err, ATTN_USAGE,
				 "'--generate' is of decoders, which write, and a %s model is an encoder",
				 family->title);
	if (target && encoder)
		report_note(self, "the encoder reads the text alone: the target is not used");
	if (both && !encoder && !target)
		return attn_fail(err, ATTN_USAGE,
				 "'--attention %s' also requires what the decoder reads: --target TEXT, "
				 "--target-ids LIST or --generate N",
				 kind);
	return ATTN_OK;
}

enum attn_status model_input_open(struct model_input *in, const struct command *self,
				  const struct model_options *options, struct bundle *settings,
				  struct rows_info *info, struct attn_error *err)
{
	TRY(model_open(&in->whole, options->model, err));
	TRY(choose_kind(in, self, options, err));
	const struct architecture *a = &in->model->a;
	if (in->model->encoder) {
		TRY(read_text(in->model->encoder, &in->source, options, err));
		TRY(read_target(in, options, err));
	} else {
		TRY(read_text(in->model, &in->text, options, err));
	}
	TRY(generate(in, self, options, err));
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
	model_text_release(&in->text);
	model_text_release(&in->source);
	model_free(in->whole);
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
					     "sentencepiece.bpe.model",
					     "source.spm",
					     "target.spm",
					     "source_vocabulary.txt",
					     "target_vocabulary.txt",
					     "shared_vocabulary.txt"};
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

/* The rows of `want`, whose texts are the model's. */
static enum attn_status new_rows(struct model_input *in, struct model_want want, struct row_source **source,
				 struct attn_error *err)
{
	in->text_ids = ids_of(&in->text);
	in->source_ids = ids_of(&in->source);
	want.crossing = in->crossing;
	want.source = in->model->encoder ? &in->source_ids : NULL;
	return model_rows_new(source, in->model, &in->text_ids, &want, err);
}

enum attn_status model_input_plan(struct model_input *in, const struct rows_selection *selection,
				  struct rows_want want, struct row_source **source, struct attn_error *err)
{
	return new_rows(in,
			(struct model_want){.rows = want,
					    .selection = selection,
					    .hidden = in->hidden,
					    .logits = in->logits,
					    .last_logits = in->last_logits},
			source, err);
}

enum attn_status model_input_focus(struct model_input *in, size_t layer, struct attn_error *err)
{
	bool *layers = array_alloc(in->model->a.layers, sizeof *layers);
	if (!layers)
		return attn_fail_memory(err);
	layers[layer] = true;
	const struct rows_selection selection = {.layers = layers};
	enum attn_status status =
	    new_rows(in, (struct model_want){.selection = &selection}, &in->layers, err);
	free(layers);
	return status == ATTN_OK ? model_rows_attention(in->layers, layer, &in->focus, err) : status;
}
