#include "tokenizer/vocabulary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tokenizer/lines.h"
#include "util/checked.h"

uint64_t hash_seed(void)
{
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)(uintptr_t)&seed;
	return seed;
}

static uint64_t hash_text(uint64_t seed, const char *text, size_t length)
{
	uint64_t h = seed ^ length;
	while (length >= 8) {
		uint64_t word;
		memcpy(&word, text, 8);
		h = hash_mix(h, word);
		text += 8;
		length -= 8;
	}
	uint64_t last = 0;
	memcpy(&last, text, length);
	return hash_mix(h, last);
}

enum attn_status vocabulary_init(struct vocabulary *v, size_t count, size_t bytes, struct attn_error *err)
{
	size_t slots = 16, texts;
	*v = (struct vocabulary){0};
	if (count > UINT32_MAX / 4)
		return attn_fail(err, ATTN_BAD_INPUT, "%zu tokens, expected at most %u", count,
				 UINT32_MAX / 4);
	while (slots < 2 * count)
		slots *= 2;
	if (!size_add(bytes, count, &texts))
		return attn_fail_memory(err);
	v->entries = malloc((count ? count : 1) * sizeof *v->entries);
	v->texts = malloc(texts ? texts : 1);
	v->slots = calloc(slots, sizeof *v->slots);
	if (!v->entries || !v->texts || !v->slots) {
		vocabulary_release(v);
		return attn_fail_memory(err);
	}
	v->capacity = count;
	v->texts_size = texts;
	v->slot_mask = slots - 1;
	v->seed = hash_seed();
	return ATTN_OK;
}

void vocabulary_release(struct vocabulary *v)
{
	free(v->entries);
	free(v->texts);
	free(v->slots);
	free(v->by_id);
	*v = (struct vocabulary){0};
}

/* The slot of a token: where it is, or the free one where it belongs. */
static uint32_t *find_slot(const struct vocabulary *v, const char *token, size_t length)
{
	for (size_t i = hash_text(v->seed, token, length);; i++) {
		uint32_t *slot = &v->slots[i & v->slot_mask];
		if (*slot == 0)
			return slot;
		const struct vocabulary_entry *e = &v->entries[*slot - 1];
		if (e->length == length && memcmp(v->texts + e->offset, token, length) == 0)
			return slot;
	}
}

enum attn_status vocabulary_add(struct vocabulary *v, const char *token, size_t length, size_t id,
				struct attn_error *err)
{
	if (id > VOCABULARY_MAX_ID)
		return attn_fail(err, ATTN_BAD_INPUT, "'%.*s' has the id %zu, expected at most %zu",
				 length < 100 ? (int)length : 100, token, id, VOCABULARY_MAX_ID);
	if (length > UINT32_MAX || v->count == v->capacity || length >= v->texts_size - v->used)
		return attn_fail(err, ATTN_BAD_INPUT, "a token of %zu bytes is too long", length);
	char *text = v->texts + v->used;
	memcpy(text, token, length);
	text[length] = '\0';
	v->entries[v->count] = (struct vocabulary_entry){v->used, (uint32_t)length, (uint32_t)id};
	*find_slot(v, token, length) = (uint32_t)++v->count;
	v->used += length + 1;
	if (id >= v->size)
		v->size = id + 1;
	return ATTN_OK;
}

enum attn_status vocabulary_finish(struct vocabulary *v, struct attn_error *err)
{
	v->by_id = calloc(v->size ? v->size : 1, sizeof *v->by_id);
	if (!v->by_id)
		return attn_fail_memory(err);
	for (size_t i = 0; i < v->count; i++)
		v->by_id[v->entries[i].id] = (uint32_t)i + 1;
	return ATTN_OK;
}

/* The id that an item of an object of tokens and ids states. */
static enum attn_status read_id(const cJSON *item, const char *key, size_t *id, struct attn_error *err)
{
	double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
	if (!(number >= 0 && number <= (double)VOCABULARY_MAX_ID && number == floor(number)))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "the id of '%.100s' in '%s' is not a whole number from 0 to %zu",
				 item->string, key, VOCABULARY_MAX_ID);
	*id = (size_t)number;
	return ATTN_OK;
}

enum attn_status vocabulary_parse(struct vocabulary *v, const cJSON *object, const char *key,
				  struct attn_error *err)
{
	const cJSON *item;
	size_t count = 0, bytes = 0, id = 0;
	if (!cJSON_IsObject(object))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %s, expected an object of tokens and ids", key,
				 object ? "something else" : "missing");
	cJSON_ArrayForEach(item, object)
	{
		bytes += strlen(item->string);
		count++;
	}
	TRY(vocabulary_init(v, count, bytes, err));
	cJSON_ArrayForEach(item, object)
	{
		TRY(read_id(item, key, &id, err));
		TRY(vocabulary_add(v, item->string, strlen(item->string), id, err));
	}
	return vocabulary_finish(v, err);
}

enum attn_status vocabulary_parse_lines(struct vocabulary *v, const char *text, size_t length,
					struct attn_error *err)
{
	const char *end = text + length, *line;
	size_t id = 0, used;
	TRY(vocabulary_init(v, count_lines(text, length), length, err));
	for (; next_line(&text, end, &line, &used); id++) {
		while (used > 0 && (line[used - 1] == ' ' || line[used - 1] == '\t'))
			used--;
		TRY(vocabulary_add(v, line, used, id, err));
	}
	return vocabulary_finish(v, err);
}

bool vocabulary_find(const struct vocabulary *v, const char *token, size_t length, uint32_t *id)
{
	uint32_t slot = v->slots ? *find_slot(v, token, length) : 0;
	if (slot == 0)
		return false;
	*id = v->entries[slot - 1].id;
	return true;
}

const char *vocabulary_token(const struct vocabulary *v, size_t id)
{
	if (id >= v->size || v->by_id[id] == 0)
		return NULL;
	return v->texts + v->entries[v->by_id[id] - 1].offset;
}

void vocabulary_find_bytes(const struct vocabulary *v, uint32_t ids[256], bool missing[256])
{
	for (unsigned b = 0; b < 256; b++) {
		char name[8];
		snprintf(name, sizeof name, "<0x%02X>", b);
		missing[b] = !vocabulary_find(v, name, 6, &ids[b]);
	}
}
