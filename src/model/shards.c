/* The files of a checkpoint: one that holds all tensors, or shards and the index that says which
 * holds what. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/json_text.h"
#include "model/weights_internal.h"
#include "util/checked.h"
#include "util/memory.h"

/* --- files ----------------------------------------------------------------------------- */

static enum attn_status fail_pointer(const struct shard *s, struct attn_error *err)
{
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "'%.300s' is a pointer of Git LFS in place of the file: fetch it with 'git lfs pull'", s->path);
}

static enum attn_status read_shard(struct shard *s, struct attn_error *err)
{
	static const char pointer[] = "version https://git-lfs";
	char file[320];
	TRY(file_bytes_open_regular(&s->bytes, s->path, SIZE_MAX, err));
	if (s->bytes.length >= sizeof pointer && memcmp(s->bytes.data, pointer, sizeof pointer - 1) == 0)
		return fail_pointer(s, err);
	enum attn_status status =
	    safetensors_open(&s->header, s->bytes.data, s->bytes.length, CHECKPOINT_MAX_TENSORS, err);
	snprintf(file, sizeof file, "'%.300s'", s->path);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, file);
	return status;
}

static void fill(struct model_tensor *t, const struct safetensors_tensor *from, const char *origin)
{
	const struct value_type *type = from->unread ? &value_type_other : value_type_of(from->dtype);
	*t = (struct model_tensor){.name = t->name,
				   .origin = origin,
				   .type = type,
				   .type_name = from->unread ? from->unread : type->name,
				   .rank = from->rank,
				   .count = 1,
				   .bytes = from->bytes,
				   .data = from->data};
	for (int axis = 0; axis < t->rank; axis++) {
		t->shape[axis] = from->shape[axis];
		if (!size_mul(t->count, t->shape[axis], &t->count))
			t->count = 0; /* of a type that isn't known, whose bytes prove nothing */
	}
}

enum attn_status shard_open(const struct checkpoint *cp, size_t shard, struct attn_error *err)
{
	struct shard *s = &cp->shards[shard];
	if (s->bytes.data)
		return ATTN_OK;
	enum attn_status status = read_shard(s, err);
	if (status != ATTN_OK) {
		safetensors_release(&s->header);
		file_bytes_release(&s->bytes);
		return status;
	}
	for (size_t i = 0; i < s->header.count; i++) {
		struct place *p = checkpoint_place(cp, s->header.tensors[i].name);
		if (p && p->shard == shard)
			fill(&p->tensor, &s->header.tensors[i], s->path);
	}
	return ATTN_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return strcmp(x->tensor.name, y->tensor.name);
}

enum attn_status checkpoint_sort_places(struct checkpoint *cp, struct attn_error *err)
{
	qsort(cp->places, cp->count, sizeof *cp->places, by_name);
	for (size_t i = 1; i < cp->count; i++)
		if (by_name(&cp->places[i], &cp->places[i - 1]) == 0)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.300s': tensor '%.200s' may be given only once",
					 cp->shards[cp->places[i].shard].path, cp->places[i].tensor.name);
	return ATTN_OK;
}

enum attn_status checkpoint_open_file(struct checkpoint *cp, char *path, struct attn_error *err)
{
	cp->shards = path ? array_alloc(1, sizeof *cp->shards) : NULL;
	if (!cp->shards) {
		free(path);
		return attn_fail_memory(err);
	}
	cp->shard_count = 1;
	struct shard *s = &cp->shards[0];
	s->path = path;
	TRY(read_shard(s, err));
	cp->places = array_alloc(s->header.count, sizeof *cp->places);
	if (!cp->places)
		return attn_fail_memory(err);
	for (; cp->count < s->header.count; cp->count++) {
		struct model_tensor *t = &cp->places[cp->count].tensor;
		t->name = s->header.tensors[cp->count].name;
		fill(t, &s->header.tensors[cp->count], s->path);
	}
	return checkpoint_sort_places(cp, err);
}

/* --- the index ------------------------------------------------------------------------- */

