/* Distances of heads, and groups of those that are near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/head_groups.h"
#include "consumers/head_similarity.h"

static void expect_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-6))
		fail_msg("%.12g, expected %.12g", found, expected);
}

/* Feed weights (layers, batch, heads, queries, keys), the last block first. */
static void feed(struct head_similarity *s, const struct rows_shape *h, const float *weights)
{
	unsigned char *cells = calloc(ROWS_BLOCK, h->keys);
	assert_non_null(cells);
	memset(cells, 1, ROWS_BLOCK * h->keys);
	for (size_t i = h->layers * h->batch * h->heads; i-- > 0;) {
		for (size_t first = (h->queries - 1) / ROWS_BLOCK * ROWS_BLOCK;; first -= ROWS_BLOCK) {
			size_t count = h->queries - first < ROWS_BLOCK ? h->queries - first : ROWS_BLOCK;
			struct row_block block = {.layer = i / h->heads / h->batch,
						  .batch = i / h->heads % h->batch,
						  .head = i % h->heads,
						  .query = first,
						  .count = count,
						  .keys = h->keys,
						  .weights = weights + (i * h->queries + first) * h->keys,
						  .cells = cells};
			assert_int_equal(s->consumer.consume(&s->consumer, &block, NULL), ATTN_OK);
			if (first == 0)
				break;
		}
	}
	free(cells);
}

/* sqrt(H((p + q) / 2) - (H(p) + H(q)) / 2) */
static double naive_distance(const float *p, const float *q, size_t keys)
{
	double sum = 0, P = 0, Q = 0;
	for (size_t k = 0; k < keys; k++) {
		P += fabs((double)p[k]);
		Q += fabs((double)q[k]);
	}
	for (size_t k = 0; k < keys; k++) {
		double x = fabs((double)p[k]) / P, y = fabs((double)q[k]) / Q, m = (x + y) / 2;
		sum -= m > 0 ? m * log2(m) : 0;
		sum += (x > 0 ? x * log2(x) : 0) / 2 + (y > 0 ? y * log2(y) : 0) / 2;
	}
	return sqrt(fmax(sum, 0));
}

static void test_by_hand(void **state)
{
	static const float weights[] = {
	    1,    0,    0.5f, 0.5f, /* head 0: two queries */
	    0,    1,    0.5f, 0.5f, /* head 1 */
	    0.5f, 0.5f, 0.5f, 0.5f, /* head 2 */
	    0,    0,    1,    0,    /* head 3 */
	    -2,   0,    2,    -2,   /* head 4: head 0, of other sums and signs */
	};
	const struct rows_shape h = {1, 1, 5, 2, 2, 0, 0, false, true};
	static const struct rows_selection all = {0};
	const double part = sqrt(0.75 * log2(4.0 / 3) + 0.25 * 2 - 0.5); /* (1, 0) and (1/2, 1/2) */
	struct head_similarity s;
	double d[25];
	(void)state;
	assert_int_equal(similarity_init(&s, &h, &all, NULL), ATTN_OK);
	assert_int_equal(s.head_count, 5);
	assert_int_equal(s.queries, 2);
	feed(&s, &h, weights);
	similarity_distances(&s, d);
	expect_near(d[0 * 5 + 1], 0.5);
	expect_near(d[0 * 5 + 2], part / 2);
	expect_near(d[1 * 5 + 2], part / 2);
	expect_near(d[0 * 5 + 3], part); /* of the one query that both have */
	assert_true(d[0 * 5 + 4] == 0);
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			assert_true(d[i * 5 + j] == d[j * 5 + i] && (i != j || d[i * 5 + j] == 0));
	similarity_release(&s);
}

static unsigned random_bits = 7;

static unsigned draw(unsigned below)
{
	random_bits = random_bits * 1103515245u + 12345u;
	return (random_bits >> 16) % below;
}

