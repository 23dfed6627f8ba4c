/* What the views have in common: a source around another. */
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "util/memory.h"
#include "util/threads.h"

bool view_base_workers(struct view_base *base)
{
	size_t keys = base->source.shape.keys;
	base->workers = array_alloc(threads_count(), sizeof *base->workers);
	if (!base->workers)
		return false;
	base->worker_count = threads_count();
	for (size_t i = 0; i < base->worker_count; i++) {
		struct view_worker *w = &base->workers[i];
		w->weights = floats_alloc4(ROWS_BLOCK, keys, 1, 1);
		w->cells = array_alloc(ROWS_BLOCK, keys);
		w->sums = array_alloc(keys, sizeof *w->sums);
		if (!w->weights || !w->cells || !w->sums)
			return false;
	}
	return true;
}

void view_base_release(struct view_base *base)
{
	if (base->inner && base->inner->free)
		base->inner->free(base->inner);
	for (size_t i = 0; i < base->worker_count; i++) {
		free(base->workers[i].weights);
		free(base->workers[i].cells);
		free(base->workers[i].sums);
	}
	free(base->workers);
}

enum attn_status view_base_start(struct row_source *source, struct attn_error *err)
{
	struct row_source *inner = ((struct view_base *)source)->inner;
	return inner->start ? inner->start(inner, err) : ATTN_OK;
}

enum attn_status view_base_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct row_source *inner = ((struct view_base *)source)->inner;
	return inner->begin_layer(inner, layer, err);
}

enum attn_status view_base_finish(struct view_base *base, bool ready, struct named_rows *view,
				  struct attn_error *err)
{
	if (!base->inner->begin_layer)
		base->source.begin_layer = NULL;
	view->source = &base->source;
	if (ready)
		return ATTN_OK;
	base->inner = NULL; /* it stays the caller's */
	named_rows_release(view);
	return attn_fail_memory(err);
}

/* A copy of an array or a string that may be NULL; false: no memory left. */
static bool copy_numbers(size_t **to, const size_t *from, size_t count)
{
	*to = from ? array_alloc(count, sizeof **to) : NULL;
	if (*to)
		memcpy(*to, from, count * sizeof **to);
	return *to || !from;
}

static bool copy_string(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

bool view_info_init(struct rows_info *info, const struct rows_info *from)
{
	*info = *from;
	info->query_labels = info->key_labels = info->head_names = (struct string_list){0};
	info->query_numbers = info->key_numbers = info->head_numbers = info->layer_numbers = NULL;
	info->joined_heads = info->joined_layers = NULL;
	info->other_keys = true;
	bool ok = copy_numbers(&info->head_numbers, from->head_numbers, from->shape.heads) &&
		  copy_numbers(&info->layer_numbers, from->layer_numbers, from->shape.layers) &&
		  copy_string(&info->joined_heads, from->joined_heads) &&
		  copy_string(&info->joined_layers, from->joined_layers);
	for (size_t i = 0; i < from->head_names.count && ok; i++)
		ok = string_list_add(&info->head_names, from->head_names.items[i]);
	return ok;
}

bool view_info_copy(struct rows_info *info, const struct rows_info *from)
{
	bool ok = view_info_init(info, from) && string_list_copy(&info->query_labels, &from->query_labels) &&
		  string_list_copy(&info->key_labels, &from->key_labels) &&
		  copy_numbers(&info->query_numbers, from->query_numbers, from->shape.queries) &&
		  copy_numbers(&info->key_numbers, from->key_numbers, from->shape.keys);
	info->other_keys = from->other_keys;
	return ok;
}

size_t view_count_masked(const struct row_block *block)
{
	size_t masked = 0;
	for (size_t r = 0; r < block->count; r++) {
		size_t k = 0;
		while (k < block->keys && !cell_has_weight(block->cells[r * block->keys + k]))
			k++;
		masked += k == block->keys;
	}
	return masked;
}
