/* What heads do: how the end of a forward pass changes where the contexts of some count as 0
 * (Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.3).
 *
 * What enters each layer is kept, and of one layer the contexts of all heads, so that a head that is taken
 * out costs what follows it alone.
 */
#ifndef ATTN_MODEL_EFFECTS_H
#define ATTN_MODEL_EFFECTS_H

#include "model/model.h"

struct head_effects;

/* What changed against the whole model, and what it then predicts.  NAN where the model has no such. */
struct effect {
	double hidden;      /* |x' - x| / |x| of the states that leave the last layer, all tokens together */
	double divergence;  /* mean over tokens of KL(p || p') in bits, p what the whole model predicts */
	double logit;       /* the largest change of a logit */
	double probability; /* of the next token: `next` of the last token's predictions */
	double loss; /* mean over tokens but the last of -log2 of the probability of the one that follows */
};

/* Run the whole model over a text (with its encoder's, `source`, of a model that has one).  `crossing`: heads
 * are those of a decoder's attention to its encoder.  *next: the token whose probability is told; SIZE_MAX:
 * the likeliest, which it becomes; of a picture the class.  The model and the texts must outlive *e. */
enum attn_status head_effects_open(struct head_effects **e, struct model *m, const struct text_ids *text,
				   const struct text_ids *source, bool crossing, size_t *next,
				   struct attn_error *err);
void head_effects_free(struct head_effects *e); /* NULL is allowed */

/* Bytes that are kept beside a forward pass, for the plan of who opens them. */
double head_effects_bytes(const struct model *m, size_t tokens);

/* Without the heads of without[layers * heads], of which those that were taken out for good are some: as
 * head_effects_take_out left it.  Cheapest where calls come in the order of layers. */
enum attn_status head_effects_try(struct head_effects *e, const bool *without, struct effect *effect,
				  struct attn_error *err);

/* Take out heads for good, so that what is tried next costs nothing below them. */
enum attn_status head_effects_take_out(struct head_effects *e, const bool *without, struct attn_error *err);

/* Of the whole model: `hidden`, `divergence` and `logit` are 0. */
struct effect head_effects_whole(const struct head_effects *e);

#endif
