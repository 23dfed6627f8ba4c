/* What the files of masking.h share. */
#ifndef ATTN_ATTENTION_MASKING_INTERNAL_H
#define ATTN_ATTENTION_MASKING_INTERNAL_H

#include "attention/masking.h"

/* The least and the highest segment of a run of SEGMENT_RUN queries or keys (the last of a
 * batch item may be shorter), so that a glance tells rectangles that are masked as a whole. */
struct segment_range {
	int64_t least, most;
};

enum {
	SEGMENT_RUN = 32
};

static inline size_t segment_runs(size_t count)
{
	return count / SEGMENT_RUN + (count % SEGMENT_RUN != 0);
}

/* Of two rules together: a query attends to a key where neither masks it. */
static inline enum attended extent_and(enum attended a, enum attended b)
{
	return a == ATTENDED_NONE || b == ATTENDED_NONE ? ATTENDED_NONE
	       : a == ATTENDED_ALL && b == ATTENDED_ALL ? ATTENDED_ALL
							: ATTENDED_SOME;
}

/* Bytes of the picks of `heads` heads. */
size_t blocks_bytes(const struct masking_blocks *blocks, size_t heads);
/* Free what *blocks owns. */
void blocks_release(struct masking_blocks *blocks);

/* Of the plain keys [first, first + count), of which row[count] says what is attended to, mask
 * those in blocks that a query at `position` does not attend to. */
void blocks_mask(const struct masking_blocks *blocks, size_t head, ptrdiff_t position, size_t first,
		 size_t count, unsigned char *row);

/* How much of keys [key, key + keys), keys > 0, queries at positions [first, last] attend to. */
enum attended blocks_extent(const struct masking_blocks *blocks, size_t head, ptrdiff_t first, ptrdiff_t last,
			    size_t key, size_t keys);

/* At most how many of the keys [first, end) a query at `position` attends to in any head. */
size_t blocks_count(const struct masking_blocks *blocks, ptrdiff_t position, size_t first, size_t end);

#endif
