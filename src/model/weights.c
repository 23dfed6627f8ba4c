#include "model/gguf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What models put before all names of a base model, the longer before those that they begin with. */
static const char *const prefixes[] = {
    "",
    "model.language_model.",
    "language_model.model.",
    "language_model.",
    "model.decoder.",
    "model.",
    "distilbert.",
    "transformer.",
    "vision_model.",
    "text_model.",
    "gpt_neox.",
    "roberta.",
    "electra.",
    "deberta.",
    "albert.",
    "mpnet.",
    "bert.",
    "vit.",
};

enum {
	NAME_SIZE = 300
};

enum attn_status checkpoint_open(struct checkpoint **out, const char *path, struct attn_error *err)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct checkpoint *cp = *out = NULL;
	if (big_endian)
		return attn_fail(err, ATTN_FAILED,
				 "models are mapped as they are, which a big-endian processor can't");
	cp = *out = calloc(1, sizeof *cp);
	if (!cp)
		return attn_fail_memory(err);
	cp->path = strdup(path);
	enum attn_status status = cp->path ? folder_open(cp, err) : attn_fail_memory(err);
	if (status != ATTN_OK) {
		checkpoint_free(cp);
		*out = NULL;
	}
	return status;
}

void checkpoint_free(struct checkpoint *cp)
{
	if (!cp)
		return;
	for (size_t i = 0; i < cp->shard_count; i++) {
		safetensors_release(&cp->shards[i].header);
		gguf_release(&cp->shards[i].gguf);
		ct2_release(&cp->shards[i].ct2);
		file_bytes_release(&cp->shards[i].bytes);
		free(cp->shards[i].path);
	}
	free(cp->shards);
	free(cp->places);
	cJSON_Delete(cp->index);
	config_free(cp->config);
	free(cp->path);
	free(cp);
}

const char *checkpoint_path(const struct checkpoint *cp)
{
	return cp->path;
}

bool checkpoint_is_gguf(const struct checkpoint *cp)
{
	return cp->shard_count > 0 && cp->shards[0].gguf.version > 0;
}

const struct config *checkpoint_config(const struct checkpoint *cp)
{
	return cp->config;
}

/* --- finding --------------------------------------------------------------------------- */

/* The first place whose name is not before `name`. */
static size_t first_from(const struct checkpoint *cp, const char *name)
{
	size_t low = 0, high = cp->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(cp->places[middle].tensor.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct place *checkpoint_place(const struct checkpoint *cp, const char *name)
{
	size_t i = first_from(cp, name);
	return i < cp->count && strcmp(cp->places[i].tensor.name, name) == 0 ? &cp->places[i] : NULL;
}

static bool prefix_occurs(const struct checkpoint *cp, const char *prefix)
{
	size_t i = first_from(cp, prefix);
	return i < cp->count && strncmp(cp->places[i].tensor.name, prefix, strlen(prefix)) == 0;
}

/* "LayerNorm.gamma" for "LayerNorm.weight", as files of 2019 have it; false: it has no other name. */
static bool old_name(char *name)
{
	static const char *const endings[][2] = {{".weight", ".gamma"}, {".bias", ".beta"}};
	size_t length = strlen(name);
	for (size_t i = 0; i < 2; i++) {
		size_t ending = strlen(endings[i][0]);
		if (length > ending && strcmp(name + length - ending, endings[i][0]) == 0) {
			memcpy(name + length - ending, endings[i][1], strlen(endings[i][1]) + 1);
			return true;
		}
	}
	return false;
}

static struct place *find_place(const struct checkpoint *cp, const char *name)
{
	char text[NAME_SIZE];
	struct place *found = NULL;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !found; i++) {
		if (!prefix_occurs(cp, prefixes[i]) ||
		    snprintf(text, sizeof text, "%s%s", prefixes[i], name) >= (int)sizeof text)
			continue;
		found = checkpoint_place(cp, text);
		if (!found && old_name(text))
			found = checkpoint_place(cp, text);
	}
	return found;
}

/* In a GGUF file. */
static struct place *find_converted(const struct checkpoint *cp, const char *name)
{
	char text[NAME_SIZE];
	const char *architecture = config_text(cp->config, GGUF_ARCHITECTURE, "");
	return gguf_tensor_name(architecture, name, text, sizeof text) ? checkpoint_place(cp, text) : NULL;
}

/* The index has a name that its shard must have, too. */
static enum attn_status check_kept(const struct checkpoint *cp, const struct place *p, struct attn_error *err)
{
	if (p->tensor.type)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.300s': tensor '%.200s' is missing, which the index says is here",
			 cp->shards[p->shard].path, p->tensor.name);
}

