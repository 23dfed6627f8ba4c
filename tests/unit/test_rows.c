/* Streams of rows: order, selection, failures and early ends, with several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sched.h>

#include "attention/rows.h"
#include "util/threads.h"

enum {
	LAYERS = 2,
	BATCH = 2,
	HEADS = 3,
	QUERIES = 2 * ROWS_BLOCK + 22, /* three blocks, the last not full */
	KEYS = 4,
	THREADS = 4,
	ROWS = LAYERS * BATCH * HEADS * QUERIES
};

/* A row's number in the order layer, batch, head, query. */
static size_t row_number(const struct row_block *block, size_t r)
{
	return ((block->layer * BATCH + block->batch) * HEADS + block->head) * QUERIES + block->query + r;
}

/* Weights that say the number of their row. */
struct fake_source {
	struct row_source source; /* first */
	float weights[THREADS][ROWS_BLOCK * KEYS];
	atomic_size_t reads;
	size_t fail_from;                          /* reading this row or one after it fails */
	size_t begun[LAYERS + 1], begins;          /* the layers that were begun */
	atomic_size_t reading;                     /* blocks at the moment */
	bool checks_needs, no_weights, no_context; /* what all blocks shall say */
};

static enum attn_status fake_read(struct row_source *source, size_t worker, struct row_block *block,
				  struct attn_error *err)
{
	struct fake_source *fake = (struct fake_source *)source;
	if (worker >= THREADS || block->count == 0 || block->count > ROWS_BLOCK)
		return attn_fail(err, ATTN_USAGE, "worker %zu, %zu rows", worker, block->count);
	atomic_fetch_add(&fake->reads, 1);
	atomic_fetch_add(&fake->reading, 1);
	if (source->begin_layer && block->layer != fake->begun[fake->begins - 1])
		return attn_fail(err, ATTN_USAGE, "layer %zu", block->layer);
	if (fake->checks_needs &&
	    (block->no_weights != fake->no_weights || block->no_context != fake->no_context))
		return attn_fail(err, ATTN_USAGE, "no weights: %d, no context: %d", block->no_weights,
				 block->no_context);
	if (row_number(block, block->count - 1) >= fake->fail_from)
		return attn_fail(err, ATTN_BAD_INPUT, "row %zu", row_number(block, 0));
	float *rows = block->weights_place ? block->weights_place : fake->weights[worker];
	for (size_t i = 0; i < block->count * KEYS; i++)
		rows[i] = (float)row_number(block, i / KEYS);
	for (size_t i = 0; i < row_number(block, 0) % 7; i++)
		sched_yield(); /* so that blocks are ready in another order */
	block->weights = rows;
	atomic_fetch_sub(&fake->reading, 1);
	return ATTN_OK;
}

static enum attn_status fake_begin_layer(struct row_source *source, size_t layer, struct attn_error *err)
{
	struct fake_source *fake = (struct fake_source *)source;
	if (atomic_load(&fake->reading) > 0)
		return attn_fail(err, ATTN_USAGE, "layer %zu while others are read", layer);
	fake->begun[fake->begins++] = layer;
	return ATTN_OK;
}

static const struct rows_shape shape = {
    .batch = BATCH, .layers = LAYERS, .heads = HEADS, .queries = QUERIES, .keys = KEYS};

static struct fake_source new_source(void)
{
	/* Costly rows, or one thread would do. */
	return (struct fake_source){.source = {.shape = shape, .row_cost = 1 << 20, .read = fake_read},
				    .fail_from = SIZE_MAX};
}

struct fake_consumer {
	struct row_consumer consumer; /* first */
	atomic_size_t rows, blocks;
	size_t last;               /* the number of the last row, and 1 */
	bool in_order, right;      /* what was seen */
	atomic_uchar seen[ROWS];   /* how many times */
	size_t fail_at, done_from; /* blocks */
	float *places;             /* (ROWS, KEYS) */
};

