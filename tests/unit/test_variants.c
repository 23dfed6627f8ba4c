/* Every variant of attention, alone and together, against the naive computation of
 * oracle_test.h, and hand-worked corners.  A case that fails is named by its seed:
 * ATTN_VARIANT=SEED runs it alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer_test.h"
#include "util/threads.h"
#include "variant_test.h"

enum {
	CASES = 600
};

/* --- against the oracle --- */

struct comparison {
	const struct variant *x;
	const char *name;
};

static void expect_near(struct comparison *c, const char *what, size_t i, double got, double want,
			double bound)
{
	char message[200];
	if (got == want || fabs(got - want) <= bound)
		return;
	snprintf(message, sizeof message, "%s[%zu] is %.9g, expected %.9g", what, i, got, want);
	fail_case(&c->x->b, c->name, message);
}

/* How far a number of row (b, h, n) may be off, where what it sums is of `size`.  A row whose
 * scores are all large, as ALiBi's are far from the keys, has them rounded to float32 there:
 * beyond 16 by more than 1e-6. */
static double bound_of(const struct oracle *o, size_t row, double want, double size)
{
	return (2e-6 * size + 1e-5 * fabs(want)) * fmax(1, o->highest[row] / 16);
}

static void expect_weights(struct comparison *c, const struct answer *a)
{
	const struct oracle *o = &c->x->o;
	char message[100];
	for (size_t i = 0; i < a->cells && a->weights; i++) {
		size_t row = i / o->K;
		if (a->attended[i] != o->attended[i]) {
			snprintf(message, sizeof message, "attended[%zu] is %d", i, a->attended[i]);
			fail_case(&c->x->b, c->name, message);
		}
		if (!a->attended[i] && a->weights[i] != 0)
			fail_case(&c->x->b, c->name, "a masked weight is not 0");
		if (!o->close[row])
			expect_near(c, "weights", i, (double)a->weights[i], o->weights[i],
				    bound_of(o, row, o->weights[i], 1));
	}
}

static void expect_answer(struct comparison *c, const struct answer *a)
{
	const struct oracle *o = &c->x->o;
	double largest = 1;
	char message[100];
	assert_int_equal(a->keys, o->K);
	expect_weights(c, a);
	for (size_t i = 0; i < o->B * o->G * o->K * o->e; i++)
		largest = fmax(largest, fabs(o->values[i]));
	for (size_t i = 0; i < a->contexts; i++) {
		size_t h = i / o->e % o->H, n = i / o->e / o->H % o->N, b = i / o->e / o->H / o->N;
		size_t row = (b * o->H + h) * o->N + n;
		if (!o->close[row])
			expect_near(c, "context", i, (double)a->context[i], o->context[i],
				    bound_of(o, row, o->context[i], largest));
	}
	if (a->masked != o->masked_rows) {
		snprintf(message, sizeof message, "%zu rows are masked, expected %zu", a->masked,
			 o->masked_rows);
		fail_case(&c->x->b, c->name, message);
	}
}

static void expect_scores(struct comparison *c, const struct answer *a, enum score_stage stage)
{
	const struct oracle *o = &c->x->o;
	static const char *const names[SCORE_STAGES] = {
	    [SCORES_RAW] = "raw", [SCORES_CAPPED] = "capped", [SCORES_MASKED] = "masked"};
	const double *want = stage == SCORES_RAW ? o->raw : stage == SCORES_CAPPED ? o->capped : o->masked;
	for (size_t i = 0; i < a->cells; i++)
		expect_near(c, names[stage], i, (double)a->scores[stage][i], want[i],
			    2e-6 + 1e-5 * fabs(want[i]));
}

/* Contexts alone, and scores of some stage: other ways through the engine. */
static void expect_other_wants(struct comparison *c, enum score_stage stage)
{
	const struct variant *x = c->x;
	if (!x->no_values) {
		struct answer contexts = compute(&x->b, c->name, (struct rows_want){.context = true});
		expect_answer(c, &contexts);
		answer_release(&contexts);
	}
	if (x->o.maps == 1) { /* two maps have no scores to show */
		struct answer scores = compute(&x->b, c->name, want_scores(SCORES_OF(stage)));
		expect_answer(c, &scores);
		expect_scores(c, &scores, stage);
		answer_release(&scores);
	}
}

/* All rows seen, and those that were not compared: most are of one case of cosines with d = 1. */
static size_t rows_seen, rows_close;

