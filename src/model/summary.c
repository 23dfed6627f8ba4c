#include "model/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/gguf_internal.h"

/* A size under the first of its names that the config has: by itself, in the part that is about text,
 * or behind the architecture that a GGUF file names; 0 where it has none.  What is no size is left to
 * whoever computes with it. */
static size_t size_of(const struct config *c, const char *const *names)
{
	char parts[3][100] = {"", "text_config."};
	snprintf(parts[2], sizeof parts[2], "%.70s.", config_text(c, GGUF_ARCHITECTURE, ""));
	for (size_t p = 0; p < 3; p++) {
		for (size_t i = 0; names[i]; i++) {
			char key[256];
			size_t found = 0;
			if (snprintf(key, sizeof key, "%s%s", parts[p], names[i]) < (int)sizeof key &&
			    config_size(c, key, 0, 0, SIZE_MAX, &found, NULL) == ATTN_OK && found > 0)
				return found;
		}
	}
	return 0;
}

#define SIZE_OF(c, ...) size_of(c, (const char *const[]){__VA_ARGS__, NULL})

static void read_sizes(struct model_summary *s, const struct config *c)
{
	s->layers = SIZE_OF(c, "num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers",
			    "block_count");
	s->decoder_layers = SIZE_OF(c, "num_decoder_layers", "decoder_layers", "decoder_block_count");
	s->heads = SIZE_OF(c, "num_attention_heads", "n_head", "num_heads", "n_heads",
			   "encoder_attention_heads", "attention.head_count");
	s->kv_heads = SIZE_OF(c, "num_key_value_heads", "attention.head_count_kv");
	s->width = SIZE_OF(c, "hidden_size", "n_embd", "d_model", "dim", "embedding_length");
	s->head_size = SIZE_OF(c, "head_dim", "d_kv", "attention.key_length");
	s->feed_forward = SIZE_OF(c, "intermediate_size", "n_inner", "d_ff", "ffn_dim", "encoder_ffn_dim",
				  "hidden_dim", "feed_forward_length");
	s->vocabulary = SIZE_OF(c, "vocab_size");
	s->positions = SIZE_OF(c, "max_position_embeddings", "n_positions", "context_length");
	if (s->kv_heads == 0)
		s->kv_heads = s->heads;
	if (s->head_size == 0 && s->heads > 0 && s->width % s->heads == 0)
		s->head_size = s->width / s->heads;
}

static struct summary_type *type_of(struct model_summary *s, const char *name)
{
	for (size_t i = 0; i < s->type_count; i++)
		if (strcmp(s->types[i].name, name) == 0)
			return &s->types[i];
	if (s->type_count == SUMMARY_TYPES)
		return NULL;
	s->types[s->type_count].name = name;
	return &s->types[s->type_count++];
}

static int by_bytes(const void *a, const void *b)
{
	const struct summary_type *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static void count_tensors(struct model_summary *s, const struct checkpoint *cp)
{
	for (size_t i = 0; i < checkpoint_tensors(cp); i++) {
		const struct model_tensor *t = checkpoint_tensor(cp, i);
		if (model_tensor_is_buffer(t))
			continue;
		s->tensors++;
		s->parameters += t->count;
		s->bytes += t->bytes;
		struct summary_type *type = type_of(s, t->type_name);
		if (!type)
			continue;
		type->tensors++;
		type->parameters += t->count;
		type->bytes += t->bytes;
	}
	qsort(s->types, s->type_count, sizeof *s->types, by_bytes);
}

/* Whether all that a model needs is there, in the right shapes. */
static enum attn_status open_model(struct model_summary *s, const char *path)
{
	TRY(model_open(&s->model, path, &s->why));
	struct model *stacks[] = {s->model, s->model->encoder, s->model->vision};
	for (size_t i = 0; i < 3; i++) {
		if (!stacks[i])
			continue;
		TRY(model_find_layers(stacks[i], stacks[i]->a.layers, &s->why));
		TRY(model_find_end(stacks[i], false, &s->why));
	}
	return ATTN_OK;
}

static void take_sizes(struct model_summary *s, const struct architecture *a)
{
	const struct model *encoder = s->model->encoder;
	s->layers = encoder ? encoder->a.layers : a->layers;
	s->decoder_layers = encoder ? a->layers : 0;
	s->heads = a->heads;
	s->kv_heads = a->kv_heads;
	s->head_size = a->head_size;
	s->width = a->width;
	s->feed_forward = a->inner;
	s->vocabulary = s->model->words ? s->model->words->shape[0] : 0;
	s->positions = a->positions;
	s->window = a->sliding ? a->window : 0;
}

enum attn_status model_summary_open(struct model_summary *s, const char *path, struct attn_error *err)
{
	*s = (struct model_summary){0};
	TRY(checkpoint_open(&s->checkpoint, path, err));
	TRY(checkpoint_open_shards(s->checkpoint, err));
	const char *key = checkpoint_is_gguf(s->checkpoint) ? GGUF_ARCHITECTURE : "model_type";
	s->model_type = config_text(checkpoint_config(s->checkpoint), key, NULL);
	count_tensors(s, s->checkpoint);
	if (open_model(s, path) == ATTN_OK) {
		take_sizes(s, &s->model->a);
		return ATTN_OK;
	}
	model_free(s->model);
	s->model = NULL;
	read_sizes(s, checkpoint_config(s->checkpoint));
	return ATTN_OK;
}

void model_summary_release(struct model_summary *s)
{
	model_free(s->model);
	checkpoint_free(s->checkpoint);
	*s = (struct model_summary){0};
}
