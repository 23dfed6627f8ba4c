#include "consumers/path.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"

static struct path_link *link_at(const struct path_consumer *p, size_t layer, size_t batch, size_t query)
{
	return p->links + (layer * p->shape.batch + batch) * p->shape.queries + query;
}

/* What a path has from a key on: 0 where none may. */
static double rest_of(const struct path_consumer *p, size_t layer, size_t batch, size_t key)
{
	if (layer == 0)
		return rows_chosen(p->ends, key) ? 1 : 0;
	const struct path_link *below = link_at(p, layer - 1, batch, key);
	return below->key == SIZE_MAX ? 0 : below->product;
}

static void follow_row(const struct path_consumer *p, const struct row_block *block, size_t r)
{
	struct path_link *link = link_at(p, block->layer, block->batch, block->query + r);
	for (size_t k = 0; k < block->keys; k++) {
		float weight = block->weights[r * block->keys + k];
		if (!cell_has_weight(block->cells[r * block->keys + k]) || !(weight > 0))
			continue;
		double rest = rest_of(p, block->layer, block->batch, k), product = (double)weight * rest;
		bool better = p->greedy ? weight > link->weight : product > link->product;
		if (link->key == SIZE_MAX ? rest > 0 || p->greedy : better)
			*link = (struct path_link){block->head, k, weight, product};
	}
}

/* Layers come one after the other, and heads of one in their order: of equals the first is kept. */
static enum attn_status follow(struct row_consumer *consumer, const struct row_block *block,
			       struct attn_error *err)
{
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		follow_row((struct path_consumer *)consumer, block, r);
	return ATTN_OK;
}

enum attn_status path_consumer_init(struct path_consumer *p, const struct rows_shape *shape, bool greedy,
				    const bool *ends, struct attn_error *err)
{
	size_t count;
	*p = (struct path_consumer){.consumer = {.consume = follow, .no_context = true},
				    .shape = *shape,
				    .greedy = greedy,
				    .ends = ends};
	if (size_mul(shape->layers, shape->batch, &count) && size_mul(count, shape->queries, &count))
		p->links = array_alloc(count, sizeof *p->links);
	for (size_t i = 0; p->links && i < count; i++)
		p->links[i].key = SIZE_MAX;
	return p->links ? ATTN_OK : attn_fail_memory(err);
}

void path_consumer_release(struct path_consumer *p)
{
	free(p->links);
	*p = (struct path_consumer){0};
}

const struct path_link *path_link_of(const struct path_consumer *p, size_t layer, size_t batch, size_t query)
{
	return link_at(p, layer, batch, query);
}
