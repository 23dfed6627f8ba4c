/* What the parts of the engine share. */
#ifndef ATTN_ATTENTION_ENGINE_INTERNAL_H
#define ATTN_ATTENTION_ENGINE_INTERNAL_H

#include <math.h>

#include "attention/heads.h"
#include "attention/plan.h"
#include "kernels/kernels.h"

enum {
	/* Keys of a step of the online softmax: K and V of a step and its scores stay in
	 * the first-level cache. */
	KEY_BLOCK = 96,
	/* Keys from one stored state of linear attention to the next. */
	STATE_STEP = 2 * KEY_BLOCK,
	/* Queries of a tile whose whole rows are normalised together: a cache line of
	 * scores, and as many as the lanes of a kernel at least. */
	WHOLE_ROWS = 16,
};

/* Steps that all keys take. */
static inline size_t engine_steps(size_t keys)
{
	return (keys + KEY_BLOCK - 1) / KEY_BLOCK;
}

/* One worker's memory. */
struct workspace {
	/* For each tile of a block: */
	float *queries; /* (inner, TILE): a packed tile of Q */
	float *context; /* (e + 1, TILE): weighted values, summed up; the last row is linear attention's */
	float *tops;    /* (steps, TILE): with weights, the highest score at each step */
	float *scores;  /* (all steps' keys, TILE); or (KEY_BLOCK, TILE) for all tiles, when a
			 * step's are used at once */
	unsigned char *attended; /* (steps): whether a query of the tile attends to any key of the step */

	/* Of one tile at a time: */
	unsigned char *step_attended; /* (TILE, KEY_BLOCK) */
	unsigned char *row_attended;  /* (keys), where there is a float mask */
	unsigned char *normalizing;   /* normalize_scratch */
	float *rows;                  /* (WHOLE_ROWS, keys), where whole rows are not wanted but needed */

	/* What a block points to. */
	float *out_weights, *out_unscaled;    /* (ROWS_BLOCK, keys) */
	float *out_scores[SCORE_STAGES];      /* (ROWS_BLOCK, keys) */
	double *out_shares;                   /* (ROWS_BLOCK, keys) */
	float *out_context;                   /* (ROWS_BLOCK, e) */
	unsigned char *cells;                 /* (ROWS_BLOCK, keys) */
	float *first_weights, *first_context; /* the same of the first of two maps */

	struct key_span spans[ROWS_BLOCK];

	double *row, *scratch; /* (keys): scores of a reference row, and memory to normalise it */
	double *unscaled;      /* (keys): the same scores before they are scaled */
	double *sums;          /* (e) */
};

/* Where a projection goes: element (b, token, col) of x W + b, where col is element
 * col % size of head col / size, at
 * data[b * batch_stride + head * head_stride + (first_token + token) * size + col % size]. */
struct heads_place {
	float *data;
	size_t batch_stride, head_stride, size, first_token;
};

/* Vectors head by head. */
struct head_vectors {
	struct heads_view view;
	const struct head_set *set; /* which heads it has */
	bool in_place;              /* an input's: head h is where it says, else in its slot */
};

/* row_source.value_norms, of started rows that want values. */
enum attn_status engine_value_norms(struct row_source *source, size_t batch, size_t head, float *norms,
				    struct attn_error *err);

struct engine {
	struct row_source source; /* first: a source is cast to its engine */
	const struct plan *plan;
	const struct attention *attention; /* the plan's, and */
	struct rows_want want;             /* what it wants */
	bool started;
	const struct kernels *kernels; /* NULL: the reference */
	bool *by_tiles;  /* (heads), owned: kernels, no scores asked for, and none of the head's can
			  * overflow: the other chosen heads make no difference */
	bool whole_rows; /* weights need all scores of a row: sparsemax and the like */
	size_t keys;

	/* Q (B, heads, N, inner), K (B, heads, keys, inner) and V (B, heads, keys, e), ready for
	 * Q K^T: views of inputs, with all their heads, or of memory that the engine owns, with
	 * those that the plan chose. */
	struct head_vectors q, k, v;
	struct head_vectors prepared[VECTORS_KINDS]; /* they, before the matrices of a score function */
	struct heads_place places[3];                /* that memory, of Q, K and V; data NULL: not needed */
	struct heads_place scored[2]; /* Q and K after the matrices of a score function, likewise */

	/* Linear attention's sums over the first keys, (B, key slots, state_count, e + 1, d):
	 * after (s + 1) * state_step keys, of v k^T, and in the last row of k.  NULL: none. */
	float *states;
	size_t state_count, state_step;

	struct workspace *workers; /* threads_count() of them */
	size_t worker_count;
};

/* Whether rows of weights are made of the block, and not only of the plan's other ones. */
static inline bool gives_weights(const struct engine *engine, const struct row_block *block)
{
	return engine->want.weights && !block->no_weights;
}

/* Whether the block has spans, and nobody needs more of it. */
static inline bool gives_spans_only(const struct engine *engine, const struct row_block *block)
{
	return block->spans_only && masking_is_interval(&engine->attention->masking);
}

