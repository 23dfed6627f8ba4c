/* What a plan refuses and costs, what one stream carries, and when a source computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <sys/mman.h>

#include "answer_test.h"
#include "attention/matrix.h"

/* --- what is refused ------------------------------------------------------------------ */

static void test_refusals(void **state)
{
	static const struct rows_want refused[] = {
	    {.scores = SCORES_OF(SCORES_PRODUCT)},
	    {.weights = true, .scores = SCORES_OF(SCORES_RAW)},
	    {.weights = true, .scores = SCORES_OF(SCORES_MASKED)},
	    {.weights = true, .unscaled_weights = true},
	    {.weights = true, .context = true, .shares = true},
	};
	struct bundle b = bundle_of(
	    "{\"q\": [[[1]], [[1]]], \"k\": [[[1], [0]], [[0], [0]]], \"v\": [[[1], [2]]], \"lambda\": 0.5}");
	struct attn_error err = {0};
	struct problem p;
	(void)state;
	assert_int_equal(problem_init(&p, &b, &err), ATTN_OK);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct plan plan;
		assert_int_equal(plan_init(&plan, &p.attention, NULL, refused[i], &err), ATTN_BAD_INPUT);
		expect_parts("lambda", err.message, (const char *const[]){"'lambda'", "two maps", NULL});
		plan_release(&plan);
	}
	problem_release(&p);
	bundle_release(&b);
}

/* A context is of values: without any, there is none to plan. */
static void test_without_values(void **state)
{
	struct bundle b = bundle_of("{\"q\": [[[1]]], \"k\": [[[1], [1]]]}");
	struct planned r;
	(void)state;
	planned_open(&r, &b, NULL, (struct rows_want){.weights = true, .context = true, .shares = true});
	assert_true(r.plan.want.weights && !r.plan.want.context && !r.plan.want.shares);
	struct row_block block = {.count = 1, .keys = 2};
	assert_int_equal(r.source->start(r.source, NULL), ATTN_OK);
	assert_int_equal(r.source->read(r.source, 0, &block, NULL), ATTN_OK);
	assert_true(block.weights[0] == 0.5f && !block.context && !block.shares);
	planned_release(&r);
	bundle_release(&b);
}

/* --- what it costs -------------------------------------------------------------------- */

enum {
	TOKENS = 100,
	WIDTH = 64,
	HEADS = 32,
	SIZE = 2
};

/* 32 heads over embeddings; no element may be touched, they are all where reading faults. */
static struct attention untouchable(const float *nowhere, size_t kv_heads)
{
	struct attention a = {.batch = 1,
			      .heads = HEADS,
			      .kv_heads = kv_heads,
			      .queries = TOKENS,
			      .keys = {.own = TOKENS},
			      .head_size = SIZE,
			      .value_size = SIZE,
			      .has_values = true,
			      .projected = true,
			      .embeddings = {nowhere, TOKENS, WIDTH, 0},
			      .source = {nowhere, TOKENS, WIDTH, 0},
			      .source_values = {nowhere, TOKENS, WIDTH, 0},
			      .wq = matrix_plain(nowhere, WIDTH, HEADS * SIZE, HEADS * SIZE),
			      .wk = matrix_plain(nowhere, WIDTH, kv_heads * SIZE, kv_heads * SIZE),
			      .wv = matrix_plain(nowhere, WIDTH, kv_heads * SIZE, kv_heads * SIZE),
			      .bq = nowhere,
			      .bk = nowhere,
			      .bv = nowhere};
	attention_set_plain(&a);
	a.normalization.sinks = a.score.temperature = nowhere;
	return a;
}

