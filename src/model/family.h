/* Families of models as data: what a family calls its sizes and tensors, and the few choices
 * in which its layers differ.  One forward pass (forward.h) reads the table; a new family is
 * a table and a test.
 */
#ifndef ATTN_MODEL_FAMILY_H
#define ATTN_MODEL_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct architecture;
struct config;

/* A key of config.json, or two with a bar between that mean the same, and what it is where that says
 * nothing; without a name always that. */
struct size_key {
	const char *name;
	size_t fallback; /* 0: follows from other sizes */
};

struct number_key {
	const char *name;
	double fallback;
};

struct text_key {
	const char *name, *fallback;
};

enum model_norm {
	MODEL_LAYER_NORM, /* (x - mean) / sqrt(variance + eps) gain + bias */
	MODEL_RMS_NORM,   /* x / sqrt(mean(x^2) + eps) gain */
	MODEL_RMS_NORM_1, /* the same, with 1 + gain (Gemma) */
};

/* Where the norms of a layer stand. */
enum residual_order {
	RESIDUAL_POST,     /* x = norm(x + attention(x)), x = norm(x + mlp(x)) */
	RESIDUAL_PRE,      /* x = x + attention(norm(x)), x = x + mlp(norm(x)), and a norm at the end; where
			    * there are norms of outputs, these are of what is added, and the others may be
			    * missing */
	RESIDUAL_PARALLEL, /* x = x + attention(norm(x)) + mlp(norm(x)), of one norm or two */
};

enum position_scheme {
	POSITIONS_LEARNED,       /* row t of a table is added to token t */
	POSITIONS_AFTER_PADDING, /* rows count from the padding token's id + 1; a padding token has
				  * the row of that id, and is not counted (RoBERTa) */
	POSITIONS_ROTARY,        /* queries and keys are rotated */
	POSITIONS_BIASED,        /* scores are biased by distance alone */
	POSITIONS_PATCHES,       /* a table is added to what a picture becomes */
	POSITIONS_SINES,         /* sines and cosines are added (Vaswani et al. 2017), the sines first */
};

enum bias_rule {
	BIAS_NONE,
	BIAS_ALWAYS,
	BIAS_BY_KEY, /* where a key of config.json says so: family.bias_key */
};

/* How query, key and value share one matrix. */
enum fused_order {
	FUSED_BLOCKS,  /* all queries, all keys, all values */
	FUSED_BY_HEAD, /* of each head its query, key and value */
};

/* How weights stand in a file. */
enum weight_layout {
	BY_OUTPUT, /* (out, in) */
	BY_INPUT,  /* (in, out): Conv1D of GPT-2 */
};

/* Names of tensors without ".weight" and ".bias" and without what a file puts before all of
 * them.  {i} is the layer, {e} an expert; in ALBERT {g} is its group and {j} its place within that.
 * NULL: the family has none. */
struct tensor_names {
	const char *own_words; /* of this stack alone, where a file has them; or NULL */
	const char *words, *positions, *token_types, *embedding_norm;
	const char *embedding_projection; /* from the width of embeddings to that of the model */

	/* Of pictures: patches as a matrix, and the vectors of the tokens before them. */
	const char *patches, *class_token, *second_token;
	const char
	    *position_table; /* with its ending, of any rank: a vector for each of these and each patch */

	const char *attention_norm, *mlp_norm;
	const char *query, *key, *value, *output;
	const char *fused;                                   /* query, key and value in one matrix; or NULL */
	const char *attention_output_norm, *mlp_output_norm; /* of what is added to the stream */
	const char *attention_scale, *mlp_scale; /* factors (width) of what is added, with their endings */
	const char *query_norm, *key_norm;
	const char *gate, *up, *down;
	const char *relative_bias; /* T5's biases by distance, (buckets, heads), of all layers */
	const char *gate_up;       /* gate and up in one matrix, the gate first; or NULL */
	const char *ungated;       /* up, where an architecture of a family with gates has none; or NULL */

	/* Attention of a decoder to what its encoder made. */
	const char *cross_norm, *cross_query, *cross_key, *cross_value, *cross_output;
	const char *cross_key_value; /* key and value in one matrix; or NULL */

	/* Experts, of which each token takes some, and the matrix that chooses them. */
	const char *router, *expert_gate, *expert_up, *expert_down;

	const char *final_norm;

	/* What makes logits: a dense layer, an activation and a norm before the last matrix, where
	 * the family has these. */
	const char *head_dense, *head_norm, *head;
	const char *head_bias;  /* the last matrix's; NULL: as the dense layer, HEAD.bias, or none */
	const char *head_shift; /* (1, outputs) that is added to logits, where a file has it; or NULL */
};

struct family {
	const char *title; /* "BERT" */
	const char *model_types[5];
	bool causal;                  /* a decoder: each token attends to itself and those before it */
	const struct family *encoder; /* of a decoder that attends to an encoder's states, too; or NULL */
	const struct family *vision;  /* that reads pictures beside one that reads texts; or NULL */
	bool pictures;                /* it reads a picture */
	const char *kind;             /* of its attention; NULL: "decoder" or "encoder" */

	struct size_key layers, width, heads, kv_heads, head_size, inner, positions, token_types,
	    embedding_width;
	struct size_key image, patch, channels; /* of pictures: pixels a side, and colours */
	struct number_key eps;
	struct text_key activation;
	bool tied; /* logits are made by the embeddings' matrix where config.json does not say otherwise */

	enum model_norm norm;
	enum residual_order order;
	enum position_scheme scheme;
	enum weight_layout layout;
	enum bias_rule attention_bias, output_bias, mlp_bias;
	const char *attention_bias_key, *mlp_bias_key;
	enum fused_order fused_order;
	bool no_norm_bias;       /* layer norms have gains alone, and a head's dense layer no bias */
	bool first_without_norm; /* layer 0 reads what the embeddings' norm made */
	bool whole_query_norm;   /* norms of queries and keys take all heads of a token together */
	bool no_key_bias;        /* of query, key and value only keys have no bias */
	struct number_key rotary_base, rotary_share; /* 0: rope_theta 10000, all of a head */

	struct tensor_names names;

	/* What the table can't say; NULL: nothing. */
	enum attn_status (*adjust)(struct architecture *a, const struct config *c, struct attn_error *err);
};

/* Tables that end with NULL. */
extern const struct family *const encoder_families[],
    *const decoder_families[], *const relative_families[], *const older_families[],
							       *const translator_families[],
								   *const vision_families[];

/* The family of a model_type; NULL: none. */
const struct family *family_find(const char *model_type);

/* Model type number `i` of all that there are; NULL: no more. */
const char *family_type(size_t i);

/* What its attention is called: "encoder", "decoder", "text", "vision". */
const char *family_kind(const struct family *family);

/* Why models of a known type that is no family's are not computed, "has experts, ..."; NULL:
 * the type isn't known. */
const char *family_refusal(const char *model_type);

#endif
