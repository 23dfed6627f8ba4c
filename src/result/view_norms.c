/* A view that weighs values too: what of a row's sum of vectors each key makes, by their lengths. */
#include <stdlib.h>
#include <string.h>

#include "result/view_internal.h"
#include "util/memory.h"

struct norms_view {
	struct view_base base;
	bool *heads;  /* (heads), owned: those that may be read; NULL: all */
	float *norms; /* (batch, heads, keys), owned: of the layer that can be read */
	bool started;
};

static void norms_free(struct row_source *source)
{
	struct norms_view *v = (struct norms_view *)source;
	free(v->heads);
	free(v->norms);
	view_base_release(&v->base);
	free(v);
}

static enum attn_status find_norms(struct norms_view *v, struct attn_error *err)
{
	const struct rows_shape *shape = &v->base.source.shape;
	for (size_t b = 0; b < shape->batch; b++)
		for (size_t h = 0; h < shape->heads; h++)
			if (rows_chosen(v->heads, h))
				TRY(v->base.inner->value_norms(
				    v->base.inner, b, h, v->norms + (b * shape->heads + h) * shape->keys,
				    err));
	return ATTN_OK;
}

static enum attn_status norms_start(struct row_source *source, struct attn_error *err)
{
	struct norms_view *v = (struct norms_view *)source;
	TRY(view_base_start(source, err));
	if (v->started || v->base.inner->begin_layer)
		return ATTN_OK;
	TRY(find_norms(v, err));
	v->started = true;
	return ATTN_OK;
}

static enum attn_status norms_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	TRY(view_base_begin_layer(source, layer, err));
	return find_norms((struct norms_view *)source, err);
}

static enum attn_status norms_read(struct row_source *source, size_t worker, struct row_block *block,
				   struct attn_error *err)
{
	struct norms_view *v = (struct norms_view *)source;
	float *to = v->base.workers[worker].weights;
	double *row = v->base.workers[worker].sums;
	size_t keys = block->keys;
	const float *norms = v->norms + (block->batch * source->shape.heads + block->head) * keys;
	struct row_block inner = {.batch = block->batch,
				  .layer = block->layer,
				  .head = block->head,
				  .query = block->query,
				  .count = block->count,
				  .keys = keys,
				  .no_context = !v->base.inner->begin_layer};
	TRY(v->base.inner->read(v->base.inner, worker, &inner, err));
	for (size_t r = 0; r < block->count; r++) {
		double sum = 0;
		for (size_t k = 0; k < keys; k++)
			sum += row[k] = (double)inner.weights[r * keys + k] * (double)norms[k];
		for (size_t k = 0; k < keys; k++)
			to[r * keys + k] = sum > 0 ? (float)(row[k] / sum) : 0;
	}
	block->weights = to;
	block->cells = inner.cells;
	block->masked = inner.masked;
	return ATTN_OK;
}

enum attn_status view_norms_open(struct named_rows *view, const struct named_rows *inner, const bool *heads,
				 struct attn_error *err)
{
	struct norms_view *v = calloc(1, sizeof *v);
	const struct rows_shape *shape = &inner->info.shape;
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->base.inner = inner->source;
	v->base.source = *inner->source;
	v->base.source.start = norms_start;
	v->base.source.begin_layer = norms_begin_layer;
	v->base.source.read = norms_read;
	v->base.source.free = norms_free;
	v->base.source.value_norms = NULL;
	v->norms = floats_alloc4(shape->batch, shape->heads, shape->keys, 1);
	v->heads = heads ? array_alloc(shape->heads, sizeof *heads) : NULL;
	if (v->heads)
		memcpy(v->heads, heads, shape->heads * sizeof *heads);
	bool ok = v->norms && (!heads || v->heads) && view_info_init(&view->info, &inner->info) &&
		  string_list_copy(&view->info.query_labels, &inner->info.query_labels) &&
		  string_list_copy(&view->info.key_labels, &inner->info.key_labels);
	view->info.other_keys = inner->info.other_keys;
	return view_base_finish(&v->base, ok && view_base_workers(&v->base), view, err);
}
