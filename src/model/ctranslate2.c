/* From a folder of CTranslate2 to a checkpoint: model.bin has the tensors, and what else a config says
 * follows from them and from the vocabularies.
 *
 * A scalar that older files leave out has the value of their time: TransformerBase of 8 heads, norms
 * before, ReLU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/config_internal.h"
#include "model/weights_internal.h"
#include "util/memory.h"

static enum attn_status fail_other(const struct shard *s, const char *found, const char *expected,
				   struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT, "'%.300s': %s, expected %s", s->path, found, expected);
}

/* What a forward pass of ours would not compute. */
static enum attn_status check_kind(const struct shard *s, struct attn_error *err)
{
	static const char *const known[] = {"TransformerBase", "TransformerBig", "TransformerSpec"};
	static const struct {
		const char *name, *what;
	} others[] = {
	    {"encoder.position_encodings.encodings", "positions are stored"},
	    {"encoder.layernorm_embedding.gamma", "embeddings are normalised"},
	    {"encoder.layer_0.self_attention.relative_position_keys", "positions are relative"},
	    {"encoder.layer_0.self_attention.relative_attention_bias", "positions are relative"},
	    {"encoder.layer_0.ffn.linear_0_noact.weight", "feed-forward layers are gated"},
	};
	const char *name = s->ct2.specification;
	bool found = false;
	char text[200];
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		found |= strcmp(name, known[i]) == 0;
	snprintf(text, sizeof text, "the specification is '%.100s'", name);
	if (!found)
		return fail_other(s, text, "'TransformerSpec', an encoder with a decoder", err);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (ct2_find(&s->ct2, others[i].name))
			return fail_other(s, others[i].what, "sines and layers as in Vaswani et al. 2017",
					  err);
	return ct2_number(ct2_find(&s->ct2, "encoder.pre_norm"), 1) != 0
		   ? ATTN_OK
		   : fail_other(s, "norms stand behind each sum", "'pre_norm'", err);
}

/* The size of an axis of a variable; 0 where it isn't there. */
static size_t axis_of(const struct shard *s, const char *name, int axis)
{
	const struct ct2_variable *v = ct2_find(&s->ct2, name);
	return v && v->rank > axis ? v->shape[axis] : 0;
}

static size_t count_layers(const struct shard *s, const char *stack)
{
	char name[100];
	for (size_t i = 0;; i++) {
		snprintf(name, sizeof name, "%s.layer_%zu.self_attention.linear_0.weight", stack, i);
		if (!ct2_find(&s->ct2, name))
			return i;
	}
}

/* The id of a token in a vocabulary, its line from 0; `fallback` where it can't be told. */
static size_t id_of(const char *folder, const char *const *files, const char *token, size_t fallback)
{
	size_t length = strlen(token), line = 0, found = fallback;
	for (size_t i = 0; files[i]; i++) {
		struct file_bytes bytes;
		char *path = folder_path(folder, files[i]);
		bool read = path && file_bytes_open(&bytes, path, NULL) == ATTN_OK;
		free(path);
		if (!read)
			continue;
		const char *at = (const char *)bytes.data, *end = at + bytes.length;
		for (; at < end; line++) {
			const char *stop = memchr(at, '\n', (size_t)(end - at));
			stop = stop ? stop : end;
			if ((size_t)(stop - at) == length && memcmp(at, token, length) == 0) {
				found = line;
				break;
			}
			at = stop + 1;
		}
		file_bytes_release(&bytes);
		return found;
	}
	return found;
}

static bool add_number(cJSON *tree, const char *key, double value)
{
	return cJSON_AddNumberToObject(tree, key, value) != NULL;
}

