/* Biases by distance: slopes and buckets worked out by hand from the papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "attention/relative.h"
#include "bundle_test.h"
#include "input/bind.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The biases of a problem with these sizes, into *r. */
static enum attn_status bind(struct relative *r, const struct bundle *b, const struct masking *m,
			     struct attn_error *err)
{
	struct problem p = {.attention = {.heads = m->heads, .masking = *m}};
	enum attn_status status = bind_relative(&p, b, err);
	*r = p.attention.relative;
	p.attention.relative = (struct relative){0}; /* moved */
	p.attention.masking = (struct masking){0};   /* the caller's */
	problem_release(&p);
	return status;
}

static struct relative bound(const struct bundle *b, const struct masking *m)
{
	struct attn_error err = {0};
	struct relative r;
	if (bind(&r, b, m, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return r;
}

/* A bundle of one setting, or of none. */
static struct bundle with(const char *name, const char *value)
{
	struct bundle b;
	bundle_init(&b);
	if (name)
		put_setting(&b, name, value);
	return b;
}

static void expect_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-7 * fabs(expected)))
		fail_msg("%.9g, expected %.9g", found, expected);
}

static void test_none(void **state)
{
	struct masking m = {.batch = 1, .heads = 2, .queries = 3, .plain_keys = 3};
	(void)state;
	for (int off = 0; off < 2; off++) {
		struct bundle b = with(off ? "alibi" : NULL, "false");
		struct relative r = bound(&b, &m);
		assert_null(r.table);
		assert_true(relative_bias_at(&r, 1, -2) == 0);
		relative_release(&r);
		bundle_release(&b);
	}
}

/* Section 3 of the paper for powers of two: 8 heads have 1/2 ... 1/256, 16 heads
 * 2^-0.5, 2^-1, ...  Else the power of two below, then every second one of twice as
 * many: for 3, those of 2 (2^-4, 2^-8) and the first of 4 (2^-2). */
