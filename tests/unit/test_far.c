/* What windows lose and links that are far: matrices worked out by hand, and random ones against
 * plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "consumers/far.h"

static struct rows_info make_info(struct rows_shape shape)
{
	struct rows_info info = {.shape = shape};
	char number[24];
	for (size_t i = 0; i < shape.queries || i < shape.keys; i++) {
		snprintf(number, sizeof number, "%zu", i);
		assert_true(i >= shape.queries || string_list_add(&info.query_labels, number));
		assert_true(i >= shape.keys || string_list_add(&info.key_labels, number));
	}
	return info;
}

struct looked {
	struct head_places places;
	struct far_consumer far;
};

/* Look at the rows of one head, the last block first, or the first. */
static void look(struct looked *l, const struct rows_info *info, const float *weights,
		 const struct far_options *options, bool backwards)
{
	const struct rows_shape *shape = &info->shape;
	size_t blocks = (shape->queries - 1) / ROWS_BLOCK + 1;
	assert_int_equal(head_places_init(&l->places, info, &info->key_labels, NULL), ATTN_OK);
	assert_int_equal(far_consumer_init(&l->far, shape, &l->places, options, NULL), ATTN_OK);
	for (size_t i = 0; i < blocks; i++) {
		size_t first = (backwards ? blocks - 1 - i : i) * ROWS_BLOCK, end = first + ROWS_BLOCK;
		struct row_block rows = {.query = first,
					 .count = (end < shape->queries ? end : shape->queries) - first,
					 .keys = shape->keys,
					 .weights = weights + first * shape->keys};
		assert_int_equal(l->far.consumer.consume(&l->far.consumer, &rows, NULL), ATTN_OK);
	}
}

static void release(struct looked *l)
{
	far_consumer_release(&l->far);
	head_places_release(&l->places);
}

static void expect_loss(const struct looked *l, size_t window, double lost, double half, double most,
			size_t query)
{
	struct far_loss loss = far_loss_of(&l->far, 0, 0, 0, window);
	if (fabs(loss.lost - lost) > 1e-12 || fabs(loss.half - half) > 1e-12 ||
	    fabs(loss.most - most) > 1e-12 || loss.query != query)
		fail_msg("window %zu loses %g, half %g, at most %g of query %zu", window, loss.lost,
			 loss.half, loss.most, loss.query);
}

static void expect_link(const struct looked *l, size_t rank, size_t query, size_t key, float weight)
{
	size_t count;
	const struct far_link *links = far_links_of(&l->far, 0, 0, 0, &count);
	assert_true(rank < count);
	if (links[rank].query != query || links[rank].key != key || links[rank].weight != weight)
		fail_msg("link %zu is %zu to %zu, %g", rank, links[rank].query, links[rank].key,
			 (double)links[rank].weight);
}

static size_t link_count(const struct looked *l)
{
	size_t count;
	far_links_of(&l->far, 0, 0, 0, &count);
	return count;
}

/* Four tokens, causal but for query 0; query 2 has no weight. */
static void test_by_hand(void **state)
{
	static const float weights[] = {0.5f,  0,      0,      0.5f, /* */
					0.25f, 0.75f,  0,      0,    /* */
					0,     0,      0,      0,    /* */
					0.5f,  0.125f, 0.125f, 0.25f};
	const struct far_options options = {
	    .windows = {1, 2, 3, 4, 1000}, .window_count = 5, .distance = 1, .top = 2};
	(void)state;
	struct rows_info info = make_info((struct rows_shape){1, 1, 1, 4, 4, 0, 0, false, false});
	struct looked l;
	look(&l, &info, weights, &options, false);
	assert_int_equal(far_loss_of(&l.far, 0, 0, 0, 0).queries, 3);
	expect_loss(&l, 0, (0.5 + 0.25 + 0.75) / 3, 1.0 / 3, 0.75, 3); /* half is not more than half */
	expect_loss(&l, 1, (0.5 + 0.625) / 3, 1.0 / 3, 0.625, 3);
	expect_loss(&l, 2, (0.5 + 0.5) / 3, 0, 0.5, 0);
	expect_loss(&l, 3, 0, 0, 0, 0);
	expect_loss(&l, 4, 0, 0, 0, 0);
	assert_int_equal(link_count(&l), 2);
	expect_link(&l, 0, 0, 3, 0.5f); /* equal ones by query */
	expect_link(&l, 1, 3, 0, 0.5f);
	release(&l);
	rows_info_release(&info);
}

/* Two queries behind two past keys and before an appended one, which no window loses; weights may be
 * negative. */
static void test_cache(void **state)
{
	static const float weights[] = {-0.5f, 0.25f, 0.125f, 0, 0.125f, 0.25f, 0.25f, 0, 0.25f, -0.25f};
	const struct far_options options = {.windows = {2}, .window_count = 1, .distance = 0, .top = 100};
	(void)state;
	struct rows_info info = make_info((struct rows_shape){1, 1, 1, 2, 5, 2, 1, false, true});
	struct looked l;
	look(&l, &info, weights, &options, false);
	expect_loss(&l, 0, (0.5 + 0.5) / 2, 0, 0.5, 0);
	assert_int_equal(link_count(&l), 4);
	expect_link(&l, 0, 0, 0, -0.5f);
	expect_link(&l, 1, 0, 1, 0.25f);
	expect_link(&l, 2, 1, 0, 0.25f);
	expect_link(&l, 3, 1, 1, 0.25f);
	release(&l);
	rows_info_release(&info);
}

