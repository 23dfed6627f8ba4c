/* Views: sources of rows that show another source's in part or joined.  A view owns the
 * source that it wraps, and frees it; the names of `inner` stay the caller's, and after a
 * failure so does its source.  A view's blocks have weights and cells, and neither scores
 * nor contexts, unless it only chooses heads. */
#ifndef ATTN_RESULT_VIEW_H
#define ATTN_RESULT_VIEW_H

#include "tokens/rows_info.h"
#include "tokens/spans.h"

/* What a crop shows of the source that it wraps.  The arrays are copied; NULL means all (of
 * `excluded`: none). */
struct view_options {
	const bool *queries, *keys; /* (queries), (keys): shown; at least one each */

	/* Pairs that do not count: keys, and each query's own key, which self-attention has
	 * behind those of a KV cache (not in cross-attention).  They stay, as CELL_UNSCALED. */
	const bool *excluded; /* (keys) */
	bool exclude_diagonal;

	/* Excluded pairs are CELL_REMOVED, and the rest of a row, keys that are not
	 * shown too, is divided by its sum.  A row whose sum is 0 is masked.  Not for signed
	 * weights. */
	bool renormalise;
};

/* Open a view of some queries and keys, in *view with names of its own.  ATTN_FAILED: no
 * memory. */
enum attn_status view_crop_open(struct named_rows *view, const struct named_rows *inner,
				const struct view_options *options, struct attn_error *err);

/* Tokens joined to words (tokens/words.h): weight of word Q on word K is
 *   mean over the queries in Q that attend to a key ( sum over the keys in K ),
 * so that rows still add up to 1 (Clark et al. 2019).  A pair is masked where all
 * of its tokens' pairs are.  Keys of a KV cache without labels, and appended ones, are words of
 * their own.  Labels are the words as people read them.  ATTN_FAILED:
 * no memory. */
enum attn_status view_words_open(struct named_rows *view, const struct named_rows *inner,
				 struct attn_error *err);

/* The same for given runs of tokens alone, in ascending order, of which one that overlaps another
 * before it is left out: of keys, or of queries.  The other tokens stay as they are, and all keep their
 * numbers, a phrase that of its first token.  ATTN_FAILED: no memory. */
enum attn_status view_phrases_open(struct named_rows *view, const struct named_rows *inner,
				   const struct span_list *phrases, bool keys, struct attn_error *err);

/* Scores of a stage in place of weights, 0 where masked.  The inner source must have been asked
 * for them.  The view's rows may be negative, as signed weights may. */
enum attn_status view_scores_open(struct named_rows *view, const struct named_rows *inner,
				  enum score_stage stage, struct attn_error *err);

/* In place of each weight a_ij its part of the row's sum of vectors, by their lengths:
 *   |a_ij f_j| / sum_k |a_ik f_k|,  f_j = v_j W_O, or v_j where there is no output layer
 * (Kobayashi et al. 2020).  The inner source must have value_norms; of its heads only those of
 * heads[shape.heads] (NULL: all) may be read. */
enum attn_status view_norms_open(struct named_rows *view, const struct named_rows *inner, const bool *heads,
				 struct attn_error *err);

/* Which heads and layers a view shows, and what it makes of them.  The arrays are not kept;
 * NULL means all. */
struct view_heads {
	const bool *heads, *layers; /* (heads), (layers): chosen, at least one each */

	/* Join the chosen heads of a layer, or layers of a head, or both, to one: each weight is
	 * the mean over them, where a masked pair counts as 0, or with `largest` the largest of
	 * those that are not masked.  A pair is masked where all of its are. */
	bool join_heads, join_layers, largest;
};

/* What is joined is called "mean of heads 3, 7"; other heads and layers keep their numbers.  The
 * heads that are not chosen are never read.  Where nothing is joined, blocks are those of the
 * inner source, with whatever that was asked for. */
enum attn_status view_heads_open(struct named_rows *view, const struct named_rows *inner,
				 const struct view_heads *options, struct attn_error *err);

/* How layers become one. */
enum layers_over {
	LAYERS_APART,
	LAYERS_ROLLOUT, /* what each token is made of, if layers mix what they attend to */
	LAYERS_FLOW,    /* how much could come from one token to another */
};

enum {
	ROLLOUT_CELLS = 1 << 26, /* pairs of tokens at most */
	FLOW_EDGES = 1 << 18     /* links of a network at most: layers, tokens, tokens */
};

/* All layers as one, by rollout or flow (attention/rollout.h): self-attention of one head, whose weights
 * are at least 0.  They are read when the view is started; a pair that no way leads between is masked.
 * ATTN_USAGE for others, or too many tokens. */
enum attn_status view_rollout_open(struct named_rows *view, const struct named_rows *inner,
				   enum layers_over over, struct attn_error *err);

/* A - B of two sources of one shape: of their weights, or of the scores of *stage where that is not
 * NULL.  A pair is masked where it is in both, or where one of the scores is infinite.  The blocks'
 * `pair` has those of A and B, with whatever these were asked for; where one has no weights (or
 * scores), so has the difference.  Both sources become the view's, after a failure neither; the names
 * are those of A.  Differences may be negative, as signed weights may. */
enum attn_status view_difference_open(struct named_rows *view, const struct named_rows *a,
				      const struct named_rows *b, const enum score_stage *stage,
				      struct attn_error *err);

#endif
