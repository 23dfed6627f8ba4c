#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consumers/grid.h"

/* A small reference: all weights of one head, and the consumer fed in blocks. */
struct matrix {
	size_t queries, keys;
	float *weights;
	unsigned char *cells;
};

static struct matrix make_matrix(size_t queries, size_t keys, unsigned int seed)
{
	struct matrix m = {queries, keys, calloc(queries * keys, sizeof(float)), calloc(queries * keys, 1)};

	for (size_t i = 0; i < queries * keys; i++) {
		seed = seed * 1664525u + 1013904223u;
		m.cells[i] = (seed >> 28) > 4;
		m.weights[i] = m.cells[i] ? (float)(seed >> 8) / 16777216.0f : 0.0f;
	}
	return m;
}

static void free_matrix(struct matrix *m)
{
	free(m->weights);
	free(m->cells);
}

static void feed(struct grid_consumer *consumer, const struct matrix *m, size_t head, size_t block_rows)
{
	for (size_t q = 0; q < m->queries; q += block_rows) {
		size_t count = q + block_rows < m->queries ? block_rows : m->queries - q;
		struct row_block block = {.head = head,
					  .query = q,
					  .count = count,
					  .keys = m->keys,
					  .weights = m->weights + q * m->keys,
					  .cells = m->cells + q * m->keys};

		assert_int_equal(consumer->consumer.consume(&consumer->consumer, &block, NULL), ATTN_OK);
	}
}

/* Compare a grid with the definition, over the chosen queries and keys. */
static void check_grid(const struct grid *g, const struct matrix *m, const size_t *queries,
		       const size_t *keys)
{
	float maximum = 0.0f;
	bool any_masked = false;

	for (size_t row = 0; row < g->rows; row++) {
		for (size_t col = 0; col < g->cols; col++) {
			double sum = 0.0, highest = 0.0, weights = 0.0, got;
			bool attended = false;

			for (size_t q = row * g->row_factor; q < (row + 1) * g->row_factor && q < g->queries;
			     q++) {
				for (size_t k = col * g->col_factor;
				     k < (col + 1) * g->col_factor && k < g->keys; k++) {
					size_t at = queries[q] * m->keys + keys[k];

					highest = fmax(highest, (double)m->weights[at]);
					sum += (double)m->weights[at];
					attended |= m->cells[at] != 0;
					maximum = fmaxf(maximum, m->weights[at]);
					weights++;
				}
			}
			got = (double)g->values[row * g->cols + col];
			if (g->reduction == GRID_MAXIMUM)
				assert_true(got == highest);
			else
				assert_true(fabs(got - sum / weights) < 1e-6);
			assert_int_equal(g->masked[row * g->cols + col], !attended);
			any_masked |= !attended;
		}
	}
	assert_true(g->maximum == maximum);
	assert_int_equal(g->any_masked, any_masked);
}

static void test_factor(void **state)
{
	(void)state;
	assert_int_equal(grid_factor(10, 10), 1);
	assert_int_equal(grid_factor(11, 10), 2);
	assert_int_equal(grid_factor(1, 1), 1);
	assert_int_equal(grid_factor(2000, 1024), 2);
	assert_int_equal(grid_factor(7, SIZE_MAX), 1);
}

static void test_reduction(void **state)
{
	static const size_t limits[] = {1, 2, 3, 7, 16, 1000};

	(void)state;
	for (size_t i = 0; i < 6 * 6 * 2; i++) {
		struct grid_options options = {limits[i % 6], limits[i / 6 % 6],
					       i < 36 ? GRID_MAXIMUM : GRID_MEAN};
		struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 1, .queries = 23, .keys = 17};
		struct matrix m = make_matrix(shape.queries, shape.keys, (unsigned int)i + 1);
		struct grid_consumer consumer;
		size_t all[23];

		for (size_t k = 0; k < 23; k++)
			all[k] = k;
		assert_int_equal(grid_consumer_init(&consumer, &shape, NULL, &options, NULL), ATTN_OK);
		assert_int_equal(consumer.grid_count, 1);
		assert_true(consumer.grids[0].rows <= options.max_rows &&
			    consumer.grids[0].cols <= options.max_cols);
		feed(&consumer, &m, 0, 1 + i % 9);
		check_grid(&consumer.grids[0], &m, all, all);
		grid_consumer_release(&consumer);
		free_matrix(&m);
	}
}

