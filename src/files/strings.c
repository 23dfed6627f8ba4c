#include "files/strings_internal.h"

#include <stdlib.h>
#include <string.h>

enum attn_status string_lists_agree(struct string_list *list, size_t items, const char *label,
				    struct attn_error *err)
{
	size_t length = list->count / items;
	for (size_t i = length; i < list->count; i++)
		if (strcmp(list->items[i], list->items[i % length]) != 0)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%.100s' differs between batch items, which share their labels: string "
			    "%zu is '%.50s' in item 0 and '%.50s' in item %zu, choose one as in "
			    "tokens=FILE:%.100s[%zu]",
			    label, i % length, list->items[i % length], list->items[i], i / length, label,
			    i / length);
	for (size_t i = length; i < list->count; i++)
		free(list->items[i]);
	list->count = length;
	return ATTN_OK;
}
