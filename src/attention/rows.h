/* Rows of attention weights: who yields them and who consumes them.
 *
 * A source yields blocks of rows of the attention matrix; a sink sees every
 * block once and keeps only what it needs, so the whole matrix never has to
 * exist.  The engine is one source (it computes rows), a stored result is
 * another (it maps them).
 */
#ifndef ATTN_ATTENTION_ROWS_H
#define ATTN_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/masking.h"
#include "util/error.h"
#include "util/strings.h"

/* What a source's rows look like, and what to call them. */
struct rows_info {
	size_t batch, layers, heads, queries, keys; /* each at least 1 */
	bool has_batch;                             /* the input had a batch dimension */
	bool has_layers;                            /* the weights have a layer dimension */
	bool layer_known;                           /* titles and file names say the layer */
	size_t first_layer;                         /* the number of layer 0 */

	/* Raw labels as the files have them: `queries` and `keys` strings.  A
	 * number stands where a label is missing. */
	struct string_list query_labels, key_labels;

	/* Where some are left out: the index that each had before, (queries) and (keys),
	 * owned; or NULL. */
	size_t *query_numbers, *key_numbers;
	struct string_list head_names; /* `heads` strings, or empty */
	bool has_tokens;               /* some labels are tokens, not numbers */
	bool cross;                    /* keys come from another sequence than queries */
	bool signed_weights;           /* weights may be negative: differential attention */
};

void rows_info_release(struct rows_info *info);

/* The index by which query or key i is known to users. */
static inline size_t query_number(const struct rows_info *info, size_t i)
{
	return info->query_numbers ? info->query_numbers[i] : i;
}

static inline size_t key_number(const struct rows_info *info, size_t i)
{
	return info->key_numbers ? info->key_numbers[i] : i;
}

enum {
	CELL_UNSCALED = 2 /* of row_block.visible */
};

/* `count` query rows, from `query` on, of one (batch, layer, head). */
struct row_block {
	size_t batch, layer, head, query, count, keys;
	const float *weights;         /* (count, keys): in [0, 1] unless signed; masked is exactly 0 */
	const unsigned char *visible; /* (count, keys): 0 = masked, 1 = not; CELL_UNSCALED =
				       * not, but it does not count for the scale of colours */
	const float *scores;          /* (count, keys), or NULL unless the source was asked for them */
	const float *context;         /* (count, value size; context_stride), or NULL unless asked for */
	size_t masked;                /* rows in which every key is masked */

	/* Where a sink wants things to be put, or NULL: set before the block is read.  A
	 * source that computes them may put them there, and then points to it. */
	float *weights_place; /* (count, keys) */
	float *context_place; /* (count, value size; context_stride) */
	size_t context_stride;
};

struct row_source {
	const struct rows_info *info;  /* owned by the source */
	const struct masking *masking; /* what hides keys; owned by the source */
	size_t row_cost;               /* about how many multiply-adds a row takes */

	/* Point *block's arrays at rows [query, query + count) of (batch, layer,
	 * head); they stay valid until the next call with the same `worker` (below
	 * threads_count()), and calls with different ones may run at the same time.  The
	 * other fields of *block are set by the caller and in range; count is at most
	 * ROWS_BLOCK. */
	enum attn_status (*read)(struct row_source *source, size_t worker, struct row_block *block,
				 struct attn_error *err);
	void (*free)(struct row_source *source);
};

enum {
	ROWS_BLOCK = 128
}; /* rows a block at most: a block of 131,072 keys is then 64 MiB */

struct row_consumer {
	enum attn_status (*consume)(struct row_consumer *sink, const struct row_block *block,
				    struct attn_error *err);

	/* Set the block's places before it is read, or NULL.  May be called by several
	 * threads at a time. */
	void (*place)(struct row_consumer *sink, struct row_block *block);

	/* `consume`, too, may be called by several threads at a time, in any order. */
	bool any_order;

	/* Whether no further block can matter to the sink; NULL: all matter.  Asked after
	 * `consume` and as that is called. */
	bool (*done)(struct row_consumer *sink);

	/* No reason to go on: a sink that only looks at what others are streamed. */
	bool passive;
};

/* Which rows to stream; NULL means all.  The arrays have one entry for each
 * batch item, layer, head and query. */
struct rows_selection {
	const bool *batch, *layers, *heads, *queries;

	/* Of the blocks that the arrays select, in the order below, only those from
	 * first_block to before last_block; both 0 means all. */
	size_t first_block, last_block;
};

/* Whether entry `i` of one of those arrays is selected. */
static inline bool rows_chosen(const bool *selected, size_t i)
{
	return !selected || selected[i];
}

/* How many blocks all rows make: for each (layer, batch, head) its queries by
 * ROWS_BLOCK.  False when that many cannot be counted. */
bool rows_block_count(const struct rows_info *info, size_t *count);

/* The number of a row among all rows, in the order layer, batch, head, query. */
size_t rows_number(const struct rows_info *info, size_t layer, size_t batch, size_t head, size_t query);

/* How many rows come before a block (or after them all: the end). */
size_t rows_before_block(const struct rows_info *info, size_t block);

/* Read the selected rows by all threads (by one, where there is little to do) and
 * give each block to every sink: one block at a time and in the order layer, batch,
 * head, query, unless all sinks take any order.  Stops at the first failure, and with
 * ATTN_OK as soon as every sink is done but passive ones. */
enum attn_status rows_stream(struct row_source *source, const struct rows_selection *selection,
			     struct row_consumer *const *sinks, size_t consumer_count,
			     struct attn_error *err);

#endif
