/* The engine: a source of weight rows that computes them from a problem.
 *
 *   weights = softmax(mask(softcap(scale Q K^T))),  context = weights V
 *
 * Vaswani et al. 2017, equation 1; the order of softcap and mask is that of the
 * ONNX operator Attention.
 */
#ifndef ATTN_CORE_ENGINE_H
#define ATTN_CORE_ENGINE_H

#include "core/problem.h"
#include "core/rows.h"

/* Which scores a row block carries beside its weights. */
enum score_stage {
	SCORES_NONE,
	SCORES_RAW,    /* scaled products */
	SCORES_CAPPED, /* after softcap */
	SCORES_MASKED, /* after mask and bias; -inf where masked */
};

struct engine;

/* Project Q, K and V and make the source ready.  The problem must outlive it.
 * ATTN_BAD_INPUT when a projection overflows float32. */
enum attn_status engine_new(struct engine **engine, const struct problem *p, enum score_stage stage,
			    struct attn_error *err);

/* The engine as a source of rows; source->free frees the engine. */
struct row_source *engine_rows(struct engine *engine);

/* Values (keys, value_size), row-major, of one kv head, appended keys included. */
const float *engine_values(const struct engine *engine, size_t batch, size_t kv_head);

/* output (rows, output_size) = context (rows, H e) x wo + bo.  ATTN_BAD_INPUT when
 * it overflows float32. */
enum attn_status engine_output(const struct problem *p, const float *context, size_t rows, float *output,
			       struct attn_error *err);

#endif
