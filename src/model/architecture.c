#include "model/architecture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/memory.h"

enum {
	KEY_SIZE = 60,
	IMAGE_MOST = 10000, /* pixels a side */
	CHANNELS_MOST = 100,
};

/* Of "n_layer|num_hidden_layers" the key that the config has, else the first. */
static const char *key_of(const struct config *c, const char *names, char key[KEY_SIZE])
{
	const char *bar = strchr(names, '|');
	if (!bar)
		return names;
	snprintf(key, KEY_SIZE, "%.*s", (int)(bar - names), names);
	return !config_has(c, key) && config_has(c, bar + 1) ? bar + 1 : key;
}

static enum attn_status read_size(const struct config *c, const struct size_key *key, size_t most,
				  size_t *out, struct attn_error *err)
{
	char name[KEY_SIZE];
	*out = key->fallback;
	return key->name ? config_size(c, key_of(c, key->name, name), key->fallback, 1, most, out, err)
			 : ATTN_OK;
}

static enum attn_status unknown_family(const struct config *c, const char *type, struct attn_error *err)
{
	struct buffer known = BUFFER_INIT;
	const char *why = family_refusal(type);
	if (why) {
		char expected[200];
		snprintf(expected, sizeof expected, "another: a '%.60s' %s, which is not supported", type,
			 why);
		return config_fail(c, "model_type", expected, err);
	}
	for (size_t i = 0; family_type(i); i++)
		buffer_printf(&known, "%s%s", i ? ", " : "one of ", family_type(i));
	enum attn_status status =
	    known.failed ? attn_fail_memory(err) : config_fail(c, "model_type", known.data, err);
	buffer_release(&known);
	return status;
}

static enum attn_status find_family(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const char *type = config_text(c, "model_type", NULL);
	if (!type)
		return config_fail(c, "model_type", "the name of a family, such as bert or llama", err);
	a->family = family_find(type);
	return a->family ? ATTN_OK : unknown_family(c, type, err);
}

static enum attn_status read_sizes(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const struct family *f = a->family;
	char key[KEY_SIZE];
	TRY(read_size(c, &f->layers, CONFIG_LAYERS_MAX, &a->layers, err));
	TRY(read_size(c, &f->width, CONFIG_SIZE_MAX, &a->width, err));
	TRY(read_size(c, &f->heads, CONFIG_SIZE_MAX, &a->heads, err));
	TRY(read_size(c, &f->kv_heads, CONFIG_SIZE_MAX, &a->kv_heads, err));
	TRY(read_size(c, &f->head_size, CONFIG_SIZE_MAX, &a->head_size, err));
	TRY(read_size(c, &f->inner, CONFIG_SIZE_MAX, &a->inner, err));
	TRY(read_size(c, &f->positions, CONFIG_SIZE_MAX, &a->positions, err));
	TRY(read_size(c, &f->token_types, CONFIG_SIZE_MAX, &a->token_types, err));
	TRY(read_size(c, &f->embedding_width, CONFIG_SIZE_MAX, &a->embedding_width, err));
	TRY(read_size(c, &f->image, IMAGE_MOST, &a->image, err));
	TRY(read_size(c, &f->patch, IMAGE_MOST, &a->patch, err));
	TRY(read_size(c, &f->channels, CHANNELS_MOST, &a->channels, err));
	if (f->pictures && a->patch > a->image)
		return config_fail(c, key_of(c, f->patch.name, key), "no more than the size of the image",
				   err);
	TRY(config_size(c, "vocab_size", 0, 1, CONFIG_SIZE_MAX, &a->vocabulary, err));
	if (a->kv_heads == 0)
		a->kv_heads = a->heads;
	if (a->inner == 0)
		a->inner = 4 * a->width;
	if (a->embedding_width == 0)
		a->embedding_width = a->width;
	if (a->head_size == 0 && a->width % a->heads != 0)
		return config_fail(c, key_of(c, f->heads.name, key),
				   "a divisor of the width of the hidden states", err);
	if (a->head_size == 0)
		a->head_size = a->width / a->heads;
	if (a->heads % a->kv_heads != 0)
		return config_fail(c, f->kv_heads.name ? f->kv_heads.name : f->heads.name,
				   "a divisor of the number of heads", err);
	return ATTN_OK;
}

