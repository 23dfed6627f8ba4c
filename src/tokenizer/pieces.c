#include "tokenizer/pieces.h"

#include <stdlib.h>

void pieces_release(struct pieces *p)
{
	aligned_release(&p->text);
	free(p->items);
	*p = (struct pieces){.failed = false};
}

void pieces_add(struct pieces *p, size_t start, size_t end, size_t id)
{
	if (start == end || p->failed)
		return;
	if (p->count == p->capacity) {
		size_t capacity = p->capacity ? p->capacity * 2 : 64;
		struct piece *items = reallocarray(p->items, capacity, sizeof *items);
		if (!items) {
			p->failed = true;
			return;
		}
		p->items = items;
		p->capacity = capacity;
	}
	p->items[p->count++] = (struct piece){start, end, id};
}

enum attn_status pieces_check(const struct pieces *p, struct attn_error *err)
{
	TRY(aligned_check(&p->text, err));
	return p->failed ? attn_fail_memory(err) : ATTN_OK;
}
