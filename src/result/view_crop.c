/* A view that shows some queries and keys, and sets others aside or takes them out. */
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "util/memory.h"

struct crop {
	struct view_base base;
	size_t *queries, *keys; /* which of the inner source's each is */
	bool *excluded;         /* (inner keys), or NULL */
	bool diagonal, renormalise;
	size_t past; /* query i's own key is key past + i */
};

static void crop_free(struct row_source *source)
{
	struct crop *v = (struct crop *)source;
	view_base_release(&v->base);
	free(v->queries);
	free(v->keys);
	free(v->excluded);
	free(v);
}

static bool counts(const struct crop *v, size_t query, size_t key)
{
	return !(v->excluded && v->excluded[key]) && !(v->diagonal && key == v->past + query);
}

/* Whether a row of the inner source has something to show, here or in what is not shown;
 * *sum is that of the weights that count. */
static bool survey_row(const struct crop *v, size_t query, const float *weights, const unsigned char *cells,
		       double *sum)
{
	size_t keys = v->base.inner->shape.keys;
	bool any = false;
	*sum = 0;
	for (size_t k = 0; k < keys; k++) {
		bool attended = cell_has_weight(cells[k]);
		any |= attended;
		if (v->renormalise && attended && counts(v, query, k))
			*sum += (double)weights[k];
	}
	return v->renormalise ? *sum > 0 : any;
}

/* Make one row of one of the inner source; whether it is not masked. */
static bool make_row(const struct crop *v, size_t query, const float *weights, const unsigned char *cells,
		     float *to, unsigned char *to_cells)
{
	double sum;
	bool shows = survey_row(v, query, weights, cells, &sum);
	for (size_t i = 0; i < v->base.source.shape.keys; i++) {
		size_t key = v->keys[i];
		bool excluded = cell_has_weight(cells[key]) && !counts(v, query, key);
		to[i] = weights[key];
		to_cells[i] = cells[key];
		if (excluded)
			to_cells[i] = v->renormalise ? CELL_REMOVED : CELL_UNSCALED;
		else if (v->renormalise && !shows)
			to_cells[i] = CELL_MASKED;
		if (v->renormalise)
			to[i] = cell_has_weight(to_cells[i]) ? (float)((double)weights[key] / sum) : 0;
	}
	return shows;
}

static enum attn_status crop_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct crop *v = (struct crop *)source;
	struct view_worker *w = &v->base.workers[worker];
	block->weights = w->weights;
	block->cells = w->cells;
	block->masked = 0;
	for (size_t row = 0, count; row < block->count; row += count) {
		size_t query = v->queries[block->query + row];
		for (count = 1; row + count < block->count; count++) /* those that follow each other */
			if (v->queries[block->query + row + count] != query + count)
				break;
		struct row_block inner = {.batch = block->batch,
					  .layer = block->layer,
					  .head = block->head,
					  .query = query,
					  .count = count,
					  .keys = v->base.inner->shape.keys};
		TRY(v->base.inner->read(v->base.inner, worker, &inner, err));
		for (size_t r = 0; r < count; r++)
			block->masked += !make_row(v, query + r, inner.weights + r * inner.keys,
						   inner.cells + r * inner.keys,
						   w->weights + (row + r) * v->base.source.shape.keys,
						   w->cells + (row + r) * v->base.source.shape.keys);
	}
	return ATTN_OK;
}

/* Which of `count` are shown: their indices, labels, and, where some are left out, numbers
 * for users. */
static bool choose(const bool *shown, size_t count, const struct string_list *labels,
		   const size_t *inner_numbers, size_t **indices, size_t **numbers, size_t *chosen,
		   struct string_list *chosen_labels)
{
	*indices = array_alloc(count, sizeof **indices);
	*numbers = array_alloc(count, sizeof **numbers);
	*chosen = 0;
	bool ok = *indices && *numbers;
	for (size_t i = 0; i < count && ok; i++) {
		if (!rows_chosen(shown, i))
			continue;
		(*indices)[*chosen] = i;
		(*numbers)[(*chosen)++] = inner_numbers ? inner_numbers[i] : i;
		ok = i >= labels->count || string_list_add(chosen_labels, labels->items[i]);
	}
	if (!shown && !inner_numbers) {
		free(*numbers);
		*numbers = NULL;
	}
	return ok;
}

static bool crop_init(struct crop *v, struct rows_info *info, const struct rows_info *from,
		      const struct view_options *options)
{
	v->diagonal = options->exclude_diagonal;
	v->renormalise = options->renormalise;
	v->past = from->shape.past_keys;
	bool ok = view_info_init(info, from) &&
		  choose(options->queries, from->shape.queries, &from->query_labels, from->query_numbers,
			 &v->queries, &info->query_numbers, &info->shape.queries, &info->query_labels) &&
		  choose(options->keys, from->shape.keys, &from->key_labels, from->key_numbers, &v->keys,
			 &info->key_numbers, &info->shape.keys, &info->key_labels);
	if (ok && options->excluded) {
		v->excluded = array_alloc(from->shape.keys, sizeof *v->excluded);
		ok = v->excluded != NULL;
		if (ok)
			memcpy(v->excluded, options->excluded, from->shape.keys * sizeof *v->excluded);
	}
	info->own_offset = from->own_offset + from->shape.past_keys;
	info->positioned = from->positioned ? from->positioned : from->shape.keys - from->shape.appended_keys;
	/* Whatever the keys were to each other, those left are keys like any others. */
	info->shape.past_keys = info->shape.appended_keys = 0;
	v->base.source.shape = info->shape;
	v->base.source.row_cost = v->base.inner->row_cost + 4 * from->shape.keys;
	return ok && view_base_workers(&v->base);
}

enum attn_status view_crop_open(struct named_rows *view, const struct named_rows *inner,
				const struct view_options *options, struct attn_error *err)
{
	struct crop *v = calloc(1, sizeof *v);
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->base.source = (struct row_source){.start = view_base_start,
					     .begin_layer = view_base_begin_layer,
					     .read = crop_read,
					     .free = crop_free};
	v->base.inner = inner->source;
	return view_base_finish(&v->base, crop_init(v, &view->info, &inner->info, options), view, err);
}
