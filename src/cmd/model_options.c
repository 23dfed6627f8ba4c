#include "cmd/model_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "util/memory.h"
#include "util/number.h"

enum {
	GENERATE_MOST = 1 << 20 /* tokens */
};

const char model_usage[] =
    "\n"
    "A model and a text instead of INPUT; see attn-models(7):\n"
    "      --model MODEL       a folder as Hugging Face publishes them, or a GGUF file\n"
    "      --text TEXT         the text; or\n"
    "      --text-file FILE    a file with it, '-' for standard input; or\n"
    "      --ids LIST          its token ids: 1,2,3 or a FILE.npy\n"
    "      --text-pair TEXT    a second text, for models of pairs\n"
    "      --type-ids LIST     token types, one a token [the tokenizer's]\n"
    "      --no-special        without the special tokens that the tokenizer adds\n"
    "      --target TEXT       what a decoder beside an encoder reads behind its first token; or\n"
    "      --target-ids LIST   all token ids that it reads\n"
    "      --generate N        what a decoder writes, at most N tokens, each the likeliest\n"
    "      --image FILE        a picture, PNG or JPEG, for models that read such; or\n"
    "      --pixels FILE       one as the model takes it: (colours, height, width)\n"
    "      --without-head LIST heads whose contexts count as 0, such as 2.0,2.3-5,1.*\n"
    "      --attention KIND    encoder, decoder or cross; text or vision [cross with a\n"
    "                          target, else encoder]\n";

enum attn_status model_option(struct model_options *m, int id, const struct options *o,
			      struct attn_error *err)
{
	const struct {
		int id;
		const char **value;
	} values[] = {
	    {OPTION_MODEL, &m->model},    {OPTION_MODEL_TEXT, &m->text}, {OPTION_TEXT_FILE, &m->file},
	    {OPTION_TEXT_PAIR, &m->pair}, {OPTION_IDS, &m->ids},         {OPTION_TYPE_IDS, &m->type_ids},
	    {OPTION_PIXELS, &m->pixels},  {OPTION_PICTURE, &m->image},   {OPTION_WITHOUT_HEAD, &m->without},
	    {OPTION_ATTENTION, &m->kind}, {OPTION_TARGET, &m->target},   {OPTION_TARGET_IDS, &m->target_ids},
	};
	if (id != OPTION_WITHOUT_HEAD || !m->of_inputs)
		m->last = o->name;
	if (id == OPTION_GENERATE)
		return option_count(o, 1, GENERATE_MOST, &m->generate, err);
	if (id == OPTION_NO_SPECIAL)
		m->no_special = true;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i].id == id)
			return option_once(o, values[i].value, err);
	return ATTN_OK;
}

static enum attn_status combine(const char *one, const char *other, const char *why, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE, "'--%s' and '--%s' cannot be combined: %s", one, other, why);
}

bool model_options_has_text(const struct model_options *m)
{
	return m->text || m->file || m->ids;
}

bool model_options_has_picture(const struct model_options *m)
{
	return m->image || m->pixels;
}

enum attn_status model_options_check(const struct model_options *m, struct attn_error *err)
{
	static const char *const once = "a text is given once";
	if (!m->model && m->last)
		return attn_fail(err, ATTN_USAGE, "'--%s' is of a model: it also requires --model MODEL",
				 m->last);
	if (!m->model)
		return ATTN_OK;
	if (m->text && m->file)
		return combine("text", "text-file", once, err);
	if (m->ids && (m->text || m->file))
		return combine("ids", m->text ? "text" : "text-file", once, err);
	if (m->image && m->pixels)
		return combine("image", "pixels", "a picture is given once", err);
	if (m->target && m->target_ids)
		return combine("target", "target-ids", "a target is given once", err);
	if (m->ids && m->pair)
		return combine("ids", "text-pair", "ids are those of both texts", err);
	if (m->ids && m->no_special)
		return combine("ids", "no-special", "ids are taken as they are", err);
	if (!model_options_has_text(m) && !model_options_has_picture(m))
		return attn_fail(err, ATTN_USAGE,
				 "'--model' also requires a text: --text TEXT, --text-file FILE or --ids "
				 "LIST; or a picture: --image FILE");
	return ATTN_OK;
}

enum attn_status model_options_text(const struct model_options *m, struct buffer *text,
				    struct attn_error *err)
{
	struct file_bytes bytes;
	if (m->text) {
		buffer_add_string(text, m->text);
		return text->failed ? attn_fail_memory(err) : ATTN_OK;
	}
	TRY(file_bytes_open_text(&bytes, m->file, err));
	if (bytes.length > 0)
		buffer_add(text, bytes.data, bytes.length);
	file_bytes_release(&bytes);
	return text->failed ? attn_fail_memory(err) : ATTN_OK;
}

/* --- ids ------------------------------------------------------------------------------ */

enum {
	/* More tokens than any text has, fewer than would wrap. */
	IDS_MOST = 1 << 28
};

static enum attn_status fail_list(const char *value, const char *option, struct attn_error *err)
{
	return attn_fail(err, ATTN_USAGE,
			 "'--%s' is '%.100s', expected whole numbers such as 1,2,3, or a FILE.npy", option,
			 value);
}

static enum attn_status parse_list(const char *value, const char *option, size_t **out, size_t *count,
				   struct attn_error *err)
{
	size_t most = strlen(value) / 2 + 1;
	char number[24];
	*count = 0;
	*out = array_alloc(most, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		snprintf(number, sizeof number, "%.*s",
			 (int)(length < sizeof number ? length : sizeof number - 1), at);
		if (length >= sizeof number || !parse_count(number, *out + *count))
			return fail_list(value, option, err);
		++*count;
		at += length;
		if (!*at)
			return ATTN_OK;
	}
}

/* The only tensor of a file, (count) or (1, count). */
static enum attn_status take_numbers(const struct bundle *b, const char *path, size_t **out, size_t *count,
				     struct attn_error *err)
{
	char shape[200];
	struct tensor *t = b->tensor_count == 1 ? &b->tensors[0] : NULL;
	if (!t)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has %zu arrays, expected one of token ids", path,
				 b->tensor_count);
	TRY(tensor_load(t, err));
	if (!(t->rank == 1 || (t->rank == 2 && t->shape[0] == 1)) || t->count > IDS_MOST)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %s, expected one row of whole numbers", path,
				 tensor_shape_text(t->rank, t->shape, shape, sizeof shape));
	*out = array_alloc(t->count, sizeof **out);
	*count = t->count;
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		if (!(value >= 0 && value <= 0x1p53) || value != floor(value))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s' has %g at [%zu], expected whole numbers from 0", path, value,
					 i);
		(*out)[i] = (size_t)value;
	}
	return ATTN_OK;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), ending = strlen(end);
	return length > ending && strcmp(text + length - ending, end) == 0;
}

enum attn_status model_options_numbers(const char *value, const char *option, size_t **out, size_t *count,
				       struct attn_error *err)
{
	struct bundle b;
	*out = NULL;
	if (!ends_in(value, ".npy"))
		return parse_list(value, option, out, count, err);
	bundle_init(&b);
	enum attn_status status = input_read_file(&b, value, NULL, err);
	if (status == ATTN_OK)
		status = take_numbers(&b, value, out, count, err);
	bundle_release(&b);
	return status;
}
