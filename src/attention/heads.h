/* Which heads share what.
 *
 * A head has one attention map, or two in differential attention: so many heads of Q.  Those
 * of head h are h * maps and what follows; the G kv heads have as many heads of K each, and
 * one of V.
 */
#ifndef ATTN_ATTENTION_HEADS_H
#define ATTN_ATTENTION_HEADS_H

#include "attention/attention.h"

static inline bool is_differential(const struct attention *a)
{
	return a->maps > 1;
}

/* Heads of Q. */
static inline size_t query_heads(const struct attention *a)
{
	return a->heads * a->maps;
}

/* Heads of K. */
static inline size_t key_heads(const struct attention *a)
{
	return a->kv_heads * a->maps;
}

/* The head of Q behind a map of a head. */
static inline size_t query_head_of(const struct attention *a, size_t head, size_t map)
{
	return a->maps_apart ? head + map * a->heads : head * a->maps + map;
}

/* The head that a head of Q is a map of. */
static inline size_t head_of_query(const struct attention *a, size_t query_head)
{
	return a->maps_apart ? query_head % a->heads : query_head / a->maps;
}

/* Which of its maps. */
static inline size_t map_of_query(const struct attention *a, size_t query_head)
{
	return a->maps_apart ? query_head / a->heads : query_head % a->maps;
}

/* The head of V that a head shares with its group. */
static inline size_t value_head_of(const struct attention *a, size_t head)
{
	return head / (a->heads / a->kv_heads);
}

/* The head of K for a map of those heads that share a head of V, and the way back. */
static inline size_t key_head_of_value(const struct attention *a, size_t value_head, size_t map)
{
	return a->maps_apart ? value_head + map * a->kv_heads : value_head * a->maps + map;
}

static inline size_t value_head_of_key(const struct attention *a, size_t key_head)
{
	return a->maps_apart ? key_head % a->kv_heads : key_head / a->maps;
}

/* The head of K that a head of Q shares with its group. */
static inline size_t key_head_of(const struct attention *a, size_t query_head)
{
	size_t value_head = value_head_of(a, head_of_query(a, query_head));
	return key_head_of_value(a, value_head, map_of_query(a, query_head));
}

#endif
