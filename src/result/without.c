#include "result/without.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/threads.h"

struct without_source {
	struct row_source source; /* first: a source is cast to its own */
	struct row_source *inner; /* owned */
	const bool *without;
	size_t size;
	float *zeros; /* (ROWS_BLOCK, size), owned */
};

static enum attn_status start(struct row_source *source, struct attn_error *err)
{
	struct row_source *inner = ((struct without_source *)source)->inner;
	return inner->start ? inner->start(inner, err) : ATTN_OK;
}

static enum attn_status begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct row_source *inner = ((struct without_source *)source)->inner;
	return inner->begin_layer(inner, layer, err);
}

/* What is put elsewhere is put there as zeros. */
static enum attn_status read(struct row_source *source, size_t worker, struct row_block *block,
			     struct attn_error *err)
{
	struct without_source *w = (struct without_source *)source;
	TRY(w->inner->read(w->inner, worker, block, err));
	if (!w->without[block->head] || !block->context)
		return ATTN_OK;
	for (size_t i = 0; i < block->count && block->context_place; i++)
		memset(block->context_place + i * block->context_stride, 0, w->size * sizeof(float));
	block->context = block->context_place ? block->context_place : w->zeros;
	if (!block->context_place)
		block->context_stride = w->size;
	return ATTN_OK;
}

static bool remark(struct row_source *source, char *text, size_t size)
{
	struct row_source *inner = ((struct without_source *)source)->inner;
	return inner->remark(inner, text, size);
}

static void release(struct row_source *source)
{
	struct without_source *w = (struct without_source *)source;
	w->inner->free(w->inner);
	free(w->zeros);
	free(w);
}

enum attn_status without_open(struct row_source **source, const bool *without, size_t size,
			      struct attn_error *err)
{
	struct without_source *w = calloc(1, sizeof *w);
	float *zeros = array_alloc(ROWS_BLOCK * (size ? size : 1), sizeof *zeros);
	if (!w || !zeros) {
		free(w);
		free(zeros);
		return attn_fail_memory(err);
	}
	*w = (struct without_source){
	    .source = **source, .inner = *source, .without = without, .size = size, .zeros = zeros};
	w->source.start = start;
	w->source.begin_layer = w->inner->begin_layer ? begin_layer : NULL;
	w->source.read = read;
	w->source.query_work = NULL;
	w->source.value_norms = NULL;
	w->source.remark = w->inner->remark ? remark : NULL;
	w->source.free = release;
	*source = &w->source;
	return ATTN_OK;
}
