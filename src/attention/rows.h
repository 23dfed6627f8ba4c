/* Rows of attention weights: who yields them and who consumes them.
 *
 * A source yields blocks of rows of the attention matrix; a consumer is given every
 * block once and keeps only what it needs, so the whole matrix never has to
 * exist.  The engine is one source (it computes rows), a stored result is
 * another (it maps them), a difference of two is a third.
 */
#ifndef ATTN_ATTENTION_ROWS_H
#define ATTN_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Keys in the order of a row: those of a KV cache, own, appended. */
struct key_counts {
	size_t past, own;
	bool bias, zero; /* appended by bias_k and by add_zero_attn */
};

/* All keys of a row. */
static inline size_t key_total(const struct key_counts *keys)
{
	return keys->past + keys->own + keys->bias + keys->zero;
}

/* The shape of a source's rows. */
struct rows_shape {
	size_t batch, layers, heads, queries, keys; /* each at least 1 */
	size_t past_keys, appended_keys;            /* of the keys, the first and the last ones */
	bool cross;                                 /* keys come from another sequence than queries */
	bool signed_weights;                        /* weights may be negative: differential attention */
};

/* What a weight of a block is. */
enum cell {
	CELL_MASKED = 0,   /* the query does not attend to the key: exactly 0 */
	CELL_ATTENDED = 1, /* a weight like any other */
	CELL_UNSCALED = 2, /* a weight that a user set aside: it is shown, but the scale of colours
			    * is not made for it */
	CELL_REMOVED = 3,  /* taken out by a user, who had the rest add up to 1 again: exactly 0 */
};

/* Whether the cell has a weight to show, rank and count. */
static inline bool cell_has_weight(unsigned char cell)
{
	return cell == CELL_ATTENDED || cell == CELL_UNSCALED;
}

/* Keys [first, end) of a row. */
struct key_span {
	size_t first, end;
};

/* The stages of a score. */
enum score_stage {
	SCORES_PRODUCT, /* of a query and a key, before it is scaled */
	SCORES_RAW,     /* scaled products */
	SCORES_CAPPED,  /* after softcap */
	SCORES_MASKED,  /* after mask and bias; -inf where masked */
	SCORE_STAGES
};

/* `count` query rows, from `query` on, of one (batch, layer, head). */
struct row_block {
	size_t batch, layer, head, query, count, keys;
	const float *weights;              /* (count, keys): in [0, 1] unless signed; masked is exactly 0 */
	const unsigned char *cells;        /* (count, keys): enum cell; see spans_only */
	const struct key_span *spans;      /* (count): row r attends to the keys of spans[r], which all are
					    * CELL_ATTENDED, and to no other; NULL: see cells */
	const float *scores[SCORE_STAGES]; /* (count, keys) each; NULL unless the source was asked for */
	const float *unscaled_weights;     /* (count, keys): weights of the same scores before any scale
					    * and temperature; NULL unless asked for */
	const double *shares; /* (count, keys): how much of the context's length each key's value makes,
			       * w v.c / |c|^2, NAN where |c| is 0; NULL unless asked for */
	const float *context; /* (count, value size; context_stride), or NULL unless asked for */
	size_t masked;        /* rows that attend to no key */

	/* The rows of a difference of two sources: those of A and B, [0] and [1]; of others NULL. */
	const struct row_block *pair;

	/* Set before the block is read: nobody needs contexts and shares; nobody needs weights and
	 * cells, which are then NULL or not, as is less work. */
	bool no_context, no_weights;

	/* Set before the block is read: where it has spans, nobody looks at weights outside of them,
	 * which are then anything, nor at cells, which are then NULL. */
	bool spans_only;

	/* Where a consumer wants things to be put, or NULL: set before the block is read.  A
	 * source that computes them may put them there, and then points to it. */
	float *weights_place; /* (count, keys) */
	float *context_place; /* (count, value size; context_stride) */
	size_t context_stride;
};

/* The keys of row `r` that may have a weight. */
static inline struct key_span row_span(const struct row_block *block, size_t r)
{
	return block->spans ? block->spans[r] : (struct key_span){0, block->keys};
}

