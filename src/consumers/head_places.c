#include "consumers/head_places.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/sentence.h"
#include "util/memory.h"

/* As rows_are_near has it: own position of a query, and keys up to `end` have one. */
static bool find_positions(struct head_places *p, const struct rows_info *info)
{
	size_t before = info->own_offset + info->shape.past_keys;
	size_t end = info->positioned ? info->positioned : info->shape.keys - info->shape.appended_keys;
	while (p->placed < p->keys && key_number(info, p->placed) < end)
		p->placed++;
	p->positions = end;
	p->at = array_alloc(p->placed, sizeof *p->at);
	p->own = array_alloc(p->queries, sizeof *p->own);
	p->key_at = array_alloc(end, sizeof *p->key_at);
	if (!p->at || !p->own || !p->key_at)
		return false;
	for (size_t i = 0; i < end; i++)
		p->key_at[i] = SIZE_MAX;
	for (size_t k = 0; k < p->placed; k++) {
		p->at[k] = (double)key_number(info, k);
		p->key_at[key_number(info, k)] = k;
	}
	for (size_t q = 0; q < p->queries; q++)
		p->own[q] = before + query_number(info, q);
	p->even = p->placed == 0 || key_number(info, p->placed - 1) - key_number(info, 0) == p->placed - 1;
	return true;
}

/* A token at a position. */
struct occurrence {
	const char *text;
	size_t position;
};

static int compare_occurrences(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	return order ? order : x->position < y->position ? -1 : x->position > y->position;
}

/* The last occurrence of a text before a position, in a sorted list; SIZE_MAX: there is none. */
static size_t last_before(const struct occurrence *list, size_t count, const char *text, size_t position)
{
	const struct occurrence wanted = {text, position};
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_occurrences(&list[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && strcmp(list[low - 1].text, text) == 0 ? list[low - 1].position : SIZE_MAX;
}

static bool find_repeats(struct head_places *p, const struct rows_info *info)
{
	size_t past = info->shape.past_keys, count = 0;
	size_t first = labels_missing(&info->key_labels, past) ? past : 0;
	struct occurrence *list = array_alloc(p->placed, sizeof *list);
	p->after = array_alloc(p->queries, sizeof *p->after);
	if (!list || !p->after) {
		free(list);
		return false;
	}
	for (size_t k = first; k < p->placed; k++)
		list[count++] = (struct occurrence){info->key_labels.items[k], key_number(info, k)};
	qsort(list, count, sizeof *list, compare_occurrences);
	for (size_t q = 0; q < p->queries; q++) {
		size_t position = last_before(list, count, info->query_labels.items[q], p->own[q]);
		bool apart = position != SIZE_MAX && position + 1 < p->own[q];
		p->after[q] = apart ? p->key_at[position + 1] : SIZE_MAX;
	}
	free(list);
	return true;
}

static bool find_separators(struct head_places *p, const struct string_list *shown)
{
	p->separators = array_alloc(p->keys, sizeof *p->separators);
	for (size_t k = 0; p->separators && k < p->keys; k++)
		if (k != p->first && token_separates(shown->items[k]))
			p->separators[p->separator_count++] = k;
	return p->separators != NULL;
}

enum attn_status head_places_init(struct head_places *p, const struct rows_info *info,
				  const struct string_list *shown_keys, struct attn_error *err)
{
	*p = (struct head_places){
	    .queries = info->shape.queries, .keys = info->shape.keys, .self = !info->shape.cross};
	p->first = key_number(info, 0) == 0 && info->shape.appended_keys < p->keys ? 0 : SIZE_MAX;
	bool ok = !p->self || find_positions(p, info);
	if (ok && info->has_tokens)
		ok = (!p->self || find_repeats(p, info)) && find_separators(p, shown_keys);
	if (ok)
		return ATTN_OK;
	head_places_release(p);
	return attn_fail_memory(err);
}

void head_places_release(struct head_places *p)
{
	free(p->at);
	free(p->own);
	free(p->key_at);
	free(p->after);
	free(p->separators);
	*p = (struct head_places){0};
}
