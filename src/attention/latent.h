/* Multi-head latent attention: Q, K and V by way of latents, few numbers a token
 * (DeepSeek-V2, 2024, section 2.1, equations 9 to 19; struct latent has the formulas).
 *
 * It is one more way to make the own vectors of Q, K and V.  What comes after, from the
 * norm of queries and keys to past keys and scores, is that of any attention.
 */
#ifndef ATTN_ATTENTION_LATENT_H
#define ATTN_ATTENTION_LATENT_H

#include "attention/plan.h"

struct heads_place;
struct kernels;

/* Latents, which live while Q, K and V are made of them. */
struct latents {
	const struct kernels *kernels; /* NULL: the reference */
	const struct attention *attention;
	struct sequence query, key_value; /* (batch, N, r) (batch, M, l) */
	float *memory[2];                 /* theirs; NULL where they are embeddings */
};

enum latent_target {
	LATENT_QUERY,
	LATENT_KEY,
	LATENT_VALUE,
};

/* Project tokens down to latents, and norm them where there is a gain; nothing without
 * latent attention.  Released by the caller, also after a failure.  ATTN_BAD_INPUT when a
 * number overflows float32. */
enum attn_status latents_init(struct latents *l, const struct kernels *kernels, const struct attention *a,
			      struct attn_error *err);
void latents_release(struct latents *l);

/* Project them up to the own vectors of the set's heads at *to, whose size is d or e.  The
 * rotary part of a key, which heads share, is copied into each: B H M d floats in all,
 * and the rest of the engine knows nothing of it.  ATTN_BAD_INPUT as above. */
enum attn_status latents_project(const struct latents *l, enum latent_target target,
				 const struct head_set *set, const struct heads_place *to,
				 struct attn_error *err);

/* Bytes of the latents, and multiply-adds down and up, of values where the context is wanted; 0
 * without latent attention. */
size_t latents_bytes(const struct attention *a);
double latent_cost(const struct plan *plan);

#endif
