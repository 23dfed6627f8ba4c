#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consumers/entropy.h"
#include "draw/heatmap/order.h"
#include "tokens/sentence.h"

static void close_to(double found, double want)
{
	if (!(fabs(found - want) <= 1e-6))
		fail_msg("%.17g, expected %.17g", found, want);
}

static void test_row_entropy(void **state)
{
	static const unsigned char all[4] = {1, 1, 1, 1}, some[4] = {1, 0, 2, 1};
	const float even[4] = {0.25f, 0.25f, 0.25f, 0.25f}, one[4] = {0, 1, 0, 0};
	const float half[4] = {0.25f, 0, 0.125f, 0.125f}, sign[4] = {0.5f, 0, -0.25f, 0.25f};
	const float none[4] = {0};

	(void)state;
	close_to(row_entropy(even, all, 4), log(4));
	close_to(row_entropy(one, all, 4), 0);
	close_to(row_entropy(none, all, 4), 0);
	/* Shares 1/2, 1/4, 1/4 of what is there: 3/2 ln 2. */
	close_to(row_entropy(half, some, 4), 1.5 * log(2));
	close_to(row_entropy(sign, some, 4), 1.5 * log(2));
	/* Masked keys have no share. */
	close_to(row_entropy(even, some, 4), log(3));
}

/* Two layers of two heads, rows in blocks of two. */
static void test_entropy_consumer(void **state)
{
	const struct rows_shape shape = {.batch = 1, .layers = 2, .heads = 2, .queries = 3, .keys = 2};
	const unsigned char cells[4] = {1, 1, 1, 1};
	const float even[4] = {0.5f, 0.5f, 1, 0}, nothing[4] = {0, 0, 0, 0};
	struct entropy_consumer s;

	(void)state;
	assert_int_equal(entropy_consumer_init(&s, &shape, NULL), ATTN_OK);
	for (size_t query = 0; query < 3; query += 2) {
		struct row_block block = {.layer = 1,
					  .head = 1,
					  .query = query,
					  .count = query ? 1 : 2,
					  .keys = 2,
					  .weights = query ? nothing : even,
					  .cells = cells};

		assert_int_equal(s.consumer.consume(&s.consumer, &block, NULL), ATTN_OK);
	}
	close_to(entropy_of(&s, 0, 1, 1), log(2) / 2); /* of two rows: the third has no weights */
	close_to(entropy_of(&s, 0, 0, 1), 0);
	entropy_consumer_release(&s);
}

static void test_values(void **state)
{
	const double values[5] = {3, 1, 2, 1, 0.5};
	const size_t want[5] = {4, 1, 3, 2, 0};
	size_t order[5];

	(void)state;
	assert_int_equal(order_by_value(values, 5, order, NULL), ATTN_OK);
	assert_memory_equal(order, want, sizeof want);
}

static void test_similarity(void **state)
{
	/* Rising, falling, flat, nearly rising, falling again. */
	float values[5][4] = {{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 2, 2, 2}, {1, 2, 3, 5}, {8, 6, 4, 2}};
	unsigned char masked[4] = {0}, hides[4] = {0, 0, 0, 1};
	const size_t want[5] = {0, 3, 2, 1, 4};
	struct grid grids[5], hidden;
	size_t order[5];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		grids[i] = (struct grid){.rows = 2, .cols = 2, .values = values[i], .masked = masked};
	hidden = grids[3];
	hidden.masked = hides;
	close_to(grid_correlation(&grids[0], &grids[0]), 1);
	close_to(grid_correlation(&grids[0], &grids[1]), -1);
	close_to(grid_correlation(&grids[0], &grids[2]), 0);
	/* Deviations -1.5 -.5 .5 1.5 and -1.75 -.75 .25 2.25: 6.5 / sqrt(5 * 8.75). */
	close_to(grid_correlation(&grids[0], &grids[3]), 6.5 / sqrt(43.75));
	close_to(grid_correlation(&grids[0], &hidden), 1);
	assert_int_equal(order_by_similarity(grids, 5, order, NULL), ATTN_OK);
	assert_memory_equal(order, want, sizeof want);
}

static void check_ends(const char *const *tokens, size_t count, const char *want)
{
	struct string_list list = {0};
	bool *ends;

	for (size_t i = 0; i < count; i++)
		assert_true(string_list_add(&list, tokens[i]));
	ends = sentence_ends(&list);
	assert_non_null(ends);
	for (size_t i = 0; i < count; i++)
		if (ends[i] != (want[i] == '|'))
			fail_msg("'%s' at %zu", tokens[i], i);
	free(ends);
	string_list_release(&list);
}

#define CHECK_ENDS(want, ...)                                                                                \
	check_ends((const char *const[]){__VA_ARGS__},                                                       \
		   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want)

static void test_sentences(void **state)
{
	(void)state;
	CHECK_ENDS("  |  |", "The", "end", ".", "Or", "not", "?");
	CHECK_ENDS("   | |", "He", "said", ".", "\"", "No", "!");
	CHECK_ENDS("  | |", "[CLS]", ".", "[SEP]", "so", "</s>");
	CHECK_ENDS("   | |", "Wait", "!", "?", "...", "Yes", ".)");
	CHECK_ENDS("  | | | ", "\xe5\xae\x83", "\xe7\xb4\xaf", "\xe3\x80\x82", "\xe5\xa5\xbd", "\xef\xbc\x81",
		   "a", "\xef\xbc\x9f", "b");
	CHECK_ENDS(" | | | ", "a", "\xe0\xa5\xa4", "b", "\xd8\x9f", "c", "\xdb\x94", ",");
	/* Words with their mark, and points that end nothing. */
	CHECK_ENDS(" |   |", "It", "slept.", "J.", "U.S.", "e.g.", "end.\"");
	CHECK_ENDS("      |", "pi", "is", "3", ".", "14", "today", ".");
	CHECK_ENDS("   ", "", "\"", ")");
}

static void test_separators(void **state)
{
	static const char *const yes[] = {".",      ",",      ";",      ":",   "?",     "...",
					  "\u2026", "\u3001", "\uff0c", ".\"", "[SEP]", "</s>"};
	static const char *const no[] = {"", "a", "a.", "'", "\"", ")", "-", "<s>", "[CLS]", "\xff", "3"};
	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!token_separates(yes[i]))
			fail_msg("'%s' separates", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (token_separates(no[i]))
			fail_msg("'%s' does not separate", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_row_entropy), cmocka_unit_test(test_entropy_consumer),
	    cmocka_unit_test(test_values),      cmocka_unit_test(test_similarity),
	    cmocka_unit_test(test_sentences),   cmocka_unit_test(test_separators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