/* Layers, batch items and heads, some of them chosen; more queries than are looked at. */
static void test_against_loops(void **state)
{
	static const bool heads[] = {true, false, true}, items[] = {false, true, true};
	const struct rows_selection chosen = {.heads = heads, .batch = items};
	const struct rows_shape h = {3, 2, 3, 150, 37, 0, 0, false, false};
	size_t rows = h.layers * h.batch * h.heads * h.queries;
	float *weights = calloc(rows * h.keys, sizeof *weights);
	struct head_similarity s;
	double d[16];
	(void)state;
	assert_non_null(weights);
	for (size_t i = 0; i < rows * h.keys; i++)
		weights[i] = draw(3) ? expf(-(float)draw(200) / 20) : 0;
	assert_int_equal(similarity_init(&s, &h, &chosen, NULL), ATTN_OK);
	assert_int_equal(s.head_count, 4);
	assert_int_equal(s.queries, SIMILAR_QUERIES / 2);
	feed(&s, &h, weights);
	similarity_distances(&s, d);
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 4; j++) {
			double sum = 0;
			for (size_t item = 1; item < 3; item++) {
				for (size_t n = 0; n < s.queries; n++) {
					size_t query = (2 * n + 1) * h.queries / (2 * s.queries);
					size_t x =
					    ((i / 2 * h.batch + item) * h.heads + i % 2 * 2) * h.queries +
					    query;
					size_t y =
					    ((j / 2 * h.batch + item) * h.heads + j % 2 * 2) * h.queries +
					    query;
					sum += naive_distance(weights + x * h.keys, weights + y * h.keys,
							      h.keys);
				}
			}
			expect_near(d[i * 4 + j], sum / (2 * (double)s.queries));
		}
	}
	similarity_release(&s);
	free(weights);
}

/* Complete linkage as it is defined: the nearest two groups become one, until they are too far. */
static void naive_groups(const double *distances, size_t count, double limit, size_t *groups)
{
	for (size_t i = 0; i < count; i++)
		groups[i] = i;
	for (;;) {
		size_t low = 0, high = 0;
		double best = limit;
		for (size_t a = 0; a < count; a++) {
			for (size_t b = a + 1; b < count; b++) {
				double far = 0;
				if (groups[a] != a || groups[b] != b)
					continue;
				for (size_t i = 0; i < count; i++)
					for (size_t j = 0; j < count; j++)
						if (groups[i] == a && groups[j] == b)
							far = fmax(far, distances[i * count + j]);
				if (far <= best && (high == 0 || far < best)) {
					best = far;
					low = a;
					high = b;
				}
			}
		}
		if (high == 0)
			return;
		for (size_t i = 0; i < count; i++)
			groups[i] = groups[i] == high ? low : groups[i];
	}
}

static void test_groups(void **state)
{
	enum {
		MOST = 24
	};
	double distances[MOST * MOST];
	size_t found[MOST], expected[MOST];
	(void)state;
	for (size_t round = 0; round < 300; round++) {
		size_t count = 1 + draw(MOST);
		double limit = draw(100) / 100.0;
		for (size_t i = 0; i < count; i++) {
			distances[i * count + i] = 0;
			for (size_t j = i + 1; j < count; j++) /* no two alike: ties may go either way */
				distances[i * count + j] = distances[j * count + i] =
				    (draw(1000) + (double)(i * count + j) / 1000) / 1001;
		}
		assert_int_equal(find_groups(distances, count, limit, found, NULL), ATTN_OK);
		naive_groups(distances, count, limit, expected);
		assert_memory_equal(found, expected, count * sizeof *found);
	}
	/* All alike: one group. */
	memset(distances, 0, sizeof distances);
	assert_int_equal(find_groups(distances, MOST, 0, found, NULL), ATTN_OK);
	for (size_t i = 0; i < MOST; i++)
		assert_int_equal(found[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_against_loops),
	    cmocka_unit_test(test_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
