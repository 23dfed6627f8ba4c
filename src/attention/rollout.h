/* Attention over layers: rollout and flow (Abnar and Zuidema 2020, "Quantifying Attention Flow in
 * Transformers").
 *
 * A layer passes on what it attends to and, by the residual connection, the token itself, half and half:
 *   A'_l = 1/2 A_l + 1/2 I,
 * where the rows of A_l add up to 1; a row that attends to no key passes on the token alone.
 */
#ifndef ATTN_ATTENTION_ROLLOUT_H
#define ATTN_ATTENTION_ROLLOUT_H

#include <stddef.h>

#include "util/error.h"

/* out (count, tokens): rows of A' of tokens [first, first + count), from weights (count, tokens) of at
 * least 0, whatever they add up to. */
void rollout_mix(const float *weights, size_t first, size_t count, size_t tokens, float *out);

/* Rollout: total = A' total, all (tokens, tokens); it begins as I.  `scratch` is as large. */
enum attn_status rollout_step(const float *mixed, float *total, float *scratch, size_t tokens,
			      struct attn_error *err);

/* A network of tokens at each height: from height l + 1 to l leads layer l, with A'_l as capacities. */
struct flow_network {
	size_t layers, tokens;
	const float *mixed; /* (layers, tokens, tokens) */
};

/* What one thread needs for it. */
struct flow_work {
	double *flow;    /* (layers, tokens, tokens), all 0 between calls; owned, as all */
	size_t *changed; /* where it is not 0, */
	size_t changed_count, changed_room;
	size_t *distance, *next, *queue; /* (layers + 1, tokens) */
	size_t *unseen, *unseen_count;   /* (layers + 1, tokens), (layers + 1) */
};

/* ATTN_FAILED: no memory. */
enum attn_status flow_work_init(struct flow_work *w, const struct flow_network *network,
				struct attn_error *err);
void flow_work_release(struct flow_work *w); /* safe on a zeroed one */

/* The maximum flow from token `from` above all layers to token `to` below them, from 0 to 1 (Dinic 1970).
 * NAN: no memory. */
double flow_between(struct flow_work *w, const struct flow_network *network, size_t from, size_t to);

#endif
