/* The engine: a source of weight rows that computes them from a problem.
 *
 *   weights = normalize(mask(softcap(scale score(Q, K)))),  context = weights V
 *
 * Vaswani et al. 2017, equation 1, where that is softmax and Q K^T; score.h and
 * normalizer.h have the others.  The order of softcap and mask is that of the ONNX
 * operator Attention.
 *
 * Two ways lead to the same rows: tiles of queries by vector kernels with an
 * online softmax (engine_tile.c), and plain float64 loops (engine_reference.c),
 * which are the reference, serve processors without vectors, give scores, and take
 * over where a float32 score overflows or would lose digits to its bias.  Results do not depend on the number
 * of threads.
 */
#ifndef ATTN_ATTENTION_ENGINE_H
#define ATTN_ATTENTION_ENGINE_H

#include "attention/rows.h"
#include "input/problem.h"

/* Which scores a row block carries beside its weights. */
enum score_stage {
	SCORES_NONE,
	SCORES_RAW,    /* scaled products */
	SCORES_CAPPED, /* after softcap */
	SCORES_MASKED, /* after mask and bias; -inf where masked */
};

/* What a row block shall carry; less is faster. */
struct engine_want {
	bool weights; /* and what is visible; without, a row is never stored */
	bool context; /* given where the problem has values */
	enum score_stage stage;
};

/* What computing takes, without computing. */
struct engine_cost {
	double projections, attention, output; /* multiply-adds */
	size_t projected;                      /* bytes of Q, K and V that are not used where they are */
	size_t workspace;                      /* bytes of one thread */
};

struct engine_cost engine_cost(const struct problem *p, struct engine_want want);

struct engine;

/* Project Q, K and V and make the source ready.  The problem must outlive it.
 * ATTN_BAD_INPUT when a projection overflows float32. */
enum attn_status engine_new(struct engine **engine, const struct problem *p, struct engine_want want,
			    struct attn_error *err);

/* Project again, after the numbers of the problem's tensors have changed and their
 * shapes have not. */
enum attn_status engine_update(struct engine *engine, struct attn_error *err);

/* The engine as a source of rows; source->free frees the engine. */
struct row_source *engine_rows(struct engine *engine);

/* The value vector (e) that query head `head` weighs at a key, past and appended ones
 * included.  Only where the context is wanted and the problem has values. */
const float *engine_value(const struct engine *engine, size_t batch, size_t head, size_t key);

/* output (rows, output_size) = context (rows, H e) x wo + bo.  ATTN_BAD_INPUT when
 * it overflows float32. */
enum attn_status engine_output(const struct problem *p, const float *context, size_t rows, float *output,
			       struct attn_error *err);

#endif
