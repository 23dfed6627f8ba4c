/* A plan of some heads gives, for these, the bytes that a plan of all heads gives, whatever
 * attention it is of and however many threads compute it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer_test.h"
#include "util/threads.h"
#include "variant_test.h"

enum {
	MOST_HEADS = 16 /* of any case */
};

/* --- some heads against all ----------------------------------------------------------- */

/* The rows of each chosen head in `some` are those in `all`, and there are no others. */
static void expect_same_heads(const struct bundle *b, const char *name, const bool *heads,
			      const struct answer *some, const struct answer *all)
{
	size_t rows = all->queries * all->keys, e = all->value_size;
	for (size_t i = 0; i < all->cells; i += rows) {
		if (!heads[i / rows % all->heads])
			continue;
		if (all->weights && (memcmp(some->weights + i, all->weights + i, rows * sizeof(float)) != 0 ||
				     memcmp(some->attended + i, all->attended + i, rows) != 0))
			fail_case(b, name, "weights of some heads are other bytes than those of all");
		for (int s = 0; s < SCORE_STAGES; s++)
			if (all->scores[s] &&
			    memcmp(some->scores[s] + i, all->scores[s] + i, rows * sizeof(float)) != 0)
				fail_case(b, name, "scores of some heads are other bytes than those of all");
	}
	for (size_t i = 0; all->context && i < all->contexts; i += e)
		if (heads[i / e % all->heads] &&
		    memcmp(some->context + i, all->context + i, e * sizeof(float)) != 0)
			fail_case(b, name, "contexts of some heads are other bytes than those of all");
}

static void expect_heads(const struct bundle *b, const char *name, const bool *const *choices, size_t count,
			 struct rows_want want)
{
	threads_set(1);
	struct answer all = compute(b, name, want);
	assert_true(all.heads <= MOST_HEADS);
	for (size_t threads = 1; threads <= 2; threads++) {
		threads_set(threads);
		for (size_t i = 0; i < count; i++) {
			struct answer some = compute_heads(b, name, choices[i], want);
			expect_same_heads(b, name, choices[i], &some, &all);
			answer_release(&some);
		}
	}
	answer_release(&all);
}

/* --- cases by hand -------------------------------------------------------------------- */

/* 4 heads of 24 numbers, values of 16, which share 2 of keys where they are grouped; 260
 * queries and keys, so that rows and projections are shared by threads and cut in blocks. */
#define T(name, ...)                                                                                         \
	{                                                                                                    \
		name,                                                                                        \
		{                                                                                            \
			__VA_ARGS__                                                                          \
		}                                                                                            \
	}
#define EMBEDDINGS T("embeddings", 260, 40)
#define GROUPED EMBEDDINGS, T("wq", 40, 96), T("wk", 40, 48), T("wv", 40, 32)
#define PRECOMPUTED T("q", 4, 260, 24), T("k", 2, 300, 24), T("v", 2, 300, 16)
#define HEADS "num_heads", "4", "num_kv_heads", "2"

static const struct plan_case {
	const char *name;
	struct {
		const char *name;
		size_t shape[4]; /* up to the first 0 */
	} tensors[12];
	const char *settings[14]; /* name, value, ... */
} cases[] = {
    {"projected, groups", {GROUPED, T("bq", 96), T("bk", 48), T("bv", 32)}, {HEADS, "causal", "true"}},
    {"fused", {EMBEDDINGS, T("wqkv", 40, 192), T("bqkv", 192)}, {HEADS}},
    {"precomputed", {PRECOMPUTED}, {NULL}},
    {"packed",
     {T("q", 2, 260, 96), T("k", 2, 260, 48), T("v", 2, 260, 32)},
     {HEADS, "packed", "true", "window", "40,0"}},
    {"masks and distances",
     {PRECOMPUTED, T("mask", 4, 260, 300), T("relative_bias", 32, 4)},
     {"alibi", "true"}},
    {"rotary", {GROUPED}, {HEADS, "rope", "10000", "causal", "true"}},
    {"norms of queries and keys",
     {GROUPED, T("q_norm", 4, 24), T("k_norm", 2, 24)},
     {HEADS, "qk_norm", "rms", "rope", "100", "rope_style", "interleaved"}},
    {"KV cache and appended keys",
     {GROUPED, T("past_k", 2, 9, 24), T("past_v", 2, 9, 16), T("bias_k", 48), T("bias_v", 32)},
     {HEADS, "add_zero_attn", "true", "rope", "10000", "causal", "true"}},
    {"latent",
     {EMBEDDINGS, T("wdq", 40, 12), T("wuq", 12, 64), T("wqr", 12, 32), T("wdkv", 40, 20), T("wuk", 20, 64),
      T("wuv", 20, 64), T("wkr", 40, 8), T("kv_latent_norm", 20)},
     {"num_heads", "4", "rope", "10000"}},
    {"latent, fused",
     {EMBEDDINGS, T("wuq", 40, 96), T("wdkv", 40, 28), T("wukv", 20, 128)},
     {"num_heads", "4", "rope_dim", "8"}},
    {"differential",
     {EMBEDDINGS, T("wq", 40, 192), T("wk", 40, 96), T("wv", 40, 32), T("lambda", 4)},
     {HEADS}},
    {"differential, precomputed",
     {T("q", 8, 260, 24), T("k", 4, 300, 24), T("v", 2, 300, 16), T("lambda", 4)},
     {"rope", "10000"}},
    {"linear", {GROUPED}, {HEADS, "normalizer", "linear", "causal", "true"}},
    {"linear, precomputed", {PRECOMPUTED}, {"normalizer", "linear"}},
    {"additive, of each head",
     {GROUPED, T("score_w", 4, 24, 7), T("score_u", 4, 24, 7), T("score_v", 4, 7), T("score_b", 4, 7)},
     {HEADS, "score", "additive"}},
    {"additive, shared",
     {GROUPED, T("score_w", 24, 7), T("score_u", 24, 7), T("score_v", 7)},
     {HEADS, "score", "additive"}},
    {"general", {PRECOMPUTED, T("score_w", 4, 24, 24)}, {"score", "general", "softcap", "3"}},
    {"cosine", {GROUPED, T("temperature", 4)}, {HEADS, "score", "cosine", "scale", "4"}},
    {"sinks and top_k", {GROUPED, T("sinks", 4)}, {HEADS, "top_k", "9"}},
    {"entmax15", {PRECOMPUTED}, {"normalizer", "entmax15"}},
};

