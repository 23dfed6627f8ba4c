/* The forward pass of a model over a text, layer by layer: one for all families. */
#ifndef ATTN_MODEL_FORWARD_H
#define ATTN_MODEL_FORWARD_H

#include "attention/attention.h"
#include "kernels/kernels.h"
#include "model/kv_cache.h"
#include "model/model.h"

struct forward {
	const struct model *model;
	const struct kernels *kernels; /* NULL: the reference */
	struct text_ids text;
	size_t layer;  /* the next to run: x enters it */
	bool crossing; /* of its attentions, that to an encoder's states */

	/* (memory_count, width): what the encoder of a decoder made; set before forward_begin. */
	const float *memory;
	size_t memory_count;
	const bool *without; /* (layers, heads): heads whose contexts count as 0, of the one attention or the
			      * other; NULL: none */
	bool without_crossing;
	struct kv_cache *cache; /* of the text.first tokens before; set before forward_begin; or NULL */

	/* Owned: (tokens, width) hidden states and what a norm makes of them, (tokens, H e) the
	 * layer's contexts, (tokens, inner) inside the feed-forward layer. */
	float *x, *normed, *context, *inner;
	float *rotations, *local_rotations; /* (tokens, rotated dimensions), owned: a rotary_table; or NULL */

	/* Owned, where a family needs them: (tokens, width) beside `normed`, and (tokens, 3 H d), query, key
	 * and value of each head; or NULL. */
	float *beside, *fused;
};

/* Memory for a text, which must outlive it.  ATTN_FAILED: there is none. */
enum attn_status forward_init(struct forward *f, const struct model *m, const struct text_ids *text,
			      struct attn_error *err);
void forward_release(struct forward *f); /* safe on a zeroed one */

/* Bytes of that memory. */
double forward_bytes(const struct model *m, size_t tokens);

/* Multiply-adds of all that follows the contexts of a layer, or of those before its cross-attention:
 * forward_finish. */
double forward_finish_cost(const struct model *m, size_t tokens, bool before_crossing);

/* Go on with the tokens that follow, no more than the first were, of which the cache has those before. */
enum attn_status forward_continue(struct forward *f, const struct text_ids *text, struct attn_error *err);

/* Begin: x becomes what enters layer 0. */
enum attn_status forward_begin(struct forward *f, struct attn_error *err);

/* The layer's attention, to itself or crossing, whose embeddings are the forward pass's buffers: filled
 * in, also before the pass has come to the layer; released by attention_release. */
enum attn_status forward_attention(const struct forward *f, size_t layer, bool crossing, struct attention *a,
				   struct attn_error *err);

/* Make what the next attention reads. */
enum attn_status forward_norm(struct forward *f, struct attn_error *err);

/* f->context = the contexts of all heads of the attention that the pass comes to. */
enum attn_status forward_attend(struct forward *f, struct attn_error *err);

/* All that follows f->context: then x enters the layer's cross-attention, or the next layer. */
enum attn_status forward_finish(struct forward *f, struct attn_error *err);

/* normed (tokens, width) = x after the final norm, or as it is where there is none. */
enum attn_status forward_final(struct forward *f, struct attn_error *err);

/* logits (count, outputs) of tokens from `first` on, after forward_final. */
enum attn_status forward_logits(struct forward *f, size_t first, size_t count, float *logits,
				struct attn_error *err);

#endif