static enum attn_status fake_consume(struct row_consumer *consumer, const struct row_block *block,
				     struct attn_error *err)
{
	struct fake_consumer *fake = (struct fake_consumer *)consumer;
	size_t index = atomic_fetch_add(&fake->blocks, 1);
	if (index == fake->fail_at)
		return attn_fail(err, ATTN_FAILED, "block %zu", index);
	for (size_t r = 0; r < block->count; r++) {
		size_t number = row_number(block, r);
		atomic_fetch_add(&fake->rows, 1);
		atomic_fetch_add(&fake->seen[number], 1);
		if (!consumer->any_order) {
			fake->in_order &= number >= fake->last;
			fake->last = number + 1;
		}
		for (size_t j = 0; j < KEYS; j++)
			if (block->weights[r * KEYS + j] != (float)number)
				fake->right = false;
	}
	if (fake->places && block->weights != fake->places + row_number(block, 0) * KEYS)
		fake->right = false;
	return ATTN_OK;
}

static bool fake_done(struct row_consumer *consumer)
{
	struct fake_consumer *fake = (struct fake_consumer *)consumer;
	return atomic_load(&fake->blocks) >= fake->done_from;
}

static void fake_place(struct row_consumer *consumer, struct row_block *block)
{
	block->weights_place = ((struct fake_consumer *)consumer)->places + row_number(block, 0) * KEYS;
}

static struct fake_consumer *new_consumer(bool any_order)
{
	struct fake_consumer *fake = calloc(1, sizeof *fake);
	assert_non_null(fake);
	fake->consumer = (struct row_consumer){.consume = fake_consume, .any_order = any_order};
	fake->in_order = fake->right = true;
	fake->fail_at = SIZE_MAX;
	return fake;
}

static enum attn_status stream(struct fake_source *source, const struct rows_selection *selection,
			       struct fake_consumer *a, struct fake_consumer *b, struct attn_error *err)
{
	struct row_consumer *consumers[] = {&a->consumer, b ? &b->consumer : NULL};
	return rows_stream(&source->source, selection, consumers, b ? 2 : 1, err);
}

static void expect_all_rows(const struct fake_consumer *consumer)
{
	assert_true(consumer->in_order);
	assert_true(consumer->right);
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(consumer->seen[i], 1);
}

static const size_t thread_counts[] = {1, 2, THREADS};

enum {
	COUNTS = sizeof thread_counts / sizeof *thread_counts
};

/* One consumer that minds the order is enough for all to get it. */
static void test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *ordered = new_consumer(false), *any = new_consumer(true);
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, NULL, ordered, any, NULL), ATTN_OK);
		expect_all_rows(ordered);
		expect_all_rows(any);
		assert_int_equal(ordered->blocks, LAYERS * BATCH * HEADS * 3);
		free(ordered);
		free(any);
	}
}

static void test_any_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *a = new_consumer(true), *b = new_consumer(true);
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, NULL, a, b, NULL), ATTN_OK);
		expect_all_rows(a);
		expect_all_rows(b);
		free(a);
		free(b);
	}
}

/* Little to do is done by the caller alone, in order for all. */
static void test_small(void **state)
{
	(void)state;
	struct fake_source source = new_source();
	struct fake_consumer *consumer = new_consumer(false);
	source.source.row_cost = 1;
	threads_set(THREADS);
	assert_int_equal(stream(&source, NULL, consumer, NULL, NULL), ATTN_OK);
	expect_all_rows(consumer);
	free(consumer);
}