/* One attention map of a head: a head has two in differential attention. */
struct map {
	size_t head;                       /* of the result, whose temperature, sink and bias it has */
	size_t query_head;                 /* whose matrices of a score function it has */
	size_t query_at, key_at, value_at; /* where the views of Q, K and V have its vectors */
	double scale, sink;                /* sink: -inf for none */
};

/* Where a chosen head's vectors are. */
static inline size_t head_at(const struct head_vectors *v, size_t head)
{
	return v->in_place ? head : v->set->slots[head];
}

static inline struct map engine_map(const struct engine *engine, size_t head, size_t which)
{
	const struct attention *a = engine->attention;
	size_t query_head = query_head_of(a, head, which);
	bool own_keys = engine->k.set == engine->q.set; /* after the matrices of a score function */
	return (struct map){
	    .head = head,
	    .query_head = query_head,
	    .query_at = head_at(&engine->q, query_head),
	    .key_at = head_at(&engine->k, own_keys ? query_head : key_head_of(a, query_head)),
	    .value_at = engine->v.set ? head_at(&engine->v, value_head_of(a, head)) : 0,
	    .scale = a->normalization.normalizer->scaled ? score_scale(&a->score, head) : 1,
	    .sink = a->normalization.sinks ? (double)a->normalization.sinks[head] : -INFINITY,
	};
}

/* How many heads from heads[slot] on follow each other. */
size_t head_set_run(const struct head_set *set, size_t slot);

/* Who computes a block. */
enum block_way {
	BY_REFERENCE,
	BY_TILES
};

/* The memory of one worker for blocks that are computed so; what is there already stays.
 * False: no memory. */
bool workspace_allocate(struct workspace *w, const struct plan *plan, enum block_way way);
void workspace_release(struct workspace *w);

/* Bytes of that. */
size_t workspace_bytes(const struct plan *plan, enum block_way way);

/* Fill the block's arrays with the rows of a map.  The tile way returns false when a score
 * overflowed and the reference has to do it, whose ATTN_BAD_INPUT names a score that was
 * asked for and is beyond float32. */
bool engine_tile(const struct engine *engine, const struct map *map, struct workspace *w,
		 struct row_block *block);
enum attn_status engine_reference(const struct engine *engine, const struct map *map, struct workspace *w,
				  struct row_block *block, struct attn_error *err);

/* Scores in float64 of a query and `count` keys from `first` on, times `scale` and before
 * softcap: row (count). */
void engine_reference_scores(const struct engine *engine, const struct map *map, size_t batch, size_t query,
			     size_t first, size_t count, double scale, double *row);

/* Make Q, K and V: project, normalise, rotate, join with the KV cache and appended keys,
 * and bring them to where scores are products. */
enum attn_status engine_prepare(struct engine *engine, struct attn_error *err);

/* Bytes of these, without inputs that are used where they are. */
size_t engine_prepared_bytes(const struct plan *plan);

/* Memory (batch, heads of the set, tokens, size) that the engine owns, and its view.  False: no memory. */
bool engine_own(const struct engine *engine, const struct head_set *set, size_t tokens, size_t size,
		struct heads_place *place, struct head_vectors *out);

/* Whether vectors of Q and K are changed in place before they are scored, so that they cannot be an
 * input's. */
bool engine_changes_vectors(const struct attention *a);

/* Bring Q and K to where the score function makes a score of one of each.  ATTN_BAD_INPUT when a
 * product overflows float32. */
enum attn_status engine_apply_score_function(struct engine *engine, struct attn_error *err);

/* Bytes of what its matrices make. */
size_t engine_score_bytes(const struct plan *plan);

/* Whether all scores of a chosen head, and parts of their sums, stay in float32's range. */
bool engine_scores_fit(const struct engine *engine, size_t head);

/* How many states linear attention keeps for each key head, and after how many keys each. */
size_t engine_linear_states(const struct plan *plan, size_t *step);

/* Linear attention's states, where queries attend to the first keys and context is all
 * that is wanted: context then costs time in proportion to the keys. */
enum attn_status engine_linear_prepare(struct engine *engine, struct attn_error *err);

/* The state after `steps` * state_step keys, (e + 1, d), of the key head in a slot; steps is
 * at least 1. */
static inline const float *engine_state(const struct engine *engine, size_t batch, size_t key_slot,
					size_t steps)
{
	const struct attention *a = engine->attention;
	return engine->states +
	       ((batch * engine->k.set->count + key_slot) * engine->state_count + steps - 1) *
		   (a->value_size + 1) * a->score.inner;
}

/* out = x W + b for all batch items, by all threads.  ATTN_BAD_INPUT when a number
 * overflows float32; `what` names it. */
enum attn_status engine_project(const struct kernels *kernels, const struct sequence *x, size_t batch,
				const struct matrix *w, const float *bias, const char *what,
				const struct heads_place *out, struct attn_error *err);

/* First element of the vectors of the head that a view has at `at`. */
static inline const float *head_start(const struct heads_view *view, size_t batch, size_t at)
{
	return view->data + batch * view->batch_stride + at * view->head_stride;
}

#endif
