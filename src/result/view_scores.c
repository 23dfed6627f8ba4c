/* A view that shows scores as if they were weights. */
#include <stdlib.h>

#include "result/view_internal.h"

struct scores_view {
	struct view_base base;
	enum score_stage stage;
};

static void scores_free(struct row_source *source)
{
	view_base_release((struct view_base *)source);
	free(source);
}

static enum attn_status scores_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct scores_view *v = (struct scores_view *)source;
	float *to = v->base.workers[worker].weights;
	struct row_block inner = {.batch = block->batch,
				  .layer = block->layer,
				  .head = block->head,
				  .query = block->query,
				  .count = block->count,
				  .keys = block->keys};
	TRY(v->base.inner->read(v->base.inner, worker, &inner, err));
	const float *scores = inner.scores[v->stage];
	for (size_t i = 0; i < block->count * block->keys; i++)
		to[i] = cell_has_weight(inner.cells[i]) ? scores[i] : 0;
	block->weights = to;
	block->cells = inner.cells;
	block->masked = inner.masked;
	return ATTN_OK;
}

enum attn_status view_scores_open(struct named_rows *view, const struct named_rows *inner,
				  enum score_stage stage, struct attn_error *err)
{
	struct scores_view *v = calloc(1, sizeof *v);
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->stage = stage;
	v->base.inner = inner->source;
	v->base.source = *inner->source;
	v->base.source.query_work = NULL;
	v->base.source.start = view_base_start;
	v->base.source.begin_layer = view_base_begin_layer;
	v->base.source.read = scores_read;
	v->base.source.free = scores_free;
	v->base.source.value_norms = NULL;
	v->base.source.shape.signed_weights = true;
	bool ok = view_info_copy(&view->info, &inner->info);
	view->info.shape.signed_weights = true;
	return view_base_finish(&v->base, ok && view_base_workers(&v->base), view, err);
}
