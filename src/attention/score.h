/* Score functions: how a query and a key make a score.
 *
 *   scaled-dot  q k^T / sqrt(d)                   Vaswani et al. 2017, equation 1
 *   dot         q k^T                             Luong et al. 2015, section 3.1
 *   general     q W k^T                           Luong et al. 2015, section 3.1
 *   additive    v . tanh(q W + k U + b)           Bahdanau et al. 2015, appendix A.1.2
 *   cosine      q k^T / (|q| |k|)                 Liu et al. 2022 (Swin v2), equation 2
 *
 * each times scale / temperature, and then softcap: s becomes c tanh(s / c).
 */
#ifndef ATTN_ATTENTION_SCORE_H
#define ATTN_ATTENTION_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/arrays.h"

enum score_kind {
	SCORE_SCALED_DOT,
	SCORE_DOT,
	SCORE_GENERAL,
	SCORE_ADDITIVE,
	SCORE_COSINE,
};

struct score {
	enum score_kind kind;
	struct head_matrix w, u, v, b; /* (d, a) (key size, a) (a) (a); general has w (d, key size) */
	size_t inner;                  /* size of the vectors that meet: d, or a, or the key size */
	double scale;                  /* of all heads */
	const float *temperature;      /* (H), or NULL: 1 */
	double softcap;                /* 0: none */
};

/* scale / temperature of a head. */
double score_scale(const struct score *score, size_t head);

#endif
