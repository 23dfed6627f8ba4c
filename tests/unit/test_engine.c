/* The engine against a plain float64 computation, hand-worked numbers, and
 * properties that any attention has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "consumers/context.h"
#include "consumers/masked.h"
#include "planned_test.h"
#include "scene_test.h"

/* --- what the engine computes, all of it in memory --- */

struct result {
	float *weights, *scores[SCORE_STAGES]; /* (B, H, N, keys); scores NULL unless asked for */
	unsigned char *attended;
	float *context; /* (B, N, H e) or NULL */
	size_t batch, heads, queries, keys;
	size_t masked; /* rows that attend to no key */
};

struct collector {
	struct row_consumer consumer;
	struct result *result;
};

static enum attn_status collect(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct result *r = ((struct collector *)consumer)->result;
	size_t first = ((block->batch * r->heads + block->head) * r->queries + block->query) * r->keys;
	size_t count = block->count * block->keys;
	(void)err;
	assert_int_equal(block->keys, r->keys);
	memcpy(r->weights + first, block->weights, count * sizeof *r->weights);
	memcpy(r->attended + first, block->cells, count);
	for (int s = 0; s < SCORE_STAGES; s++)
		if (r->scores[s])
			memcpy(r->scores[s] + first, block->scores[s], count * sizeof(float));
		else
			assert_null(block->scores[s]);
	return ATTN_OK;
}

static struct result result_alloc(const struct rows_shape *shape, unsigned scores)
{
	size_t cells = shape->batch * shape->heads * shape->queries * shape->keys;
	struct result r = {
	    .batch = shape->batch, .heads = shape->heads, .queries = shape->queries, .keys = shape->keys};
	r.weights = calloc(cells, sizeof *r.weights);
	r.attended = calloc(cells, 1);
	assert_true(r.weights && r.attended);
	for (int s = 0; s < SCORE_STAGES; s++)
		if (scores & SCORES_OF(s))
			assert_non_null(r.scores[s] = calloc(cells, sizeof(float)));
	return r;
}

static void result_release(struct result *r)
{
	free(r->weights);
	for (int s = 0; s < SCORE_STAGES; s++)
		free(r->scores[s]);
	free(r->attended);
	free(r->context);
}

static struct result compute(const struct bundle *b, unsigned scores)
{
	struct attn_error err = {0};
	struct planned r;
	planned_open(&r, b, NULL, want_scores(scores));
	const struct attention *a = &r.problem.attention;
	struct result result = result_alloc(&r.source->shape, scores);
	struct collector collector = {{.consume = collect}, &result};
	struct masked_count masked;
	struct context_consumer context = {0};
	struct row_consumer *consumers[3] = {&collector.consumer, &masked.consumer};
	masked_count_init(&masked);
	if (a->has_values) {
		assert_int_equal(context_consumer_init(&context, &r.source->shape, a->value_size, &err),
				 ATTN_OK);
		consumers[2] = &context.consumer;
	}
	assert_int_equal(rows_stream(r.source, NULL, consumers, a->has_values ? 3 : 2, &err), ATTN_OK);
	result.context = context.context;
	result.masked = masked.masked;
	context.context = NULL; /* moved */
	context_consumer_release(&context);
	planned_release(&r);
	return result;
}

static struct result compute_json(const char *json)
{
	struct bundle b = bundle_of(json);
	struct result r = compute(&b, NO_SCORES);
	bundle_release(&b);
	return r;
}

static void expect_near(const char *name, const char *what, size_t i, double got, double want)
{
	if (got == want)
		return;
	if (!(fabs(got - want) <= 2e-6 + 1e-5 * fabs(want)))
		fail_msg("%s: %s[%zu] is %.9g, expected %.9g", name, what, i, got, want);
}

static void expect_floats(const char *what, const float *got, const double *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_near("expected", what, i, (double)got[i], want[i]);
}

static double to_f32_range(double value)
{
	return isinf(value) ? value : fmax(-(double)FLT_MAX, fmin((double)FLT_MAX, value));
}

