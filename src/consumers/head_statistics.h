/* The consumer behind attn inspect heads: what kind of attention each head pays.
 *
 * With p_ij = |w_ij| / sum over j |w_ij|, the weights of query i as shares, which for most
 * attention they are already (a sink takes its part before), a figure is the mean over queries of
 * what is said below.  A query without any weight is left out of all of them.  Sums are float64,
 * by block of rows, and blocks are added in their order: threads change nothing.
 */
#ifndef ATTN_CONSUMERS_HEAD_STATISTICS_H
#define ATTN_CONSUMERS_HEAD_STATISTICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attention/rows.h"
#include "consumers/head_places.h"
#include "consumers/weight_sums.h"

enum {
	NEAR_TOKENS = 5,     /* of `within5` */
	OFFSETS_MOST = 1024, /* tokens away from a query that offsets are counted to */
};

/* A figure is NAN where there is nothing to say: in cross-attention no query has a place
 * among the keys, and all of distances, from `diagonal` to `induction` but `first` and
 * `separator`, are. */
struct head_statistics {
	size_t queries;        /* with any weight */
	double entropy;        /* -sum_j p log2 p, bits (Shannon 1948; of heads: Clark et al. 2019) */
	double effective_keys; /* 2^entropy: as of even weights */
	double largest;        /* max_j p */

	/* p at the query's own key, the one before it, the one after it; each of the queries
	 * for which there is such a key (Clark et al. 2019).  Masked, it is 0. */
	double diagonal, previous, next;
	double first;     /* p at the first token (a sink: Xiao et al. 2023) */
	double separator; /* p at keys that separate others, but the first (Clark et al. 2019) */
	double within5;   /* p at keys at most 5 tokens away */

	/* m = mean of sum_j p |i - j| (Vig and Belinkov 2019), and sqrt(mean of sum_j p (i - j)^2 - m^2).
	 * Appended keys are nowhere: p is then of the others alone. */
	double distance, distance_spread;

	/* How far after the query its largest weight is most often (of equal ones, the first key's;
	 * of equally frequent offsets the nearest, of two such the one before), at most OFFSETS_MOST,
	 * and of which part of all queries (Voita et al. 2019).  */
	double offset, offset_share;

	/* p at the key after the last earlier occurrence of the query's token, unless that is
	 * the query's own (Olsson et al. 2022), of the `repeats` queries that have one. */
	double repeats, induction;

	/* In cross-attention: the mean over keys of min(1, sum_i p) (Wu et al. 2016): 1 where
	 * every key has had a query's attention. */
	double coverage;

	/* The largest magnitude, of a query that attends to more than one key; of equal ones the first. */
	bool has_pair;
	size_t query, key;
	float weight;

	/* What entropy and distance would be if all keys that are attended to had even weights. */
	double even_entropy, even_distance;
};

struct head_consumer {
	struct row_consumer consumer;

	/* Private. */
	const struct head_places *places;
	const struct kernels *kernels; /* NULL: by the reference */
	struct log_table logs;
	struct rows_shape shape;
	size_t blocks;             /* of a head */
	struct head_sums *sums;    /* (layers, batch, heads, blocks) */
	_Atomic uint32_t *offsets; /* (layers, batch, heads, 2 OFFSETS_MOST + 1); NULL in cross-attention */

	/* (layers, batch, heads, keys): sum_i p in units of coverage_unit, so that their order
	 * does not matter; NULL in self-attention. */
	_Atomic uint64_t *coverage;
	double coverage_unit;
};

/* For a source of that shape, whose queries are all streamed; `places`, of the same rows, must
 * outlive the consumer.  ATTN_FAILED: no memory. */
enum attn_status head_consumer_init(struct head_consumer *s, const struct rows_shape *shape,
				    const struct head_places *places, struct attn_error *err);
void head_consumer_release(struct head_consumer *s); /* safe on a zeroed consumer */

/* Of one head after streaming. */
struct head_statistics head_statistics_of(const struct head_consumer *s, size_t batch, size_t layer,
					  size_t head);

#endif
