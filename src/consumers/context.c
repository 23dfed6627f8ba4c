/* Contexts, head by head, into one array. */
#include "consumers/context.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static float *place_of(const struct context_consumer *s, const struct row_block *block, size_t row)
{
	return s->context +
	       ((block->batch * s->queries + block->query + row) * s->heads + block->head) * s->value_size;
}

static void place(struct row_consumer *consumer, struct row_block *block)
{
	struct context_consumer *s = (struct context_consumer *)consumer;
	block->context_place = place_of(s, block, 0);
	block->context_stride = s->heads * s->value_size;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct context_consumer *s = (struct context_consumer *)consumer;
	(void)err;
	if (block->context == place_of(s, block, 0))
		return ATTN_OK; /* it is there already */
	for (size_t r = 0; r < block->count; r++)
		memcpy(place_of(s, block, r), block->context + r * block->context_stride,
		       s->value_size * sizeof *s->context);
	return ATTN_OK;
}

void context_consumer_into(struct context_consumer *s, const struct rows_shape *shape, size_t value_size,
			   float *context)
{
	*s = (struct context_consumer){
	    .consumer = {.consume = consume, .place = place, .any_order = true, .no_weights = true},
	    .context = context,
	    .given = true,
	    .queries = shape->queries,
	    .heads = shape->heads,
	    .value_size = value_size};
}

enum attn_status context_consumer_init(struct context_consumer *s, const struct rows_shape *shape,
				       size_t value_size, struct attn_error *err)
{
	float *context = floats_alloc4(shape->batch, shape->queries, shape->heads, value_size);
	context_consumer_into(s, shape, value_size, context);
	s->given = false;
	return context ? ATTN_OK : attn_fail_memory(err);
}

void context_consumer_release(struct context_consumer *s)
{
	if (!s->given)
		free(s->context);
	*s = (struct context_consumer){0};
}