static void expect_same(const struct scene *s, const struct dense *x, const struct result *r)
{
	size_t masked = 0;
	assert_int_equal(r->keys, x->K);
	for (size_t i = 0; i < x->B * x->H * x->N * x->K; i++) {
		expect_near(s->name, "weights", i, (double)r->weights[i], x->weights[i]);
		if (r->attended[i] != (x->allowed[i] != 0))
			fail_msg("%s: attended[%zu] is %d", s->name, i, r->attended[i]);
		if (!r->attended[i] && r->weights[i] != 0)
			fail_msg("%s: masked weights[%zu] is %g", s->name, i, (double)r->weights[i]);
	}
	for (size_t i = 0; i < x->B * x->N * x->H * x->e; i++)
		expect_near(s->name, "context", i, (double)r->context[i], x->context[i]);
	for (size_t row = 0; row < x->B * x->H * x->N; row++) {
		double any = 0;
		for (size_t j = 0; j < x->K; j++)
			any += x->allowed[row * x->K + j];
		masked += any == 0;
	}
	assert_int_equal(r->masked, masked);
}

static void test_scenes(void **state)
{
	struct bundle b;
	struct dense x;
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		make_scene(&scenes[i], &b, &x);
		struct result r = compute(&b, NO_SCORES);
		expect_same(&scenes[i], &x, &r);
		result_release(&r);
		bundle_release(&b);
	}
}

/* Each stage alone, and at last all of them. */
static void test_stages(void **state)
{
	static const char *const names[SCORE_STAGES] = {"product", "raw", "capped", "masked"};
	const unsigned all = SCORES_OF(SCORE_STAGES) - 1;
	struct bundle b;
	struct dense x;
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		make_scene(&scenes[i], &b, &x);
		const double *const expected[] = {x.product, x.raw, x.capped, x.masked};
		for (int asked = 0; asked <= SCORE_STAGES; asked++) {
			struct result r = compute(&b, asked < SCORE_STAGES ? SCORES_OF(asked) : all);
			for (int s = 0; s < SCORE_STAGES; s++)
				for (size_t j = 0; r.scores[s] && j < x.B * x.H * x.N * x.K; j++)
					expect_near(scenes[i].name, names[s], j, (double)r.scores[s][j],
						    to_f32_range(expected[s][j]));
			expect_same(&scenes[i], &x, &r);
			result_release(&r);
		}
		bundle_release(&b);
	}
}

static unsigned dice_state;

/* 0 to sides - 1; not the generator that makes the scenes' numbers. */
static unsigned dice(unsigned sides)
{
	dice_state = dice_state * 1664525u + 1013904223u;
	return (dice_state >> 10) % sides;
}

/* A mask of any rank, each of whose dimensions is 1 or the whole. */
static void roll_mask(struct scene *s)
{
	const size_t whole[4] = {s->B, s->H, s->N, s->P + s->M};
	s->mask = (enum mask_kind)dice(LOWEST_MASK + 1);
	s->mask_rank = 1 + (int)dice(4);
	for (int i = 0; i < s->mask_rank; i++)
		s->mask_shape[i] = dice(3) ? whole[4 - s->mask_rank + i] : 1;
}

static struct scene roll_scene(void)
{
	struct scene s = {.name = "rolled", .batch = dice(2), .B = 1, .G = 1 + dice(2)};
	if (s.batch)
		s.B += dice(2);
	s.H = s.G * (1 + dice(2));
	s.N = 1 + dice(dice(3) ? 9 : 70);
	s.M = 1 + dice(dice(3) ? 9 : 70) + (dice(8) ? 0 : 96 * dice(4));
	s.d = 1 + dice(dice(3) ? 5 : 20);
	s.e = 1 + dice(dice(3) ? 5 : 20);
	s.P = dice(3) ? 0 : 1 + dice(9);
	s.packed = dice(2);
	s.causal = dice(2);
	s.bias_kv = dice(4) == 0;
	s.zero = dice(4) == 0;
	s.scale = dice(3) ? 0 : 0.25 * (1 + dice(4));
	s.softcap = dice(3) ? 0 : 0.5 * (1 + dice(4));
	s.padding_rank = dice(3) ? 0 : 1 + (int)dice(3);
	if (s.P == 0 && dice(3) == 0)
		for (size_t i = 0; i < s.B; i++)
			s.lengths[i] = 1 + dice((unsigned)s.M);
	if (dice(2))
		roll_mask(&s);
	return s;
}

