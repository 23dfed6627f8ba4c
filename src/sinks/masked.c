#include "sinks/masked.h"

#include <string.h>

static enum attn_status consume(struct row_sink *sink, const struct row_block *block, struct attn_error *err)
{
	struct masked_sink *s = (struct masked_sink *)sink;
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		s->masked += memchr(block->visible + r * block->keys, 1, block->keys) == NULL;
	s->rows += block->count;
	return ATTN_OK;
}

void masked_sink_init(struct masked_sink *s)
{
	*s = (struct masked_sink){.sink = {consume}};
}
