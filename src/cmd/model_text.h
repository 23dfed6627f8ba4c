/* What a model reads, from options to ids and labels: a text, a target, what it writes itself, a picture. */
#ifndef ATTN_CMD_MODEL_TEXT_H
#define ATTN_CMD_MODEL_TEXT_H

#include "cmd/cmd.h"
#include "cmd/model_options.h"
#include "draw/image/rect.h"
#include "model/model.h"
#include "util/strings.h"

struct model_text {
	size_t *ids, *types;         /* (count), owned; types may be NULL */
	float *pixels;               /* (channels, side, side), owned: of a picture instead */
	struct rect seen;            /* of --image, in its pixels: what the patches are of */
	size_t count, written;       /* written: how many of the last --generate made */
	struct string_list tokens;   /* the labels */
	struct tokenizer *tokenizer; /* NULL: ids were given, and the model has none */
	bool borrowed;               /* the tokenizer is another text's */
};

void model_text_release(struct model_text *text); /* safe on a zeroed one */

/* The same as a model takes it; it lives as long as the text. */
struct text_ids model_text_ids(const struct model_text *text);

/* The text of --text, --text-file or --ids. */
enum attn_status model_text_read(struct model_text *text, const struct model *m,
				 const struct model_options *options, struct attn_error *err);

/* What a decoder reads beside an encoder that read `source`: --target or --target-ids, or its first token. */
enum attn_status model_text_target(struct model_text *text, const struct model_text *source,
				   const struct model *m, const struct model_options *options,
				   struct attn_error *err);

/* Add what the model writes behind the text, as --generate asks for; a note says what. */
enum attn_status model_text_generate(struct model_text *text, const struct model_text *source,
				     struct model *m, const struct command *self,
				     const struct model_options *options, struct attn_error *err);

/* The picture of --image or --pixels. */
enum attn_status model_text_picture(struct model_text *text, const struct model *m,
				    const struct model_options *options, struct attn_error *err);

#endif
