/* The difference of two sources, row by row: A - B. */
#include <math.h>
#include <stdlib.h>

#include "result/view_internal.h"
#include "util/memory.h"

struct difference_view {
	struct view_base base;        /* around A */
	struct row_source *other;     /* B, owned once the view is open */
	struct row_block (*pairs)[2]; /* of each worker, owned */
	enum score_stage stage;
	bool scores;
};

static void difference_free(struct row_source *source)
{
	struct difference_view *v = (struct difference_view *)source;
	if (v->other && v->other->free)
		v->other->free(v->other);
	view_base_release(&v->base);
	free(v->pairs);
	free(v);
}

static enum attn_status difference_start(struct row_source *source, struct attn_error *err)
{
	struct row_source *other = ((struct difference_view *)source)->other;
	TRY(view_base_start(source, err));
	return other->start ? other->start(other, err) : ATTN_OK;
}

static enum attn_status difference_begin_layer(struct row_source *source, size_t layer,
					       struct attn_error *err)
{
	struct difference_view *v = (struct difference_view *)source;
	if (v->base.inner->begin_layer)
		TRY(v->base.inner->begin_layer(v->base.inner, layer, err));
	return v->other->begin_layer ? v->other->begin_layer(v->other, layer, err) : ATTN_OK;
}

static bool difference_remark(struct row_source *source, char *text, size_t size)
{
	struct difference_view *v = (struct difference_view *)source;
	struct row_source *const both[] = {v->base.inner, v->other};
	for (size_t i = 0; i < 2; i++)
		if (both[i]->remark && both[i]->remark(both[i], text, size))
			return true;
	return false;
}

/* Of one cell: what it is, and the difference of values that are finite. */
static unsigned char join_cells(unsigned char a, unsigned char b)
{
	return cell_has_weight(a) ? a : b;
}

static void subtract(const struct difference_view *v, const struct row_block *pair, struct view_worker *w,
		     size_t count)
{
	const float *a = v->scores ? pair[0].scores[v->stage] : pair[0].weights;
	const float *b = v->scores ? pair[1].scores[v->stage] : pair[1].weights;
	for (size_t i = 0; i < count; i++) {
		bool finite = isfinite(a[i]) && isfinite(b[i]);
		w->weights[i] = finite ? a[i] - b[i] : 0;
		w->cells[i] = finite ? join_cells(pair[0].cells[i], pair[1].cells[i]) : CELL_MASKED;
		if (!cell_has_weight(w->cells[i]))
			w->weights[i] = 0;
	}
}

static enum attn_status difference_read(struct row_source *source, size_t worker, struct row_block *block,
					struct attn_error *err)
{
	struct difference_view *v = (struct difference_view *)source;
	struct view_worker *w = &v->base.workers[worker];
	struct row_block *pair = v->pairs[worker];
	for (size_t i = 0; i < 2; i++) {
		struct row_source *inner = i == 0 ? v->base.inner : v->other;
		pair[i] = (struct row_block){.batch = block->batch,
					     .layer = block->layer,
					     .head = block->head,
					     .query = block->query,
					     .count = block->count,
					     .keys = block->keys};
		TRY(inner->read(inner, worker, &pair[i], err));
	}
	bool ready = pair[0].cells && pair[1].cells;
	for (size_t i = 0; i < 2; i++)
		ready &= (v->scores ? pair[i].scores[v->stage] : pair[i].weights) != NULL;
	if (ready)
		subtract(v, pair, w, block->count * block->keys);
	block->weights = ready ? w->weights : NULL;
	block->cells = ready ? w->cells : NULL;
	block->masked = ready ? view_count_masked(block) : 0;
	block->context = NULL;
	block->pair = pair;
	return ATTN_OK;
}

enum attn_status view_difference_open(struct named_rows *view, const struct named_rows *a,
				      const struct named_rows *b, const enum score_stage *stage,
				      struct attn_error *err)
{
	struct difference_view *v = calloc(1, sizeof *v);
	*view = (struct named_rows){0};
	if (!v)
		return attn_fail_memory(err);
	v->base.inner = a->source;
	v->base.source = (struct row_source){.shape = a->info.shape,
					     .row_cost = a->source->row_cost + b->source->row_cost,
					     .start = difference_start,
					     .begin_layer = difference_begin_layer,
					     .read = difference_read,
					     .remark = difference_remark,
					     .free = difference_free};
	v->base.source.shape.signed_weights = true;
	v->scores = stage != NULL;
	v->stage = stage ? *stage : SCORES_RAW;
	bool ok = view_info_copy(&view->info, &a->info) && view_base_workers(&v->base);
	view->info.shape.signed_weights = true;
	v->pairs = ok ? array_alloc(v->base.worker_count, sizeof *v->pairs) : NULL;
	TRY(view_base_finish(&v->base, v->pairs != NULL, view, err));
	v->other = b->source;
	if (v->base.inner->begin_layer || v->other->begin_layer)
		v->base.source.begin_layer = difference_begin_layer;
	return ATTN_OK;
}