/* Everything at once, in sizes that no kernel likes. */
static void test_rolled_scenes(void **state)
{
	struct bundle b;
	struct dense x;
	(void)state;
	for (dice_state = 0; dice_state < 400; dice_state++) {
		unsigned seed = dice_state;
		char name[40];
		snprintf(name, sizeof name, "rolled scene %u", seed);
		struct scene s = roll_scene();
		s.name = name;
		make_scene(&s, &b, &x);
		struct result r = compute(&b, SCORES_OF(SCORES_MASKED));
		expect_same(&s, &x, &r);
		result_release(&r);
		r = compute(&b, NO_SCORES);
		expect_same(&s, &x, &r);
		result_release(&r);
		bundle_release(&b);
		dice_state = seed;
	}
}

/* Weights are in [0, 1] and a row that is not masked sums to 1. */
static void test_rows_sum_to_one(void **state)
{
	struct bundle b;
	struct dense x;
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		make_scene(&scenes[i], &b, &x);
		struct result r = compute(&b, NO_SCORES);
		for (size_t row = 0; row < r.batch * r.heads * r.queries; row++) {
			double sum = 0;
			for (size_t j = 0; j < r.keys; j++) {
				float weight = r.weights[row * r.keys + j];
				assert_true(weight >= 0 && weight <= 1);
				sum += (double)weight;
			}
			bool masked = !memchr(r.attended + row * r.keys, 1, r.keys);
			if (fabs(sum - !masked) > 1e-6)
				fail_msg("%s: row %zu sums to %.9g", scenes[i].name, row, sum);
		}
		result_release(&r);
		bundle_release(&b);
	}
}

/* --- hand-worked --- */

static void test_quarter(void **state)
{
	(void)state;
	/* Scores 0 and ln 3: weights 1/4 and 3/4. */
	struct result r = compute_json("{\"q\": [[[1]]], \"k\": [[[0], [1.0986122886681098]]],"
				       " \"v\": [[[8, 0], [0, 4]]], \"scale\": 1}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75}, 2);
	expect_floats("context", r.context, (const double[]){2, 3}, 2);
	result_release(&r);
}

static void test_default_scale(void **state)
{
	(void)state;
	/* d = 4: the product 2 ln 3 is halved. */
	struct result r = compute_json("{\"q\": [[[2, 0, 0, 0]]], \"v\": [[[0], [4]]],"
				       " \"k\": [[[0, 7, 7, 7], [1.0986122886681098, -5, 0, 5]]]}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75}, 2);
	result_release(&r);
	/* By the head size, and not by the width: two heads of 1, scores 0 and ln 3 in both. */
	r = compute_json("{\"packed\": true, \"num_heads\": 2, \"q\": [[1, 1]],"
			 " \"k\": [[0, 0], [1.0986122886681098, 1.0986122886681098]]}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75, 0.25, 0.75}, 4);
	assert_null(r.context);
	result_release(&r);
}

static void test_softcap_by_hand(void **state)
{
	(void)state;
	/* atanh(1/2) = ln(3)/2: with the cap 2 ln 3 a score of cap atanh(1/2) becomes ln 3. */
	struct result r = compute_json("{\"q\": [[[1]]], \"k\": [[[0], [1.2069489608396]]], \"scale\": 1,"
				       " \"softcap\": 2.1972245773362196}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75}, 2);
	result_release(&r);
}

static void test_projection_by_hand(void **state)
{
	(void)state;
	/* Two tokens (1,0) and (0,1).  Keys 0 and ln 3, queries 1 and 0, values (4,0) and (0,8). */
	struct result r = compute_json("{\"embeddings\": [[1, 0], [0, 1]], \"wq\": [[1], [0]], \"scale\": 1,"
				       " \"wk\": [[0], [1.0986122886681098]], \"wv\": [[4, 0], [0, 8]]}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75, 0.5, 0.5}, 4);
	expect_floats("context", r.context, (const double[]){1, 6, 2, 4}, 4);
	result_release(&r);
}

static void test_heads_list_by_hand(void **state)
{
	(void)state;
	struct result r =
	    compute_json("{\"embeddings\": [[1, 0], [0, 1]], \"scale\": 1, \"heads\": ["
			 "{\"wq\": [[1], [0]], \"wk\": [[0], [1.0986122886681098]], \"wv\": [[4], [8]]},"
			 "{\"wq\": [[0], [1]], \"wk\": [[1.0986122886681098], [0]], \"wv\": [[0], [1]]}]}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75, 0.5, 0.5, 0.5, 0.5, 0.75, 0.25}, 8);
	/* (N, H e): heads side by side */
	expect_floats("context", r.context, (const double[]){7, 0.5, 6, 0.25}, 4);
	result_release(&r);
}

/* The diagonal belongs to a causal mask, and with more keys than queries it
 * starts at the top left. */
static void test_causal_by_hand(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[0], [0], [0]]], \"k\": [[[1], [2], [3]]],"
				       " \"causal\": true}");
	expect_floats("weights", r.weights, (const double[]){1, 0, 0, 0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3},
		      9);
	result_release(&r);
	r = compute_json("{\"q\": [[[0], [0]]], \"k\": [[[1], [2], [3]]], \"causal\": true}");
	expect_floats("weights", r.weights, (const double[]){1, 0, 0, 0.5, 0.5, 0}, 6);
	result_release(&r);
}

static void test_fully_masked(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[1], [1]]], \"k\": [[[1], [2]]], \"v\": [[[3], [5]]],"
				       " \"mask\": [[false, false], [true, false]]}");
	for (size_t i = 0; i < 2; i++)
		assert_true(r.weights[i] == 0);
	assert_true(r.context[0] == 0);
	assert_true(r.weights[2] == 1 && r.weights[3] == 0 && r.context[1] == 3);
	assert_int_equal(r.masked, 1);
	result_release(&r);
}

