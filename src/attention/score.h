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

struct kernels;
struct score;

/* The matrices and vectors of a score function, as bits. */
enum score_parts {
	SCORE_W = 1,
	SCORE_U = 2,
	SCORE_V = 4,
	SCORE_B = 8,
};

/* Queries and keys to score, once Q and K are multiplied by the matrices of their function. */
struct score_pairs {
	size_t query_head;
	const float *queries; /* of a row (inner); of a step a tile (inner, TILE) */
	const float *keys;    /* (count, inner; key_stride) */
	size_t key_stride, count;
	size_t cols; /* of a step: columns of the tile in use */
	double scale;
};

/* The largest absolute values among what scores are made of. */
struct score_bounds {
	double q, k, v; /* v: 0 without one */
	double scale;   /* 1 at least */
	size_t inner;
};

/* One of them, as functions and facts: score.c has all. */
struct score_function {
	const char *name;          /* "scaled-dot" */
	bool root_scale;           /* scale is 1 / sqrt(d) unless it is given; else it is 1 */
	bool one_size;             /* vectors of Q and K have the same size */
	unsigned needed, optional; /* enum score_parts */

	/* For people: what a score is, "q.k", and a line that says what that means, or NULL. */
	const char *term, *formula;

	/* Change vectors (vectors, size) of Q or K in place; NULL: they stay. */
	void (*prepare)(float *x, size_t vectors, size_t size);

	/* scores (count) of a query, in float64. */
	void (*row)(const struct score *s, const struct score_pairs *p, double *scores);

	/* scores (count, TILE) of a tile of queries. */
	void (*step)(const struct score *s, const struct kernels *kernels, const struct score_pairs *p,
		     float *scores);
	bool scales_queries; /* the queries of a step are multiplied by the scale beforehand */

	/* Whether no score of a step, nor a part of its sum, can leave float32: an infinite
	 * score of one sign only would look like a masked one. */
	bool (*fits)(const struct score_bounds *b);
};

extern const struct score_function score_scaled_dot, score_dot, score_general, score_additive, score_cosine;

/* All of them, scaled-dot first; NULL behind the last. */
extern const struct score_function *const score_function_table[];

/* The one of that name; NULL: there is none. */
const struct score_function *score_function_named(const char *name);

/* Its scale where none is given. */
double score_default_scale(const struct score_function *function, size_t head_size);

struct score {
	const struct score_function *function;
	struct head_matrix w, u, v, b; /* (d, a) (key size, a) (a) (a); general has w (d, key size) */
	size_t inner;                  /* size of the vectors that are scored: d, a, or the key size */
	double scale;                  /* of all heads */
	const float *temperature;      /* (H), or NULL: 1 */
	double softcap;                /* 0: none */
};

/* scale / temperature of a head. */
double score_scale(const struct score *score, size_t head);

#endif
