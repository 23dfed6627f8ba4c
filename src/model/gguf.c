/* From GGUF files to a checkpoint: keys as a config, tensors under the names that the format gives
 * them.  A model in several files has its keys in the first, NAME-00001-of-00003.gguf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/config_internal.h"
#include "model/gguf_internal.h"
#include "util/memory.h"

enum {
	/* Of longer lists, which are a tokenizer's, a config knows nothing. */
	MAX_LIST = 4096,
	MAX_TEXT = 65536,
	MAX_FILES = 10000,
	ENDING = sizeof "-00001-of-00003.gguf" - 1,
};

/* --- keys ------------------------------------------------------------------------------ */

static cJSON *value_of(const struct gguf_pair *p, size_t i)
{
	double number = gguf_number(p, i);
	return p->kind == GGUF_BOOL ? cJSON_CreateBool(number != 0) : cJSON_CreateNumber(number);
}

/* A string of the file as an item of the tree; null where it is none that C could have. */
static const unsigned char *add_text(const unsigned char *at, cJSON **out)
{
	const char *text;
	size_t length;
	const unsigned char *next = gguf_text(at, &text, &length);
	char *copy = length <= MAX_TEXT ? gguf_string(text, length) : NULL;
	*out = copy ? cJSON_CreateString(copy) : cJSON_CreateNull();
	free(copy);
	return next;
}

static cJSON *list_of(const struct gguf_pair *p)
{
	cJSON *list = cJSON_CreateArray();
	const unsigned char *at = p->data;
	for (size_t i = 0; list && i < p->count; i++) {
		cJSON *item;
		if (p->kind == GGUF_TEXT)
			at = add_text(at, &item);
		else
			item = value_of(p, i);
		if (!item || !cJSON_AddItemToArray(list, item)) {
			cJSON_Delete(list);
			return NULL;
		}
	}
	return list;
}

static enum attn_status read_config(struct checkpoint *cp, const struct shard *s, struct attn_error *err)
{
	cJSON *tree = cJSON_CreateObject();
	for (size_t i = 0; tree && i < s->gguf.pair_count; i++) {
		const struct gguf_pair *p = &s->gguf.pairs[i];
		cJSON *item;
		if (p->array && p->count > MAX_LIST)
			continue;
		if (p->array)
			item = list_of(p);
		else if (p->kind == GGUF_TEXT)
			add_text(p->data, &item);
		else
			item = value_of(p, 0);
		if (!item || !cJSON_AddItemToObject(tree, p->key, item)) {
			cJSON_Delete(tree);
			tree = NULL;
		}
	}
	enum attn_status status = tree ? gguf_translate(cp, &s->gguf, tree, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		return config_of_tree(&cp->config, tree, NULL, s->path, err);
	cJSON_Delete(tree);
	return status;
}

/* --- files ----------------------------------------------------------------------------- */

static enum attn_status read_file(struct shard *s, struct attn_error *err)
{
	char file[320];
	TRY(file_bytes_open_regular(&s->bytes, s->path, SIZE_MAX, err));
	enum attn_status status = gguf_open(&s->gguf, s->bytes.data, s->bytes.length, err);
	snprintf(file, sizeof file, "'%.300s'", s->path);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, file);
	return status;
}

/* A size among the keys of a file; `fallback` where it isn't there. */
static enum attn_status key_size(const struct shard *s, const char *key, size_t fallback, size_t most,
				 size_t *out, struct attn_error *err)
{
	const struct gguf_pair *p = gguf_pair(&s->gguf, key);
	double value = p && !p->array && p->kind != GGUF_TEXT ? gguf_number(p, 0) : -1;
	*out = p && value >= 0 && value <= (double)most ? (size_t)value : fallback;
	if (!p || (double)*out == value)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%.300s': '%s' is %g, expected a whole number up to %zu",
			 s->path, key, value, most);
}

/* Paths of the `count` files that `path` is one of. */
static enum attn_status name_files(struct checkpoint *cp, const char *path, size_t count,
				   struct attn_error *err)
{
	size_t length = strlen(path);
	char ending[40];
	snprintf(ending, sizeof ending, "-of-%05zu.gguf", count);
	bool named = length > ENDING && strcmp(path + length - strlen(ending), ending) == 0;
	if (!named)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s': 'split.count' is %zu, expected a file called NAME-00001%s", path,
				 count, ending);
	for (size_t i = 0; i < count; i++) {
		char *name = NULL;
		if (asprintf(&name, "%.*s-%05zu%s", (int)(length - ENDING), path, i + 1, ending) < 0)
			return attn_fail_memory(err);
		cp->shards[i].path = name;
		cp->shard_count = i + 1;
	}
	return ATTN_OK;
}

/* Open the first file, which says how many there are, and then the others. */
static enum attn_status open_files(struct checkpoint *cp, const char *path, struct attn_error *err)
{
	struct shard given = {.path = strdup(path)};
	size_t count = 1;
	enum attn_status status = given.path ? read_file(&given, err) : attn_fail_memory(err);
	if (status == ATTN_OK)
		status = key_size(&given, "split.count", 1, MAX_FILES, &count, err);
	gguf_release(&given.gguf);
	file_bytes_release(&given.bytes);
	free(given.path);
	if (status != ATTN_OK)
		return status;
	cp->shards = array_alloc(count ? count : 1, sizeof *cp->shards);
	if (!cp->shards)
		return attn_fail_memory(err);
	if (count > 1) {
		TRY(name_files(cp, path, count, err));
	} else {
		cp->shards[0].path = strdup(path);
		cp->shard_count = 1;
		if (!cp->shards[0].path)
			return attn_fail_memory(err);
	}
	for (size_t i = 0; i < cp->shard_count; i++)
		TRY(read_file(&cp->shards[i], err));
	return ATTN_OK;
}

static void fill(struct place *place, const struct gguf_tensor *from, size_t shard, const char *origin)
{
	struct model_tensor *t = &place->tensor;
	place->shard = shard;
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

static enum attn_status add_tensors(struct checkpoint *cp, struct attn_error *err)
{
	size_t count = 0, promised;
	for (size_t i = 0; i < cp->shard_count; i++)
		count += cp->shards[i].gguf.tensor_count;
	TRY(key_size(&cp->shards[0], "split.tensors.count", count, SIZE_MAX >> 12, &promised, err));
	if (promised != count)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s': 'split.tensors.count' is %zu, but its %zu files hold %zu tensors",
				 cp->shards[0].path, promised, cp->shard_count, count);
	cp->places = array_alloc(count, sizeof *cp->places);
	if (!cp->places)
		return attn_fail_memory(err);
	for (size_t i = 0; i < cp->shard_count; i++)
		for (size_t j = 0; j < cp->shards[i].gguf.tensor_count; j++)
			fill(&cp->places[cp->count++], &cp->shards[i].gguf.tensors[j], i, cp->shards[i].path);
	return checkpoint_sort_places(cp, err);
}

enum attn_status gguf_checkpoint_open(struct checkpoint *cp, const char *path, struct attn_error *err)
{
	TRY(open_files(cp, path, err));
	TRY(add_tensors(cp, err));
	return read_config(cp, &cp->shards[0], err);
}