enum attn_status checkpoint_find(const struct checkpoint *cp, const char *name,
				 const struct model_tensor **out, struct attn_error *err)
{
	struct place *p = find_place(cp, name);
	if (!p && checkpoint_is_gguf(cp))
		p = find_converted(cp, name);
	*out = NULL;
	if (!p)
		return ATTN_OK;
	TRY(shard_open(cp, p->shard, err));
	TRY(check_kept(cp, p, err));
	*out = &p->tensor;
	return ATTN_OK;
}

/* --- elements -------------------------------------------------------------------------- */

enum attn_status model_tensor_check_type(const struct model_tensor *t, struct attn_error *err)
{
	if (t->type->computed)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%.300s': '%.200s' is of %.50s, expected " MODEL_TYPES_EXPECTED, t->origin, t->name,
			 t->type_name);
}

/* ATTN_BAD_INPUT at the first number that is not finite. */
static enum attn_status check_floats(const struct model_tensor *t, size_t first, size_t count,
				     const float *out, struct attn_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(out[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.300s': element %zu of '%.200s' is %s, expected a finite number",
					 t->origin, first + i, t->name, isnan(out[i]) ? "nan" : "infinite");
	return ATTN_OK;
}

enum attn_status model_tensor_floats(const struct model_tensor *t, size_t first, size_t count, float *out,
				     struct attn_error *err)
{
	const struct value_type *type = t->type;
	TRY(model_tensor_check_type(t, err));
	if (type->values > 1) {
		const char *blocks = t->data;
		if (first % type->values != 0 || count % type->values != 0)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%.300s': '%.200s' is %s, whose %zu numbers a block are more than its rows",
			    t->origin, t->name, t->type_name, type->values);
		type->matrix->widen(NULL, blocks + first / type->values * type->bytes, count, out);
		return check_floats(t, first, count, out, err);
	}
	struct tensor view;
	TRY(tensor_init(&view, t->name, t->origin, type->dtype, t->rank, t->shape, err));
	view.data = t->data;
	enum attn_status status = tensor_part_to_f32(&view, first, count, out, err);
	tensor_release(&view);
	return status;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), end = strlen(ending);
	return length >= end && strcmp(text + length - end, ending) == 0;
}

bool model_tensor_is_buffer(const struct model_tensor *t)
{
	/* ".attn.c_attn.bias" is a vector of a linear layer, and does not end so. */
	static const char *const endings[] = {
	    ".attn.bias",    ".attn.masked_bias", ".attention.bias",     ".attention.masked_bias",
	    ".position_ids", ".token_type_ids",   ".rotary_emb.inv_freq"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (ends_with(t->name, endings[i]))
			return true;
	return false;
}

/* --- all of it ------------------------------------------------------------------------- */

enum attn_status checkpoint_open_shards(const struct checkpoint *cp, struct attn_error *err)
{
	for (size_t i = 0; i < cp->shard_count; i++)
		TRY(shard_open(cp, i, err));
	for (size_t i = 0; i < cp->count; i++)
		TRY(check_kept(cp, &cp->places[i], err));
	return ATTN_OK;
}

size_t checkpoint_tensors(const struct checkpoint *cp)
{
	return cp->count;
}

const struct model_tensor *checkpoint_tensor(const struct checkpoint *cp, size_t i)
{
	return &cp->places[i].tensor;
}

size_t checkpoint_files(const struct checkpoint *cp)
{
	return cp->shard_count;
}

const char *checkpoint_file(const struct checkpoint *cp, size_t i, size_t *bytes)
{
	*bytes = cp->shards[i].bytes.length;
	return cp->shards[i].path;
}
