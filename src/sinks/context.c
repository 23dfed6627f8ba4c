#include "sinks/context.h"

#include <stdlib.h>

#include "kernels/reference.h"
#include "util/checked.h"

static enum attn_status consume(struct row_sink *sink, const struct row_block *block, struct attn_error *err)
{
	struct context_sink *s = (struct context_sink *)sink;
	const struct problem *p = s->problem;
	size_t e = p->value_size, width = p->heads * e;
	const float *values = engine_values(s->engine, block->batch, block->head / (p->heads / p->kv_heads));
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		size_t row = block->batch * p->queries + block->query + r;
		reference_weighted_sum(s->context + row * width + block->head * e,
				       block->weights + r * block->keys, values, block->keys, e, s->sums);
	}
	return ATTN_OK;
}

enum attn_status context_sink_init(struct context_sink *s, const struct engine *engine,
				   const struct problem *p, struct attn_error *err)
{
	size_t rows, width;
	*s = (struct context_sink){.sink = {consume}, .engine = engine, .problem = p};
	if (size_mul(p->batch, p->queries, &rows) &&
	    size_mul(p->heads, p->value_size * sizeof(float), &width))
		s->context = array_alloc(rows, width);
	s->sums = array_alloc(p->value_size, sizeof *s->sums);
	if (s->context && s->sums)
		return ATTN_OK;
	context_sink_release(s);
	return attn_fail_memory(err);
}

void context_sink_release(struct context_sink *s)
{
	free(s->context);
	free(s->sums);
	*s = (struct context_sink){0};
}
