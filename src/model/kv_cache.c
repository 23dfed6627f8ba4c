#include "model/kv_cache.h"

#include <stdlib.h>
#include <string.h>

#include "attention/plan.h"
#include "model/model.h"
#include "util/memory.h"

enum attn_status kv_cache_init(struct kv_cache *c, const struct model *m, size_t chunk, size_t memory,
			       struct attn_error *err)
{
	const struct architecture *a = &m->a;
	*c = (struct kv_cache){.layers = a->layers,
			       .heads = a->heads,
			       .kv_heads = a->kv_heads,
			       .size = a->head_size,
			       .memory = memory};
	TRY(kv_cache_reserve(c, chunk, err));
	bool ok = true;
	if (memory > 0) {
		c->cross_keys = floats_alloc4(a->layers, a->heads, memory, a->head_size);
		c->cross_values = floats_alloc4(a->layers, a->heads, memory, a->head_size);
		c->query = floats_alloc4(chunk, a->heads, a->head_size, 1);
		ok = c->cross_keys && c->cross_values && c->query;
	}
	return ok ? ATTN_OK : attn_fail_memory(err);
}

/* What `from` has of `room` tokens a head, in room for more. */
static float *widen(const struct kv_cache *c, const float *from, size_t room)
{
	float *to = floats_alloc4(c->layers, c->kv_heads, room, c->size);
	for (size_t i = 0; to && from && i < c->layers * c->kv_heads; i++)
		memcpy(to + i * room * c->size, from + i * c->room * c->size, c->room * c->size * sizeof *to);
	return to;
}

enum attn_status kv_cache_reserve(struct kv_cache *c, size_t tokens, struct attn_error *err)
{
	size_t room = tokens + tokens / 2 + 16;
	if (tokens <= c->room)
		return ATTN_OK;
	float *keys = widen(c, c->keys, room), *values = widen(c, c->values, room);
	if (!keys || !values) {
		free(keys);
		free(values);
		return attn_fail_memory(err);
	}
	free(c->keys);
	free(c->values);
	c->keys = keys;
	c->values = values;
	c->room = room;
	return ATTN_OK;
}

void kv_cache_release(struct kv_cache *c)
{
	free(c->keys);
	free(c->values);
	free(c->cross_keys);
	free(c->cross_values);
	free(c->query);
	*c = (struct kv_cache){0};
}

void kv_cache_take(struct kv_cache *c, const struct row_source *source, size_t layer, size_t past,
		   size_t count)
{
	for (size_t g = 0; g < c->kv_heads; g++) {
		size_t to = ((layer * c->kv_heads + g) * c->room + past) * c->size;
		const float *keys = source_vectors(source, VECTORS_K, 0, g) + past * c->size;
		const float *values = source_vectors(source, VECTORS_V, 0, g) + past * c->size;
		memcpy(c->keys + to, keys, count * c->size * sizeof *keys);
		memcpy(c->values + to, values, count * c->size * sizeof *values);
	}
}

void kv_cache_take_crossing(struct kv_cache *c, const struct row_source *source, size_t layer)
{
	size_t size = c->memory * c->size;
	for (size_t h = 0; h < c->heads; h++) {
		size_t to = (layer * c->heads + h) * size;
		memcpy(c->cross_keys + to, source_vectors(source, VECTORS_K, 0, h), size * sizeof(float));
		memcpy(c->cross_values + to, source_vectors(source, VECTORS_V, 0, h), size * sizeof(float));
	}
}

struct heads_view kv_cache_past(const struct kv_cache *c, const float *which, size_t layer)
{
	size_t head = c->room * c->size;
	return (struct heads_view){which + layer * c->kv_heads * head, 0, head, c->size};
}

struct heads_view kv_cache_crossing(const struct kv_cache *c, const float *which, size_t layer)
{
	size_t head = c->memory * c->size;
	return (struct heads_view){which + layer * c->heads * head, 0, head, c->size};
}
