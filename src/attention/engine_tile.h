/* A tile of queries on its way from scores to rows.  Internal to the engine. */
#ifndef ATTN_ATTENTION_ENGINE_TILE_H
#define ATTN_ATTENTION_ENGINE_TILE_H

#include "attention/engine_mask.h"
#include "attention/normalizer_internal.h"

/* Rows [row, row + count) of a block. */
struct tile {
	const struct map *map;
	size_t row, count;
	bool started; /* the context has values already */
	struct tile_mask mask;
	struct running running;
	float *queries, *scores, *context, *tops; /* as in struct workspace */
	unsigned char *attended;
};

/* Where the block's weights go: to where a consumer wants them, or into the workspace. */
static inline float *weight_rows(const struct workspace *w, const struct row_block *block)
{
	return block->weights_place ? block->weights_place : w->out_weights;
}

/* Set keys [first, end) of rows (count, keys; stride) to 0. */
void clear_columns(float *rows, size_t stride, size_t count, size_t first, size_t end);

/* A tile's scores of all steps become weights, by a normaliser that needs whole rows; the
 * block's rows of weights, where they are wanted, too.  False as engine_tile. */
bool tile_normalize_rows(const struct engine *engine, const struct workspace *w,
			 const struct row_block *block, struct tile *t);

#endif
