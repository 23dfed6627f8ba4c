/* The tensors of a checkpoint, mapped: headers are read when it is opened, elements where and when
 * somebody computes with them.
 *
 * A checkpoint is a folder (config.json and model.safetensors, or shards and their
 * model.safetensors.index.json), one .safetensors file with config.json beside it, or a GGUF file.  Of
 * shards only those are opened whose tensors are asked for; of GGUF, whose files have no index, all.
 */
#ifndef ATTN_MODEL_WEIGHTS_H
#define ATTN_MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "files/value_type.h"
#include "model/config.h"
#include "util/error.h"

struct model_tensor {
	const char *name;   /* as its file calls it */
	const char *origin; /* its file */
	const struct value_type *type;
	const char *type_name; /* the type's name, or the file's for one that isn't known */
	int rank;
	size_t shape[TENSOR_MAX_RANK]; /* row-major; blocks lie along the last axis */
	size_t count;                  /* elements */
	size_t bytes;
	const void *data; /* mapped, little-endian, perhaps not aligned; NULL until its shard is opened */
};

struct checkpoint;

/* Open a checkpoint at `path`.  ATTN_FAILED: a file cannot be opened; ATTN_BAD_INPUT: it is not as
 * it should be, or of a kind that is not read, with the way to convert it.  All messages name the
 * file.  Free by checkpoint_free (NULL is allowed). */
enum attn_status checkpoint_open(struct checkpoint **out, const char *path, struct attn_error *err);
void checkpoint_free(struct checkpoint *cp);

const char *checkpoint_path(const struct checkpoint *cp); /* as it was opened */
const struct config *checkpoint_config(const struct checkpoint *cp);

/* Whether it is a GGUF file: its config has the keys of one ("llama.block_count"), but for lists of
 * more than 4096, and its tensors the names of one ("blk.0.attn_q.weight").  Where its architecture is
 * a family's, its config has also the family's keys ("num_hidden_layers"), and tensors are found by the
 * family's names, too.  Matrices are (out, in) in all of them.  With "rope_interleaved" queries and keys
 * are rotated in pairs (2c, 2c + 1), in whose order their rows were put. */
bool checkpoint_is_gguf(const struct checkpoint *cp);

/* Find a tensor by its family's name for it, whatever the file puts before all names: "bert." or
 * "model." of a model with a head, nothing of one saved without.  NAME.gamma and NAME.beta are taken
 * for NAME.weight and NAME.bias.  *out is NULL where there is none.  Where the tensor is in a shard
 * that is not open, that is opened: ATTN_FAILED or ATTN_BAD_INPUT where it is missing, damaged or
 * does not hold what the index promises.  The tensor lives as long as the checkpoint. */
enum attn_status checkpoint_find(const struct checkpoint *cp, const char *name,
				 const struct model_tensor **out, struct attn_error *err);

#define MODEL_TYPES_EXPECTED "float32, float16, bfloat16, or Q2_K to Q8_0 of GGUF"

/* ATTN_BAD_INPUT that names file, tensor and type where elements of the type are not computed with. */
enum attn_status model_tensor_check_type(const struct model_tensor *t, struct attn_error *err);

/* Elements [first, first + count) in float32, which there must be.  ATTN_BAD_INPUT that names file,
 * tensor and index where the type is not computed with, or one is NaN, infinite or beyond float32. */
enum attn_status model_tensor_floats(const struct model_tensor *t, size_t first, size_t count, float *out,
				     struct attn_error *err);

/* Whether it is no parameter but something that a model makes anew: causal masks, position numbers,
 * rotary frequencies. */
bool model_tensor_is_buffer(const struct model_tensor *t);

/* All that a checkpoint holds, for listings: open every shard, then count and look. */
enum attn_status checkpoint_open_shards(const struct checkpoint *cp, struct attn_error *err);
size_t checkpoint_tensors(const struct checkpoint *cp);
const struct model_tensor *checkpoint_tensor(const struct checkpoint *cp, size_t i); /* by name */
size_t checkpoint_files(const struct checkpoint *cp);                                /* with weights */
const char *checkpoint_file(const struct checkpoint *cp, size_t i, size_t *bytes);   /* its size, if open */

#endif
