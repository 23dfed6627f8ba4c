/* Rows of the chosen queries. */
#include "consumers/gather.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"

/* Row r of the block, if it is kept, becomes row `row`. */
static void keep_row(struct gather *s, const struct row_block *block, size_t r, size_t row)
{
	size_t from = r * s->keys, to = row * s->keys;
	memcpy(s->weights + to, block->weights + from, s->keys * sizeof *s->weights);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		if (s->scores[stage])
			memcpy(s->scores[stage] + to, block->scores[stage] + from,
			       s->keys * sizeof *s->scores[stage]);
	if (!s->shares)
		return;
	memcpy(s->shares + to, block->shares + from, s->keys * sizeof *s->shares);
	memcpy(s->context + row * s->value_size, block->context + r * block->context_stride,
	       s->value_size * sizeof *s->context);
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct gather *s = (struct gather *)consumer;
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		size_t slot = s->slots[block->query + r];
		if (slot != SIZE_MAX)
			keep_row(s, block, r, (block->batch * s->heads + block->head) * s->kept + slot);
	}
	return ATTN_OK;
}

static bool allocate(struct gather *s, size_t cells, size_t numbers, unsigned stages)
{
	for (int stage = 0; stage < SCORE_STAGES; stage++) {
		if (!(stages >> stage & 1))
			continue;
		s->scores[stage] = array_alloc(cells, sizeof *s->scores[stage]);
		if (!s->scores[stage])
			return false;
	}
	s->weights = array_alloc(cells, sizeof *s->weights);
	s->context = array_alloc(numbers, sizeof *s->context);
	if (s->value_size > 0)
		s->shares = array_alloc(cells, sizeof *s->shares);
	return s->weights && s->context && (s->shares || s->value_size == 0);
}

enum attn_status gather_init(struct gather *s, const struct rows_shape *shape, const bool *queries,
			     unsigned stages, size_t value_size, struct attn_error *err)
{
	size_t cells, numbers;
	*s = (struct gather){.consumer = {.consume = consume, .any_order = true},
			     .keys = shape->keys,
			     .value_size = value_size,
			     .heads = shape->heads};
	s->slots = array_alloc(shape->queries, sizeof *s->slots);
	if (!s->slots)
		return attn_fail_memory(err);
	for (size_t i = 0; i < shape->queries; i++)
		s->slots[i] = queries[i] ? s->kept++ : SIZE_MAX;
	if (size_mul(shape->batch, shape->heads, &s->rows) && size_mul(s->rows, s->kept, &s->rows) &&
	    size_mul(s->rows, s->keys, &cells) && size_mul(s->rows, value_size, &numbers) &&
	    allocate(s, cells, numbers, stages))
		return ATTN_OK;
	return attn_fail_memory(err);
}

void gather_release(struct gather *s)
{
	free(s->slots);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		free(s->scores[stage]);
	free(s->weights);
	free(s->context);
	free(s->shares);
	*s = (struct gather){0};
}
