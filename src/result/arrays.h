/* Contexts, scores and outputs that a file holds: what other programs computed, or attn stored.
 *
 *	context  (N, H e), heads side by side, or by head (H, N, e)
 *	scores   (H, N, M); -inf where masked
 *	output   (N, any)
 *
 * each with layers and batch items in front, as many as the rows have; axes of length 1 may be there
 * or not.
 */
#ifndef ATTN_RESULT_ARRAYS_H
#define ATTN_RESULT_ARRAYS_H

#include "attention/rows.h"
#include "input/bundle.h"
#include "tokens/rows_info.h"

/* What is wanted of a bundle's arrays. */
struct arrays_want {
	bool context, scores;
	enum score_stage stage; /* which scores of a block those of the file are */
};

/* Add the arrays of a bundle to the blocks of `inner`, whose source *rows then owns; or where its source is
 * NULL, open rows of arrays alone, without weights.  Their shape is that of `like`, the rows that they are
 * compared with; where that is NULL, what the arrays say: H is the setting num_heads for a context, else 1.
 * The bundle must outlive the rows.  ATTN_BAD_INPUT where shapes disagree; a number that is NaN or infinite
 * (a score: +inf) is found when its row is read. */
enum attn_status arrays_open(struct named_rows *rows, const struct named_rows *inner, const struct bundle *b,
			     const struct rows_info *like, const struct arrays_want *want,
			     struct attn_error *err);

/* Numbers of a row of a head of the context (N, H e) or (H, N, e) for rows of that shape. */
enum attn_status arrays_context_size(const struct bundle *b, const struct rows_shape *shape, size_t *size,
				     struct attn_error *err);

/* The output of a bundle for rows of that shape, (*size) numbers a row: its tensor, loaded, in the
 * order layer, batch, query. */
enum attn_status arrays_output(const struct bundle *b, const struct rows_shape *shape, struct tensor **output,
			       size_t *size, struct attn_error *err);

#endif
