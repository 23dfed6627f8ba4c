/* The tensors of a model, found by the names of its family and checked against its sizes. */
#ifndef ATTN_MODEL_LAYER_H
#define ATTN_MODEL_LAYER_H

#include "attention/matrix.h"
#include "model/architecture.h"
#include "model/weights.h"
#include "util/memory.h"

/* y = x W + b. */
struct linear {
	struct matrix w;   /* (in, out) as it is used, however it is stored; NULL w.data: there is none */
	const float *bias; /* (out), or NULL */
};

/* NULL gain: there is no such norm. */
struct norm {
	const float *gain, *bias; /* (width) each; bias may be NULL */
};

struct expert {
	struct linear gate, up, down;
};

/* Attention to what an encoder made. */
struct crossing {
	struct norm norm;
	struct linear query, key, value, output;
};

struct layer {
	struct norm attention_norm, mlp_norm, query_norm, key_norm;
	struct norm attention_output_norm, mlp_output_norm;
	const float *attention_scale, *mlp_scale; /* (width) each, or NULL */
	struct linear query, key, value, output, gate, up, down;
	struct crossing cross; /* NULL cross.query.w.data: there is none */
	struct linear router;
	struct expert *experts; /* (experts), owned: instead of gate, up and down; or NULL */
	struct linear fused;    /* FUSED_BY_HEAD instead of query, key and value */
};

/* Finds tensors; vectors are widened to float32 and kept in `floats`. */
struct finder {
	const struct checkpoint *checkpoint;
	const struct architecture *a;
	struct float_pool *floats;
	struct attn_error *err;
	size_t expert; /* what {e} in a name is */
};

/* The tensor called `name` (and `ending`, such as ".weight") of a layer, of that shape; a size of 0
 * may be any.  *out is NULL where it is missing and not required.  ATTN_BAD_INPUT names the file,
 * the tensor, what was found and expected. */
enum attn_status find_tensor(const struct finder *f, const char *name, const char *ending, size_t layer,
			     bool required, size_t rows, size_t cols, const struct model_tensor **out);

/* A vector of `size` numbers in float32; NULL where it is missing and not required. */
enum attn_status find_vector(const struct finder *f, const char *name, const char *ending, size_t layer,
			     bool required, size_t size, const float **out);

/* A matrix (rows, cols) in float32, as it is stored. */
enum attn_status find_rows(const struct finder *f, const char *name, size_t rows, size_t cols,
			   const float **out);

enum attn_status find_norm(const struct finder *f, const char *name, size_t layer, size_t width,
			   struct norm *out);

/* NAME.weight, which maps `in` numbers to `outputs`, and, where it has one, NAME.bias. */
enum attn_status find_linear(const struct finder *f, const char *name, size_t layer, size_t in,
			     size_t outputs, bool bias, struct linear *out);

/* A tensor (outputs, in) as a matrix (in, outputs). */
enum attn_status find_matrix(const struct finder *f, const struct model_tensor *t, struct matrix *out);

/* A vector of `size` numbers, of a tensor of any rank. */
enum attn_status find_flat(const struct finder *f, const char *name, size_t layer, size_t size,
			   const float **out);

/* The matrix (channels side side, outputs) of patches, stored (outputs, channels, side, side), and its
 * bias, if it has one. */
enum attn_status find_patches(const struct finder *f, const char *name, size_t channels, size_t side,
			      size_t outputs, struct linear *out);

/* All tensors of a layer. */
enum attn_status find_layer(const struct finder *f, size_t number, struct layer *out);

#endif
