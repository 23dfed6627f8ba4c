/* What the parts of the engine share. */
#ifndef ATTN_CORE_ENGINE_INTERNAL_H
#define ATTN_CORE_ENGINE_INTERNAL_H

#include "core/engine.h"
#include "kernels/kernels.h"

/* Keys of a step of the online softmax: K and V of a step and its scores stay in
 * the first-level cache. */
enum {
	KEY_BLOCK = 96
};

/* Steps that all keys take. */
static inline size_t engine_steps(size_t keys)
{
	return (keys + KEY_BLOCK - 1) / KEY_BLOCK;
}

/* One worker's memory. */
struct workspace {
	/* For each tile of a block: */
	float *queries; /* (d, TILE): a packed tile of Q */
	float *context; /* (e, TILE): weighted values, summed up */
	float *tops;    /* (steps, TILE): with weights, the highest score at each step */
	float *scores;  /* (all steps' keys, TILE); without weights (KEY_BLOCK, TILE) for all tiles */

	/* What a block points to. */
	float *out_weights, *out_scores; /* (ROWS_BLOCK, keys) */
	float *out_context;              /* (ROWS_BLOCK, e) */
	unsigned char *visible;          /* (ROWS_BLOCK, keys) */

	double *row;  /* (keys): scores of a reference row */
	double *sums; /* (e) */
};

/* Where a projection goes: element (b, token, col) of x W + b, where col is element
 * col % size of head col / size, at
 * data[b * batch_stride + head * head_stride + (first_token + token) * size + col % size]. */
struct heads_place {
	float *data;
	size_t batch_stride, head_stride, size, first_token;
};

struct engine {
	struct row_source source; /* first: a source is cast to its engine */
	const struct problem *problem;
	struct engine_want want;
	const struct kernels *kernels; /* NULL: the reference */
	bool by_tiles;                 /* kernels, no scores asked for, and none can overflow */
	size_t keys;

	/* Q (B, H, N, d), K (B, G, keys, d) and V (B, G, keys, e): views of inputs, or
	 * of memory that the engine owns. */
	struct heads_view q, k, v;
	struct heads_place places[3]; /* that memory, of Q, K and V; data NULL: not needed */

	struct workspace *workers; /* threads_count() of them */
	size_t worker_count;
};

/* Fill the block's arrays.  The tile way returns false when a score overflowed and
 * the reference has to do it, whose ATTN_BAD_INPUT names a score that was asked for and
 * is beyond float32. */
bool engine_tile(const struct engine *engine, struct workspace *w, struct row_block *block);
enum attn_status engine_reference(const struct engine *engine, struct workspace *w, struct row_block *block,
				  struct attn_error *err);

/* out = x W + b for all batch items, by all threads.  ATTN_BAD_INPUT when a number
 * overflows float32; `what` names it. */
enum attn_status engine_project(const struct kernels *kernels, const struct sequence *x, size_t batch,
				const struct matrix *w, const float *bias, const char *what,
				const struct heads_place *out, struct attn_error *err);

/* First element of a head's vectors. */
static inline const float *head_start(const struct heads_view *view, size_t batch, size_t head)
{
	return view->data + batch * view->batch_stride + head * view->head_stride;
}

#endif
