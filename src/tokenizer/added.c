#include "tokenizer/added.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/fields.h"
#include "tokenizer/vocabulary.h"
#include "util/memory.h"

enum {
	/* Bytes; they bound what a place in a text can cost. */
	MAX_CONTENT = 1024,
	MAX_SOUGHT = 64 * MAX_CONTENT,
};

void added_release(struct added_vocabulary *v)
{
	for (size_t i = 0; i < v->count; i++) {
		free(v->items[i].content);
		free(v->items[i].sought);
	}
	free(v->items);
	free(v->by_id);
	free(v->raw.items);
	free(v->normalized.items);
	*v = (struct added_vocabulary){.items = NULL};
}

/* Make room for all tokens of the array, and for finding them by their content. */
static enum attn_status reserve(struct added_vocabulary *v, struct vocabulary *contents, const cJSON *array,
				struct attn_error *err)
{
	size_t count = 0, bytes = 0;
	for (const cJSON *item = array->child; item; item = item->next) {
		const char *content;
		TRY(field_text(item, "content", &content, err));
		if (strlen(content) > MAX_CONTENT)
			return attn_fail(err, ATTN_BAD_INPUT, "'%.60s...' has %zu bytes, expected at most %d",
					 content, strlen(content), MAX_CONTENT);
		count++;
		bytes += strlen(content);
	}
	v->items = array_alloc(count, sizeof *v->items);
	v->by_id = array_alloc(count, sizeof *v->by_id);
	if (!v->items || !v->by_id)
		return attn_fail_memory(err);
	return vocabulary_init(contents, count, bytes, err);
}

static enum attn_status parse_flags(struct added_token *token, const cJSON *item, struct attn_error *err)
{
	TRY(field_bool(item, "single_word", false, &token->single_word, err));
	TRY(field_bool(item, "lstrip", false, &token->lstrip, err));
	TRY(field_bool(item, "rstrip", false, &token->rstrip, err));
	TRY(field_bool(item, "special", false, &token->special, err));
	return field_bool(item, "normalized", !token->special, &token->normalized, err);
}

/* Add a token, or change the one that has its content. */
static enum attn_status add(struct added_vocabulary *v, struct vocabulary *contents, size_t *next_id,
			    const cJSON *item, const struct algorithm *algorithm, struct attn_error *err)
{
	const char *content;
	uint32_t place;
	TRY(field_text(item, "content", &content, err));
	size_t length = strlen(content);
	if (length == 0)
		return ATTN_OK;
	if (vocabulary_find(contents, content, length, &place))
		return parse_flags(&v->items[place], item, err);
	struct added_token *token = &v->items[v->count];
	TRY(vocabulary_add(contents, content, length, v->count, err));
	token->content = strdup(content);
	if (!token->content)
		return attn_fail_memory(err);
	v->count++;
	if (!algorithm_find(algorithm, content, length, &token->id))
		token->id = (*next_id)++;
	return parse_flags(token, item, err);
}

/* What a token is in a text that the normalizers have been through. */
static enum attn_status set_sought(struct added_token *token, const struct normalizer_list *normalizers,
				   struct attn_error *err)
{
	struct aligned text = {.most = MAX_SOUGHT};
	aligned_add_original(&text, token->content, strlen(token->content), 0);
	enum attn_status status = aligned_check(&text, err);
	if (status == ATTN_OK && token->normalized)
		status = normalizer_apply(normalizers, &text, 0, err);
	if (status == ATTN_OK) {
		token->length = text.length;
		token->sought = strndup(text.text ? text.text : "", text.length);
		if (!token->sought)
			status = attn_fail_memory(err);
	}
	aligned_release(&text);
	return status;
}

/* By what is sought; special ones, then those that came first, before others with the same. */
static int compare_sought(const void *a, const void *b)
{
	const struct added_token *x = *(const struct added_token *const *)a;
	const struct added_token *y = *(const struct added_token *const *)b;
	int order = memcmp(x->sought, y->sought, x->length < y->length ? x->length : y->length);
	if (order == 0)
		order = (x->length > y->length) - (x->length < y->length);
	if (order == 0)
		order = y->special - x->special;
	return order ? order : (x > y) - (x < y);
}

static int compare_ids(const void *a, const void *b)
{
	const struct added_token *x = *(const struct added_token *const *)a;
	const struct added_token *y = *(const struct added_token *const *)b;
	return (x->id > y->id) - (x->id < y->id);
}

static enum attn_status make_index(struct added_index *index, const struct added_vocabulary *v,
				   bool normalized, struct attn_error *err)
{
	index->items = array_alloc(v->count, sizeof *index->items);
	if (!index->items)
		return attn_fail_memory(err);
	for (size_t i = 0; i < v->count; i++)
		if (v->items[i].normalized == normalized && v->items[i].length > 0)
			index->items[index->count++] = &v->items[i];
	qsort(index->items, index->count, sizeof *index->items, compare_sought);
	for (size_t i = 0; i < index->count; i++)
		index->first[(unsigned char)index->items[i]->sought[0] + 1] = i + 1;
	for (size_t b = 1; b < 257; b++)
		if (index->first[b] < index->first[b - 1])
			index->first[b] = index->first[b - 1];
	return ATTN_OK;
}

static enum attn_status parse_all(struct added_vocabulary *v, struct vocabulary *contents, const cJSON *array,
				  const struct algorithm *algorithm,
				  const struct normalizer_list *normalizers, struct attn_error *err)
{
	size_t next_id = algorithm_size(algorithm);
	TRY(reserve(v, contents, array, err));
	for (const cJSON *item = array->child; item; item = item->next)
		TRY(add(v, contents, &next_id, item, algorithm, err));
	for (size_t i = 0; i < v->count; i++) {
		TRY(set_sought(&v->items[i], normalizers, err));
		v->by_id[i] = &v->items[i];
	}
	qsort(v->by_id, v->count, sizeof *v->by_id, compare_ids);
	TRY(make_index(&v->raw, v, false, err));
	return make_index(&v->normalized, v, true, err);
}

enum attn_status added_parse(struct added_vocabulary *v, const cJSON *array,
			     const struct algorithm *algorithm, const struct normalizer_list *normalizers,
			     struct attn_error *err)
{
	struct vocabulary contents = {.count = 0};
	if (!array)
		return ATTN_OK;
	if (!cJSON_IsArray(array))
		return attn_fail(err, ATTN_BAD_INPUT, "not an array");
	enum attn_status status = parse_all(v, &contents, array, algorithm, normalizers, err);
	vocabulary_release(&contents);
	return status;
}

const struct added_token *added_by_id(const struct added_vocabulary *v, size_t id)
{
	const struct added_token key = {.id = id}, *wanted = &key;
	const struct added_token *const *found =
	    v->count ? bsearch(&wanted, v->by_id, v->count, sizeof *v->by_id, compare_ids) : NULL;
	return found ? *found : NULL;
}
