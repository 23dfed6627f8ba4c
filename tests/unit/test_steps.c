/* The consumers of the steps, over rows that the test makes up and over those of the engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "consumers/gather.h"
#include "consumers/spread.h"
#include "planned_test.h"

static void expect_near(const char *what, double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 + 2e-6 * fabs(want)))
		fail_msg("%s is %.9g, expected %.9g", what, got, want);
}

static void expect_spread(const struct spread_consumer *s, size_t batch, size_t head, struct spread want)
{
	struct spread got = spread_of(s, batch, 0, head);
	assert_int_equal(got.queries, want.queries);
	assert_int_equal(got.pairs, want.pairs);
	expect_near("variance", got.variance, want.variance);
	expect_near("entropy", got.entropy, want.entropy);
	expect_near("largest", got.largest, want.largest);
	expect_near("gradient", got.gradient, want.gradient);
	expect_near("jacobian", got.jacobian, want.jacobian);
}

/* --- made-up rows --- */

enum {
	KEYS = 2
};

static struct rows_shape shape_of(size_t batch, size_t heads, size_t queries)
{
	return (struct rows_shape){
	    .batch = batch, .layers = 1, .heads = heads, .queries = queries, .keys = KEYS};
}

/* The scores are raw ones. */
static void feed(struct row_consumer *consumer, struct row_block block, const float *scores,
		 const float *weights, const unsigned char *cells)
{
	block.keys = KEYS;
	block.scores[SCORES_RAW] = scores;
	block.weights = weights;
	block.cells = cells;
	assert_int_equal(consumer->consume(consumer, &block, NULL), ATTN_OK);
}

/* Scores 0, ln 3 give 1/4, 3/4; the second query sees only key 0, the third none.
 *   mean      (0 + 1.0986123 + 5) / 3 = 2.0328708
 *   variance  (4.1325636 + 0.8728391 + 8.8038558) / 3 = 4.6030862
 *   entropy   (0.25 ln 4 + 0.75 ln 4/3 + 0) / 2 = 0.5623351 / 2
 *   largest   (0.75 + 1) / 2
 *   gradient  (0.1875 + 0.1875 + 0) / 3
 *   jacobian  (0.375 + 0) / 2 */
static const float scores[] = {0, 1.0986123f, 5, 99, 7, 7}, weights[] = {0.25f, 0.75f, 1, 0, 0, 0};
static const unsigned char attended[] = {1, 1, 1, 0, 0, 0};
static const struct spread by_hand = {2, 3, 4.6030862, 0.28116757, 0.875, 0.125, 0.1875};

static void test_spread_by_hand(void **state)
{
	struct rows_shape shape = shape_of(1, 1, 3);
	struct spread_consumer s;
	(void)state;
	assert_int_equal(spread_consumer_init(&s, &shape, SCORES_RAW, false, NULL), ATTN_OK);
	feed(&s.consumer, (struct row_block){.count = 3}, scores, weights, attended);
	expect_spread(&s, 0, 0, by_hand);
	spread_consumer_release(&s);
}

/* Blocks add up, and each head of each batch item is on its own. */
static void test_spread_of_heads(void **state)
{
	struct rows_shape shape = shape_of(2, 2, 3);
	struct spread_consumer s;
	(void)state;
	assert_int_equal(spread_consumer_init(&s, &shape, SCORES_RAW, false, NULL), ATTN_OK);
	feed(&s.consumer, (struct row_block){.batch = 1, .head = 0, .count = 1}, scores, weights, attended);
	feed(&s.consumer, (struct row_block){.batch = 1, .head = 1, .count = 1}, scores, weights, attended);
	feed(&s.consumer, (struct row_block){.batch = 1, .head = 0, .query = 1, .count = 2}, scores + KEYS,
	     weights + KEYS, attended + KEYS);
	expect_spread(&s, 1, 0, by_hand);
	/* Half the distance of two, squared. */
	expect_spread(&s, 1, 1, (struct spread){1, 2, 0.30173724, 0.56233514, 0.75, 0.1875, 0.375});
	expect_spread(&s, 0, 1, (struct spread){0});
	spread_consumer_release(&s);
}

/* An attention sink that takes half: 1/4, 1/4, 1/2 have 1.5 ln 2. */
static void test_spread_with_rest(void **state)
{
	static const float even[] = {0, 0}, quarters[] = {0.25f, 0.25f};
	struct rows_shape shape = shape_of(1, 1, 1);
	struct spread_consumer s;
	(void)state;
	for (int rest = 0; rest <= 1; rest++) {
		assert_int_equal(spread_consumer_init(&s, &shape, SCORES_RAW, rest, NULL), ATTN_OK);
		feed(&s.consumer, (struct row_block){.count = 1}, even, quarters, attended);
		expect_spread(&s, 0, 0,
			      (struct spread){1, 2, 0, rest ? 1.5 * log(2) : log(2), 0.25, 0.1875, 0.375});
		spread_consumer_release(&s);
	}
}