static void test_slopes(void **state)
{
	static const struct {
		size_t heads;
		double exponents[16];
	} cases[] = {
	    {1, {8}},
	    {2, {4, 8}},
	    {3, {4, 8, 2}},
	    {4, {2, 4, 6, 8}},
	    {6, {2, 4, 6, 8, 1, 3}},
	    {8, {1, 2, 3, 4, 5, 6, 7, 8}},
	    {12, {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5}},
	    {16, {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct masking m = {.batch = 1, .heads = cases[i].heads, .queries = 4, .plain_keys = 4};
		struct bundle b = with("alibi", "true");
		struct relative r = bound(&b, &m);
		for (size_t h = 0; h < m.heads; h++)
			for (ptrdiff_t d = -3; d <= 3; d++)
				expect_near(relative_bias_at(&r, h, d),
					    -pow(0.5, cases[i].exponents[h]) * fabs((double)d));
		relative_release(&r);
		bundle_release(&b);
	}
}

static void test_given_slopes(void **state)
{
	static const double slopes[] = {0.25, 3};
	static const float as_floats[] = {0.25f, 3};
	struct masking m = {.batch = 1, .heads = 2, .queries = 2, .plain_keys = 3};
	struct bundle b = with(NULL, NULL);
	struct relative given[2];
	(void)state;
	put(&b, "alibi_slopes", DTYPE_F32, SHAPE(2), slopes);
	given[0] = bound(&b, &m);
	/* The same without any bundle. */
	const struct relative_rules rules = {.alibi = true, .slopes = as_floats};
	assert_int_equal(relative_init(&given[1], &rules, &m, NULL), ATTN_OK);
	for (size_t i = 0; i < 2; i++) {
		const struct relative *r = &given[i];
		assert_true(relative_bias_at(r, 0, 1) == -0.25 && relative_bias_at(r, 0, -2) == -0.5);
		assert_true(relative_bias_at(r, 1, 1) == -3 && relative_bias_at(r, 1, -2) == -6);
		relative_release(&given[i]);
	}
	put_setting(&b, "alibi", "false");
	given[0] = bound(&b, &m);
	assert_null(given[0].table);
	bundle_release(&b);
}

/* The table reaches from the last key as seen from the first query to the first key as seen
 * from the last, over all batch items, and has zeros behind. */
static void expect_span(const struct masking *m, ptrdiff_t least, size_t span)
{
	struct bundle b = with("alibi", "true");
	struct relative r = bound(&b, m);
	assert_int_equal(r.least, least);
	assert_int_equal(r.span, span);
	assert_int_equal(r.heads, m->heads);
	for (size_t i = 0; i < RELATIVE_SPARE; i++)
		assert_true(r.table[r.heads * r.span + i] == 0);
	assert_true(r.table[0] < 0 || r.span == 1);
	relative_release(&r);
	assert_null(r.table);
	bundle_release(&b);
}

static void test_span(void **state)
{
	size_t lengths[] = {5, 0, 2};
	struct masking m = {.batch = 3, .heads = 2, .queries = 3, .plain_keys = 5};
	(void)state;
	/* p = 0..2, j = 0..4: -4 to 2 */
	expect_span(&m, -4, 7);
	/* two of the five are past: p = 2..4: -2 to 4 */
	m.past_keys = 2;
	expect_span(&m, -2, 7);
	/* offsets 2, -3, -1: p = -3..-1 for one and 2..4 for another: -7 to 4 */
	m.past_keys = 0;
	m.lengths = lengths;
	expect_span(&m, -7, 12);
	m.batch = 1;
	expect_span(&m, -2, 7);
	m = (struct masking){.batch = 1, .heads = 1, .queries = 1, .plain_keys = 1};
	expect_span(&m, 0, 1);
}

/* A table whose entry for (bucket, head) is 100 head + bucket, and a problem that has
 * distances -300 to 299. */
static struct relative buckets_of(size_t rows, size_t heads, const char *max, const char *bidirectional,
				  bool causal)
{
	double values[300];
	struct masking m = {.batch = 1, .heads = heads, .queries = 300, .plain_keys = 301, .causal = causal};
	struct bundle b = with(NULL, NULL);
	assert_true(rows * heads <= 300);
	for (size_t i = 0; i < rows * heads; i++)
		values[i] = (double)(100 * (i % heads) + i / heads);
	put(&b, "relative_bias", DTYPE_F64, SHAPE(rows, heads), values);
	if (max)
		put_setting(&b, "relative_max_distance", max);
	if (bidirectional)
		put_setting(&b, "relative_bidirectional", bidirectional);
	struct relative r = bound(&b, &m);
	bundle_release(&b);
	return r;
}

/* Buckets of one direction: that of distances first[k] to first[k + 1] - 1 is k. */
static void expect_buckets(const struct relative *r, size_t head, int sign, double base, const int *first,
			   size_t count)
{
	for (int distance = first[0]; distance < 300; distance++) {
		size_t k = 0;
		while (k + 1 < count && distance >= first[k + 1])
			k++;
		double found = relative_bias_at(r, head, sign * distance), expected = base + (double)k;
		if (found != expected)
			fail_msg("head %zu, distance %d: %g, expected %g", head, sign * distance, found,
				 expected);
	}
}

/* 16 buckets a direction: 0 to 7 alone, then the k-th begins at the first whole number
 * from 8 * 16^(k/8) = 8 * 2^(k/2): 8, 11.31, 16, 22.63, 32, 45.25, 64, 90.51. */
static void test_bidirectional_buckets(void **state)
{
	static const int before[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
	struct relative r = buckets_of(32, 2, NULL, NULL, false);
	(void)state;
	for (size_t h = 0; h < 2; h++) {
		expect_buckets(&r, h, 1, 100 * (double)h, before, 16);
		/* Keys after the query: 16 buckets on; distance 0 is not one of them. */
		static const int after[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
		expect_buckets(&r, h, -1, 100 * (double)h + 17, after, 15);
	}
	relative_release(&r);
}

/* 32 buckets before the query: 0 to 15 alone, then from 16 * 8^(k/16) = 16 * 2^(3k/16):
 * 16, 18.22, 20.75, 23.63, 26.91, 30.64, 34.90, 39.74, 45.25, 51.54, 58.69, 66.84,
 * 76.11, 86.68, 98.70, 112.40.  Keys after it share bucket 0. */
static void test_causal_buckets(void **state)
{
	static const int before[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				     16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
	static const int after[] = {0};
	struct relative r = buckets_of(32, 1, NULL, NULL, true);
	(void)state;
	expect_buckets(&r, 0, 1, 0, before, 32);
	expect_buckets(&r, 0, -1, 0, after, 1);
	relative_release(&r);
	/* The setting wins over causal. */
	r = buckets_of(32, 1, "128", "false", false);
	expect_buckets(&r, 0, 1, 0, before, 32);
	relative_release(&r);
	r = buckets_of(32, 1, "128", "true", true);
	assert_true(relative_bias_at(&r, 0, -1) == 17);
	relative_release(&r);
}

/* Other sizes: 8 buckets up to 64 begin at 4 * 2^k, where a logarithm is whole each
 * time; 3 buckets: one alone, the next two up to 4: 1 and 2. */
static void test_other_buckets(void **state)
{
	static const int whole[] = {0, 1, 2, 3, 4, 8, 16, 32}, odd[] = {0, 1, 2}, least[] = {0, 1};
	struct relative r = buckets_of(8, 1, "64", "false", false);
	(void)state;
	expect_buckets(&r, 0, 1, 0, whole, 8);
	relative_release(&r);
	r = buckets_of(3, 1, "4", "false", false);
	expect_buckets(&r, 0, 1, 0, odd, 3);
	relative_release(&r);
	r = buckets_of(2, 1, "2", NULL, true);
	expect_buckets(&r, 0, 1, 0, least, 2);
	relative_release(&r);
}

static void test_sum(void **state)
{
	static const double table[] = {10, 20, 30, 40, 50, 60, 70, 80};
	struct masking m = {.batch = 1, .heads = 2, .queries = 2, .plain_keys = 2};
	struct bundle b = with("alibi", "true");
	(void)state;
	put(&b, "relative_bias", DTYPE_F32, SHAPE(4, 2), table);
	struct relative r = bound(&b, &m);
	/* buckets: 0 for the key itself, 1 for the one before, 2 + 1 for the one after */
	assert_true(relative_bias_at(&r, 0, 0) == 10 && relative_bias_at(&r, 1, 0) == 20);
	assert_true(relative_bias_at(&r, 0, 1) == 30 - 0.0625f);
	assert_true(relative_bias_at(&r, 1, -1) == 80 - 0.00390625f);
	relative_release(&r);
	bundle_release(&b);
}

static void expect_refusal(const struct bundle *b, bool causal, const char *const *parts)
{
	struct masking m = {.batch = 1, .heads = 2, .queries = 3, .plain_keys = 3, .causal = causal};
	struct attn_error err = {0};
	struct relative r;
	assert_int_equal(bind(&r, b, &m, &err), ATTN_BAD_INPUT);
	expect_parts("relative", err.message, parts);
	assert_null(r.table);
}

static void refuse_table(int rank, const size_t *shape, bool causal, const char *name, const char *value,
			 const char *const *parts)
{
	static const double zeros[600];
	struct bundle b = with(name, value);
	put(&b, "relative_bias", DTYPE_F64, rank, shape, zeros);
	expect_refusal(&b, causal, parts);
	bundle_release(&b);
}

static void test_refusals(void **state)
{
	static const double huge[] = {1, 0x1.fffffep127};
	static const double bad[] = {0, 0, 0, NAN, 0, 0, 0, 0};
	(void)state;
	struct bundle b = with("alibi", "maybe");
	expect_refusal(&b, false, PARTS("'alibi' is 'maybe'", "true or false"));
	bundle_release(&b);
	b = with(NULL, NULL);
	put(&b, "alibi_slopes", DTYPE_F64, SHAPE(2), huge);
	expect_refusal(&b, false, PARTS("head 1", "distance -2", "float32"));
	bundle_release(&b);
	b = with(NULL, NULL);
	put(&b, "relative_bias", DTYPE_F64, SHAPE(4, 2), bad);
	expect_refusal(&b, false, PARTS("'test'", "'relative_bias[1,1]' is nan"));
	bundle_release(&b);

	refuse_table(SHAPE(4), false, NULL, NULL, PARTS("'relative_bias' is 4, expected buckets x 2"));
	refuse_table(SHAPE(4, 3), false, NULL, NULL, PARTS("'test'", "is 4 x 3, expected buckets x 2"));
	refuse_table(SHAPE(2, 2), false, NULL, NULL, PARTS("is 2 x 2", "even", "from 4"));
	refuse_table(SHAPE(5, 2), false, NULL, NULL, PARTS("is 5 x 2", "even"));
	refuse_table(SHAPE(1, 2), true, NULL, NULL, PARTS("is 1 x 2", "at least 2"));
	refuse_table(SHAPE(0, 2), true, NULL, NULL, PARTS("is 0 x 2", "at least 2"));
	refuse_table(SHAPE(32, 2), false, "relative_max_distance", "8",
		     PARTS("'relative_max_distance' is '8'", "more than the 8 distances"));
	refuse_table(SHAPE(32, 2), true, "relative_max_distance", "16", PARTS("more than the 16 distances"));
	refuse_table(SHAPE(32, 2), true, "relative_max_distance", "0", PARTS("'0'", "whole number from 1"));
	refuse_table(SHAPE(32, 2), true, "relative_bidirectional", "yes", PARTS("'yes'", "true or false"));
	refuse_table(SHAPE(256, 2), true, NULL, NULL,
		     PARTS("'test'", "relative_max_distance is 128 by default", "more than the 128"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_slopes),
	    cmocka_unit_test(test_given_slopes),
	    cmocka_unit_test(test_span),
	    cmocka_unit_test(test_bidirectional_buckets),
	    cmocka_unit_test(test_causal_buckets),
	    cmocka_unit_test(test_other_buckets),
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
