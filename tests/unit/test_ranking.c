/* The ranking consumer, over rows that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "consumers/ranking.h"

/* A source of weights (B, L, H, N, M) in memory, with a mask of the same shape. */
struct table {
	size_t batch, layers, heads, queries, keys;
	const float *weights;
	const unsigned char *cells;
};

static struct rows_shape shape_of(const struct table *t)
{
	return (struct rows_shape){.batch = t->batch,
				   .layers = t->layers,
				   .heads = t->heads,
				   .queries = t->queries,
				   .keys = t->keys};
}

/* Feed one head's rows in two blocks. */
static void feed_head(struct ranking *s, const struct table *t, size_t batch, size_t layer, size_t head)
{
	size_t first = ((batch * t->layers + layer) * t->heads + head) * t->queries;
	size_t middle = t->queries / 2, starts[3] = {0, middle, t->queries};
	for (size_t i = 0; i < 2; i++) {
		struct row_block block = {.batch = batch,
					  .layer = layer,
					  .head = head,
					  .query = starts[i],
					  .count = starts[i + 1] - starts[i],
					  .keys = t->keys,
					  .weights = t->weights + (first + starts[i]) * t->keys,
					  .cells = t->cells + (first + starts[i]) * t->keys};
		if (block.count > 0)
			assert_int_equal(s->consumer.consume(&s->consumer, &block, NULL), ATTN_OK);
	}
}

static struct ranking ranked_from(const struct table *t, struct rows_shape *shape,
				  struct ranking_options options)
{
	struct ranking s;
	*shape = shape_of(t);
	assert_int_equal(ranking_init(&s, shape, &options, NULL), ATTN_OK);
	for (size_t layer = 0; layer < t->layers; layer++)
		for (size_t batch = 0; batch < t->batch; batch++)
			for (size_t head = 0; head < t->heads; head++)
				feed_head(&s, t, batch, layer, head);
	return s;
}

static void expect_list(struct ranking *s, size_t batch, size_t layer, size_t head, size_t subject,
			size_t count, const struct ranked *expected)
{
	size_t found;
	const struct ranked *list = ranking_list(s, batch, layer, head, subject, &found);
	if (found != count)
		fail_msg("subject %zu of head %zu has %zu entries, expected %zu", subject, head, found,
			 count);
	for (size_t i = 0; i < count; i++)
		if (list[i].index != expected[i].index || fabsf(list[i].weight - expected[i].weight) > 1e-7f)
			fail_msg("subject %zu of head %zu, place %zu: %zu with %g, expected %zu with %g",
				 subject, head, i, list[i].index, (double)list[i].weight, expected[i].index,
				 (double)expected[i].weight);
}

#define LIST(...)                                                                                            \
	sizeof((const struct ranked[]){__VA_ARGS__}) / sizeof(struct ranked), (const struct ranked[])        \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

static const float weights[] = {
    0.2f, 0.3f, 0.1f, 0.4f, /* */
    0.7f, 0.1f, 0.1f, 0.1f, /* */
    0,    0.5f, 0,    0.5f, /* */
};
static const unsigned char all_attended[64] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
static const struct table one_head = {1, 1, 1, 3, 4, weights, all_attended};

static void test_order_and_ties(void **state)
{
	struct rows_shape shape;
	(void)state;
	struct ranking s = ranked_from(&one_head, &shape, (struct ranking_options){.top = 10});
	expect_list(&s, 0, 0, 0, 0, LIST({3, 0.4f}, {1, 0.3f}, {0, 0.2f}, {2, 0.1f}));
	/* Equal weights stand by index, and so do zeros that are not masked. */
	expect_list(&s, 0, 0, 0, 1, LIST({0, 0.7f}, {1, 0.1f}, {2, 0.1f}, {3, 0.1f}));
	expect_list(&s, 0, 0, 0, 2, LIST({1, 0.5f}, {3, 0.5f}, {0, 0}, {2, 0}));
	ranking_release(&s);
}

static void test_top(void **state)
{
	struct rows_shape shape;
	(void)state;
	struct ranking s = ranked_from(&one_head, &shape, (struct ranking_options){.top = 2});
	expect_list(&s, 0, 0, 0, 0, LIST({3, 0.4f}, {1, 0.3f}));
	expect_list(&s, 0, 0, 0, 1, LIST({0, 0.7f}, {1, 0.1f}));
	ranking_release(&s);
	s = ranked_from(&one_head, &shape, (struct ranking_options){.top = 1});
	expect_list(&s, 0, 0, 0, 2, LIST({1, 0.5f}));
	ranking_release(&s);
	s = ranked_from(&one_head, &shape, (struct ranking_options){.top = SIZE_MAX});
	assert_int_equal(s.kept, 4);
	ranking_release(&s);
}

