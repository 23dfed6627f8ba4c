/* A bundle checked and understood: which attention, which shapes, which options.
 * All validation ends here; what comes after may trust it.
 *
 * Letters as in attn-formats(5): B batch items, N queries, M own keys, P past
 * keys, H query heads, G kv heads (query head h reads kv head h / (H / G)), D and
 * S widths of the embeddings, d head size of Q and K, e head size of V.
 */
#ifndef ATTN_INPUT_PROBLEM_H
#define ATTN_INPUT_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/masking.h"
#include "attention/normalizer.h"
#include "attention/positions.h"
#include "attention/relative.h"
#include "attention/rotary.h"
#include "attention/rows.h"
#include "attention/score.h"
#include "input/bundle.h"
#include "input/labels.h"

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

/* Columns of a matrix that belong to heads: head h has the w.cols columns from
 * w.data + h * step on.  NULL w.data: not given. */
struct head_columns {
	struct matrix w; /* those of head 0 */
	size_t step;
};

/* Multi-head latent attention: queries, and keys and values together, are made of
 * latents, few numbers a token (DeepSeek-V2, 2024, section 2.1, equations 9 to 19).
 * With x of embeddings, s of source, n and t the plain and the rotary dimensions of a
 * head, n + t = d:
 *
 *   c = norm(s down_kv)       k_h = [c up_k_h | s rotary_k]       v_h = c up_v_h
 *   a = norm(x down_q)        q_h = [a up_q_h | a rotary_q_h]     (a = x without down_q)
 *
 * Without rotary_q up_q makes both parts.  NULL down_kv.data: not latent attention. */
struct latent {
	struct matrix down_q, down_kv;  /* (D, r) (S, l) */
	struct matrix rotary_k;         /* (S, t), shared by the heads */
	struct head_columns up_q;       /* (r or D, n) a head, or n + t */
	struct head_columns rotary_q;   /* (r or D, t) */
	struct head_columns up_k, up_v; /* (l, n) (l, e) */
	const float *q_gain, *kv_gain;  /* (r) (l) of RMS norms of the latents; NULL: no norm */
	size_t rotary_size;             /* t: the last dimensions of Q and K, which rotary turns */
};

/* A norm of the vectors of Q or K before they meet: x / sqrt(mean(x^2) + eps), or
 * x / max(|x|, eps), times the gain. */
struct vector_norm {
	enum {
		VECTOR_NORM_NONE,
		VECTOR_NORM_RMS,
		VECTOR_NORM_L2
	} kind;
	double eps;
	const float *gain;  /* (size) of head h at gain + h * gain_stride; or NULL */
	size_t gain_stride; /* 0: the heads share it */
};

struct problem {
	size_t batch, heads, kv_heads, queries;
	size_t maps; /* attention maps of a head: 1, or 2 in differential attention, where Q has
		      * 2 H heads and K 2 G */
	struct key_counts keys;
	size_t head_size;            /* d, of Q, and of K unless the score function says otherwise */
	size_t key_size, value_size; /* of K, and e */
	size_t output_size;          /* columns of wo; 0 without one */
	bool has_batch;
	bool has_values; /* without values there are weights, but no context */
	bool projected;  /* from embeddings, else from ready-made q, k, v */

	/* projected: */
	struct sequence embeddings, source, source_values;
	struct matrix wq, wk, wv;  /* (D, H d) (S, G d) (S', G e), used as x W */
	const float *bq, *bk, *bv; /* or NULL */
	struct latent latent;      /* instead of these; source_values is then the source */
	/* ready-made: */
	struct heads_view q, k, v;

	struct heads_view past_k, past_v; /* (B, G, P, d) (B, G, P, e) */
	const float *bias_k, *bias_v;     /* (G d) (G e) */
	struct matrix wo;                 /* (H e, output_size) */
	const float *bo;

	struct rotary rotary;
	struct positions positions; /* where rotary */
	struct vector_norm q_norm, k_norm;
	struct score score;
	struct normalization normalization;
	const float
	    *lambda; /* (H): weights are those of the first map less lambda times the second's; or NULL */
	struct masking masking;
	struct relative relative; /* a bias by distance */
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
