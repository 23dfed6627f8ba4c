#include "tokenizer/algorithm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/fields.h"

void subtokens_release(struct subtokens *list)
{
	free(list->items);
	*list = (struct subtokens)SUBTOKENS_INIT;
}

bool subtokens_add(struct subtokens *list, size_t id, size_t start, size_t end, bool unknown)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 64;
		if (capacity > SIZE_MAX / sizeof *list->items)
			return false;
		struct subtoken *items = realloc(list->items, capacity * sizeof *items);
		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = (struct subtoken){id, start, end, unknown};
	return true;
}

struct algorithm *algorithm_new(const struct algorithm_type *type, size_t size)
{
	struct algorithm *a = calloc(1, size);
	if (a)
		a->type = type;
	return a;
}

enum attn_status algorithm_finish(struct algorithm **out, struct algorithm *a, enum attn_status status)
{
	*out = status == ATTN_OK ? a : NULL;
	if (status != ATTN_OK)
		algorithm_free(a);
	return status;
}

void algorithm_free(struct algorithm *a)
{
	if (!a)
		return;
	if (a->type->release)
		a->type->release(a);
	vocabulary_release(&a->vocabulary);
	free(a);
}

enum attn_status unknown_token_set(struct unknown_token *u, const struct vocabulary *v, const char *text,
				   struct attn_error *err)
{
	*u = (struct unknown_token){0};
	if (!text)
		return ATTN_OK;
	u->text = strdup(text);
	if (!u->text)
		return attn_fail_memory(err);
	u->found = vocabulary_find(v, text, strlen(text), &u->id);
	return ATTN_OK;
}

enum attn_status unknown_token_check(const struct unknown_token *u, struct attn_error *err)
{
	if (u->found)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "the vocabulary has neither all of the text nor its unknown token '%.100s'",
			 u->text ? u->text : "");
}

typedef enum attn_status (*parse_function)(struct algorithm **out, const cJSON *model,
					   struct attn_error *err);

/* The order in which the reference tries what has no "type". */
static parse_function guess_parse(const cJSON *model)
{
	if (cJSON_IsArray(field_get(model, "vocab")))
		return unigram_parse;
	if (field_get(model, "merges"))
		return bpe_parse;
	return field_get(model, "max_input_chars_per_word") ? wordpiece_parse : wordlevel_parse;
}

enum attn_status algorithm_parse(struct algorithm **out, const cJSON *model, struct attn_error *err)
{
	static const struct {
		const char *name;
		parse_function parse;
	} types[] = {{"BPE", bpe_parse},
		     {"WordPiece", wordpiece_parse},
		     {"Unigram", unigram_parse},
		     {"WordLevel", wordlevel_parse}};
	const char *name;
	*out = NULL;
	if (!cJSON_IsObject(model))
		return attn_fail(err, ATTN_BAD_INPUT, "'model' is %s, expected an object",
				 model ? "something else" : "missing");
	enum attn_status status = field_string(model, "type", NULL, &name, err);
	parse_function parse = name ? NULL : guess_parse(model);
	for (size_t i = 0; status == ATTN_OK && name && i < sizeof types / sizeof *types; i++)
		if (strcmp(name, types[i].name) == 0)
			parse = types[i].parse;
	if (status == ATTN_OK && !parse)
		status = attn_fail(err, ATTN_BAD_INPUT,
				   "'type' is '%.100s', expected BPE, WordPiece, Unigram or WordLevel", name);
	if (status == ATTN_OK)
		status = parse(out, model, err);
	if (status != ATTN_OK)
		attn_error_prefix(err, "model");
	return status;
}

enum attn_status algorithm_encode(const struct algorithm *a, const char *piece, size_t length,
				  struct subtokens *out, struct attn_error *err)
{
	size_t before = out->count;
	if (length == 0)
		return ATTN_OK;
	if (length > UINT32_MAX)
		return attn_fail(err, ATTN_BAD_INPUT, "a piece of %zu bytes of text, expected at most %u",
				 length, UINT32_MAX);
	enum attn_status status = a->type->encode(a, piece, length, out, err);
	if (status != ATTN_OK)
		out->count = before;
	return status;
}

const char *algorithm_kind(const struct algorithm *a)
{
	return a->type->name;
}

size_t algorithm_size(const struct algorithm *a)
{
	return a->vocabulary.size;
}

const char *algorithm_token(const struct algorithm *a, size_t id)
{
	return vocabulary_token(&a->vocabulary, id);
}

bool algorithm_find(const struct algorithm *a, const char *token, size_t length, size_t *id)
{
	uint32_t found;
	if (!vocabulary_find(&a->vocabulary, token, length, &found))
		return false;
	*id = found;
	return true;
}