/* A finite mask, however low, does not mask: a row of it is as if there were none. */
static void test_finite_mask_is_no_mask(void **state)
{
	static const char *const masks[] = {"-1e9", "-1e4", "-1e30"};
	char json[300];
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(json, sizeof json,
			 "{\"q\": [[[0]]], \"k\": [[[1], [2]]], \"v\": [[[3], [5]]], \"mask\": [[%s, %s]]}",
			 masks[i], masks[i]);
		struct result r = compute_json(json);
		expect_floats("weights", r.weights, (const double[]){0.5, 0.5}, 2);
		assert_true(r.attended[0] && r.attended[1]);
		assert_int_equal(r.masked, 0);
		result_release(&r);
	}
}

/* --- properties --- */

/* Nothing of a masked key reaches the context, be it as large as float32 goes. */
static void test_masked_values_do_not_leak(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[1], [1]]], \"k\": [[[1], [1], [3e38]]],"
				       " \"v\": [[[3], [5], [3.4e38]]], \"mask\": [[true, true, false],"
				       " [true, false, false]]}");
	expect_floats("context", r.context, (const double[]){4, 3}, 2);
	result_release(&r);
}

/* Adding a constant to a row of scores changes nothing. */
static void test_shift_invariance(void **state)
{
	static const double values[] = {0.5, -1, 2, 0.25, 3, -2, 1, 0};
	double zeros[16], shifted[16];
	(void)state;
	for (size_t i = 0; i < 16; i++) {
		zeros[i] = 0.125 * (double)i;
		shifted[i] = zeros[i] + (double[]){64, -128, 0, 1024}[i / 4];
	}
	const double *const masks[] = {zeros, shifted};
	struct result results[2];
	for (size_t i = 0; i < 2; i++) {
		struct bundle b;
		bundle_init(&b);
		put(&b, "q", DTYPE_F32, SHAPE(1, 4, 2), values);
		put(&b, "k", DTYPE_F32, SHAPE(1, 4, 2), values);
		put(&b, "v", DTYPE_F32, SHAPE(1, 4, 2), values);
		put(&b, "mask", DTYPE_F32, SHAPE(4, 4), masks[i]);
		results[i] = compute(&b, NO_SCORES);
		bundle_release(&b);
	}
	for (size_t i = 0; i < 16; i++)
		expect_near("shifted", "weights", i, (double)results[1].weights[i],
			    (double)results[0].weights[i]);
	for (size_t i = 0; i < 8; i++)
		expect_near("shifted", "context", i, (double)results[1].context[i],
			    (double)results[0].context[i]);
	result_release(&results[0]);
	result_release(&results[1]);
}

