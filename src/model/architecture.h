/* What a config.json says in the words of its family: all sizes and choices of a model,
 * checked, and nothing of its weights. */
#ifndef ATTN_MODEL_ARCHITECTURE_H
#define ATTN_MODEL_ARCHITECTURE_H

#include <stdint.h>

#include "attention/rotary.h"
#include "kernels/activation.h"
#include "model/config.h"
#include "model/family.h"

/* How queries and keys are rotated, for texts of any length. */
struct rope {
	struct rotary rotary; /* of a text of one token */
	bool dynamic;         /* the base grows with texts longer than `longest` (bloc97 2023) */
	double factor, longest;
	float *short_factors, *long_factors; /* (r/2), owned; long ones for texts longer than `longest`; or
					      * NULL */
};

#define LAST_OF_TARGET SIZE_MAX /* a target's last token, which says the language, comes first */

struct architecture {
	const struct family *family;
	enum residual_order order;
	size_t layers, width, heads, kv_heads, head_size, inner;
	size_t positions;              /* the longest text; 0: any */
	size_t token_types;            /* 0: none */
	size_t embedding_width;        /* of words and positions */
	size_t image, patch, channels; /* of pictures: pixels a side, and colours; 0: it reads texts */
	size_t vocabulary;             /* vocab_size; 0: not said */
	double eps;
	enum activation activation;
	bool attention_bias, output_bias, mlp_bias;

	double embedding_scale; /* of words; 0: 1 */
	double softcap;         /* of scores; 0: none */
	bool alibi;             /* scores have biases by distance (Press et al. 2022) */
	size_t buckets;         /* of relative biases; 0: none */
	size_t bucket_distance; /* where the last of them begins */
	double head_softcap;    /* of logits; 0: none */
	double head_scale;      /* of logits; 0: 1 */
	bool ungated;           /* feed-forward layers have no gates, though the family has */
	size_t first_token;     /* what a decoder begins with, beside an encoder; or LAST_OF_TARGET */
	double scale;           /* of scores */
	bool scale_by_layer;    /* and divided by the layer's number + 1 */
	size_t padding;         /* the padding token's id, where the scheme asks for it */
	double sine_steps;      /* from the first sine to one 10,000 times as slow */
	size_t first_position;  /* the row of positions that token 0 has */

	size_t window; /* how many keys, with its own, a query of a sliding layer attends to at most; of an
			* encoder as many on either side beside it */
	bool *sliding; /* (layers), owned; NULL: none is */
	struct rope rope;
	bool two_ropes;         /* sliding layers have another */
	struct rope local_rope; /* that one */
	bool *unrotated;        /* (layers), owned: layers without positions; NULL: none */

	size_t experts; /* feed-forward layers of which each token takes some; 0: there is one for all */
	size_t token_experts;    /* how many */
	size_t expert_inner;     /* their inner size */
	bool normalised_experts; /* their shares add up to 1 */
	bool *dense;             /* (layers), owned: layers without experts; NULL: none */

	size_t group_runs;   /* layers that share a group's weights; 0: none does */
	size_t group_layers; /* and how many of these differ */

	bool tied;           /* logits are made by the matrix of embeddings */
	size_t head_outputs; /* numbers of a token's logits where it is not the vocabulary; else 0 */
	enum activation head_activation;
};

/* Of the model_type's family, or of another that the config is of as well (NULL: that).  ATTN_BAD_INPUT
 * that names key, found and expected; an unknown model_type lists those known. */
enum attn_status architecture_init(struct architecture *a, const struct family *family,
				   const struct config *c, struct attn_error *err);
void architecture_release(struct architecture *a); /* safe on a zeroed one */

/* For families: layers that slides(layer, n) says have the window, or those that 'layer_types' names. */
enum attn_status architecture_slide(struct architecture *a, const struct config *c,
				    bool (*slides)(size_t layer, size_t n), size_t n, struct attn_error *err);

/* From layer n on; all but each n-th; only layers that are no multiple of n. */
bool slides_from(size_t layer, size_t n);
bool slides_between(size_t layer, size_t n);
bool slides_off(size_t layer, size_t n);

/* What scores of a layer are multiplied by. */
static inline double architecture_scale(const struct architecture *a, size_t layer)
{
	return a->scale_by_layer ? a->scale / (double)(layer + 1) : a->scale;
}

/* Whether a layer's keys end at the window. */
static inline bool architecture_slides(const struct architecture *a, size_t layer)
{
	return a->sliding && a->sliding[layer];
}

/* Tokens that a picture becomes: patches, and those before them. */
size_t architecture_patches(const struct architecture *a);
size_t architecture_lead(const struct architecture *a);

/* The rope of a layer type in a config. */
struct rope_place {
	const char *layer_type;        /* "full_attention": its object within rope_parameters */
	struct number_key base, share; /* under other names, or of other values; 0: as usual */
	bool alone;                    /* rope_scaling is not of it */
};

/* Read how heads are rotated: rope_parameters, rope_scaling, or keys beside
 * them (see attn-models(7) for the kinds of scaling). */
enum attn_status rope_init(struct rope *rope, const struct architecture *a, const struct config *c,
			   const struct rope_place *place, struct attn_error *err);
void rope_release(struct rope *rope);

/* Rotary positions of a text of so many tokens; its arrays are the rope's. */
struct rotary rope_rotary(const struct rope *rope, size_t tokens);

#endif
