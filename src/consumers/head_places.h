/* Where the tokens of rows are, as statistics of heads need to know it: which key is whose
 * neighbour, which separate, which come after an earlier occurrence of a query's token. */
#ifndef ATTN_CONSUMERS_HEAD_PLACES_H
#define ATTN_CONSUMERS_HEAD_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "tokens/rows_info.h"

struct head_places {
	size_t queries, keys; /* of the rows */

	/* Self-attention only: positions are numbers from 0 on, those of a KV cache first.  Of the
	 * keys, the first `placed` have one, ascending; appended ones have none. */
	bool self;
	size_t placed, positions;
	double *at;     /* (placed) */
	size_t *own;    /* (queries): the query's own position */
	size_t *key_at; /* (positions): the key there, or SIZE_MAX where a view left it out */
	bool even;      /* no position between those of the keys is left out */

	/* (queries), or NULL without tokens: the key after the last earlier occurrence of the
	 * query's token, or SIZE_MAX. */
	size_t *after;

	size_t first; /* the first token among the keys; SIZE_MAX: left out */

	/* Keys that separate others (token_separates), but the first. */
	size_t *separators, separator_count;
};

/* Of rows with these names; shown_keys: (keys) labels as people read them.  ATTN_FAILED: no
 * memory, with nothing to release. */
enum attn_status head_places_init(struct head_places *p, const struct rows_info *info,
				  const struct string_list *shown_keys, struct attn_error *err);
void head_places_release(struct head_places *p); /* safe on a zeroed one */

/* The key that is `step` tokens after the query's own, in self-attention; SIZE_MAX: there is none. */
static inline size_t key_beside(const struct head_places *p, size_t query, ptrdiff_t step)
{
	size_t position = p->own[query] + (size_t)step; /* wraps below 0, and is then too large */
	return position < p->positions ? p->key_at[position] : (size_t)-1;
}

#endif
