/* The consumer that ranks: for each query the keys it attends to most, or for each
 * key the queries that attend to it most.  Keeps the top k only.
 */
#ifndef ATTN_CONSUMERS_RANKING_H
#define ATTN_CONSUMERS_RANKING_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "kernels/kernels.h"
#include "tokens/rows_info.h"

struct ranked {
	size_t index; /* the key (or, with `to`, the query) */
	float weight;
};

struct ranking_options {
	size_t top;           /* how many to keep for each subject; at least 1 */
	bool to;              /* rank queries by key, else keys by query */
	bool mean;            /* rank the mean over the selected heads too */
	const bool *subjects; /* which queries (or keys) to rank for; NULL: all */

	/* Pairs that are nearer are not listed, as rows_are_near says by `info`, which outlives
	 * the consumer; 0: all are. */
	size_t min_distance;
	const struct rows_info *info;
};

struct ranking {
	struct row_consumer consumer;

	/* Private: see the functions below. */
	const struct kernels *kernels;
	const struct rows_shape *shape;
	struct ranking_options options;
	size_t subject_count; /* queries, or keys with `to` */
	size_t other_count;
	size_t kept;             /* places a list has */
	size_t *slots;           /* (subject_count): which list of a head, or SIZE_MAX */
	size_t slot_count;       /* subjects that are ranked */
	size_t rows;             /* heads, and one more for the mean */
	struct ranked *entries;  /* (batch, layers, rows, slot_count, kept) */
	size_t *counts;          /* (batch, layers, rows, slot_count): entries filled */
	double *sums;            /* (batch, layers, slot_count, other_count), for the mean */
	unsigned char *attended; /* the same shape: in some head */
	bool *heads_done;        /* (heads): a head that has been consumed */
	bool finished;           /* the means are ranked */
};

/* `shape` must outlive the consumer. */
enum attn_status ranking_init(struct ranking *s, const struct rows_shape *shape,
			      const struct ranking_options *options, struct attn_error *err);
void ranking_release(struct ranking *s); /* safe on a zeroed consumer */

/* Number of the pseudo-head that holds the mean over heads. */
static inline size_t ranking_mean(const struct ranking *s)
{
	return s->shape->heads;
}

/* The list of one subject after streaming, heaviest first; equal weights by
 * index.  Masked pairs are never listed.  *count may be 0. */
const struct ranked *ranking_list(struct ranking *s, size_t batch, size_t layer, size_t head, size_t subject,
				  size_t *count);

#endif
