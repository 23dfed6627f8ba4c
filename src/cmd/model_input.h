/* A model and a text where an INPUT stands: what joins src/tokenizer and src/model. */
#ifndef ATTN_CMD_MODEL_INPUT_H
#define ATTN_CMD_MODEL_INPUT_H

#include "cmd/cmd.h"
#include "cmd/model_options.h"
#include "input/bundle.h"
#include "model/model_rows.h"
#include "result/subject.h"
#include "tokens/rows_info.h"

struct model_input {
	struct model *model;         /* NULL: an INPUT was given */
	struct tokenizer *tokenizer; /* NULL: ids were given, and the model has none */
	size_t *ids, *types;         /* owned */
	struct text_ids text;
	struct string_list tokens; /* the labels */
	struct masking masking;    /* of all layers: what they have in common */
	struct output_layer output;

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
/* Whether a file is one of those that the model and its text are read from, so that no output may
 * replace it: the weights, and what stands beside them by a known name. */
bool model_input_reads(const struct model_input *in, const struct model_options *options, const char *path);

void model_input_release(struct model_input *in); /* safe on a zeroed one */

/* The rows of the selected layers and heads (NULL: of all), and what else is wanted. */
enum attn_status model_input_plan(struct model_input *in, const struct rows_selection *selection,
				  struct rows_want want, struct row_source **source, struct attn_error *err);

/* in->focus becomes the attention of a layer alone: those before it are run when its rows are started. */
enum attn_status model_input_focus(struct model_input *in, size_t layer, struct attn_error *err);

#endif
