#include "sinks/context.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static enum attn_status consume(struct row_sink *sink, const struct row_block *block, struct attn_error *err)
{
	struct context_sink *s = (struct context_sink *)sink;
	size_t size = s->value_size;
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		size_t row = block->batch * s->queries + block->query + r;
		memcpy(s->context + (row * s->heads + block->head) * size, block->context + r * size,
		       size * sizeof *s->context);
	}
	return ATTN_OK;
}

enum attn_status context_sink_init(struct context_sink *s, const struct rows_info *info, size_t value_size,
				   struct attn_error *err)
{
	*s = (struct context_sink){.sink = {consume, NULL},
				   .queries = info->queries,
				   .heads = info->heads,
				   .value_size = value_size};
	s->context = floats_alloc4(info->batch, info->queries, info->heads, value_size);
	return s->context ? ATTN_OK : attn_fail_memory(err);
}

void context_sink_release(struct context_sink *s)
{
	free(s->context);
	*s = (struct context_sink){0};
}
