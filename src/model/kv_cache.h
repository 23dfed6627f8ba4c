/* Keys and values of the tokens that a decoder has read, so that the next one is a row and not a text. */
#ifndef ATTN_MODEL_KV_CACHE_H
#define ATTN_MODEL_KV_CACHE_H

#include "attention/arrays.h"
#include "attention/rows.h"
#include "util/error.h"

struct model;

struct kv_cache {
	size_t layers, heads, kv_heads, size; /* as the model has them */
	size_t room, memory;                  /* tokens that fit; those that an encoder read */
	float *keys, *values;                 /* (layers, kv_heads, room, size), owned */

	/* Of an encoder's states, which are the same for all tokens: (layers, heads, memory, size), owned,
	 * once they are there; and the queries (tokens, heads size) of the attention to them. */
	float *cross_keys, *cross_values, *query;
	bool crossed;
};

/* For tokens of which `chunk` at most are read at once, beside `memory` that an encoder read (0: there is
 * none).  ATTN_FAILED: no memory. */
enum attn_status kv_cache_init(struct kv_cache *c, const struct model *m, size_t chunk, size_t memory,
			       struct attn_error *err);
void kv_cache_release(struct kv_cache *c); /* safe on a zeroed one */

/* Have room for `tokens`, and some more for those to come.  ATTN_FAILED: no memory. */
enum attn_status kv_cache_reserve(struct kv_cache *c, size_t tokens, struct attn_error *err);

/* Take the keys and values of `count` tokens behind the first `past`, or those of an encoder's states,
 * from a started source of a layer's rows. */
void kv_cache_take(struct kv_cache *c, const struct row_source *source, size_t layer, size_t past,
		   size_t count);
void kv_cache_take_crossing(struct kv_cache *c, const struct row_source *source, size_t layer);

/* `which`, keys or values, of a layer. */
struct heads_view kv_cache_past(const struct kv_cache *c, const float *which, size_t layer);
struct heads_view kv_cache_crossing(const struct kv_cache *c, const float *which, size_t layer);

#endif