static bool add_stack(cJSON *tree, const struct shard *s, const char *stack)
{
	char key[60], name[100];
	bool big = strcmp(s->ct2.specification, "TransformerBig") == 0;
	snprintf(key, sizeof key, "%s_layers", stack);
	bool ok = add_number(tree, key, (double)count_layers(s, stack));
	snprintf(name, sizeof name, "%s.num_heads", stack);
	snprintf(key, sizeof key, "%s_attention_heads", stack);
	ok = ok && add_number(tree, key, ct2_number(ct2_find(&s->ct2, name), big ? 16 : 8));
	snprintf(name, sizeof name, "%s.layer_0.ffn.linear_0.weight", stack);
	snprintf(key, sizeof key, "%s_ffn_dim", stack);
	return ok && add_number(tree, key, (double)axis_of(s, name, 0));
}

static bool add_choices(cJSON *tree, const struct shard *s, const char *folder)
{
	static const char *const files[] = {"target_vocabulary.txt", "shared_vocabulary.txt", NULL};
	static const char *const activations[] = {"relu", "gelu_new", "swish", "gelu", "quick_gelu"};
	double activation = ct2_number(ct2_find(&s->ct2, "encoder.activation"), 0);
	size_t number = activation >= 0 && activation < 5 ? (size_t)activation : 0;
	double scaled = ct2_number(ct2_find(&s->ct2, "encoder.scale_embeddings"), 1);
	return cJSON_AddStringToObject(tree, "model_type", "ctranslate2") &&
	       cJSON_AddStringToObject(tree, "activation_function", activations[number]) &&
	       cJSON_AddBoolToObject(tree, "scale_embedding", scaled != 0) &&
	       cJSON_AddBoolToObject(tree, "tie_word_embeddings",
				     !ct2_find(&s->ct2, "decoder.projection.weight")) &&
	       add_number(tree, "decoder_start_token_id", (double)id_of(folder, files, "<s>", 1)) &&
	       add_number(tree, "eos_token_id", (double)id_of(folder, files, "</s>", 2));
}

static enum attn_status make_config(struct checkpoint *cp, const char *folder, struct attn_error *err)
{
	const struct shard *s = &cp->shards[0];
	size_t width = axis_of(s, "encoder.layer_0.self_attention.linear_1.weight", 0);
	cJSON *tree = cJSON_CreateObject();
	if (tree && add_choices(tree, s, folder) && add_number(tree, "d_model", (double)width) &&
	    add_stack(tree, s, "encoder") && add_stack(tree, s, "decoder"))
		return config_of_tree(&cp->config, tree, NULL, s->path, err);
	cJSON_Delete(tree);
	return attn_fail_memory(err);
}

static void fill(struct model_tensor *t, const struct ct2_variable *from, const char *origin)
{
	*t = (struct model_tensor){.name = from->name,
				   .origin = origin,
				   .type = from->type,
				   .type_name = from->type->name,
				   .rank = from->rank,
				   .count = from->count,
				   .bytes = from->bytes,
				   .data = from->data};
	memcpy(t->shape, from->shape, sizeof from->shape);
}

static enum attn_status read_shard(struct shard *s, struct attn_error *err)
{
	char file[320];
	TRY(file_bytes_open_regular(&s->bytes, s->path, SIZE_MAX, err));
	enum attn_status status = ct2_open(&s->ct2, s->bytes.data, s->bytes.length, err);
	snprintf(file, sizeof file, "'%.300s'", s->path);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, file);
	return status;
}

enum attn_status ct2_checkpoint_open(struct checkpoint *cp, const char *folder, char *path,
				     struct attn_error *err)
{
	cp->shards = path ? array_alloc(1, sizeof *cp->shards) : NULL;
	if (!cp->shards) {
		free(path);
		return attn_fail_memory(err);
	}
	struct shard *s = &cp->shards[0];
	cp->shard_count = 1;
	s->path = path;
	TRY(read_shard(s, err));
	TRY(check_kind(s, err));
	cp->places = array_alloc(s->ct2.count, sizeof *cp->places);
	if (!cp->places)
		return attn_fail_memory(err);
	for (; cp->count < s->ct2.count; cp->count++)
		fill(&cp->places[cp->count].tensor, &s->ct2.variables[cp->count], s->path);
	TRY(checkpoint_sort_places(cp, err));
	return make_config(cp, folder, err);
}