/* Runs of chosen queries, in blocks of at most ROWS_BLOCK. */
static void test_selection(void **state)
{
	(void)state;
	static const bool layers[LAYERS] = {false, true}, heads[HEADS] = {true, false, true};
	bool queries[QUERIES] = {false};
	for (size_t q = 0; q < QUERIES; q++)
		queries[q] = q == 0 || q == 2 || q == 3 || (q >= 50 && q < 50 + ROWS_BLOCK + 1);
	const struct rows_selection selection = {.layers = layers, .heads = heads, .queries = queries};
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(false);
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, &selection, consumer, NULL, NULL), ATTN_OK);
		assert_true(consumer->in_order && consumer->right);
		assert_int_equal(consumer->blocks, BATCH * 2 * 4); /* 0; 2, 3; ROWS_BLOCK rows; 1 row */
		for (size_t row = 0; row < ROWS; row++)
			assert_int_equal(consumer->seen[row], row / QUERIES / HEADS / BATCH == 1 &&
								  row / QUERIES % HEADS != 1 &&
								  queries[row % QUERIES]);
		free(consumer);
	}
	static const bool none[HEADS] = {false};
	struct fake_source source = new_source();
	struct fake_consumer *consumer = new_consumer(false);
	assert_int_equal(stream(&source, &(struct rows_selection){.heads = none}, consumer, NULL, NULL),
			 ATTN_OK);
	assert_int_equal(consumer->blocks, 0);
	assert_int_equal(source.reads, 0);
	free(consumer);
}

/* Blocks by their numbers. */
static void test_some_blocks(void **state)
{
	(void)state;
	const struct rows_selection selection = {.first_block = 4, .last_block = 8};
	size_t first = rows_before_block(&shape, 4), last = rows_before_block(&shape, 8);
	assert_int_equal(first, QUERIES + ROWS_BLOCK);
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(false);
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, &selection, consumer, NULL, NULL), ATTN_OK);
		assert_true(consumer->in_order && consumer->right);
		assert_int_equal(consumer->blocks, 4);
		for (size_t row = 0; row < ROWS; row++)
			assert_int_equal(consumer->seen[row], row >= first && row < last);
		free(consumer);
	}
}

/* A source may compute rows where a consumer wants them. */
static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(true), *other = new_consumer(true);
		consumer->places = calloc(ROWS * KEYS, sizeof *consumer->places);
		consumer->consumer.place = fake_place;
		assert_non_null(consumer->places);
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, NULL, other, consumer, NULL), ATTN_OK);
		expect_all_rows(consumer);
		expect_all_rows(other);
		for (size_t row = 0; row < ROWS; row++)
			assert_true(consumer->places[row * KEYS + KEYS - 1] == (float)row);
		free(consumer->places);
		free(consumer);
		free(other);
	}
}

/* What came before the failure is delivered, nothing after it, and the message is that
 * of the first block that failed, whichever thread was faster. */
static void test_failed_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		char row[40];
		struct attn_error err = {0};
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(false);
		snprintf(row, sizeof row, "row %d", QUERIES + 2 * ROWS_BLOCK);
		source.fail_from = QUERIES + 2 * ROWS_BLOCK; /* the last block of head 1 */
		threads_set(thread_counts[i]);
		assert_int_equal(stream(&source, NULL, consumer, NULL, &err), ATTN_BAD_INPUT);
		assert_int_equal(err.status, ATTN_BAD_INPUT);
		assert_string_equal(err.message, row);
		assert_int_equal(consumer->rows, source.fail_from);
		assert_true(consumer->in_order);
		assert_true(source.reads <= 6 + THREADS);
		free(consumer);
	}
}

static void test_failed_consumer(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		for (int any_order = 0; any_order < 2; any_order++) {
			struct attn_error err = {0};
			struct fake_source source = new_source();
			struct fake_consumer *first = new_consumer(any_order),
					     *second = new_consumer(any_order);
			first->fail_at = 4;
			threads_set(thread_counts[i]);
			assert_int_equal(stream(&source, NULL, first, second, &err), ATTN_FAILED);
			assert_string_equal(err.message, "block 4");
			if (!any_order) {
				assert_int_equal(second->blocks, 4);
				assert_true(source.reads <= 5 + THREADS);
			}
			free(first);
			free(second);
		}
	}
}

