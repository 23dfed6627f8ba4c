/* Counting fully masked rows. */
#include "consumers/masked.h"

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct masked_count *s = (struct masked_count *)consumer;
	(void)err;
	s->masked += block->masked;
	s->rows += block->count;
	return ATTN_OK;
}

void masked_count_init(struct masked_count *s)
{
	*s = (struct masked_count){.consumer = {.consume = consume, .any_order = true, .passive = true}};
}