static void expect_variant(unsigned seed)
{
	char name[40];
	struct variant x;
	struct comparison c = {&x, name};
	snprintf(name, sizeof name, "ATTN_VARIANT=%u", seed);
	roll_variant(&x, seed);
	oracle_compute(&x.o);
	threads_set(1);
	struct answer one = compute(&x.b, name, want_scores(NO_SCORES));
	expect_answer(&c, &one);
	threads_set(2);
	struct answer two = compute(&x.b, name, want_scores(NO_SCORES));
	if (memcmp(one.weights, two.weights, one.cells * sizeof(float)) != 0 ||
	    (one.context && memcmp(one.context, two.context, one.contexts * sizeof(float)) != 0))
		fail_case(&x.b, name, "two threads give other bytes than one");
	expect_context_alone(&x.b, name, &one);
	expect_other_wants(&c, SCORES_RAW + (enum score_stage)roll(3));
	rows_seen += x.o.B * x.o.H * x.o.N;
	for (size_t row = 0; row < x.o.B * x.o.H * x.o.N; row++)
		rows_close += x.o.close[row];
	answer_release(&one);
	answer_release(&two);
	bundle_release(&x.b);
	oracle_forget();
}

static void test_rolled(void **state)
{
	const char *only = getenv("ATTN_VARIANT");
	(void)state;
	for (unsigned seed = 0; seed < CASES && !only; seed++)
		expect_variant(seed);
	if (only)
		expect_variant((unsigned)strtoul(only, NULL, 10));
	else
		assert_true(rows_close * 50 < rows_seen);
}

/* --- hand-worked --- */

enum {
	WEIGHTS = -1
};

/* With the scores of a stage, or WEIGHTS alone. */
static struct answer compute_json(const char *json, int stage)
{
	struct bundle b = bundle_of(json);
	struct answer a = compute(&b, json, want_scores(stage == WEIGHTS ? NO_SCORES : SCORES_OF(stage)));
	bundle_release(&b);
	return a;
}

static void expect_floats(const char *json, const char *what, const float *got, const double *want,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!((double)got[i] == want[i] || fabs((double)got[i] - want[i]) <= 1e-6))
			fail_msg("%s: %s[%zu] is %.9g, expected %.9g", json, what, i, (double)got[i],
				 want[i]);
}

struct by_hand {
	const char *json;
	int stage; /* WEIGHTS: `numbers` are these, else scores */
	size_t count;
	double numbers[16];
};

#define LN2 "0.6931471805599453"
#define LN3 "1.0986122886681098"

