/* One layer of attention in numbers: shapes, vectors, matrices and rules, whoever fills
 * them in.  Binders (input/) do from files, a model's forward pass from its layers.
 *
 * Letters as in attn-formats(5): B batch items, N queries, M own keys, P keys of a KV
 * cache, H query heads, G kv heads (query head h reads kv head h / (H / G)), D and S
 * widths of the embeddings, d head size of Q and K, e head size of V.
 *
 * Whoever fills a struct attention checks it; what is in this folder trusts its shapes.
 */
#ifndef ATTN_ATTENTION_ATTENTION_H
#define ATTN_ATTENTION_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/arrays.h"
#include "attention/masking.h"
#include "attention/normalizer.h"
#include "attention/positions.h"
#include "attention/relative.h"
#include "attention/rotary.h"
#include "attention/rows.h"
#include "attention/score.h"
#include "attention/vector_norm.h"

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
	size_t rotary_size;             /* t: the last dimensions of Q and K, which are rotated */
};

/* The sum of weighted values: context (N, H e), heads side by side, and
 * output = context wo + bo. */
struct output_layer {
	size_t context_size; /* H e; 0: there are no values, so no context */
	struct matrix wo;    /* (H e, any); NULL wo.data: no output */
	const float *bo;     /* (columns of wo), or NULL */
};

struct attention {
	size_t batch, heads, kv_heads, queries;
	size_t maps;     /* attention maps of a head: 1, or 2 in differential attention, where Q has
			  * 2 H heads and K 2 G */
	bool maps_apart; /* the two maps of head h are heads h and h + H of Q, else 2h and 2h + 1; of K
			  * likewise with G */
	struct key_counts keys;
	size_t head_size;            /* d, of Q, and of K unless the score function says otherwise */
	size_t key_size, value_size; /* of K, and e */
	bool has_values;             /* without values there are weights, but no context */
	bool projected;              /* from embeddings, else from precomputed q, k, v */
	bool cross;                  /* keys come from another sequence than queries */

	/* projected: */
	struct sequence embeddings, source, source_values;
	struct matrix wq, wk, wv;  /* (D, H d) (S, G d) (S', G e), used as x W */
	const float *bq, *bk, *bv; /* or NULL */
	struct latent latent;      /* instead of these; source_values is then the source */
	/* precomputed: */
	struct heads_view q, k, v;

	struct heads_view past_k, past_v; /* the KV cache: (B, G, P, d) (B, G, P, e) */
	const float *bias_k, *bias_v;     /* (G d) (G e): one learned key and value, appended */

	struct rotary rotary;
	struct positions positions; /* where rotary; owned */
	struct vector_norm q_norm, k_norm;
	struct score score;
	struct normalization normalization;
	const float *lambda;      /* (H): weights are those of the first map less lambda times the
				   * second's; or NULL */
	struct masking masking;   /* owned */
	struct relative relative; /* a bias by distance; owned */
	struct output_layer output;

	/* What has to be done before the vectors can be read: a model runs its layers before this one.
	 * Called when rows are started; NULL: nothing. */
	enum attn_status (*arrive)(void *arriving, struct attn_error *err);
	void *arriving;
};

/* Plain attention of the sizes batch, heads, kv_heads, queries, keys, head_size and
 * value_size, which are set: one map a head, q k^T / sqrt(d), softmax, nothing masked. */
void attention_set_plain(struct attention *a);

/* Free what *a owns, and zero it. */
void attention_release(struct attention *a);

/* The shape of its rows: one layer. */
struct rows_shape attention_shape(const struct attention *a);

/* output (rows, columns of wo) = context (rows, H e) wo + bo.  ATTN_BAD_INPUT when it
 * overflows float32. */
enum attn_status output_layer_project(const struct output_layer *layer, const float *context, size_t rows,
				      float *output, struct attn_error *err);

/* Whether products are multiplied by anything but 1. */
static inline bool attention_is_scaled(const struct attention *a)
{
	return a->normalization.normalizer->scaled && (a->score.scale != 1 || a->score.temperature);
}

/* All keys of a row: past, own and appended. */
static inline size_t attention_keys(const struct attention *a)
{
	return key_total(&a->keys);
}

#endif
