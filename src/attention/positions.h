/* Positions of tokens, and what is added to their vectors by them.
 *
 * Causal order and windows go by a query's place among the keys (masking.h); these
 * are the positions that rotary turns by and that encodings and tables are taken at.
 */
#ifndef ATTN_ATTENTION_POSITIONS_H
#define ATTN_ATTENTION_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "input/bundle.h"

struct problem;

/* Positions of queries (query_batch, N) and own keys (key_batch, M): whole numbers
 * from 0 and below 2^53.  Owned; NULL where nothing needs them. */
struct positions {
	double *queries, *keys;
	size_t query_batch, key_batch; /* 1: the same for all batch items; or the batch */
};

/* From the tensors positions, (N) or (batch, N), and source_positions, (M) or
 * (batch, M), else by counting: queries from position_offset (`past` where that is not
 * given), own keys from `past`.  With `self` keys are the queries' own tokens: they
 * have source_positions, else positions, else count from where queries do.
 * ATTN_BAD_INPUT (ATTN_USAGE for an option) that names tensor, found and expected; *p
 * is then empty. */
enum attn_status positions_bind(struct positions *p, const struct bundle *b, size_t batch, size_t queries,
				size_t own_keys, size_t past, bool self, struct attn_error *err);
void positions_release(struct positions *p);

/* Everything of a problem that goes by position, once its tensors and past keys are
 * bound: fills *positions (the caller's, to be released; empty where `rotary` is false
 * and nothing below is given), and adds to p->embeddings and p->source, in memory that
 * the problem owns,
 *   - where the setting sinusoidal is true, sin(t / 10000^(2c/D)) at column 2c and the
 *     cosine of the same at 2c + 1 (Vaswani et al. 2017, section 3.5);
 *   - row t of position_table (T, D), or of source_position_table (T, S) to
 *     source_embeddings.
 * Source vectors that are the embeddings follow them, and values those of the keys
 * unless they are a tensor of their own.  ATTN_BAD_INPUT (or ATTN_USAGE) for any of
 * these with ready-made q, k, v, a position beyond its table, and positions that
 * nothing uses. */
enum attn_status bind_positions(struct problem *p, const struct bundle *b, bool rotary,
				struct positions *positions, struct attn_error *err);

#endif