/* Heads and queries left out are not in the grids. */
static void test_selection(void **state)
{
	const bool heads[3] = {true, false, true};
	const bool queries[9] = {false, true, true, false, true, true, true, false, true};
	const size_t query_at[] = {1, 2, 4, 5, 6, 8}, key_at[] = {0, 1, 2, 3, 4};
	const struct rows_selection selection = {.heads = heads, .queries = queries};
	const struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 3, .queries = 9, .keys = 5};

	(void)state;
	for (size_t limit = 1; limit < 8; limit++) {
		struct grid_options options = {limit, limit, GRID_MAXIMUM};
		struct grid_consumer consumer;

		assert_int_equal(grid_consumer_init(&consumer, &shape, &selection, &options, NULL), ATTN_OK);
		assert_int_equal(consumer.grid_count, 2);
		assert_int_equal(consumer.grids[1].head, 2);
		assert_int_equal(consumer.grids[0].queries, 6);
		assert_int_equal(consumer.grids[0].keys, 5);
		for (unsigned int head = 0; head < 3; head++) {
			struct matrix m = make_matrix(9, 5, 77 + head);

			feed(&consumer, &m, head, 2);
			if (head != 1)
				check_grid(&consumer.grids[head / 2], &m, query_at, key_at);
			free_matrix(&m);
		}
		grid_consumer_release(&consumer);
	}
}

static void test_nothing(void **state)
{
	const bool none[4] = {false};
	const struct rows_selection no_heads = {.heads = none}, no_queries = {.queries = none};
	const struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 2, .queries = 4, .keys = 4};
	struct grid_options options = {4, 4, GRID_MAXIMUM};
	struct grid_consumer consumer;
	struct attn_error err;

	(void)state;
	assert_int_equal(grid_consumer_init(&consumer, &shape, &no_heads, &options, &err), ATTN_USAGE);
	assert_int_equal(grid_consumer_init(&consumer, &shape, &no_queries, &options, &err), ATTN_USAGE);
	assert_null(consumer.grids);
	grid_consumer_release(&consumer);
}

/* Weights that do not count leave a smaller one as the top: 0.2 of the cells below, and of
 * means 0.15. */
static void test_unscaled(void **state)
{
	(void)state;
	float weights[] = {0.9f, 0.1f, 0.2f, 0, 0.7f, 0, 0.1f, 0.1f};
	unsigned char cells[] = {CELL_UNSCALED, 1, 1, 1, CELL_UNSCALED, CELL_UNSCALED, 1, 0};
	struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 1, .queries = 2, .keys = 4};
	const struct matrix m = {2, 4, weights, cells};
	const struct grid_options options[] = {
	    {4, 4, GRID_MAXIMUM}, {1, 4, GRID_MAXIMUM}, {4, 4, GRID_MEAN}, {1, 4, GRID_MEAN}};
	const double tops[] = {0.2, 0.2, 0.2, 0.15};
	for (size_t i = 0; i < 4; i++) {
		struct grid_consumer consumer;
		assert_int_equal(grid_consumer_init(&consumer, &shape, NULL, &options[i], NULL), ATTN_OK);
		feed(&consumer, &m, 0, 1);
		assert_true(consumer.grids[0].maximum == 0.2f);
		if (fabs((double)consumer.grids[0].top - tops[i]) > 1e-6)
			fail_msg("top %zu is %g, expected %g", i, (double)consumer.grids[0].top, tops[i]);
		grid_consumer_release(&consumer);
	}
}

/* Of weights with a sign the one of largest magnitude stays, over blocks too; cells with
 * weights that do not count are told. */
static void test_signed(void **state)
{
	(void)state;
	float weights[] = {0.25f, -0.5f, 0.125f, 0, -0.25f, 0.375f, 0.0625f, -0.75f};
	unsigned char cells[] = {1, 1, 1, 1, 1, 1, 1, CELL_UNSCALED};
	struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 1, .queries = 2, .keys = 4};
	const struct matrix m = {2, 4, weights, cells};
	const struct grid_options whole = {4, 4, GRID_MAXIMUM}, half = {1, 2, GRID_MAXIMUM};
	struct grid_consumer consumer;
	const unsigned char uncounted[] = {0, 1};
	assert_int_equal(grid_consumer_init(&consumer, &shape, NULL, &half, NULL), ATTN_OK);
	feed(&consumer, &m, 0, 1);
	assert_true(consumer.grids[0].values[0] == -0.5f && consumer.grids[0].values[1] == -0.75f);
	assert_true(consumer.grids[0].maximum == 0.5f && consumer.grids[0].top == 0.5f);
	assert_memory_equal(consumer.grids[0].uncounted, uncounted, 2);
	grid_consumer_release(&consumer);
	assert_int_equal(grid_consumer_init(&consumer, &shape, NULL, &whole, NULL), ATTN_OK);
	cells[7] = 1;
	feed(&consumer, &m, 0, 1);
	assert_memory_equal(consumer.grids[0].values, weights, sizeof weights);
	assert_true(consumer.grids[0].maximum == 0.75f);
	assert_null(consumer.grids[0].uncounted);
	grid_consumer_release(&consumer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_factor),    cmocka_unit_test(test_reduction),
	    cmocka_unit_test(test_selection), cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_unscaled),  cmocka_unit_test(test_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