/* Permuting keys and values permutes weights and leaves the context. */
static void test_permutation(void **state)
{
	enum {
		KEYS = 5,
		SIZE = 3
	};
	static const size_t order[KEYS] = {3, 0, 4, 1, 2};
	struct result results[2];
	(void)state;
	pool_used = 0;
	random_state = 7;
	const double *q = take_random(2 * SIZE), *k = take_random(KEYS * SIZE), *v = take_random(KEYS * SIZE);
	double *turned_k = take(KEYS * SIZE), *turned_v = take(KEYS * SIZE);
	for (size_t i = 0; i < KEYS * SIZE; i++) {
		turned_k[i] = k[order[i / SIZE] * SIZE + i % SIZE];
		turned_v[i] = v[order[i / SIZE] * SIZE + i % SIZE];
	}
	for (size_t i = 0; i < 2; i++) {
		struct bundle b;
		bundle_init(&b);
		put(&b, "q", DTYPE_F32, SHAPE(1, 2, SIZE), q);
		put(&b, "k", DTYPE_F32, SHAPE(1, KEYS, SIZE), i ? turned_k : k);
		put(&b, "v", DTYPE_F32, SHAPE(1, KEYS, SIZE), i ? turned_v : v);
		results[i] = compute(&b, NO_SCORES);
		bundle_release(&b);
	}
	for (size_t i = 0; i < 2 * KEYS; i++)
		expect_near("permuted", "weights", i, (double)results[1].weights[i],
			    (double)results[0].weights[i / KEYS * KEYS + order[i % KEYS]]);
	for (size_t i = 0; i < 2 * SIZE; i++)
		expect_near("permuted", "context", i, (double)results[1].context[i],
			    (double)results[0].context[i]);
	result_release(&results[0]);
	result_release(&results[1]);
}

static void test_one_key(void **state)
{
	(void)state;
	struct result r =
	    compute_json("{\"q\": [[[5], [-1e30], [0]]], \"k\": [[[-1e8]]], \"v\": [[[7, 9]]]}");
	for (size_t i = 0; i < 3; i++)
		assert_true(r.weights[i] == 1 && r.context[2 * i] == 7 && r.context[2 * i + 1] == 9);
	result_release(&r);
}

/* Scores far beyond what exp takes. */
static void test_large_scores(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[1]]], \"scale\": 1, \"k\": [[[1e6], [1e6], [-1e6]]]}");
	expect_floats("weights", r.weights, (const double[]){0.5, 0.5, 0}, 3);
	result_release(&r);
	r = compute_json("{\"q\": [[[1]]], \"scale\": 1, \"k\": [[[-1e6], [-1000001.0986122886681]]]}");
	assert_true(r.weights[0] > r.weights[1] && r.weights[1] > 0.2f);
	result_release(&r);
}

/* Values near the end of float32 add up to more, but their mean does not. */
static void test_large_values(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[0], [0]]], \"k\": [[[0], [0], [0]]],"
				       " \"v\": [[[3e38, 3e38], [3e38, -3e38], [3e38, 3e38]]]}");
	expect_floats("context", r.context, (const double[]){3e38, 1e38, 3e38, 1e38}, 4);
	result_release(&r);
	/* A score that overflows on its way, and one that is no number before it is masked. */
	r = compute_json("{\"q\": [[[1e20, 1e20]]], \"k\": [[[1e20, -1e20], [1e20, 1e20], [0, 0]]],"
			 " \"v\": [[[1], [2], [3]]], \"mask\": [true, false, true]}");
	expect_floats("context", r.context, (const double[]){2}, 1);
	result_release(&r);
	r = compute_json("{\"q\": [[[1e20], [1]]], \"k\": [[[1e20], [-1e20]]], \"v\": [[[1], [2]]]}");
	expect_floats("context", r.context, (const double[]){1, 1}, 2);
	result_release(&r);
}

