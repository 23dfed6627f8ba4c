/* The attention of a model over a text as a source of weight rows, with a layer each.
 *
 * Layers are computed one after the other as their rows are streamed: those in between, and
 * those before the first one asked for, for their context alone, and those behind the last one
 * not at all, unless hidden states or logits are wanted.
 */
#ifndef ATTN_MODEL_MODEL_ROWS_H
#define ATTN_MODEL_MODEL_ROWS_H

#include "attention/plan.h"
#include "attention/rows.h"
#include "model/model.h"

struct model_want {
	struct rows_want rows;
	const bool *without; /* (layers, heads): heads of the attention of the rows whose contexts count as
			      * 0; it outlives the source; NULL: none */
	bool crossing;       /* rows of a decoder's attention to its encoder's states */
	const struct text_ids *source;          /* the encoder's text, of a decoder that has an encoder */
	const struct rows_selection *selection; /* layers and heads; NULL: all */
	bool hidden, logits, last_logits;       /* of all tokens, and of the last one */
	bool to_end;                            /* run all layers, whatever is selected */
};

/* The rows; the model and its texts must outlive the source.  Tensors of the layers that it needs
 * are found now.  An encoder's layers are all run, before the first of its decoder. */
enum attn_status model_rows_new(struct row_source **source, struct model *m, const struct text_ids *text,
				const struct model_want *want, struct attn_error *err);

/* The attention of a layer by itself: what is before it is run when a source of its rows is started.
 * For rows of that layer alone, of which nothing is streamed from `source`, which must outlive it.
 * Release it by attention_release. */
enum attn_status model_rows_attention(struct row_source *source, size_t layer, struct attention *a,
				      struct attn_error *err);

/* After rows were streamed (or without): run what is left of the layers for what is wanted
 * beside rows. */
enum attn_status model_rows_finish(struct row_source *source, struct attn_error *err);

/* *states (tokens, width): those that leave the last layer of a source that was made to_end, after a final
 * norm, which is run to there.  They live as long as the source. */
enum attn_status model_rows_states(struct row_source *source, const float **states, struct attn_error *err);

/* Hidden states (layers + 1, tokens, width), after model_rows_finish: what enters the first layer and
 * what leaves each, before a final norm. */
const float *model_rows_hidden(const struct row_source *source);

/* Logits (tokens, outputs), or of the last token (outputs), after model_rows_finish; of a picture those
 * of its classes (outputs), whichever are wanted. */
const float *model_rows_logits(const struct row_source *source);

/* Multiply-adds and bytes of all that is wanted; `projected` has hidden states, too. */
enum attn_status model_rows_cost(struct row_source *source, struct plan_cost *cost, struct attn_error *err);

#endif
