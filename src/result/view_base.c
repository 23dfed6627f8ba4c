/* What the views have in common: a source around another. */
#include <stdlib.h>

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

enum attn_status view_base_finish(struct view_base *base, bool ready, struct named_rows *view,
				  struct attn_error *err)
{
	view->source = &base->source;
	if (ready)
		return ATTN_OK;
	base->inner = NULL; /* it stays the caller's */
	named_rows_release(view);
	return attn_fail_memory(err);
}

bool view_info_init(struct rows_info *info, const struct rows_info *from)
{
	*info = *from;
	info->query_labels = info->key_labels = info->head_names = (struct string_list){0};
	info->query_numbers = info->key_numbers = NULL;
	bool ok = true;
	for (size_t i = 0; i < from->head_names.count && ok; i++)
		ok = string_list_add(&info->head_names, from->head_names.items[i]);
	return ok;
}
