#include "cmd/model_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/picture.h"
#include "files/input.h"
#include "model/generate.h"
#include "model/preprocess.h"
#include "tokenizer/tokenizer.h"
#include "tokens/words.h"
#include "util/memory.h"

struct text_ids model_text_ids(const struct model_text *text)
{
	return (struct text_ids){
	    .ids = text->ids, .types = text->types, .pixels = text->pixels, .count = text->count};
}

void model_text_release(struct model_text *text)
{
	free(text->ids);
	free(text->types);
	free(text->pixels);
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
static enum attn_status open_target_tokenizer(struct model_text *target, const struct model_text *source,
					      const char *path, struct attn_error *err)
{
	TRY(tokenizer_open_target(&target->tokenizer, path, err));
	if (target->tokenizer)
		return ATTN_OK;
	target->tokenizer = source->tokenizer;
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
	const struct text_ids ids = model_text_ids(text);
	if (text->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "the %s has no tokens, expected one at least", what);
	return model_check_text(m, &ids, err);
}

enum attn_status model_text_read(struct model_text *text, const struct model *m,
				 const struct model_options *options, struct attn_error *err)
{
	if (options->ids && tokenizer_open(&text->tokenizer, options->model, NULL) != ATTN_OK)
		text->tokenizer = NULL;
	TRY(options->ids ? read_ids(text, options->ids, "ids", err) : encode(text, options, err));
	TRY(read_types(m, text, options, err));
	return check_text(m, text, "text", err);
}

/* What is fed to a decoder that is to predict a text token by token (teacher forcing): its first token
 * and the text's but for the last, if that was added to close it, since nothing follows it. */
static enum attn_status shift_right(struct model_text *to, const struct model *m, const struct encoding *e,
				    bool closed, struct attn_error *err)
{
	bool ends = closed && e->count > 0 && e->tokens[e->count - 1].special;
	size_t first = m->a.first_token, kept = e->count - ends;
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
static enum attn_status report_written_tokens(const struct model_text *of, const struct command *self,
					      size_t first, struct attn_error *err)
{
	struct string_list written = {0};
	struct words words = {0};
	struct buffer text = BUFFER_INIT;
	bool ok = true;
	for (size_t i = first; i < of->count && ok; i++)
		ok = string_list_add(&written, of->tokens.items[i]);
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

enum attn_status model_text_generate(struct model_text *text, const struct model_text *source,
				     struct model *m, const struct command *self,
				     const struct model_options *options, struct attn_error *err)
{
	size_t *written = NULL, count = 0, before = text->count;
	const struct text_ids ids = model_text_ids(text), read = model_text_ids(source);
	if (options->generate == 0 || !m->a.family->causal)
		return ATTN_OK;
	enum attn_status status =
	    model_generate(m, &ids, m->encoder ? &read : NULL, options->generate, &written, &count, err);
	size_t *all = status == ATTN_OK ? array_alloc(before + count, sizeof *all) : NULL;
	if (all) {
		memcpy(all, text->ids, before * sizeof *all);
		memcpy(all + before, written, count * sizeof *all);
		free(text->ids);
		text->ids = all;
		text->count = before + count;
		text->written = count;
	} else if (status == ATTN_OK) {
		status = attn_fail_memory(err);
	}
	for (size_t i = 0; i < count && status == ATTN_OK; i++)
		if (!add_name(text, written[i]))
			status = attn_fail_memory(err);
	free(written);
	return status == ATTN_OK ? report_written_tokens(text, self, before, err) : status;
}

enum attn_status model_text_target(struct model_text *text, const struct model_text *source,
				   const struct model *m, const struct model_options *options,
				   struct attn_error *err)
{
	struct encoding encoding = {0};
	const char *target = options->target;
	enum attn_status status = open_target_tokenizer(text, source, options->model, target ? err : NULL);
	if (target)
		TRY(status);
	if (options->target_ids) {
		TRY(read_ids(text, options->target_ids, "target-ids", err));
		return check_text(m, text, "target", err);
	}
	if (target)
		TRY(tokenizer_encode(text->tokenizer, target, strlen(target), NULL, 0, !options->no_special,
				     &encoding, err));
	status = shift_right(text, m, &encoding, target && !options->no_special, err);
	encoding_release(&encoding);
	return status == ATTN_OK ? check_text(m, text, "target", err) : status;
}

/* --- pictures ---------------------------------------------------------------------- */

/* Labels: [CLS], or [CLS] and [DIST], then "row,column" of each patch. */
static enum attn_status name_patches(struct model_text *text, const struct architecture *a,
				     struct attn_error *err)
{
	static const char *const leads[] = {"[CLS]", "[DIST]"};
	size_t lead = architecture_lead(a), across = a->image / a->patch;
	char name[60];
	text->count = lead + architecture_patches(a);
	for (size_t i = 0; i < text->count; i++) {
		size_t patch = i - lead;
		snprintf(name, sizeof name, "%zu,%zu", patch / across, patch % across);
		if (!string_list_add(&text->tokens, i < lead ? leads[i] : name))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

/* The only array of a file, (channels, side, side), or with 1 in front. */
static enum attn_status take_pixels(struct model_text *text, const struct architecture *a, struct bundle *b,
				    const char *path, struct attn_error *err)
{
	char shape[200];
	struct tensor *t = b->tensor_count == 1 ? &b->tensors[0] : NULL;
	if (!t)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has %zu arrays, expected one of pixels", path,
				 b->tensor_count);
	if (t->rank == 4 && t->shape[0] == 1)
		tensor_drop_axis(t, 0);
	if (t->rank != 3 || t->shape[0] != a->channels || t->shape[1] != a->image || t->shape[2] != a->image)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %s, expected %zu x %zu x %zu, colours first",
				 path, tensor_shape_text(t->rank, t->shape, shape, sizeof shape), a->channels,
				 a->image, a->image);
	text->pixels = floats_alloc(t->count);
	if (!text->pixels)
		return attn_fail_memory(err);
	TRY(tensor_load(t, err));
	return tensor_part_to_f32(t, 0, t->count, text->pixels, err);
}

static enum attn_status read_pixels(struct model_text *text, const struct model *m, const char *path,
				    struct attn_error *err)
{
	struct bundle b;
	bundle_init(&b);
	enum attn_status status = input_read_file(&b, path, NULL, err);
	if (status == ATTN_OK)
		status = take_pixels(text, &m->a, &b, path, err);
	bundle_release(&b);
	return status;
}

/* A picture as the folder's preprocessor makes it. */
static enum attn_status read_image(struct model_text *text, const struct model *m, const char *path,
				   struct attn_error *err)
{
	struct image image = {0};
	struct preprocessor p;
	TRY(preprocessor_open(&p, m, err));
	TRY(picture_read(&image, path, err));
	const struct pixels pixels = {image.width, image.height, image.pixels};
	text->pixels = floats_alloc4(m->a.channels, m->a.image, m->a.image, 1);
	enum attn_status status =
	    text->pixels ? preprocess(&p, &pixels, text->pixels, NULL, err) : attn_fail_memory(err);
	size_t x, y, width, height;
	preprocessor_seen(&p, &pixels, &x, &y, &width, &height);
	text->seen = (struct rect){(int)x, (int)y, (int)width, (int)height};
	image_release(&image);
	return status;
}

enum attn_status model_text_picture(struct model_text *text, const struct model *m,
				    const struct model_options *options, struct attn_error *err)
{
	TRY(options->image ? read_image(text, m, options->image, err)
			   : read_pixels(text, m, options->pixels, err));
	return name_patches(text, &m->a, err);
}