/* The stream ends when nobody waits for more, and not before. */
static void test_done(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *a = new_consumer(false), *b = new_consumer(true);
		threads_set(thread_counts[i]);
		a->consumer.done = b->consumer.done = fake_done;
		a->done_from = 2;
		b->done_from = 5;
		assert_int_equal(stream(&source, NULL, a, b, NULL), ATTN_OK);
		assert_int_equal(a->blocks, 5);
		assert_int_equal(b->blocks, 5);
		assert_true(source.reads <= 5 + THREADS);
		free(b);
		b = new_consumer(true); /* never done: gets all */
		assert_int_equal(stream(&source, NULL, a, b, NULL), ATTN_OK);
		expect_all_rows(b);
		free(b);
		b = new_consumer(true);
		b->consumer.passive = true; /* but that is not asked for more */
		assert_int_equal(stream(&source, NULL, a, b, NULL), ATTN_OK);
		assert_int_equal(b->blocks, 1);
		free(a);
		a = new_consumer(true);
		a->consumer.passive = true; /* alone, it is streamed all there is */
		assert_int_equal(stream(&source, NULL, a, NULL, NULL), ATTN_OK);
		expect_all_rows(a);
		free(a);
		free(b);
	}
}

/* Each layer of which rows are chosen is begun once, in order, while none of another is read. */
static void test_layers(void **state)
{
	static const bool second[LAYERS] = {false, true};
	const size_t half = BATCH * HEADS * 3; /* blocks of a layer */
	const struct {
		struct rows_selection selection;
		size_t first, begins, blocks;
	} cases[] = {
	    {{0}, 0, 2, 2 * half},
	    {{.layers = second}, 1, 1, half},
	    {{.first_block = 1, .last_block = half}, 0, 1, half - 1},
	    {{.first_block = half - 1, .last_block = half + 2}, 0, 2, 3},
	    {{.first_block = half, .last_block = 2 * half}, 1, 1, half},
	};
	(void)state;
	for (size_t i = 0; i < COUNTS * sizeof cases / sizeof *cases; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(i % 2);
		struct attn_error err = {0};
		source.source.begin_layer = fake_begin_layer;
		threads_set(thread_counts[i % COUNTS]);
		if (stream(&source, &cases[i / COUNTS].selection, consumer, NULL, &err) != ATTN_OK)
			fail_msg("%zu: %s", i, err.message);
		assert_int_equal(source.begins, cases[i / COUNTS].begins);
		for (size_t l = 0; l < source.begins; l++)
			assert_int_equal(source.begun[l], cases[i / COUNTS].first + l);
		assert_int_equal(consumer->blocks, cases[i / COUNTS].blocks);
		assert_true(consumer->in_order && consumer->right);
		free(consumer);
	}
}

/* No layer is begun for a consumer that has enough, nor after a failure. */
static void test_layers_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTS * 2; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *consumer = new_consumer(false);
		bool fails = i % 2;
		source.source.begin_layer = fake_begin_layer;
		threads_set(thread_counts[i / 2]);
		consumer->consumer.done = fake_done;
		consumer->done_from = fails ? SIZE_MAX : 2;
		source.fail_from = fails ? QUERIES : SIZE_MAX;
		assert_int_equal(stream(&source, NULL, consumer, NULL, NULL),
				 fails ? ATTN_BAD_INPUT : ATTN_OK);
		assert_int_equal(source.begins, 1);
		free(consumer);
	}
}

/* A block says what none of its consumers needs, but for those that only look on. */
static void test_not_needed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		struct fake_source source = new_source();
		struct fake_consumer *a = new_consumer(true), *b = new_consumer(true);
		a->consumer.no_weights = i & 1;
		a->consumer.no_context = i & 2;
		b->consumer.no_weights = i & 4;
		b->consumer.no_context = i & 8;
		b->consumer.passive = i & 16;
		source.checks_needs = true;
		source.no_weights = (i & 1) && (i & (4 | 16));
		source.no_context = (i & 2) && (i & (8 | 16));
		threads_set(1);
		assert_int_equal(stream(&source, NULL, a, b, NULL), ATTN_OK);
		free(a);
		free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_any_order),
	    cmocka_unit_test(test_small),
	    cmocka_unit_test(test_selection),
	    cmocka_unit_test(test_some_blocks),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_failed_read),
	    cmocka_unit_test(test_failed_consumer),
	    cmocka_unit_test(test_done),
	    cmocka_unit_test(test_layers),
	    cmocka_unit_test(test_layers_left_out),
	    cmocka_unit_test(test_not_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