static struct plan_cost cost_of(const struct attention *a, const bool *heads, struct rows_want want)
{
	const struct rows_selection selection = {.heads = heads};
	struct attn_error err = {0};
	struct plan plan;
	if (plan_init(&plan, a, &selection, want, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	struct plan_cost cost = plan.cost;
	plan_release(&plan);
	return cost;
}

static void *page_without_access(void)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	return page;
}

/* x W for Q, K and V, then q k^T and w v of every pair. */
static void test_cost_of_heads(void **state)
{
	static const bool one[HEADS] = {[7] = true}, two[HEADS] = {[6] = true, [7] = true},
			  apart[HEADS] = {[0] = true, [31] = true};
	const struct rows_want all_of = {.weights = true, .context = true}, weights = {.weights = true};
	const double matrix = (double)TOKENS * WIDTH * SIZE, pairs = (double)TOKENS * TOKENS;
	void *page = page_without_access();
	struct attention a = untouchable(page, HEADS);
	(void)state;
	struct plan_cost all = cost_of(&a, NULL, all_of), single = cost_of(&a, one, all_of);
	assert_true(all.projections == HEADS * 3 * matrix);
	assert_true(single.projections == 3 * matrix && 32 * single.projections == all.projections);
	assert_true(all.attention == HEADS * pairs * (SIZE + SIZE));
	assert_true(32 * single.attention == all.attention);
	assert_true(all.projected == HEADS * TOKENS * 3 * SIZE * sizeof(float));
	assert_true(32 * single.projected == all.projected);
	/* V is projected for contexts only. */
	assert_true(cost_of(&a, one, weights).projections == 2 * matrix);
	assert_true(cost_of(&a, one, weights).attention == pairs * SIZE);
	attention_release(&a);

	/* Two heads share K and V. */
	a = untouchable(page, HEADS / 2);
	assert_true(cost_of(&a, NULL, all_of).projections == (HEADS + 2 * HEADS / 2) * matrix);
	assert_true(cost_of(&a, one, all_of).projections == 3 * matrix);
	assert_true(cost_of(&a, two, all_of).projections == 4 * matrix);
	assert_true(cost_of(&a, apart, all_of).projections == 6 * matrix);

	/* Of the pairs below the diagonal. */
	a.masking.causal = true;
	assert_true(cost_of(&a, one, all_of).attention == TOKENS * (TOKENS + 1) / 2 * (SIZE + SIZE));
	/* The output takes all heads' contexts: it is not of chosen ones. */
	a.output.wo = matrix_plain(page, HEADS * SIZE, 5, 5);
	assert_true(cost_of(&a, one, all_of).output == (double)TOKENS * HEADS * SIZE * 5);
	assert_true(cost_of(&a, one, weights).output == 0);
	attention_release(&a);
	munmap(page, 4096);
}

/* Precomputed, latent and additive attention, and norms, rotary positions and a KV cache. */
static void test_planning_touches_nothing(void **state)
{
	static const bool one[HEADS] = {[7] = true};
	void *page = page_without_access();
	const float *nowhere = page;
	const struct rows_want want = {.weights = true, .context = true};
	struct attention a = untouchable(nowhere, HEADS);
	(void)state;
	a.projected = false;
	a.q = a.k = a.v = (struct heads_view){nowhere, 0, TOKENS * SIZE, SIZE};
	assert_true(cost_of(&a, one, want).projections == 0);
	assert_true(cost_of(&a, one, want).projected == 0); /* used where they are */
	a.rotary = (struct rotary){.base = 10000, .divisor = 1, .dims = SIZE};
	a.q_norm = a.k_norm = (struct vector_norm){VECTOR_NORM_RMS, 1e-6, nowhere, SIZE, false};
	a.past_k = a.past_v = (struct heads_view){nowhere, 0, 3 * SIZE, SIZE};
	a.bias_k = a.bias_v = nowhere;
	a.keys = (struct key_counts){.past = 3, .own = TOKENS, .bias = true, .zero = true};
	assert_true(cost_of(&a, one, want).projected ==
		    (TOKENS + 2 * (3 + TOKENS + 2)) * SIZE * sizeof(float));
	attention_release(&a);

	a = untouchable(nowhere, HEADS);
	a.score.function = &score_additive;
	a.score.inner = 5;
	a.score.w = a.score.u = (struct head_matrix){nowhere, SIZE, 5, SIZE * 5};
	a.score.v = (struct head_matrix){nowhere, 1, 5, 5};
	struct plan_cost all = cost_of(&a, NULL, want), single = cost_of(&a, one, want);
	assert_true(single.projections == (double)TOKENS * SIZE * (3 * WIDTH + 2 * 5));
	assert_true(32 * single.projections == all.projections);
	attention_release(&a);

	a = untouchable(nowhere, HEADS);
	a.latent = (struct latent){.down_kv = matrix_plain(nowhere, WIDTH, 10, 10),
				   .up_q = {matrix_plain(nowhere, WIDTH, SIZE, HEADS * SIZE), SIZE},
				   .up_k = {matrix_plain(nowhere, 10, SIZE, HEADS * SIZE), SIZE},
				   .up_v = {matrix_plain(nowhere, 10, SIZE, HEADS * SIZE), SIZE},
				   .kv_gain = nowhere};
	/* The latent is made for whichever head; what is made of it is a head's own. */
	assert_true(cost_of(&a, one, want).projections ==
		    (double)TOKENS * (WIDTH * 10 + WIDTH * SIZE + 2 * 10 * SIZE));
	attention_release(&a);
	munmap(page, 4096);
}

/* --- one stream ----------------------------------------------------------------------- */

#define LN2 "0.6931471805599453"
#define LN3 "1.0986122886681098"

/* Scale 1/2, softcap 2 ln 3, ln 2 added to key 1, key 2 masked, which holds what must not be
 * seen.  Query 0 has the products 0 and 2 (ln 3)^2, so the scores
 *   raw     0  (ln 3)^2  = 2 ln 3 atanh(1/2), as atanh(1/2) = ln(3) / 2
 *   capped  0  ln 3
 *   masked  0  ln 6        weights 1/7, 6/7, context (1, 1), shares 1/2, 1/2
 * and without the scale, as tanh(ln 3) = 4/5, 1.6 ln 3 + ln 2: 1 and 2 3^1.6.
 * Query 1 is 0: weights 1/3 and 2/3, context (7/3, 7/9) of length^2 490/81, shares 0.9, 0.1.
 * Query 2 attends to nothing. */
#define STAGED                                                                                               \
	"{\"q\": [[[2, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0]]],"                                              \
	" \"k\": [[[0, 7, 7, 7], [1.2069489608396, -5, 0, 5], [-1.2069489608396, 0, 0, 0]]],"                \
	" \"v\": [[[7, 0], [0, 1.1666666666666667], [3e38, -3e38]]], \"softcap\": 2.1972245773362196,"       \
	" \"mask\": [[0, " LN2 ", null], [0, " LN2 ", null], [null, null, null]]}"

/* (3, 3) each */
struct staged {
	struct row_consumer consumer;
	bool seen;
	float scores[SCORE_STAGES][9], weights[9], unscaled[9], context[6];
	double shares[9];
	unsigned char cells[9];
};

static enum attn_status keep_stages(struct row_consumer *consumer, const struct row_block *block,
				    struct attn_error *err)
{
	struct staged *s = (struct staged *)consumer;
	(void)err;
	assert_int_equal(block->count * block->keys, 9);
	assert_int_equal(block->masked, 1);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		memcpy(s->scores[stage], block->scores[stage], sizeof s->scores[stage]);
	memcpy(s->weights, block->weights, sizeof s->weights);
	memcpy(s->unscaled, block->unscaled_weights, sizeof s->unscaled);
	memcpy(s->shares, block->shares, sizeof s->shares);
	memcpy(s->cells, block->cells, sizeof s->cells);
	for (size_t r = 0; r < 3; r++)
		memcpy(s->context + 2 * r, block->context + r * block->context_stride,
		       2 * sizeof *s->context);
	s->seen = true;
	return ATTN_OK;
}

static void expect_near(const char *what, size_t i, double got, double want)
{
	if (!(got == want || fabs(got - want) <= 2e-6 || (isnan(got) && isnan(want))))
		fail_msg("%s[%zu] is %.9g, expected %.9g", what, i, got, want);
}

static void test_one_stream(void **state)
{
	static const char *const names[] = {"product", "raw", "capped", "masked"};
	const double l = log(3), far = 2 * pow(3, 1.6), none = -INFINITY;
	const double scores[SCORE_STAGES][9] = {{0, 2 * l * l, -2 * l * l, 0, 0, 0, 0, 2 * l * l, -2 * l * l},
						{0, l * l, -l * l, 0, 0, 0, 0, l * l, -l * l},
						{0, l, -l, 0, 0, 0, 0, l, -l},
						{0, log(6), none, 0, log(2), none, none, none, none}};
	const double weights[9] = {1. / 7, 6. / 7, 0, 1. / 3, 2. / 3, 0, 0, 0, 0};
	const double unscaled[9] = {1 / (1 + far), far / (1 + far), 0, 1. / 3, 2. / 3, 0, 0, 0, 0};
	const double context[6] = {1, 1, 7. / 3, 7. / 9, 0, 0};
	const double shares[9] = {0.5, 0.5, 0, 0.9, 0.1, 0, NAN, NAN, NAN};
	struct staged s = {.consumer = {.consume = keep_stages}};
	struct bundle b = bundle_of(STAGED);
	struct planned r;
	struct attn_error err = {0};
	(void)state;
	planned_open(&r, &b, NULL,
		     (struct rows_want){true, true, SCORES_OF(SCORE_STAGES) - 1, true, true, true});
	if (rows_stream(r.source, NULL, (struct row_consumer *[]){&s.consumer}, 1, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_true(s.seen);
	for (size_t i = 0; i < 9; i++) {
		for (int stage = 0; stage < SCORE_STAGES; stage++)
			expect_near(names[stage], i, (double)s.scores[stage][i], scores[stage][i]);
		expect_near("weights", i, (double)s.weights[i], weights[i]);
		expect_near("unscaled weights", i, (double)s.unscaled[i], unscaled[i]);
		expect_near("shares", i, s.shares[i], shares[i]);
		assert_int_equal(s.cells[i], i < 6 && i % 3 < 2 ? CELL_ATTENDED : CELL_MASKED);
	}
	for (size_t i = 0; i < 6; i++)
		expect_near("context", i, (double)s.context[i], context[i]);
	planned_release(&r);
	bundle_release(&b);
}

/* What is asked for beside them changes no weight and no context by a bit, and nothing comes
 * that was not asked for. */
static void test_any_of_them(void **state)
{
	struct bundle b = bundle_of(STAGED);
	struct answer all = compute(&b, "all", want_scores(SCORES_OF(SCORE_STAGES) - 1));
	(void)state;
	for (unsigned scores = 1; scores < SCORES_OF(SCORE_STAGES); scores++) {
		struct answer some = compute(&b, "some", want_scores(scores));
		assert_memory_equal(some.weights, all.weights, all.cells * sizeof(float));
		assert_memory_equal(some.context, all.context, all.contexts * sizeof(float));
		for (int stage = 0; stage < SCORE_STAGES; stage++)
			if (scores & SCORES_OF(stage))
				assert_memory_equal(some.scores[stage], all.scores[stage],
						    all.cells * sizeof(float));
		answer_release(&some);
	}
	answer_release(&all);
	bundle_release(&b);
}

/* --- when it computes ----------------------------------------------------------------- */

struct row_of_two {
	struct row_consumer consumer;
	float weights[2];
	size_t rows;
};

static enum attn_status keep_row(struct row_consumer *consumer, const struct row_block *block,
				 struct attn_error *err)
{
	struct row_of_two *s = (struct row_of_two *)consumer;
	(void)err;
	assert_int_equal(block->count * block->keys, 2);
	memcpy(s->weights, block->weights, sizeof s->weights);
	s->rows++;
	return ATTN_OK;
}

static float first_weight(struct row_source *source)
{
	struct row_of_two s = {.consumer = {.consume = keep_row}};
	struct attn_error err = {0};
	if (rows_stream(source, NULL, (struct row_consumer *[]){&s.consumer}, 1, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_int_equal(s.rows, 1);
	return s.weights[0];
}

/* Q and K are projected when the source is started, which it is once: numbers that change
 * before it count, and numbers that change after it do not. */
static void test_started_once(void **state)
{
	float x[] = {5}, source[] = {0, 5}, wq[] = {1}, wk[] = {1};
	const struct rows_want want = {.weights = true};
	struct row_source *first = NULL, *second = NULL;
	struct plan plan;
	struct attention a = {.batch = 1,
			      .heads = 1,
			      .kv_heads = 1,
			      .queries = 1,
			      .keys = {.own = 2},
			      .head_size = 1,
			      .projected = true,
			      .cross = true,
			      .embeddings = {x, 1, 1, 0},
			      .source = {source, 2, 1, 0},
			      .wq = matrix_plain(wq, 1, 1, 1),
			      .wk = matrix_plain(wk, 1, 1, 1)};
	(void)state;
	attention_set_plain(&a);
	assert_int_equal(plan_init(&plan, &a, NULL, want, NULL), ATTN_OK);
	assert_int_equal(plan_run(&plan, &first, NULL), ATTN_OK);
	x[0] = 1;
	source[1] = logf(3); /* scores 0 and ln 3 */
	assert_true(fabsf(first_weight(first) - 0.25f) < 1e-6f);
	x[0] = -1; /* 0 and -2 ln 3 */
	wk[0] = 2;
	assert_true(fabsf(first_weight(first) - 0.25f) < 1e-6f);
	assert_int_equal(first->start(first, NULL), ATTN_OK);
	assert_true(fabsf(first_weight(first) - 0.25f) < 1e-6f);
	assert_int_equal(plan_run(&plan, &second, NULL), ATTN_OK); /* a source of its own */
	assert_true(fabsf(first_weight(second) - 0.9f) < 1e-6f);
	assert_true(fabsf(first_weight(first) - 0.25f) < 1e-6f);
	first->free(first);
	second->free(second);
	plan_release(&plan);
	attention_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refusals),      cmocka_unit_test(test_without_values),
	    cmocka_unit_test(test_cost_of_heads), cmocka_unit_test(test_planning_touches_nothing),
	    cmocka_unit_test(test_one_stream),    cmocka_unit_test(test_any_of_them),
	    cmocka_unit_test(test_started_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