/* --to: which queries attend to a key. */
static void test_to(void **state)
{
	struct rows_shape shape;
	(void)state;
	struct ranking s = ranked_from(&one_head, &shape, (struct ranking_options){.top = 5, .to = true});
	expect_list(&s, 0, 0, 0, 0, LIST({1, 0.7f}, {0, 0.2f}, {2, 0}));
	expect_list(&s, 0, 0, 0, 1, LIST({2, 0.5f}, {0, 0.3f}, {1, 0.1f}));
	/* a tie over rows of different blocks */
	expect_list(&s, 0, 0, 0, 2, LIST({0, 0.1f}, {1, 0.1f}, {2, 0}));
	ranking_release(&s);
}

static void test_subjects(void **state)
{
	static const bool subjects[] = {false, true, false, false};
	struct rows_shape shape;
	size_t count = 9;
	(void)state;
	struct ranking s =
	    ranked_from(&one_head, &shape, (struct ranking_options){.top = 2, .subjects = subjects});
	assert_int_equal(s.slot_count, 1);
	assert_null(ranking_list(&s, 0, 0, 0, 0, &count));
	assert_int_equal(count, 0);
	expect_list(&s, 0, 0, 0, 1, LIST({0, 0.7f}, {1, 0.1f}));
	ranking_release(&s);
	s = ranked_from(&one_head, &shape,
			(struct ranking_options){.top = 1, .to = true, .subjects = subjects});
	expect_list(&s, 0, 0, 0, 1, LIST({2, 0.5f}));
	assert_null(ranking_list(&s, 0, 0, 0, 3, &count));
	ranking_release(&s);
}

/* A masked pair is never listed, not even with nothing else to list. */
static void test_masked(void **state)
{
	static const float causal[] = {1, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0};
	static const unsigned char cells[] = {1, 0, 0, 1, 1, 0, 0, 0, 0};
	static const struct table table = {1, 1, 1, 3, 3, causal, cells};
	struct rows_shape shape;
	size_t count;
	(void)state;
	struct ranking s = ranked_from(&table, &shape, (struct ranking_options){.top = 5, .mean = true});
	for (size_t head = 0; head < 2; head++) { /* the head, and the mean of it */
		expect_list(&s, 0, 0, head, 0, LIST({0, 1}));
		expect_list(&s, 0, 0, head, 1, LIST({0, 0.5f}, {1, 0.5f}));
		ranking_list(&s, 0, 0, head, 2, &count);
		assert_int_equal(count, 0);
	}
	ranking_release(&s);
	s = ranked_from(&table, &shape, (struct ranking_options){.top = 5, .to = true});
	expect_list(&s, 0, 0, 0, 0, LIST({0, 1}, {1, 0.5f}));
	expect_list(&s, 0, 0, 0, 1, LIST({1, 0.5f}));
	ranking_list(&s, 0, 0, 0, 2, &count);
	assert_int_equal(count, 0);
	ranking_release(&s);
}

/* Two heads: the mean is over those that were consumed; what is masked in one
 * counts as the 0 that it is. */
static void test_mean(void **state)
{
	static const float heads[] = {0.75f, 0.25f, 0, 0.25f, 0.25f, 0.5f};
	static const unsigned char cells[] = {1, 1, 0, 1, 1, 1};
	static const struct table table = {1, 1, 2, 1, 3, heads, cells};
	static const struct ranking_options options = {.top = 3, .mean = true};
	struct rows_shape shape = shape_of(&table);
	(void)state;
	struct ranking s = ranked_from(&table, &shape, options);
	assert_int_equal(ranking_mean(&s), 2);
	expect_list(&s, 0, 0, 2, 0, LIST({0, 0.5f}, {1, 0.25f}, {2, 0.25f}));
	expect_list(&s, 0, 0, 2, 0, LIST({0, 0.5f}, {1, 0.25f}, {2, 0.25f})); /* asked again */
	expect_list(&s, 0, 0, 0, 0, LIST({0, 0.75f}, {1, 0.25f}));
	ranking_release(&s);

	assert_int_equal(ranking_init(&s, &shape, &options, NULL), ATTN_OK);
	feed_head(&s, &table, 0, 0, 1);
	expect_list(&s, 0, 0, 2, 0, LIST({2, 0.5f}, {0, 0.25f}, {1, 0.25f}));
	ranking_release(&s);
}

/* Every batch item and layer has lists of its own. */
static void test_batch_and_layers(void **state)
{
	static const float many[] = {
	    0.9f, 0.1f, 0.8f, 0.2f, /* item 0, layer 0: heads 0 and 1 */
	    0.7f, 0.3f, 0.6f, 0.4f, /* item 0, layer 1 */
	    0.4f, 0.6f, 0.3f, 0.7f, /* item 1, layer 0 */
	    0.2f, 0.8f, 0.1f, 0.9f, /* item 1, layer 1 */
	};
	static const struct table table = {2, 2, 2, 1, 2, many, all_attended};
	struct rows_shape shape;
	(void)state;
	struct ranking s = ranked_from(&table, &shape, (struct ranking_options){.top = 1, .mean = true});
	expect_list(&s, 0, 0, 0, 0, LIST({0, 0.9f}));
	expect_list(&s, 0, 0, 1, 0, LIST({0, 0.8f}));
	expect_list(&s, 0, 0, 2, 0, LIST({0, 0.85f}));
	expect_list(&s, 0, 1, 0, 0, LIST({0, 0.7f}));
	expect_list(&s, 0, 1, 2, 0, LIST({0, 0.65f}));
	expect_list(&s, 1, 0, 1, 0, LIST({1, 0.7f}));
	expect_list(&s, 1, 0, 2, 0, LIST({1, 0.65f}));
	expect_list(&s, 1, 1, 1, 0, LIST({1, 0.9f}));
	expect_list(&s, 1, 1, 2, 0, LIST({1, 0.85f}));
	ranking_release(&s);
}

