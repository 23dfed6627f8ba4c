/* A plan stands between attention that is checked and attention that is computed: what of
 * it is chosen, what is wanted of its rows, and what that costs.  Making one touches no
 * element; running it gives the rows.
 */
#ifndef ATTN_ATTENTION_PLAN_H
#define ATTN_ATTENTION_PLAN_H

#include "attention/attention.h"
#include "attention/rows.h"

/* What a row block shall carry; less is faster. */
struct rows_want {
	bool weights;    /* and cells; without, a row is never stored */
	bool context;    /* given where there are values */
	unsigned scores; /* bits, 1 << a score_stage each */
	bool unscaled_weights;
	bool shares; /* with context */
	bool values; /* V is prepared, also without context: see source_vectors; always with it */
};

/* Chosen heads of `all`, and where their vectors lie among those of chosen ones. */
struct head_set {
	size_t all, count;
	size_t *heads; /* (count), ascending, owned */
	size_t *slots; /* (all), owned: heads[slots[h]] is h; SIZE_MAX: not chosen */
};

/* The cost of computing. */
struct plan_cost {
	double projections, attention, output; /* multiply-adds */
	size_t projected;                      /* bytes of Q, K and V that are not used where they are */
	size_t workspace;                      /* bytes of one thread */
};

struct plan {
	const struct attention *attention; /* not owned; outlives the plan */
	struct rows_want want;
	struct rows_shape shape;               /* of all rows, chosen or not */
	size_t maps;                           /* attention maps of all chosen heads */
	struct head_set queries, keys, values; /* heads of Q, K and V that the chosen heads need;
						* with two maps a head Q and K have two each */
	struct plan_cost cost;
};

/* Plan the rows of the selected heads (NULL selection: of all).  ATTN_BAD_INPUT where what
 * is wanted cannot be had: scores of differential attention, which has two maps a head. */
enum attn_status plan_init(struct plan *plan, const struct attention *attention,
			   const struct rows_selection *selection, struct rows_want want,
			   struct attn_error *err);
void plan_release(struct plan *plan); /* safe on a zeroed one */

/* The planned rows as a source, which the plan must outlive; its heads that are not chosen
 * must not be read.  Q, K and V are projected when it is started: then ATTN_BAD_INPUT when
 * a projection overflows float32. */
enum attn_status plan_run(const struct plan *plan, struct row_source **source, struct attn_error *err);

/* Q, K and V as they enter the scores: projected or precomputed, normalised, rotated, and
 * for K and V joined with the KV cache and appended keys; of unit length for cosine scores and
 * after the feature map of linear attention, but before the matrices of a score function. */
enum vectors_of {
	VECTORS_Q,
	VECTORS_K,
	VECTORS_V,
	VECTORS_KINDS
};

struct vectors_shape {
	size_t heads, tokens, size; /* heads: those that the planned rows need */
};
struct vectors_shape plan_vectors(const struct plan *plan, enum vectors_of which);

/* The vectors (tokens, size) of head `i` of those, in ascending order, from a source of
 * plan_run that has been started and owns them.  V is there where the plan wants values. */
const float *source_vectors(const struct row_source *source, enum vectors_of which, size_t batch, size_t i);

/* Whether the tiled engine serves the plan: it gives no scores. */
bool plan_by_tiles(const struct plan *plan);

static inline bool plan_wants_scores(const struct plan *plan, enum score_stage stage)
{
	return plan->want.scores >> stage & 1;
}

#endif
