/* A model: a checkpoint whose family, sizes and tensors are known. */
#ifndef ATTN_MODEL_MODEL_H
#define ATTN_MODEL_MODEL_H

#include "model/layer.h"

/* What a text is to a model. */
struct text_ids {
	const size_t *ids, *types; /* (count) each; NULL types: all 0 */
	size_t count;
	const float *pixels; /* (channels, side, side) of a picture instead, which becomes `count` tokens; or
			      * NULL */
	size_t first;        /* how many tokens are before it, that a KV cache has */
};

/* What makes logits of the last hidden states. */
struct head {
	struct linear dense; /* before an activation and a norm; NULL dense.w.data: none of these */
	struct norm norm;
	struct linear out;  /* (width, outputs); NULL out.w.data: the model has no head */
	const float *shift; /* (outputs) added to logits; or NULL */
};

struct model {
	struct checkpoint *checkpoint;
	struct model *encoder; /* whose states a decoder attends to, of the same checkpoint; or NULL */
	struct model *vision;  /* that reads pictures, of the same checkpoint; or NULL */
	bool inner;            /* it is one of these: the checkpoint is another's */
	struct architecture a;
	struct float_pool floats;

	/* Tables whose rows are added up: (vocabulary, E), (positions, E), (token types, E). */
	const struct model_tensor *words, *positions, *types; /* NULL: there are none */
	const float *relative_bias;                           /* (buckets, heads), or NULL */

	/* Of pictures: the vectors (width) of tokens before the patches, and what is added to all. */
	struct linear patches; /* (channels side side, width) */
	const float *lead[2];  /* or NULL */
	const float *places;   /* (tokens, width) */

	struct norm embedding_norm;
	struct linear embedding_projection; /* (E, D) */

	struct layer *layers; /* (a.layers) */
	size_t layers_found;
	struct norm final_norm;
	struct head head;
};

/* Open a folder or file: config.json is read and tensors before the first layer are found and
 * checked, but no layer's.  ATTN_FAILED or ATTN_BAD_INPUT with the file's name. */
enum attn_status model_open(struct model **out, const char *path, struct attn_error *err);
void model_free(struct model *m); /* NULL is allowed */

/* Find and check the tensors of the first `count` layers, so that shards of others are not
 * opened. */
enum attn_status model_find_layers(struct model *m, size_t count, struct attn_error *err);

/* Whether all weights of a layer that was found are finite: ATTN_BAD_INPUT names the tensor and the
 * element that isn't.  It reads them all, so it is for a layer whose numbers came out wrong. */
enum attn_status model_check_weights(const struct model *m, size_t layer, struct attn_error *err);

/* Find what comes behind the last layer.  With `logits` ATTN_BAD_INPUT where there is no head. */
enum attn_status model_find_end(struct model *m, bool logits, struct attn_error *err);

/* Numbers of a token's logits, once the head has been found. */
size_t model_outputs(const struct model *m);

/* Whether all ids and types are in their tables, and the text is not too long. */
enum attn_status model_check_text(const struct model *m, const struct text_ids *text, struct attn_error *err);

/* out (count, embedding width): the sums of words, positions and types.  ATTN_BAD_INPUT for a number
 * that is not finite. */
enum attn_status model_embed(const struct model *m, const struct text_ids *text, float *out,
			     struct attn_error *err);

#endif