/* The cells of row `r`; NULL: it has a span. */
static inline const unsigned char *row_cells(const struct row_block *block, size_t r)
{
	return block->spans ? NULL : block->cells + r * block->keys;
}

/* A source computes nothing until it is started, so that a command can lay out what it
 * will make of the rows, and refuse, before any work. */
struct row_source {
	struct rows_shape shape;
	size_t row_cost; /* multiply-adds of a row, about */

	/* About how long a query takes, against others of the source; NULL: all the same. */
	size_t (*query_work)(const struct row_source *source, size_t batch, size_t query);

	/* Do what must be done before rows can be read (project, load, allocate); nothing the
	 * second time.  rows_stream calls it; NULL: there is nothing. */
	enum attn_status (*start)(struct row_source *source, struct attn_error *err);

	/* Have the rows of a layer ready, those of others no longer.  rows_stream calls it before it
	 * reads any block of the layer, once no block of another is being read, for layers in ascending
	 * order; NULL: all are ready at any time. */
	enum attn_status (*begin_layer)(struct row_source *source, size_t layer, struct attn_error *err);

	/* Point *block's arrays at rows [query, query + count) of (batch, layer,
	 * head); they stay valid until the next call with the same `worker` (below
	 * threads_count()), and calls with different ones may run at the same time.  The
	 * other fields of *block are set by the caller and in range; count is at most
	 * ROWS_BLOCK. */
	enum attn_status (*read)(struct row_source *source, size_t worker, struct row_block *block,
				 struct attn_error *err);

	/* norms (keys): how long the value of each key is after the head's part of the output layer, or by
	 * itself where there is none, of the layer whose rows can be read.  NULL: the source has no values;
	 * else it was asked for them. */
	enum attn_status (*value_norms)(struct row_source *source, size_t batch, size_t head, float *norms,
					struct attn_error *err);

	/* After rows were read: what is odd about them and worth a note, in text[size]; false:
	 * nothing, or it was said.  NULL: there never is. */
	bool (*remark)(struct row_source *source, char *text, size_t size);
	void (*free)(struct row_source *source);
};

enum {
	ROWS_BLOCK = 128
}; /* rows a block at most: a block of 131,072 keys is then 64 MiB */

struct row_consumer {
	enum attn_status (*consume)(struct row_consumer *consumer, const struct row_block *block,
				    struct attn_error *err);

	/* Set the block's places before it is read, or NULL.  May be called by several
	 * threads at a time. */
	void (*place)(struct row_consumer *consumer, struct row_block *block);

	/* `consume`, too, may be called by several threads at a time, in any order. */
	bool any_order;

	/* Whether no further block can matter to the consumer; NULL: all matter.  Asked after
	 * `consume` and as that is called. */
	bool (*done)(struct row_consumer *consumer);

	/* Neither contexts nor shares matter to the consumer; neither weights nor cells. */
	bool no_context, no_weights;

	/* What lies outside of a block's spans does not matter to the consumer, nor do cells where there
	 * are spans. */
	bool spans_only;

	/* No reason to go on: a consumer that only looks at what others are streamed. */
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
bool rows_block_count(const struct rows_shape *shape, size_t *count);

/* The number of a row among all rows, in the order layer, batch, head, query. */
size_t rows_number(const struct rows_shape *shape, size_t layer, size_t batch, size_t head, size_t query);

/* How many rows come before a block (or after them all: the end). */
size_t rows_before_block(const struct rows_shape *shape, size_t block);

/* Read the selected rows by all threads (by one, where there is little to do) and
 * give each block to every consumer: one block at a time and in the order layer, batch,
 * head, query, unless all consumers say any_order.  Stops at the first failure, and with
 * ATTN_OK as soon as every consumer is done but passive ones. */
enum attn_status rows_stream(struct row_source *source, const struct rows_selection *selection,
			     struct row_consumer *const *consumers, size_t consumer_count,
			     struct attn_error *err);

#endif