/* Against sorting, with many equal weights and every length of list. */
static void test_against_sorting(void **state)
{
	enum {
		KEYS = 24
	};
	float row[KEYS];
	unsigned random = 1;
	(void)state;
	for (size_t round = 0; round < 200; round++) {
		size_t top = 1 + round % KEYS, count, before = KEYS;
		for (size_t i = 0; i < KEYS; i++) {
			random = random * 1103515245u + 12345u;
			row[i] = (float)(random >> 16 & 7u) / 8;
		}
		struct table table = {1, 1, 1, 1, KEYS, row, all_attended};
		struct rows_shape shape;
		struct ranking s = ranked_from(&table, &shape, (struct ranking_options){.top = top});
		const struct ranked *list = ranking_list(&s, 0, 0, 0, 0, &count);
		assert_int_equal(count, top);
		for (size_t place = 0; place < count; place++) {
			/* The first of the heaviest that come after the one before. */
			size_t best = KEYS;
			for (size_t i = 0; i < KEYS; i++) {
				bool after = before == KEYS || row[i] < row[before] ||
					     (row[i] == row[before] && i > before);
				if (after && (best == KEYS || row[i] > row[best]))
					best = i;
			}
			assert_int_equal(list[place].index, best);
			assert_true(list[place].weight == row[best]);
			before = best;
		}
		ranking_release(&s);
	}
}

static void test_release_twice(void **state)
{
	struct ranking s = {0};
	(void)state;
	ranking_release(&s);
	ranking_release(&s);
	assert_null(s.entries);
}

/* Two past keys, three own ones, an appended one: the own key of query q is key 2 + q. */
static void far_pairs_only(void **state)
{
	(void)state;
	enum {
		QUERIES = 3,
		KEYS = 6
	};
	static const float far_weights[QUERIES * KEYS] = {.1f,  .2f,  .3f, .15f, .05f, .2f, .1f,  .2f,  .3f,
							  .15f, .05f, .2f, .1f,  .2f,  .3f, .15f, .05f, .2f};
	unsigned char cells[QUERIES * KEYS];
	memset(cells, CELL_ATTENDED, sizeof cells);
	struct table t = {1, 1, 1, QUERIES, KEYS, far_weights, cells};
	struct rows_info info = {.shape = shape_of(&t)};
	info.shape.past_keys = 2;
	info.shape.appended_keys = 1;
	static const struct {
		size_t distance, keys[QUERIES], first[QUERIES]; /* how many are listed, and the heaviest */
	} cases[] = {
	    {1, {5, 5, 5}, {1, 2, 2}},
	    {2, {3, 3, 4}, {5, 1, 2}},
	    {3, {1, 2, 3}, {5, 5, 1}},
	    {9, {1, 1, 1}, {5, 5, 5}},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct rows_shape shape;
		struct ranking s = ranked_from(
		    &t, &shape,
		    (struct ranking_options){.top = KEYS, .min_distance = cases[c].distance, .info = &info});
		for (size_t query = 0; query < QUERIES; query++) {
			size_t count;
			const struct ranked *list = ranking_list(&s, 0, 0, 0, query, &count);
			assert_int_equal(count, cases[c].keys[query]);
			assert_int_equal(list[0].index, cases[c].first[query]);
		}
		ranking_release(&s);

		/* The same pairs the other way round. */
		s = ranked_from(
		    &t, &shape,
		    (struct ranking_options){
			.top = QUERIES, .to = true, .min_distance = cases[c].distance, .info = &info});
		size_t pairs = 0, count;
		for (size_t key = 0; key < KEYS; key++, pairs += count)
			ranking_list(&s, 0, 0, 0, key, &count);
		assert_int_equal(pairs, cases[c].keys[0] + cases[c].keys[1] + cases[c].keys[2]);
		ranking_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order_and_ties),
	    cmocka_unit_test(test_top),
	    cmocka_unit_test(test_to),
	    cmocka_unit_test(test_subjects),
	    cmocka_unit_test(test_masked),
	    cmocka_unit_test(test_mean),
	    cmocka_unit_test(test_batch_and_layers),
	    cmocka_unit_test(test_against_sorting),
	    cmocka_unit_test(test_release_twice),
	    cmocka_unit_test(far_pairs_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
