/* The consumer that looks at given pairs of a query and a key: the weight of each in every head,
 * its rank in the query's row, and the other key that the row favours. */
#ifndef ATTN_CONSUMERS_PAIRS_H
#define ATTN_CONSUMERS_PAIRS_H

#include "attention/rows.h"
#include "tokens/spans.h"

/* A query and a key, each a run of tokens: mostly of one. */
struct pair {
	struct span query, key;
	size_t group; /* pairs are scored by groups, such as the relations of a treebank */
};

/* What a head makes of a pair.  The row of several queries is the mean of those
 * that attend to a key, as of words (result/view.h), and the weight of several keys is the sum over them. */
struct pair_figures {
	float weight;
	size_t rank;  /* 1 and how many keys outside the pair's weigh more, or the same and come before
		       * it; 0: masked */
	size_t other; /* the heaviest attended key outside the pair's, the first of equal ones; SIZE_MAX:
		       * there is none */
	float margin; /* weight less that of `other`, which is 0 where there is none */
};

struct pairs_consumer {
	struct row_consumer consumer;

	/* Private. */
	const struct rows_shape *shape;
	const struct pair *pairs;
	size_t count;
	size_t *order;         /* (count), owned: pairs by their query's first token, then its end */
	struct open_row *open; /* (open_count), owned: the rows of several queries being added */
	size_t open_count, open_room;
	size_t next;                  /* in `order`: the first whose query has not begun */
	double *row;                  /* (keys), owned: the row of one query */
	unsigned char *attended;      /* (keys), owned */
	struct pair_figures *figures; /* (layers, batch, heads, count), owned */
};

/* For pairs[count] that lie within the shape; both outlive the consumer.  ATTN_FAILED: no memory. */
enum attn_status pairs_consumer_init(struct pairs_consumer *s, const struct rows_shape *shape,
				     const struct pair *pairs, size_t count, struct attn_error *err);
void pairs_consumer_release(struct pairs_consumer *s); /* safe on a zeroed consumer */

/* After streaming: what a head that was streamed makes of pairs[i]. */
const struct pair_figures *pair_figures_of(const struct pairs_consumer *s, size_t layer, size_t batch,
					   size_t head, size_t i);

/* What a head makes of a group of pairs (Clark et al. 2019, section 4): the share whose key has rank
 * 1, a masked pair being wrong, and the means of rank, over those not masked (0: all are), and weight. */
struct pair_score {
	size_t layer, batch, head, group, count;
	double accuracy, rank, weight;
};

struct pair_score pair_score_of(const struct pairs_consumer *s, size_t layer, size_t batch, size_t head,
				size_t group);

/* The baseline of a group: the largest share of its pairs that have one offset, their key's first token
 * less their query's, which is *offset; of several the nearest to 0, then the negative one.  A head that
 * always attends so far away would have this accuracy.  `keys` and `queries` are the numbers that tokens
 * have, or NULL.  False: no memory. */
bool pairs_baseline(const struct pair *pairs, size_t count, size_t group, const size_t *queries,
		    const size_t *keys, double *share, long long *offset);

#endif