/* Of products and the weights that these make, which a block has beside the others. */
static void test_spread_of_products(void **state)
{
	static const float other[] = {9, 9, 9, 9, 9, 9}, ones[] = {1, 1, 1, 1, 1, 1};
	struct rows_shape shape = shape_of(1, 1, 3);
	struct spread_consumer s;
	(void)state;
	assert_int_equal(spread_consumer_init(&s, &shape, SCORES_PRODUCT, false, NULL), ATTN_OK);
	struct row_block block = {
	    .count = 3, .scores = {[SCORES_PRODUCT] = scores}, .unscaled_weights = weights};
	feed(&s.consumer, block, other, ones, attended);
	expect_spread(&s, 0, 0, by_hand);
	spread_consumer_release(&s);
}

/* A variance far from zero: no difference of large squares. */
static void test_spread_far_away(void **state)
{
	static const float far[] = {4e6f, 4e6f + 1}, one[] = {1, 0};
	struct rows_shape shape = shape_of(1, 1, 1);
	struct spread_consumer s;
	(void)state;
	assert_int_equal(spread_consumer_init(&s, &shape, SCORES_RAW, false, NULL), ATTN_OK);
	for (int i = 0; i < 1000; i++)
		feed(&s.consumer, (struct row_block){.count = 1}, far, one, attended);
	expect_spread(&s, 0, 0, (struct spread){1000, 2000, 0.25, 0, 1, 0, 0});
	spread_consumer_release(&s);
}

/* Rows of the second and third query, with what was asked for of them. */
static void test_gather(void **state)
{
	static const bool chosen[] = {false, true, true};
	static const float context[] = {1, 2, 0, 3, 4, 0, 5, 6, 0};
	static const double shares[] = {0.25, 0.75, 1, 0, 0, 0};
	const unsigned stages = SCORES_OF(SCORES_PRODUCT) | SCORES_OF(SCORES_MASKED);
	struct rows_shape shape = shape_of(1, 2, 3);
	struct gather s;
	(void)state;
	assert_int_equal(gather_init(&s, &shape, chosen, stages, 2, NULL), ATTN_OK);
	assert_int_equal(s.kept, 2);
	assert_int_equal(s.rows, 4);
	struct row_block block = {.head = 1,
				  .count = 3,
				  .scores = {[SCORES_PRODUCT] = weights, [SCORES_MASKED] = scores},
				  .context = context,
				  .context_stride = 3,
				  .shares = shares};
	memset(s.weights, 0, s.rows * KEYS * sizeof *s.weights);
	memset(s.scores[SCORES_MASKED], 0, s.rows * KEYS * sizeof *scores);
	feed(&s.consumer, block, scores, weights, attended);
	assert_null(s.scores[SCORES_RAW]);
	assert_null(s.scores[SCORES_CAPPED]);
	assert_memory_equal(s.scores[SCORES_MASKED] + 2 * KEYS, scores + KEYS, 2 * KEYS * sizeof *scores);
	assert_memory_equal(s.scores[SCORES_PRODUCT] + 2 * KEYS, weights + KEYS, 2 * KEYS * sizeof *scores);
	assert_memory_equal(s.weights + 2 * KEYS, weights + KEYS, 2 * KEYS * sizeof *weights);
	assert_memory_equal(s.context + 2 * 2, ((const float[]){3, 4, 5, 6}), 4 * sizeof *context);
	assert_memory_equal(s.shares + 2 * KEYS, shares + KEYS, 2 * KEYS * sizeof *shares);
	for (size_t i = 0; i < 2 * KEYS; i++)
		assert_true(s.weights[i] == 0 && s.scores[SCORES_MASKED][i] == 0);
	gather_release(&s);
	/* Without values there are neither contexts nor shares. */
	assert_int_equal(gather_init(&s, &shape, chosen, NO_SCORES, 0, NULL), ATTN_OK);
	block.context = NULL;
	block.shares = NULL;
	feed(&s.consumer, block, scores, weights, attended);
	assert_null(s.shares);
	assert_memory_equal(s.weights + 2 * KEYS, weights + KEYS, 2 * KEYS * sizeof *weights);
	gather_release(&s);
}

/* --- rows of the engine --- */

/* Four heads share two of keys; two keys are past; causal; scale 1/2, as d = 4. */
enum {
	HEADS = 4,
	GROUPS = 2,
	QUERIES = 3,
	ALL_KEYS = 6, /* 2 past, 3 own, 1 of zeros */
	SIZE = 4,
	VALUES = 3
};

static double q[HEADS][QUERIES][SIZE], k[GROUPS][ALL_KEYS][SIZE], v[GROUPS][ALL_KEYS][VALUES];

static void fill(double *numbers, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1103515245u + 12345u;
		numbers[i] = (int)(seed >> 16 & 255) / 64.0 - 2; /* exact in float32 */
	}
}