static const struct by_hand by_hand[] = {
    /* The corner of causal is the top left where there is no past: query i sees i + 1 keys,
     * also with more keys than queries; with kv_lengths it is the bottom right of these:
     * 3 - 2 = 1 more. */
    {"{\"q\": [[[0], [0]]], \"k\": [[[1], [1], [1]]], \"causal\": true}", WEIGHTS, 6, {1, 0, 0, 0.5, 0.5, 0}},
    {"{\"q\": [[[0], [0]]], \"k\": [[[1], [1], [1], [1]]], \"causal\": true, \"kv_lengths\": [3]}",
     WEIGHTS,
     8,
     {0.5, 0.5, 0, 0, 1. / 3, 1. / 3, 1. / 3, 0}},
    /* The mask is added after the cap of 0.5, which would make less of its ln 3. */
    {"{\"q\": [[[0]]], \"k\": [[[1], [1]]], \"softcap\": 0.5, \"mask\": [[0, " LN3 "]]}",
     WEIGHTS,
     2,
     {0.25, 0.75}},
    /* A window of 1 before and none after: two keys, its own one among them. */
    {"{\"q\": [[[0], [0], [0], [0]]], \"k\": [[[1], [1], [1], [1]]], \"window\": \"1,0\"}",
     WEIGHTS,
     16,
     {1, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0.5, 0.5}},
    {"{\"q\": [[[0], [0], [0]]], \"k\": [[[1], [1], [1]]], \"window\": \"0,1\"}",
     WEIGHTS,
     9,
     {0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1}},
    /* With a past of two the own key of the query is key 2. */
    {"{\"q\": [[[0]]], \"k\": [[[1]]], \"past_k\": [[[1], [1]]], \"window\": \"1,0\"}",
     WEIGHTS,
     3,
     {0, 0.5, 0.5}},
    /* Every other key, counted from the query; the window counts those: 3 sees 3 and 1, not 0, 2. */
    {"{\"q\": [[[0], [0], [0], [0]]], \"k\": [[[1], [1], [1], [1]]], \"window\": \"1,0\", \"dilation\": 2}",
     WEIGHTS,
     16,
     {1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5}},
    /* A prefix of 2 is seen by all, the rest is causal. */
    {"{\"q\": [[[0], [0], [0]]], \"k\": [[[1], [1], [1]]], \"prefix\": 2}",
     WEIGHTS,
     9,
     {0.5, 0.5, 0, 0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3}},
    /* Blocks of one, window 1: each its own; block 0 is global: seen by all and sees all. */
    {"{\"q\": [[[0], [0], [0]]], \"k\": [[[1], [1], [1]]], \"blocks\": \"size=1,global=1,window=1\"}",
     WEIGHTS,
     9,
     {1. / 3, 1. / 3, 1. / 3, 0.5, 0.5, 0, 0.5, 0, 0.5}},
    {"{\"q\": [[[0], [0], [0]]], \"k\": [[[1], [1], [1]]], \"segments\": [5, 5, 7]}",
     WEIGHTS,
     9,
     {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}},
    /* ALiBi with 3 heads: those of 2 heads, 1/16 and 1/256, then the first of 4, 1/4. */
    {"{\"q\": [[[0]], [[0]], [[0]]], \"k\": [[[1], [1]], [[1], [1]], [[1], [1]]], \"alibi\": true}",
     SCORES_MASKED,
     6,
     {0, -0.0625, 0, -0.00390625, 0, -0.25}},
    /* Distances on both sides. */
    {"{\"q\": [[[0], [0]]], \"k\": [[[1], [1]]], \"alibi_slopes\": 2}", SCORES_MASKED, 4, {0, -2, -2, 0}},
    /* T5, 4 buckets both ways: n = 2, exact = 1: distance 0 is bucket 0, one before 1, one after 2 + 1. */
    {"{\"q\": [[[0], [0]]], \"k\": [[[1], [1]]], \"relative_bias\": [[1], [2], [3], [4]]}",
     SCORES_MASKED,
     4,
     {1, 4, 2, 1}},
    /* Query heads 0 and 1 share kv head 0, 2 and 3 kv head 1: repeated, not tiled. */
    {"{\"q\": [[[1]], [[1]], [[1]], [[1]]], \"k\": [[[0], [" LN3 "]], [[" LN3 "], [0]]], \"scale\": 1}",
     WEIGHTS,
     8,
     {0.25, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75, 0.25}},
    /* Temperature 2 halves 2 ln 3; the cap comes after: 2 atanh(1/2) = ln 3 and cap 2 give 1. */
    {"{\"q\": [[[1]]], \"k\": [[[0], [2.1972245773362196]]], \"scale\": 1, \"temperature\": 2}",
     WEIGHTS,
     2,
     {0.25, 0.75}},
    {"{\"q\": [[[1]]], \"k\": [[[0], [2.1972245773362196]]], \"scale\": 1, \"temperature\": 2, \"softcap\": "
     "2}",
     SCORES_CAPPED,
     2,
     {0, 1}},
    /* dot has no 1/sqrt(d), cosine no lengths: 8 and 4/5. */
    {"{\"q\": [[[2, 0, 0, 0]]], \"k\": [[[4, 3, 0, 0]]], \"score\": \"dot\"}", SCORES_RAW, 1, {8}},
    {"{\"q\": [[[2, 0, 0, 0]]], \"k\": [[[4, 3, 0, 0]]], \"score\": \"cosine\"}", SCORES_RAW, 1, {0.8}},
    /* q W = (1, 2) W = (1*1 + 2*4, 1*2 + 2*5, 1*3 + 2*6) = (9, 12, 15); times (1, 0, -1) is -6. */
    {"{\"q\": [[[1, 2]]], \"k\": [[[1, 0, -1]]], \"score\": \"general\", \"score_w\": [[1, 2, 3], [4, 5, "
     "6]]}",
     SCORES_RAW,
     1,
     {-6}},
    /* tanh(1 * atanh(1/2) + 0) = 1/2 and tanh(0 + 2) = 0.964027580, with v = (4, 1). */
    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"score\": \"additive\", \"score_w\": [[0.5493061443340548, 0]],"
     " \"score_u\": [[0, 1]], \"score_v\": [4, 1], \"score_b\": [0, 1]}",
     SCORES_RAW,
     1,
     {2.964027580}},
    /* A sink of ln 2 beside scores 0 and 0: 1 / (2 + 1 + 1).  It is subtracted, too: 1000 leaves
     * nothing and no NaN, and -1000 takes nothing. */
    {"{\"q\": [[[0]]], \"k\": [[[1], [1]]], \"sinks\": " LN2 "}", WEIGHTS, 2, {0.25, 0.25}},
    {"{\"q\": [[[0]]], \"k\": [[[1], [1]]], \"sinks\": 1000}", WEIGHTS, 2, {0, 0}},
    {"{\"q\": [[[0]]], \"k\": [[[1], [1]]], \"sinks\": -1000}", WEIGHTS, 2, {0.5, 0.5}},
    {"{\"q\": [[[1000]]], \"k\": [[[1], [1]]], \"zero_sink\": true}", WEIGHTS, 2, {0.5, 0.5}},
    {"{\"q\": [[[0]]], \"k\": [[[1], [1]]], \"zero_sink\": true}", WEIGHTS, 2, {1. / 3, 1. / 3}},
    /* sparsemax of 0.2, 1, 0: tau = (0.2 + 1 - 1) / 2 = 0.1. */
    {"{\"q\": [[[1]]], \"k\": [[[0.2], [1], [0]]], \"scale\": 1, \"normalizer\": \"sparsemax\"}",
     WEIGHTS,
     3,
     {0.1, 0.9, 0}},
    /* 1.5-entmax: with halves x of 0.2 and 0, tau = -0.6: 0.8^2 + 0.6^2 = 1. */
    {"{\"q\": [[[1]]], \"k\": [[[0.4], [0], [-9]]], \"scale\": 1, \"normalizer\": \"entmax15\"}",
     WEIGHTS,
     3,
     {0.64, 0.36, 0}},
    /* phi(1) phi(0) = 2, phi(1) phi(2) = 6: 1/4 and 3/4.  phi(-ln 2) = 1/2. */
    {"{\"q\": [[[1]]], \"k\": [[[0], [2]]], \"normalizer\": \"linear\"}", WEIGHTS, 2, {0.25, 0.75}},
    {"{\"q\": [[[1]]], \"k\": [[[-" LN2 "], [0.5]]], \"normalizer\": \"linear\"}", WEIGHTS, 2, {0.25, 0.75}},
    /* Of equal scores the lower key stays; the two that do share. */
    {"{\"q\": [[[1]]], \"k\": [[[0], [1], [2], [1]]], \"scale\": 0, \"top_k\": 2}",
     WEIGHTS,
     4,
     {0.5, 0.5, 0, 0}},
    /* 3/4 - 1/2 1/2 and 1/4 - 1/2 1/2: maps 0 and 1 of a head stand side by side. */
    {"{\"q\": [[[1]], [[1]]], \"k\": [[[" LN3 "], [0]], [[0], [0]]], \"scale\": 1, \"lambda\": 0.5}",
     WEIGHTS,
     2,
     {0.5, 0}},
    /* (3, 4) has the length 5, and a mean square of 12.5. */
    {"{\"q\": [[[3, 4]]], \"k\": [[[5, 0]]], \"scale\": 1, \"qk_norm\": \"l2\"}", SCORES_RAW, 1, {0.6}},
    {"{\"q\": [[[3, 4]]], \"k\": [[[5, 0]]], \"scale\": 1, \"qk_norm\": \"rms\", \"q_norm\": [10, 1],"
     " \"qk_norm_eps\": 1e-12}",
     SCORES_RAW,
     1,
     {12}},
};