/* Seven weights that round up add up to more than 1, but a mean is not above all. */
static void test_largest_values(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[1]]], \"k\": [[[1], [1], [1], [1], [1], [1], [1]]], \"v\":"
				       " [[[3.4028234e38, -3.4028234e38], [3.4028234e38, -3.4028234e38],"
				       " [3.4028234e38, -3.4028234e38], [3.4028234e38, -3.4028234e38],"
				       " [3.4028234e38, -3.4028234e38], [3.4028234e38, -3.4028234e38],"
				       " [3.4028234e38, -3.4028234e38]]]}");
	expect_floats("context", r.context, (const double[]){FLT_MAX, -FLT_MAX}, 2);
	result_release(&r);
}

/* A score that is asked for and beyond float32 is said, and infinite only where masked. */
static void test_score_overflow(void **state)
{
	static const struct {
		const char *json;
		enum score_stage stage;
		const char *place; /* NULL: it does not overflow */
	} cases[] = {
	    {"{\"q\": [[[1e30], [-1e30]]], \"k\": [[[1e30], [1]]]}", SCORES_RAW, "head 0, query 0, key 0 "},
	    {"{\"q\": [[[1], [-1e30]]], \"k\": [[[1], [1e30]]]}", SCORES_RAW, "head 0, query 1, key 1 "},
	    {"{\"q\": [[[1], [-1e30]]], \"k\": [[[1], [1e30]]]}", SCORES_MASKED, "query 1, key 1 "},
	    {"{\"q\": [[[1], [1e30]]], \"k\": [[[1], [1e30]]], \"softcap\": 5}", SCORES_CAPPED, NULL},
	    {"{\"q\": [[[1e30]]], \"k\": [[[1], [1e30]]], \"mask\": [true, false]}", SCORES_MASKED, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bundle b = bundle_of(cases[i].json);
		if (!cases[i].place) {
			struct result r = compute(&b, SCORES_OF(cases[i].stage));
			result_release(&r);
			bundle_release(&b);
			continue;
		}
		struct attn_error err = {0};
		struct planned r;
		struct masked_count masked;
		planned_open(&r, &b, NULL,
			     (struct rows_want){.weights = true, .scores = SCORES_OF(cases[i].stage)});
		masked_count_init(&masked);
		assert_int_equal(
		    rows_stream(r.source, NULL, (struct row_consumer *const[]){&masked.consumer}, 1, &err),
		    ATTN_BAD_INPUT);
		expect_parts(cases[i].json, err.message,
			     (const char *const[]){"the score of batch item 0, ", cases[i].place,
						   "overflows float32", NULL});
		planned_release(&r);
		bundle_release(&b);
	}
}

/* All queries see the same past, whatever the batch stride of a shared tensor. */
static void test_shared_over_batch(void **state)
{
	(void)state;
	struct result r = compute_json("{\"q\": [[[[1]]], [[[2]]]], \"k\": [[[0], [1.0986122886681098]]],"
				       " \"v\": [[[0], [4]]], \"scale\": 1}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75, 0.1, 0.9}, 4);
	expect_floats("context", r.context, (const double[]){3, 3.6}, 2);
	result_release(&r);
	r = compute_json("{\"embeddings\": [[[1]], [[2]]], \"source_embeddings\": [[0], [1]], \"wq\": [[1]],"
			 " \"wk\": [[1.0986122886681098]], \"scale\": 1}");
	expect_floats("weights", r.weights, (const double[]){0.25, 0.75, 0.1, 0.9}, 4);
	result_release(&r);
}

/* --- what is refused while computing --- */

/* When the source is started, and with it every time. */
static void expect_overflow(const char *json, const char *const *parts)
{
	struct bundle b = bundle_of(json);
	struct planned r;
	planned_open(&r, &b, NULL, want_scores(NO_SCORES));
	for (int time = 0; time < 2; time++) {
		struct attn_error err = {0};
		assert_int_equal(r.source->start(r.source, &err), ATTN_BAD_INPUT);
		expect_parts(json, err.message, parts);
	}
	planned_release(&r);
	bundle_release(&b);
}

static void test_overflow(void **state)
{
	(void)state;
	expect_overflow("{\"embeddings\": [[1], [3e38]], \"wq\": [[9]], \"wk\": [[1]]}",
			(const char *const[]){"query", "batch item 0", "token 1", "overflows", NULL});
	expect_overflow("{\"embeddings\": [[[1]], [[3e38]]], \"wq\": [[1]], \"wk\": [[-9]]}",
			(const char *const[]){"key", "batch item 1", "token 0", NULL});
	expect_overflow("{\"embeddings\": [[3e38]], \"wq\": [[1]], \"wk\": [[1]], \"wv\": [[1]],"
			" \"bv\": [3e38]}",
			(const char *const[]){"value", "batch item 0", NULL});
}

static void test_output(void **state)
{
	static const float context[] = {1, 2, 3, 4};
	float output[2];
	struct attn_error err = {0};
	struct problem p;
	(void)state;
	struct bundle b =
	    bundle_of("{\"embeddings\": [[1], [1]], \"wq\": [[1]], \"wk\": [[1]], \"wv\": [[1, 1]],"
		      " \"wo\": [[10], [100]], \"bo\": [0.5]}");
	assert_int_equal(problem_init(&p, &b, &err), ATTN_OK);
	const struct output_layer *layer = &p.attention.output;
	assert_int_equal(layer->wo.cols, 1);
	assert_int_equal(output_layer_project(layer, context, 2, output, &err), ATTN_OK);
	expect_floats("output", output, (const double[]){210.5, 430.5}, 2);
	static const float huge[] = {1, 2, 3e38f, 3e38f};
	assert_int_equal(output_layer_project(layer, huge, 2, output, &err), ATTN_BAD_INPUT);
	expect_parts("output", err.message, (const char *const[]){"output", "token 1", "overflows", NULL});
	problem_release(&p);
	bundle_release(&b);
}

/* Reading some rows gives the bytes that reading all of them gives. */
static void test_selected_rows(void **state)
{
	struct attn_error err = {0};
	struct bundle b;
	struct dense x;
	struct planned r;
	(void)state;
	make_scene(&scenes[4], &b, &x); /* 150 queries */
	struct result all = compute(&b, NO_SCORES);
	planned_open(&r, &b, NULL, want_scores(NO_SCORES));
	struct result some = result_alloc(&r.source->shape, NO_SCORES);
	struct collector collector = {{.consume = collect}, &some};
	struct row_consumer *consumers[] = {&collector.consumer};
	bool queries[150] = {[3] = true, [4] = true, [63] = true, [64] = true, [149] = true};
	struct rows_selection selection = {.queries = queries};
	assert_int_equal(rows_stream(r.source, &selection, consumers, 1, &err), ATTN_OK);
	for (size_t n = 0; n < 150; n++) {
		static const float zeros[70];
		const float *expected = queries[n] ? all.weights + n * 70 : zeros;
		assert_memory_equal(some.weights + n * 70, expected, sizeof zeros);
	}
	planned_release(&r);
	result_release(&all);
	result_release(&some);
	bundle_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_scenes),
	    cmocka_unit_test(test_stages),
	    cmocka_unit_test(test_rolled_scenes),
	    cmocka_unit_test(test_rows_sum_to_one),
	    cmocka_unit_test(test_quarter),
	    cmocka_unit_test(test_default_scale),
	    cmocka_unit_test(test_softcap_by_hand),
	    cmocka_unit_test(test_projection_by_hand),
	    cmocka_unit_test(test_heads_list_by_hand),
	    cmocka_unit_test(test_causal_by_hand),
	    cmocka_unit_test(test_fully_masked),
	    cmocka_unit_test(test_finite_mask_is_no_mask),
	    cmocka_unit_test(test_masked_values_do_not_leak),
	    cmocka_unit_test(test_shift_invariance),
	    cmocka_unit_test(test_permutation),
	    cmocka_unit_test(test_one_key),
	    cmocka_unit_test(test_large_scores),
	    cmocka_unit_test(test_large_values),
	    cmocka_unit_test(test_largest_values),
	    cmocka_unit_test(test_score_overflow),
	    cmocka_unit_test(test_shared_over_batch),
	    cmocka_unit_test(test_overflow),
	    cmocka_unit_test(test_output),
	    cmocka_unit_test(test_selected_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