static void put_part(struct bundle *b, const char *name, const double *from, size_t size, size_t first,
		     size_t count)
{
	double part[GROUPS * ALL_KEYS * SIZE];
	for (size_t g = 0; g < GROUPS; g++)
		memcpy(part + g * count * size, from + (g * ALL_KEYS + first) * size,
		       count * size * sizeof *from);
	put(b, name, DTYPE_F32, SHAPE(GROUPS, count, size), part);
}

static void make_bundle(struct bundle *b)
{
	fill(&q[0][0][0], sizeof q / sizeof(double), 1);
	fill(&k[0][0][0], sizeof k / sizeof(double), 2);
	fill(&v[0][0][0], sizeof v / sizeof(double), 3);
	for (size_t g = 0; g < GROUPS; g++) {
		memset(k[g][ALL_KEYS - 1], 0, sizeof k[g][0]);
		memset(v[g][ALL_KEYS - 1], 0, sizeof v[g][0]);
	}
	bundle_init(b);
	put(b, "q", DTYPE_F32, SHAPE(HEADS, QUERIES, SIZE), &q[0][0][0]);
	put_part(b, "past_k", &k[0][0][0], SIZE, 0, 2);
	put_part(b, "past_v", &v[0][0][0], VALUES, 0, 2);
	put_part(b, "k", &k[0][0][0], SIZE, 2, 3);
	put_part(b, "v", &v[0][0][0], VALUES, 2, 3);
	put_setting(b, "causal", "true");
	put_setting(b, "add_zero_attn", "true");
}

/* The spread of a head from the formulas. */
static struct spread spread_in_double(size_t head)
{
	struct spread out = {.queries = QUERIES};
	double sum = 0, squares = 0;
	for (size_t i = 0; i < QUERIES; i++) {
		double score[ALL_KEYS], total = 0, largest = 0;
		for (size_t j = 0; j < ALL_KEYS; j++) {
			score[j] = NAN;
			if (j > i + 2 && j < ALL_KEYS - 1)
				continue;
			score[j] = 0;
			for (size_t c = 0; c < SIZE; c++)
				score[j] += 0.5 * q[head][i][c] * k[head / 2][j][c];
			sum += score[j];
			squares += score[j] * score[j];
			total += exp(score[j]);
			out.pairs++;
		}
		for (size_t j = 0; j < ALL_KEYS; j++) {
			double w = isnan(score[j]) ? 0 : exp(score[j]) / total;
			out.entropy -= w > 0 ? w * log(w) / QUERIES : 0;
			out.gradient += w * (1 - w);
			largest = fmax(largest, w);
		}
		out.largest += largest / QUERIES;
	}
	out.jacobian = out.gradient / QUERIES;
	out.gradient /= (double)out.pairs;
	out.variance = squares / (double)out.pairs - pow(sum / (double)out.pairs, 2);
	return out;
}

/* Each share from the formula, and together they are 1. */
static void expect_shares(const struct gather *s)
{
	for (size_t row = 0; row < s->rows; row++) {
		size_t head = row / s->kept;
		double square = 0, shares = 0;
		for (size_t c = 0; c < VALUES; c++)
			square += pow((double)s->context[row * VALUES + c], 2);
		for (size_t j = 0; j < ALL_KEYS; j++) {
			double share = 0;
			for (size_t c = 0; c < VALUES; c++)
				share += (double)s->weights[row * ALL_KEYS + j] * v[head / 2][j][c] *
					 (double)s->context[row * VALUES + c] / square;
			expect_near("share", s->shares[row * ALL_KEYS + j], share);
			shares += s->shares[row * ALL_KEYS + j];
		}
		expect_near("sum of shares", shares, 1);
	}
}

static void test_engine_rows(void **state)
{
	static const bool chosen[QUERIES] = {true, false, true};
	const unsigned stages = SCORES_OF(SCORES_RAW);
	struct attn_error err = {0};
	struct bundle b;
	struct planned r;
	struct gather gather;
	struct spread_consumer spread;
	(void)state;
	make_bundle(&b);
	planned_open(&r, &b, NULL,
		     (struct rows_want){.weights = true, .context = true, .scores = stages, .shares = true});
	const struct rows_shape *shape = &r.source->shape;
	assert_int_equal(gather_init(&gather, shape, chosen, stages, VALUES, NULL), ATTN_OK);
	assert_int_equal(spread_consumer_init(&spread, shape, SCORES_RAW, false, NULL), ATTN_OK);
	struct row_consumer *consumers[] = {&gather.consumer, &spread.consumer};
	assert_int_equal(rows_stream(r.source, NULL, consumers, 2, &err), ATTN_OK);
	for (size_t head = 0; head < HEADS; head++)
		expect_spread(&spread, 0, head, spread_in_double(head));
	expect_shares(&gather);
	gather_release(&gather);
	spread_consumer_release(&spread);
	planned_release(&r);
	bundle_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spread_by_hand),     cmocka_unit_test(test_spread_of_heads),
	    cmocka_unit_test(test_spread_with_rest),   cmocka_unit_test(test_spread_far_away),
	    cmocka_unit_test(test_spread_of_products), cmocka_unit_test(test_gather),
	    cmocka_unit_test(test_engine_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