/* A line of weight_map on its way. */
struct entry {
	const cJSON *item;
	size_t shard;
};

static int by_file(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return strcmp(x->item->valuestring, y->item->valuestring);
}

static bool is_file_name(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static enum attn_status read_entries(const cJSON *map, const char *path, struct entry *entries,
				     struct attn_error *err)
{
	for (const cJSON *item = map->child; item; item = item->next) {
		if (!cJSON_IsString(item))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.300s': 'weight_map' has %s for '%.200s', expected a file name",
					 path, json_kind(item), item->string);
		if (!is_file_name(item->valuestring))
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%.300s': 'weight_map' has \"%.100s\" for '%.200s', expected a file beside it",
			    path, item->valuestring, item->string);
		(entries++)->item = item;
	}
	return ATTN_OK;
}

/* The files that entries name, each once, as shards. */
static enum attn_status add_shards(struct checkpoint *cp, struct entry *entries, struct attn_error *err)
{
	qsort(entries, cp->count, sizeof *entries, by_file);
	cp->shards = array_alloc(cp->count, sizeof *cp->shards);
	if (!cp->shards)
		return attn_fail_memory(err);
	for (size_t i = 0; i < cp->count; i++) {
		const char *name = entries[i].item->valuestring;
		if (i == 0 || strcmp(name, entries[i - 1].item->valuestring) != 0) {
			char *path = cp->shards[cp->shard_count].path = folder_path(cp->path, name);
			if (!path)
				return attn_fail_memory(err);
			cp->shard_count++;
		}
		entries[i].shard = cp->shard_count - 1;
	}
	return ATTN_OK;
}

static enum attn_status add_places(struct checkpoint *cp, const struct entry *entries, const char *path,
				   struct attn_error *err)
{
	cp->places = array_alloc(cp->count, sizeof *cp->places);
	if (!cp->places)
		return attn_fail_memory(err);
	for (size_t i = 0; i < cp->count; i++) {
		cp->places[i].tensor.name = entries[i].item->string;
		cp->places[i].shard = entries[i].shard;
	}
	qsort(cp->places, cp->count, sizeof *cp->places, by_name);
	for (size_t i = 1; i < cp->count; i++)
		if (by_name(&cp->places[i], &cp->places[i - 1]) == 0)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%.300s': '%.200s' may be given only once in 'weight_map'", path,
					 cp->places[i].tensor.name);
	return ATTN_OK;
}

static enum attn_status read_map(struct checkpoint *cp, const char *path, struct attn_error *err)
{
	const cJSON *map = NULL;
	for (const cJSON *item = cp->index->child; item && !map; item = item->next)
		map = item->string && strcmp(item->string, "weight_map") == 0 ? item : NULL;
	if (!cJSON_IsObject(map))
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%.300s': 'weight_map' is %s, expected an object of tensors and their files", path,
		    map ? json_kind(map) : "missing");
	size_t count = 0;
	for (const cJSON *item = map->child; item; item = item->next)
		count++;
	if (count > CHECKPOINT_MAX_TENSORS)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%.300s': 'weight_map' has %zu tensors, expected at most %d", path, count,
				 CHECKPOINT_MAX_TENSORS);
	struct entry *entries = array_alloc(count, sizeof *entries);
	if (!entries)
		return attn_fail_memory(err);
	cp->count = count;
	enum attn_status status = read_entries(map, path, entries, err);
	if (status == ATTN_OK)
		status = add_shards(cp, entries, err);
	if (status == ATTN_OK)
		status = add_places(cp, entries, path, err);
	free(entries);
	return status;
}

enum attn_status checkpoint_read_index(struct checkpoint *cp, const unsigned char *data, size_t length,
				       const char *path, struct attn_error *err)
{
	char file[320];
	snprintf(file, sizeof file, "'%.300s'", path);
	enum attn_status status = json_text_parse(data, length, &cp->index, err);
	if (status == ATTN_BAD_INPUT)
		attn_error_prefix(err, file);
	return status == ATTN_OK ? read_map(cp, path, err) : status;
}
