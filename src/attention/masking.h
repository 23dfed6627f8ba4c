/* Which keys a query attends to, and which are masked.
 *
 * One description serves the engine, which must not compute what is masked, and
 * a stored result, whose pictures tell a masked cell from a weight of 0.
 */
#ifndef ATTN_ATTENTION_MASKING_H
#define ATTN_ATTENTION_MASKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attention/rows.h"
#include "util/error.h"

struct masking_blocks;
struct segment_range;

/* Query i is at position p = i + masking_offset among the plain keys: past, then own. */
struct masking {
	size_t batch, heads, queries; /* the whole problem's */
	size_t plain_keys;            /* past and own keys: what masks apply to */
	size_t appended_keys;         /* bias and zero keys behind them: never masked */

	bool causal; /* query i attends to key j only when j <= p */
	size_t past_keys;
	size_t *lengths; /* (batch), owned: keys from lengths[b] on are masked; or NULL */

	/* A window: of the keys p - left <= j <= p + right, as far as they are bounds, every
	 * dilation-th, counted from p (Beltagy et al. 2020, Longformer).  Both count keys, not
	 * steps of the dilation.  A dilation of 0 is 1. */
	bool left_bound, right_bound;
	size_t left, right, dilation;
	size_t prefix; /* keys below it are attended to whatever causal, window and dilation say: prefix-LM
			* (Raffel et al. 2020) */
	struct masking_blocks *blocks; /* owned: blocks of keys that blocks of queries attend to; or NULL */

	/* Owned, (query_segment_batch, queries) and (key_segment_batch, plain_keys), where the
	 * batches are 1 or the whole: a query attends to keys of its own segment only; or NULL.  The
	 * ranges are those of runs of them. */
	int64_t *query_segments, *key_segments;
	size_t query_segment_batch, key_segment_batch;
	struct segment_range *query_ranges, *key_ranges;

	/* A mask (batch, heads, queries, keys) that broadcasts from the right: a
	 * dimension is 1 or the whole.  Keys beyond mask_shape[3] (when it is not 1)
	 * are masked. */
	unsigned char *mask; /* owned: 1 = attend; or NULL */
	float *bias;         /* owned: what a float mask adds to the scores, in mask's shape; or NULL */
	size_t mask_shape[4];

	unsigned char *padding; /* owned, (padding_batch, plain_keys): 1 = a real key; or NULL */
	size_t padding_batch;   /* 1 or batch */
};

/* How much of a rectangle of keys its queries attend to. */
enum attended {
	ATTENDED_NONE,
	ATTENDED_SOME, /* or not known */
	ATTENDED_ALL,
};

/* A bound of a window beyond this is none: no input has as many keys. */
#define MASKING_DISTANCE_MAX (SIZE_MAX / 8)

/* Block-sparse attention as in BigBird (Zaheer et al. 2020), in blocks of `size` (at least 1)
 * positions: of each block of queries the first `global` blocks of keys, the `window` around
 * its own (odd, or 0 for none) and `random` others, drawn from `seed`. */
struct block_pattern {
	size_t size, global, window, random, seed;
};

/* Make m->blocks, once all else of m is set.  ATTN_BAD_INPUT where there would be too many
 * pairs of blocks to draw from. */
enum attn_status masking_set_blocks(struct masking *m, const struct block_pattern *pattern,
				    struct attn_error *err);

/* The ranges (batch, ...) of segments (batch, count), owned by the caller; NULL: no memory. */
struct segment_range *segment_ranges(const int64_t *segments, size_t batch, size_t count);

/* The sizes of all rows of a shape; nothing is masked. */
struct masking masking_of_all(const struct rows_shape *shape);
void masking_release(struct masking *m);

/* Position of query 0 among the plain keys: kv_lengths[batch] - queries where there
 * are lengths, and perhaps negative; else past_keys. */
ptrdiff_t masking_offset(const struct masking *m, size_t batch);

/* The hull [*first, *end) of the plain keys that causal, lengths, window, prefix and the mask's
 * width leave to a query; 0 and 0 where there are none. */
void masking_interval(const struct masking *m, size_t batch, size_t query, size_t *first, size_t *end);

/* Whether that hull is just what queries attend to: nothing else masks keys, and there are no
 * appended ones. */
bool masking_is_interval(const struct masking *m);

/* Whether all queries of a batch item attend to the same keys, and those are one interval. */
bool masking_is_shared(const struct masking *m);

/* Bytes of the masks, padding, segments and blocks that it owns. */
size_t masking_bytes(const struct masking *m);

/* At most how many plain keys a query attends to, in any head: the length of its interval,
 * less where there are dilation and blocks. */
size_t masking_count(const struct masking *m, size_t batch, size_t query);

/* Write row[plain_keys + appended_keys]: 1 = the query attends to the key. */
void masking_row(const struct masking *m, size_t batch, size_t head, size_t query, unsigned char *row);

/* The same for keys [first, first + count) alone, into row[count]: no work for others. */
void masking_keys(const struct masking *m, size_t batch, size_t head, size_t query, size_t first,
		  size_t count, unsigned char *row);

/* How much of keys [key, key + keys), appended ones too, queries [query, query + queries)
 * attend to.  In no more than about queries + keys steps, so it does not look at masks and
 * padding: what they might mask is at most SOME.  NONE where there is no query or key. */
enum attended masking_extent(const struct masking *m, size_t batch, size_t head, size_t query, size_t queries,
			     size_t key, size_t keys);

/* What a float mask adds to the plain keys of a row: that of key j is
 * row[j * *step].  NULL where there is no float mask.  A mask that is too short
 * masks the keys beyond its end, which must not be asked for. */
const float *masking_bias_row(const struct masking *m, size_t batch, size_t head, size_t query, size_t *step);

/* The same for one key (0 where there is none); call only for keys that are not masked. */
float masking_bias(const struct masking *m, size_t batch, size_t head, size_t query, size_t key);

#endif
