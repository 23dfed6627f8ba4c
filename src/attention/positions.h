/* Positions of tokens, and what is added to their vectors by them.
 *
 * Causal order and windows depend on a query's place among the keys (masking.h); these
 * are the positions that rotary rotates by and that encodings and tables are taken at.
 */
#ifndef ATTN_ATTENTION_POSITIONS_H
#define ATTN_ATTENTION_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/arrays.h"

/* Positions are below this, so that a double tells them all apart. */
#define POSITIONS_END 0x1p53

/* Positions of queries (query_batch, N) and own keys (key_batch, M): whole numbers
 * from 0 and below POSITIONS_END.  Owned; NULL where nothing needs them. */
struct positions {
	double *queries, *keys;
	size_t query_batch, key_batch; /* 1: the same for all batch items; or the batch */
};

/* Free what *p owns, and zero it. */
void positions_release(struct positions *p);

/* first, first + 1, ... of `count` tokens, owned by the caller; NULL: no memory. */
double *positions_count(size_t first, size_t count);

/* What is added to the vectors of a sequence:
 *   - where `sinusoidal`, sin(t / 10000^(2c/D)) at column 2c and the cosine of the same at
 *     2c + 1 (Vaswani et al. 2017, section 3.5);
 *   - row t of `table` (more rows than any position, D), where that is not NULL. */
struct position_encoding {
	bool sinusoidal;
	const float *table;
	const double *positions; /* (position_batch, rows of the sequence) */
	size_t position_batch;   /* 1, or as many as batch items */
};

/* out (items, rows, cols) = the sequence, of `items` batch items or one for all, with the
 * encoding added in double and rounded once; scratch is 2 cols + 2 doubles.  False, with the
 * row in *beyond, where a number is beyond float32. */
bool position_encoding_add(const struct position_encoding *encoding, const struct sequence *s, size_t items,
			   float *out, double *scratch, size_t *beyond);

#endif
