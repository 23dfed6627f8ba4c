#include "sinks/masked.h"

static enum attn_status consume(struct row_sink *sink, const struct row_block *block, struct attn_error *err)
{
	struct masked_sink *s = (struct masked_sink *)sink;
	(void)err;
	s->masked += block->masked;
	s->rows += block->count;
	return ATTN_OK;
}

void masked_sink_init(struct masked_sink *s)
{
	*s = (struct masked_sink){.sink = {.consume = consume, .any_order = true, .passive = true}};
}