/* From 0.1 to 1: temperatures are above 0. */
static void put_random(struct bundle *b, const char *name, const size_t *shape, uint32_t *state)
{
	bool positive = strcmp(name, "temperature") == 0;
	size_t count = 1;
	int rank = 0;
	while (rank < 4 && shape[rank] > 0)
		count *= shape[rank++];
	double *numbers = malloc(count * sizeof *numbers);
	assert_non_null(numbers);
	for (size_t i = 0; i < count; i++) {
		*state = *state * 1664525 + 1013904223;
		double unit = (double)(*state >> 8) / 0x1p24;
		numbers[i] = positive ? 0.1 + 0.9 * unit : (2 * unit - 1) * (rank == 2 ? 0.4 : 1);
	}
	put(b, name, DTYPE_F32, rank, shape, numbers);
	free(numbers);
}

static struct bundle bundle_of_case(const struct plan_case *c)
{
	struct bundle b;
	uint32_t state = 7;
	bundle_init(&b);
	for (size_t i = 0; i < 14 && c->settings[i]; i += 2)
		put_setting(&b, c->settings[i], c->settings[i + 1]);
	for (size_t i = 0; i < 12 && c->tensors[i].name; i++)
		put_random(&b, c->tensors[i].name, c->tensors[i].shape, &state);
	return b;
}

/* First, last, a gap, one of a group, one of each group, none, and all. */
static const bool *const choices[] = {
    (const bool[]){true, false, false, false}, (const bool[]){false, false, false, true},
    (const bool[]){true, false, true, true},   (const bool[]){false, true, false, false},
    (const bool[]){false, true, true, false},  (const bool[]){false, false, false, false},
    (const bool[]){true, true, true, true},
};

static void test_cases(void **state)
{
	static const struct rows_want wants[] = {
	    {.weights = true, .context = true},
	    {.context = true},
	    {.weights = true},
	    {.weights = true, .context = true, .scores = SCORES_OF(SCORE_STAGES) - 1, .shares = true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bundle b = bundle_of_case(&cases[i]);
		size_t count = bundle_tensor(&b, "lambda") ? 3 : 4; /* two maps have no scores to ask for */
		for (size_t want = 0; want < count; want++)
			expect_heads(&b, cases[i].name, choices, sizeof choices / sizeof *choices,
				     wants[want]);
		bundle_release(&b);
	}
}

/* --- rolled cases --------------------------------------------------------------------- */

/* Everything together, as test_variants rolls it. */
static void test_rolled(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		char name[40];
		struct variant x;
		bool heads[MOST_HEADS];
		snprintf(name, sizeof name, "variant %u", seed);
		roll_variant(&x, seed);
		for (size_t h = 0; h < MOST_HEADS; h++)
			heads[h] = roll(2);
		expect_heads(&x.b, name, (const bool *const[]){heads}, 1, want_scores(NO_SCORES));
		if (!x.no_values)
			expect_heads(&x.b, name, (const bool *const[]){heads}, 1,
				     (struct rows_want){.context = true});
		bundle_release(&x.b);
		oracle_forget();
	}
}

/* Scores of head 1 that float32 cannot hold are no reason to compute head 0 another way. */
static void test_overflow_beside(void **state)
{
	enum {
		COUNT = 50 * 8
	};
	double q[2 * COUNT], k[2 * COUNT];
	const bool first[MOST_HEADS] = {true};
	struct bundle b;
	(void)state;
	variant_state = 3;
	for (size_t i = 0; i < 2 * COUNT; i++) {
		q[i] = ((double)roll(4001) / 1000 - 2) * (i < COUNT ? 1 : 1e37);
		k[i] = ((double)roll(4001) / 1000 - 2) * (i < COUNT ? 1 : 100);
	}
	bundle_init(&b);
	put(&b, "q", DTYPE_F32, SHAPE(2, 50, 8), q);
	put(&b, "k", DTYPE_F32, SHAPE(2, 50, 8), k);
	expect_heads(&b, "an overflow beside", (const bool *const[]){first}, 1, want_scores(NO_SCORES));
	bundle_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_rolled),
	    cmocka_unit_test(test_overflow_beside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
