#include "cmd/model_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/without_heads.h"
#include "files/output.h"
#include "model/generate.h"
#include "tokenizer/tokenizer.h"
#include "tokens/words.h"
#include "util/memory.h"
#include "util/number.h"

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

/* --- which of its attentions --------------------------------------------------------- */

struct kind {
	const char *name;
	struct model *model;
	bool crossing;
};

enum {
	KINDS = 3
};

/* Those of a model; returns how many. */
static size_t list_kinds(const struct model_input *in, struct kind kinds[KINDS])
{
	struct model *m = in->whole;
	size_t count = 0;
	if (m->encoder)
		kinds[count++] = (struct kind){"encoder", m->encoder, false};
	kinds[count++] = (struct kind){family_kind(m->a.family), m, false};
	if (m->encoder)
		kinds[count++] = (struct kind){"cross", m, true};
	if (m->vision)
		kinds[count++] = (struct kind){"vision", m->vision, false};
	return count;
}

static const char *default_kind(const struct model *m, const struct model_options *options)
{
	bool target = options->target || options->target_ids || options->generate > 0;
	if (m->encoder)
		return target ? "cross" : "encoder";
	return m->vision && !model_options_has_text(options) ? "vision" : family_kind(m->a.family);
}

static enum attn_status fail_kind(const struct model_input *in, const struct kind *kinds, size_t count,
				  const char *kind, struct attn_error *err)
{
	char expected[100] = "";
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(expected + used, sizeof expected - used, "%s'%s'",
					 i == 0          ? ""
					 : i + 1 < count ? ", "
							 : " or ",
					 kinds[i].name);
	return attn_fail(err, ATTN_USAGE, "'--attention' is '%s', expected %s%s of a %s model", kind,
			 expected, count == 1 ? ", the only one" : "", in->whole->a.family->title);
}

/* in->model and in->crossing. */
static enum attn_status choose_kind(struct model_input *in, const struct model_options *options,
				    struct attn_error *err)
{
	struct kind kinds[KINDS];
	size_t count = list_kinds(in, kinds);
	const char *kind = options->kind ? options->kind : default_kind(in->whole, options);
	for (size_t i = 0; i < count; i++)
		if (strcmp(kinds[i].name, kind) == 0) {
			in->model = kinds[i].model;
			in->crossing = kinds[i].crossing;
			return ATTN_OK;
		}
	return fail_kind(in, kinds, count, kind, err);
}

/* Whether what is given is of use to the model, and what is needed is there. */
static enum attn_status check_given(const struct model_input *in, const struct command *self,
				    const struct model_options *options, struct attn_error *err)
{
	const struct model *whole = in->whole, *m = in->model;
	const char *title = whole->a.family->title;
	bool target = options->target || options->target_ids, both = whole->encoder != NULL;
	bool pictures = m->a.family->pictures, text = model_options_has_text(options);
	bool picture = model_options_has_picture(options);
	if (target && !both)
		return attn_fail(err, ATTN_USAGE,
				 "'--%s' is of an encoder with a decoder, which a %s model is not",
				 options->target ? "target" : "target-ids", title);
	if (options->generate > 0 && (!whole->a.family->causal || whole->vision))
		return attn_fail(err, ATTN_USAGE,
				 "'--generate' is of decoders, which write, and a %s model is an encoder",
				 title);
	if (picture && !pictures && !whole->vision)
		return attn_fail(err, ATTN_USAGE, "'--%s' is a picture, and a %s model reads texts",
				 options->image ? "image" : "pixels", title);
	if (pictures && !picture)
		return attn_fail(err, ATTN_USAGE, "a %s model also requires a picture: --image FILE", title);
	if (pictures && text && !whole->vision)
		return attn_fail(err, ATTN_USAGE, "a %s model reads a picture, and no text", title);
	if (!pictures && !text)
		return attn_fail(
		    err, ATTN_USAGE,
		    "'--model' also requires a text: --text TEXT, --text-file FILE or --ids LIST");
	if (both && m->encoder && !target && options->generate == 0)
		return attn_fail(err, ATTN_USAGE,
				 "'--attention %s' also requires what the decoder reads: --target TEXT, "
				 "--target-ids LIST or --generate N",
				 in->crossing ? "cross" : "decoder");
	if (both && !m->encoder && (target || options->generate > 0))
		report_note(self, "the encoder reads the text alone: the target is not used");
	if (whole->vision && (pictures ? text : picture))
		report_note(self, pictures ? "attention is that of the picture: the text is not used"
					   : "attention is that of the text: the picture is not used");
	return ATTN_OK;
}

static enum attn_status read_given(struct model_input *in, const struct command *self,
				   const struct model_options *options, struct attn_error *err)
{
	struct model *m = in->model;
	if (m->a.family->pictures)
		return model_text_picture(&in->text, m, options, err);
	if (m->encoder) {
		TRY(model_text_read(&in->source, m->encoder, options, err));
		TRY(model_text_target(&in->text, &in->source, m, options, err));
	} else {
		TRY(model_text_read(&in->text, m, options, err));
	}
	return model_text_generate(&in->text, &in->source, m, self, options, err);
}

/* What a result should tell: heads that were taken out, tokens that the model wrote. */
static enum attn_status describe_changes(struct model_input *in, const struct model_options *options,
					 struct bundle *settings, struct attn_error *err)
{
	const struct architecture *a = &in->model->a;
	const char *origin = checkpoint_path(in->model->checkpoint);
	char number[24];
	if (options->without) {
		TRY(without_heads_parse(&in->without, options->without, true, a->layers, a->heads, err));
		TRY(bundle_add_setting(settings, "_without_heads", options->without, origin, err));
	}
	if (options->generate == 0 || !a->family->causal)
		return ATTN_OK;
	snprintf(number, sizeof number, "%zu", in->text.written);
	return bundle_add_setting(settings, "_generated", number, origin, err);
}

enum attn_status model_input_open(struct model_input *in, const struct command *self,
				  const struct model_options *options, struct bundle *settings,
				  struct rows_info *info, struct attn_error *err)
{
	TRY(model_open(&in->whole, options->model, err));
	TRY(choose_kind(in, options, err));
	TRY(check_given(in, self, options, err));
	TRY(read_given(in, self, options, err));
	const struct architecture *a = &in->model->a;
	if (!in->model->positions && a->positions > 0 && in->text.count > a->positions)
		report_note(self, "the text has %zu tokens, more than the %zu that the model was made for",
			    in->text.count, a->positions);
	TRY(describe_rows(in, info, err));
	TRY(describe_changes(in, options, settings, err));
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
	free(in->without);
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
	in->text_ids = model_text_ids(&in->text);
	in->source_ids = model_text_ids(&in->source);
	want.crossing = in->crossing;
	want.without = in->without;
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
