/* What masks keys from the queries of one tile, step by step.  Internal to the engine. */
#ifndef ATTN_ATTENTION_ENGINE_MASK_H
#define ATTN_ATTENTION_ENGINE_MASK_H

#include "attention/engine_internal.h"

struct tile_mask {
	const struct masking *masking;
	size_t batch, head, query, queries; /* the tile's */
	bool interval;                      /* query q attends to the keys [starts[q], ends[q]) alone */
	size_t starts[TILE], ends[TILE];    /* else these are where to look at most */
	size_t first, end;                  /* no query attends to a key outside [first, end) */
	bool any[TILE];                     /* whether a step so far had a key that the query attends to */
	const float *bias[TILE];            /* what a float mask adds, relative to offsets; NULL: none */
	size_t bias_step;
	float offsets[TILE];
	unsigned char *step_attended; /* (TILE, KEY_BLOCK) of the workspace */
};

/* For a tile of queries [query, query + queries) of the block's batch item and head;
 * `row_attended` is (keys), where there is a float mask. */
void tile_mask_start(struct tile_mask *m, const struct masking *masking, const struct row_block *block,
		     size_t query, size_t queries, unsigned char *step_attended, unsigned char *row_attended);

/* How much of the keys [first, first + count) the tile attends to: a step of masked keys alone
 * costs nothing. */
enum attended tile_mask_extent(const struct tile_mask *m, size_t first, size_t count);

/* scores (count, TILE) of keys [first, first + count), to which the tile attends in part or
 * wholly, as tile_mask_extent says: add the float mask, and set masked ones to `masked`. */
void tile_mask_apply(struct tile_mask *m, enum attended extent, size_t first, size_t count, float *scores,
		     float masked);

#endif
