#include "util/strings.h"

#include <stdlib.h>
#include <string.h>

#include "util/minmax.h"

bool string_list_add(struct string_list *list, const char *text)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		char **items = reallocarray(list->items, capacity, sizeof *items);
		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	char *copy = strdup(text);
	if (!copy)
		return false;
	list->items[list->count++] = copy;
	return true;
}

void string_list_release(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){0};
}

bool string_list_copy(struct string_list *to, const struct string_list *from)
{
	bool ok = true;
	for (size_t i = 0; i < from->count && ok; i++)
		ok = string_list_add(to, from->items[i]);
	return ok;
}

bool string_list_same(const struct string_list *a, const struct string_list *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; i < a->count && same; i++)
		same = strcmp(a->items[i], b->items[i]) == 0;
	return same;
}

const char *origin_name(const char *origin)
{
	return origin ? origin : "?";
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

size_t edit_distance(const char *a, const char *b)
{
	enum {
		LIMIT = 63
	};
	size_t a_length = strlen(a), b_length = strlen(b);
	if (a_length > LIMIT || b_length > LIMIT)
		return LIMIT + 1;
	/* Wagner and Fischer 1974, one row at a time. */
	size_t row[LIMIT + 1];
	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
			diagonal = row[j];
			row[j] = size_min(replaced, size_min(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_length];
}
