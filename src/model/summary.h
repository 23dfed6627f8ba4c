/* What a checkpoint is, for people: family, sizes, types, and whether it is computed with. */
#ifndef ATTN_MODEL_SUMMARY_H
#define ATTN_MODEL_SUMMARY_H

#include "model/model.h"

enum {
	SUMMARY_TYPES = 40 /* more than there are */
};

/* Tensors of one type. */
struct summary_type {
	const char *name;
	size_t tensors, parameters, bytes;
};

/* Sizes are those of the model, or where it is not supported what config.json says under the names
 * that are usual; 0: there is none, or it is not known. */
struct model_summary {
	struct checkpoint *checkpoint;
	struct model *model;   /* NULL where it is not supported */
	struct attn_error why; /* and why not */

	const char *model_type;        /* NULL: config.json doesn't say */
	size_t layers, decoder_layers; /* the latter of an encoder and a decoder */
	size_t heads, kv_heads, head_size, width, feed_forward, vocabulary, positions, window;

	size_t tensors, parameters, bytes;        /* without buffers, which a model makes anew */
	struct summary_type types[SUMMARY_TYPES]; /* of these, most bytes first */
	size_t type_count;
};

/* Open a checkpoint with all of its shards, and as a model if it can be one, whose tensors are then
 * all there.  ATTN_FAILED or ATTN_BAD_INPUT where its files are not as they should be.  Release it
 * whatever the status. */
enum attn_status model_summary_open(struct model_summary *s, const char *path, struct attn_error *err);
void model_summary_release(struct model_summary *s);

#endif
