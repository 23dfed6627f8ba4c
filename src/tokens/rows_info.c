#include "tokens/rows_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rows_info_release(struct rows_info *info)
{
	string_list_release(&info->query_labels);
	string_list_release(&info->key_labels);
	string_list_release(&info->head_names);
	free(info->query_numbers);
	free(info->key_numbers);
	free(info->head_numbers);
	free(info->layer_numbers);
	free(info->joined_heads);
	free(info->joined_layers);
	*info = (struct rows_info){0};
}

void named_rows_release(struct named_rows *rows)
{
	if (rows->source && rows->source->free)
		rows->source->free(rows->source);
	rows->source = NULL;
	rows_info_release(&rows->info);
}

bool labels_missing(const struct string_list *labels, size_t count)
{
	char number[24];
	for (size_t i = 0; i < count; i++) {
		snprintf(number, sizeof number, "%zu", i);
		if (strcmp(labels->items[i], number) != 0)
			return false;
	}
	return true;
}