static void test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
		const struct by_hand *h = &by_hand[i];
		struct answer a = compute_json(h->json, h->stage);
		assert_int_equal(a.cells, h->count);
		expect_floats(h->json, h->stage == WEIGHTS ? "weights" : "scores",
			      h->stage == WEIGHTS ? a.weights : a.scores[h->stage], h->numbers, h->count);
		answer_release(&a);
	}
}

/* Token 1 of two, base 10000, d = 4: pair 0 is rotated by 1, pair 1 by 1/100.  Query (1, 0, 0, 0)
 * at position 1, key (1, 0, 0, 0) at position 0: half has the pair (0, 2), interleaved (0, 1).
 * With key (0, 1, 1, 0) the product is sin 1 either way but from another dimension; key
 * (0, 1, 0, 0) tells them apart: half 0, interleaved sin 1. */
static void test_rotary_pairs(void **state)
{
	static const char *const styles[] = {"half", "interleaved"};
	const double s = sin(1), wanted[2][2] = {{0, s}, {s, 0}};
	char json[300];
	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t key = 1; key <= 2; key++) {
			snprintf(
			    json, sizeof json,
			    "{\"q\": [[[0, 0, 0, 0], [1, 0, 0, 0]]], \"k\": [[[0, %d, %d, 0], [0, 0, 0, 0]]],"
			    " \"scale\": 1, \"rope\": 10000, \"rope_style\": \"%s\"}",
			    key == 1, key == 2, styles[i]);
			struct answer a = compute_json(json, SCORES_RAW);
			expect_floats(json, "score", a.scores[SCORES_RAW] + 2, &wanted[i][key - 1], 1);
			answer_release(&a);
		}
}

