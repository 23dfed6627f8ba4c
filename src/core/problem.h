/* A bundle checked and understood: which attention, which shapes, which options.
 * All validation ends here; what comes after may trust it.
 *
 * Letters as in attn-formats(5): B batch items, N queries, M own keys, P past
 * keys, H query heads, G kv heads (query head h reads kv head h / (H / G)), D and
 * S widths of the embeddings, d head size of Q and K, e head size of V.
 */
#ifndef ATTN_CORE_PROBLEM_H
#define ATTN_CORE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/bundle.h"
#include "core/labels.h"
#include "core/rows.h"
#include "core/visibility.h"

/* A matrix (rows, cols) that stands inside others: element (r, c) is
 * data[r * stride + c].  NULL data: not given. */
struct matrix {
	const float *data;
	size_t rows, cols, stride;
};

/* Token vectors (batch, rows, cols), row-major; batch_stride is 0 where all
 * batch items share them. */
struct sequence {
	const float *data;
	size_t rows, cols, batch_stride;
};

/* One matrix a head, (batch, heads, tokens, size): element (b, h, t, c) is
 * data[b * batch_stride + h * head_stride + t * token_stride + c].  NULL data:
 * not given. */
struct heads_view {
	const float *data;
	size_t batch_stride, head_stride, token_stride;
};

struct problem {
	size_t batch, heads, kv_heads, queries;
	struct key_counts keys;
	size_t head_size, value_size; /* d and e */
	size_t output_size;           /* columns of wo; 0 without one */
	bool has_batch;
	bool has_values; /* without values there are weights, but no context */
	bool projected;  /* from embeddings, else from ready-made q, k, v */

	/* projected: */
	struct sequence embeddings, source, source_values;
	struct matrix wq, wk, wv;  /* (D, H d) (S, G d) (S', G e), used as x W */
	const float *bq, *bk, *bv; /* or NULL */
	/* ready-made: */
	struct heads_view q, k, v;

	struct heads_view past_k, past_v; /* (B, G, P, d) (B, G, P, e) */
	const float *bias_k, *bias_v;     /* (G d) (G e) */
	struct matrix wo;                 /* (H e, output_size) */
	const float *bo;

	double scale, softcap; /* softcap 0: none */
	struct visibility visibility;
	struct rows_info info;
	struct string_list notes; /* what the user should hear about */

	float **owned; /* converted tensors */
	size_t owned_count;
};

/* Understand the bundle, which must outlive the problem: tensors that are float32
 * and row-major already are used where they are.  ATTN_BAD_INPUT (or ATTN_USAGE
 * for an option) that names tensor, found and expected. */
enum attn_status problem_init(struct problem *p, const struct bundle *b, struct attn_error *err);
void problem_release(struct problem *p);

#endif
