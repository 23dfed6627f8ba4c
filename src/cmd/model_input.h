/* A model and a text where an INPUT stands: what joins src/tokenizer and src/model. */
#ifndef ATTN_CMD_MODEL_INPUT_H
#define ATTN_CMD_MODEL_INPUT_H

#include "cmd/cmd.h"
#include "cmd/model_text.h"
#include "input/bundle.h"
#include "model/model_rows.h"
#include "result/subject.h"
#include "tokens/rows_info.h"

struct model_input {
	struct model *whole;      /* owned; NULL: an INPUT was given */
	struct model *model;      /* that whose rows are looked at: the whole, or its encoder */
	struct model_text text;   /* what `model` reads */
	struct model_text source; /* and the encoder whose states it attends to, if it does */
	bool crossing;            /* rows of that attention */
	bool *without;            /* (layers, heads), owned: heads that are taken out; or NULL */
	struct masking masking;   /* of all layers: what they have in common */
	struct output_layer output;

	struct text_ids text_ids, source_ids; /* the same as the model takes them */

	/* Wanted beside rows: set between model_input_open and model_input_plan. */
	bool hidden, logits, last_logits;

	/* One layer as attention of its own: see model_input_focus. */
	struct row_source *layers; /* owned: runs those before */
	struct attention focus;
};

/* Open the model and read the text.  The settings of its rows (causal, window) go into *settings;
 * *info says what its rows are called. */
enum attn_status model_input_open(struct model_input *in, const struct command *self,
				  const struct model_options *options, struct bundle *settings,
				  struct rows_info *info, struct attn_error *err);
void model_input_release(struct model_input *in); /* safe on a zeroed one */

/* Whether the model or its tokenizer is read from the file `path`. */
bool model_input_reads(const struct model_input *in, const char *path);

/* The rows of the selected layers and heads (NULL: of all), and what else is wanted. */
enum attn_status model_input_plan(struct model_input *in, const struct rows_selection *selection,
				  struct rows_want want, struct row_source **source, struct attn_error *err);

/* in->focus becomes the attention of a layer alone: those before it are run when its rows are started. */
enum attn_status model_input_focus(struct model_input *in, size_t layer, struct attn_error *err);

#endif
