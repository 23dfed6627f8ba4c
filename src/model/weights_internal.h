/* What a checkpoint is made of: for those who open one. */
#ifndef ATTN_MODEL_WEIGHTS_INTERNAL_H
#define ATTN_MODEL_WEIGHTS_INTERNAL_H

#include <cjson/cJSON.h>

#include "files/ctranslate2.h"
#include "files/gguf.h"
#include "files/input.h"
#include "files/safetensors.h"
#include "model/weights.h"

enum {
	CHECKPOINT_MAX_TENSORS = 1 << 20 /* the largest of today have 100,000 */
};

/* A file with weights. */
struct shard {
	char *path;
	struct file_bytes bytes; /* all zero until it is opened; so too below */
	struct safetensors header;
	struct ct2 ct2;   /* likewise in place of it */
	struct gguf gguf; /* in place of the header, where it is such a file; it is open from the start */
};

/* A name in a checkpoint, sorted by it. */
struct place {
	struct model_tensor tensor; /* without data until its shard is opened */
	size_t shard;
};

struct checkpoint {
	char *path;
	struct config *config;
	cJSON *index; /* of shards: has the names; else NULL */
	struct place *places;
	size_t count;
	struct shard *shards;
	size_t shard_count;
};

/* The place of a name; NULL: there is none. */
struct place *checkpoint_place(const struct checkpoint *cp, const char *name);

/* Open a shard and fill in the tensors of the index that it holds. */
enum attn_status shard_open(const struct checkpoint *cp, size_t shard, struct attn_error *err);

/* Take the one file that holds all; `path` (NULL: no memory) is taken over. */
enum attn_status checkpoint_open_file(struct checkpoint *cp, char *path, struct attn_error *err);

/* Read the index of shards that stand in the folder cp->path; `path` is its own, for messages. */
enum attn_status checkpoint_read_index(struct checkpoint *cp, const unsigned char *data, size_t length,
				       const char *path, struct attn_error *err);

/* Sort the places by name: ATTN_BAD_INPUT where one comes twice. */
enum attn_status checkpoint_sort_places(struct checkpoint *cp, struct attn_error *err);

/* Fill in *cp, which has a path, from what stands there: any checkpoint; or
 * from the GGUF file at `path`. */
enum attn_status folder_open(struct checkpoint *cp, struct attn_error *err);
enum attn_status gguf_checkpoint_open(struct checkpoint *cp, const char *path, struct attn_error *err);

/* The same from the model.bin of a folder; `path` (NULL: no memory) is taken over. */
enum attn_status ct2_checkpoint_open(struct checkpoint *cp, const char *folder, char *path,
				     struct attn_error *err);

/* FOLDER/NAME, to be freed; NULL: no memory. */
char *folder_path(const char *folder, const char *name);

#endif