/* Keys of a KV cache are rotated already; own ones start behind it.  A query at position 2 and
 * its own key have no angle between them, the past ones stay as they are: cos 2. */
static void test_rotary_past(void **state)
{
	const double wanted[] = {cos(2), cos(2), 1};
	static const char json[] = "{\"q\": [[[1, 0]]], \"k\": [[[1, 0]]], \"past_k\": [[[1, 0], [1, 0]]],"
				   " \"scale\": 1, \"rope\": 10000}";
	(void)state;
	struct answer a = compute_json(json, SCORES_RAW);
	expect_floats(json, "scores", a.scores[SCORES_RAW], wanted, 3);
	answer_release(&a);
}

/* wqkv of one query column, one key column and, as wo has two rows, two value columns. */
static void test_unequal_fused(void **state)
{
	static const char json[] =
	    "{\"embeddings\": [[1]], \"wqkv\": [[2, 3, 5, 7]], \"wo\": [[1, 0], [0, 1]],"
	    " \"scale\": 1}";
	(void)state;
	struct answer a = compute_json(json, SCORES_RAW);
	expect_floats(json, "score", a.scores[SCORES_RAW], (const double[]){6}, 1);
	expect_floats(json, "context", a.context, (const double[]){5, 7}, 2);
	answer_release(&a);
}

/* One head of dn = 1, dr = 2, e = 1, all matrices fused: the query is (2 | 1, 0), the latent
 * 3 and the rotary key (4, 5), so the key is (3 * 1 | 4, 5) and the value 3 * 7.
 * 2 * 3 + 1 * 4 + 0 * 5 = 10, over sqrt(3). */
static void test_latent_by_hand(void **state)
{
	static const char json[] = "{\"embeddings\": [[1]], \"num_heads\": 1, \"wuq\": [[2, 1, 0]],"
				   " \"wdkv\": [[3, 4, 5]], \"wukv\": [[1, 7]], \"rope_dim\": 2}";
	const double score = 10 / sqrt(3), value = 21;
	(void)state;
	struct answer a = compute_json(json, SCORES_RAW);
	expect_floats(json, "score", a.scores[SCORES_RAW], &score, 1);
	expect_floats(json, "context", a.context, &value, 1);
	answer_release(&a);
}

/* PE(1) of width 2 is (sin 1, cos 1): with wq = wk = identity and zero embeddings the product
 * of tokens 0 and 1, (0, 1) and (sin 1, cos 1), is cos 1. */
static void test_sinusoids(void **state)
{
	static const char json[] = "{\"embeddings\": [[0, 0], [0, 0]], \"wq\": [[1, 0], [0, 1]],"
				   " \"wk\": [[1, 0], [0, 1]], \"scale\": 1, \"sinusoidal\": true,"
				   " \"num_heads\": 1}";
	const double wanted[] = {1, cos(1), cos(1), 1};
	(void)state;
	struct answer a = compute_json(json, SCORES_RAW);
	expect_floats(json, "scores", a.scores[SCORES_RAW], wanted, 4);
	answer_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_rotary_pairs),
	    cmocka_unit_test(test_rotary_past),    cmocka_unit_test(test_unequal_fused),
	    cmocka_unit_test(test_latent_by_hand), cmocka_unit_test(test_sinusoids),
	    cmocka_unit_test(test_rolled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