static enum attn_status read_bias(const struct config *c, enum bias_rule rule, const char *key, bool *out,
				  struct attn_error *err)
{
	*out = rule == BIAS_ALWAYS;
	return rule == BIAS_BY_KEY ? config_bool(c, key, false, out, err) : ATTN_OK;
}

static enum attn_status read_choices(struct architecture *a, const struct config *c, struct attn_error *err)
{
	const struct family *f = a->family;
	const char *name = f->activation.fallback;
	a->order = f->order;
	char key[KEY_SIZE];
	if (f->activation.name)
		TRY(config_word(c, key_of(c, f->activation.name, key), f->activation.fallback, &name, err));
	if (!activation_named(name, &a->activation))
		return config_fail(c, key_of(c, f->activation.name, key), "one of " ACTIVATION_NAMES, err);
	a->eps = f->eps.fallback;
	if (f->eps.name)
		TRY(config_number(c, key_of(c, f->eps.name, key), f->eps.fallback, 0, 1, &a->eps, err));
	a->head_activation = a->activation;
	TRY(read_bias(c, f->attention_bias, f->attention_bias_key, &a->attention_bias, err));
	TRY(read_bias(c, f->output_bias, f->attention_bias_key, &a->output_bias, err));
	TRY(read_bias(c, f->mlp_bias, f->mlp_bias_key, &a->mlp_bias, err));
	a->scale = 1 / sqrt((double)a->head_size);
	return config_bool(c, "tie_word_embeddings", f->tied, &a->tied, err);
}

enum attn_status architecture_init(struct architecture *a, const struct family *family,
				   const struct config *c, struct attn_error *err)
{
	*a = (struct architecture){.family = family, .bucket_distance = 128};
	enum attn_status status = family ? ATTN_OK : find_family(a, c, err);
	if (status == ATTN_OK)
		status = read_sizes(a, c, err);
	if (status == ATTN_OK)
		status = read_choices(a, c, err);
	if (status == ATTN_OK && a->family->scheme == POSITIONS_ROTARY) {
		const struct rope_place place = {.layer_type = "full_attention",
						 .base = a->family->rotary_base,
						 .share = a->family->rotary_share};
		status = rope_init(&a->rope, a, c, &place, err);
	}
	if (status == ATTN_OK && a->family->adjust)
		status = a->family->adjust(a, c, err);
	if (status != ATTN_OK)
		architecture_release(a);
	return status;
}

void architecture_release(struct architecture *a)
{
	free(a->sliding);
	free(a->unrotated);
	free(a->dense);
	rope_release(&a->rope);
	rope_release(&a->local_rope);
	*a = (struct architecture){0};
}

size_t architecture_patches(const struct architecture *a)
{
	return a->patch > 0 ? (a->image / a->patch) * (a->image / a->patch) : 0;
}

size_t architecture_lead(const struct architecture *a)
{
	const struct tensor_names *names = &a->family->names;
	return (size_t)(names->class_token != NULL) + (names->second_token != NULL);
}

bool slides_from(size_t layer, size_t n)
{
	return layer >= n;
}

bool slides_between(size_t layer, size_t n)
{
	return (layer + 1) % n != 0;
}

bool slides_off(size_t layer, size_t n)
{
	return layer % n != 0;
}

enum attn_status architecture_slide(struct architecture *a, const struct config *c,
				    bool (*slides)(size_t layer, size_t n), size_t n, struct attn_error *err)
{
	size_t named = config_list(c, "layer_types");
	a->sliding = array_alloc(a->layers, sizeof *a->sliding);
	if (!a->sliding)
		return attn_fail_memory(err);
	if (config_has(c, "layer_types") && named != a->layers)
		return config_fail(c, "layer_types", "a type for each layer", err);
	for (size_t i = 0; i < a->layers; i++) {
		const char *type = named ? config_list_text(c, "layer_types", i) : NULL;
		a->sliding[i] = type ? strcmp(type, "sliding_attention") == 0 : slides(i, n);
		if (named && (!type || (!a->sliding[i] && strcmp(type, "full_attention") != 0)))
			return config_fail(c, "layer_types", "'full_attention' and 'sliding_attention'", err);
	}
	return ATTN_OK;
}