/* Nothing is lost of nothing. */
static void test_masked(void **state)
{
	static const float weights[9];
	const struct far_options options = {.windows = {1}, .window_count = 1, .distance = 0, .top = 1};
	(void)state;
	struct rows_info info = make_info((struct rows_shape){1, 1, 1, 3, 3, 0, 0, false, false});
	struct looked l;
	look(&l, &info, weights, &options, false);
	struct far_loss loss = far_loss_of(&l.far, 0, 0, 0, 0);
	assert_true(loss.queries == 0 && isnan(loss.lost) && isnan(loss.half) && isnan(loss.most));
	assert_int_equal(link_count(&l), 0);
	release(&l);
	rows_info_release(&info);
}

/* --- against loops ------------------------------------------------------------------------- */

static unsigned random_bits = 1;

static unsigned draw(unsigned below)
{
	random_bits = random_bits * 1103515245u + 12345u;
	return (random_bits >> 16) % below;
}

static size_t apart(const struct rows_info *info, size_t q, size_t k)
{
	size_t own = query_number(info, q) + info->own_offset + info->shape.past_keys,
	       other = key_number(info, k);
	return own > other ? own - other : other - own;
}

static void check_losses(const struct looked *l, const struct rows_info *info, const float *weights,
			 const struct far_options *o)
{
	const struct rows_shape *s = &info->shape;
	for (size_t w = 0; w < o->window_count; w++) {
		double lost = 0, most = 0;
		size_t half = 0, n = 0, where = 0;
		for (size_t q = 0; q < s->queries; q++) {
			double total = 0, away = 0;
			for (size_t k = 0; k < s->keys; k++) {
				double x = fabs((double)weights[q * s->keys + k]);
				total += x;
				if (k < s->keys - s->appended_keys && apart(info, q, k) >= o->windows[w])
					away += x;
			}
			if (total == 0)
				continue;
			n++;
			lost += away / total;
			half += away / total > 0.5;
			if (away / total > most) {
				most = away / total;
				where = q;
			}
		}
		expect_loss(l, w, lost / (double)n, (double)half / (double)n, most, where);
		assert_int_equal(far_loss_of(&l->far, 0, 0, 0, w).queries, n);
	}
}

/* Take the strongest link, the first of equal ones, again and again. */
static void check_links(const struct looked *l, const struct rows_info *info, float *weights,
			const struct far_options *o)
{
	const struct rows_shape *s = &info->shape;
	for (size_t rank = 0;; rank++) {
		size_t query = 0, key = 0;
		float most = 0;
		for (size_t q = 0; q < s->queries; q++)
			for (size_t k = 0; k < s->keys - s->appended_keys; k++)
				if (fabsf(weights[q * s->keys + k]) > most &&
				    apart(info, q, k) > o->distance) {
					most = fabsf(weights[q * s->keys + k]);
					query = q;
					key = k;
				}
		if (most == 0 || rank == o->top) {
			assert_int_equal(link_count(l), rank);
			return;
		}
		expect_link(l, rank, query, key, weights[query * s->keys + key]);
		weights[query * s->keys + key] = 0;
	}
}

/* Few values, so that many weights are equal, and all sums exact. */
static void check_random(struct rows_info *info, bool causal, bool backwards)
{
	const struct rows_shape *s = &info->shape;
	const struct far_options options = {.windows = {1, 2, 5, 40, 128, 129, 300},
					    .window_count = 7,
					    .distance = draw(150),
					    .top = 1 + draw(12)};
	float *weights = calloc(s->queries * s->keys, sizeof *weights);
	struct looked l;
	assert_non_null(weights);
	for (size_t q = 0; q < s->queries; q++)
		for (size_t k = 0; k < s->keys; k++)
			if (draw(5) == 0 && (!causal || k <= q + s->past_keys))
				weights[q * s->keys + k] = (float)draw(17) / 64 - 0.125f;
	look(&l, info, weights, &options, backwards);
	check_losses(&l, info, weights, &options);
	check_links(&l, info, weights, &options);
	release(&l);
	free(weights);
}

static void test_against_loops(void **state)
{
	static const struct rows_shape shapes[] = {
	    {1, 1, 1, 1, 1, 0, 0, false, true},     {1, 1, 1, 7, 7, 0, 0, false, true},
	    {1, 1, 1, 300, 300, 0, 0, false, true}, {1, 1, 1, 130, 1500, 1369, 1, false, true},
	    {1, 1, 1, 260, 267, 5, 2, false, true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct rows_info info = make_info(shapes[i]);
		for (int way = 0; way < 4; way++)
			check_random(&info, way & 1, way & 2);
		rows_info_release(&info);
	}
}

/* Keys that a view left out are still between the others. */
static void test_gaps(void **state)
{
	size_t numbers[40];
	(void)state;
	struct rows_info info = make_info((struct rows_shape){1, 1, 1, 40, 40, 0, 0, false, true});
	for (size_t i = 0; i < 40; i++)
		numbers[i] = 3 + i * 7 + i % 3;
	info.key_numbers = numbers;
	info.positioned = 400;
	check_random(&info, false, false);
	check_random(&info, false, true);
	info.key_numbers = NULL;
	rows_info_release(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_cache), cmocka_unit_test(test_masked),
	    cmocka_unit_test(test_against_loops), cmocka_unit_test(test_gaps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
