#include "tokens/rows_info.h"

#include <stdlib.h>

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
