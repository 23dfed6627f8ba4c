/* A case of attention for the naive computation of oracle_test.h: all that the formulas need,
 * number by number, and what comes out.
 *
 * Letters as in attn-formats(5).  Arrays are row-major and never shared or left short: what an
 * input may give once for all batch items or heads stands here for each.
 */
#ifndef ATTN_TESTS_ORACLE_CASE_TEST_H
#define ATTN_TESTS_ORACLE_CASE_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum oracle_score {
	ORACLE_SCALED_DOT,
	ORACLE_DOT,
	ORACLE_GENERAL,
	ORACLE_ADDITIVE,
	ORACLE_COSINE,
};

enum oracle_normalizer {
	ORACLE_SOFTMAX,
	ORACLE_SPARSEMAX,
	ORACLE_ENTMAX15,
	ORACLE_LINEAR,
};

enum oracle_norm {
	ORACLE_NO_NORM,
	ORACLE_RMS,
	ORACLE_L2,
	ORACLE_RMS_FULL, /* RMS of all heads of a token */
};

/* Rotary frequencies of longer texts. */
enum oracle_rope {
	ORACLE_ROPE_PLAIN,
	ORACLE_ROPE_DYNAMIC,
	ORACLE_ROPE_LLAMA3,
	ORACLE_ROPE_YARN,
	ORACLE_ROPE_LONGROPE,
	ORACLE_ROPE_GIVEN, /* as numbers */
};

struct oracle {
	size_t B, H, G, N, M, P;
	size_t dq, dk, e; /* head sizes of queries, keys and values */
	size_t maps;      /* 2: differential, with 2 H query and 2 G key heads; else 1 */
	bool halves;      /* of differential: the maps of head h are h and h + H, else 2h and 2h + 1 */
	bool cross;       /* own keys are others than the queries' tokens */

	/* Precomputed: (B, maps H, N, dq) (B, maps G, M, dk) (B, G, M, e); else NULL. */
	const double *q, *k, *v;

	/* Projected: (B, N, D) (B, M, S) (B, M, SV); in self-attention all are `x`. */
	size_t D, S, SV;
	const double *x, *source, *source_values;
	const double *wq, *wk, *wv; /* (D, maps H dq) (S, maps G dk) (SV, G e) */
	const double *bq, *bk, *bv; /* or NULL */

	/* Latent attention, where `latent`: G = H, dq = dk = dn + dr. */
	bool latent;
	size_t rq, rk, dn, dr;
	const double *wdq, *wuq, *wqr;      /* (D, rq) or NULL, (rq or D, H dn), (rq or D, H dr) */
	const double *wdkv, *wuk, *wuv;     /* (S, rk) (rk, H dn) (rk, H e) */
	const double *wkr;                  /* (S, dr) */
	const double *q_latent, *kv_latent; /* gains (rq) (rk), or NULL: no norm */

	const double *past_k, *past_v; /* (B, maps G, P, dk) (B, G, P, e) */
	const double *bias_k, *bias_v; /* (maps G, dk) (G, e), or NULL */
	bool zero;                     /* append a key and value of zeros */

	/* Positions. */
	const double *positions, *source_positions; /* (B, N) (B, M), or NULL */
	double position_offset;                     /* negative: not given */
	bool sinusoidal;
	const double *table, *source_table; /* (any, D) (any, S), or NULL */
	size_t rope_dim, rope_first;        /* 0: no rotary; the first dimension that is rotated */
	double rope_base, rope_linear, rope_ntk;
	bool rope_interleaved;
	enum oracle_rope rope_kind;
	double rope_factor, rope_low, rope_high, rope_original;
	double rope_magnitude;                /* of a rotated vector; 0: 1 */
	const double *rope_short, *rope_long; /* (rope_dim / 2) divisors of longrope */
	const double *rope_frequencies;       /* (rope_dim / 2) */

	enum oracle_norm qk_norm;
	double qk_norm_eps;
	const double *q_norm, *k_norm; /* (maps H, dq) (maps G, dk), or NULL */

	enum oracle_score score;
	size_t a;                                            /* inner size of additive */
	const double *score_w, *score_u, *score_v, *score_b; /* with maps H in front */
	double scale;                                        /* NAN: the default */
	const double *temperature;                           /* (H), or NULL */
	double softcap;                                      /* 0: none */

	/* What a query sees. */
	bool causal;
	long left, right, dilation; /* -1: no bound; dilation 1: every key */
	long prefix;
	size_t block_size, block_global, block_window, block_random; /* size 0: no blocks */
	uint64_t block_seed;
	const double *segments, *source_segments; /* (B, N) (B, P + M), or NULL */
	const double *lengths;                    /* (B), or NULL */
	const double *padding;                    /* (B, P + M), 1 = real, or NULL */
	const double *allowed, *bias;             /* (B, H, N, P + M), or NULL: masks of bool, of floats */

	bool alibi;
	const double *slopes;        /* (H), or NULL: by the number of heads */
	const double *relative_bias; /* (relative_buckets, H), or NULL */
	size_t relative_buckets, relative_max;
	bool relative_bidirectional;

	enum oracle_normalizer normalizer;
	const double *sinks;  /* (H), or NULL */
	size_t top_k;         /* 0: all */
	const double *lambda; /* (H), where maps is 2 */

	/* What oracle_compute fills.  Scores are those of the first map. */
	size_t K;                                /* all keys: past, own, appended */
	double *keys, *queries, *values;         /* (B, maps G, K, dk) (B, maps H, N, dq) (B, G, K, e) */
	double *raw, *capped, *masked, *weights; /* (B, H, N, K) */
	unsigned char *attended;                 /* (B, H, N, K) */
	unsigned char *close;                    /* (B, H, N): top_k hangs on less than 1e-5 */
	double *highest;                         /* (B, H, N): largest size of a row's highest score */
	double *context;                         /* (B, N, H, e) */
	size_t masked_rows;
};

/* Memory of one case, freed as a whole. */
static void *oracle_memory[256];
static size_t oracle_memory_count;

static inline double *oracle_take(size_t count)
{
	assert_true(oracle_memory_count < sizeof oracle_memory / sizeof *oracle_memory);
	void *memory = calloc(count + 1, sizeof(double));
	assert_non_null(memory);
	oracle_memory[oracle_memory_count++] = memory;
	return memory;
}

static inline void oracle_forget(void)
{
	while (oracle_memory_count > 0)
		free(oracle_memory[--oracle_memory_count]);
}

#endif
