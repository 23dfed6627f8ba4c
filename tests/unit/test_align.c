/* Word alignments: links and their scores, gold standards, monotone paths, and the consumer, over
 * numbers worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "consumers/alignment.h"
#include "consumers/monotone.h"
#include "files/pharaoh.h"
#include "tokens/token.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "0-1 2p0", sorted. */
static struct link_list links_of(const char *text)
{
	struct gold gold;
	char line[200];
	size_t length = strlen(text);
	assert_true(length + 2 < sizeof line);
	memcpy(line, text, length);
	memcpy(line + length, "\n", 2);
	assert_int_equal(gold_parse(&gold, line, length + 1, 0, false, NULL), ATTN_OK);
	assert_int_equal(gold.count, 1);
	struct link_list links = gold.sentences[0].links;
	gold.sentences[0].links = (struct link_list){0};
	gold_release(&gold);
	return links;
}

static void check_links(const struct link_list *found, const char *expected)
{
	struct link_list links = links_of(expected);
	assert_int_equal(found->count, links.count);
	for (size_t i = 0; i < links.count; i++) {
		assert_int_equal(found->items[i].source, links.items[i].source);
		assert_int_equal(found->items[i].target, links.items[i].target);
	}
	link_list_release(&links);
}

static bool close_to(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void test_scores(void **state)
{
	(void)state;
	struct link_list gold = links_of("0-0 1-1 2p1 2-2 3p3 3p3"), found = links_of("0-0 1-1 2-1 2-3");
	struct link_list nothing = {0};
	struct link_counts counts = {0};
	link_counts_add(&counts, &found, &gold);
	assert_int_equal(counts.found, 4);
	assert_int_equal(counts.sure, 3);
	assert_int_equal(counts.possible, 5);
	assert_int_equal(counts.found_sure, 2);
	assert_int_equal(counts.found_possible, 3);
	assert_true(close_to(link_precision(&counts), 0.75));
	assert_true(close_to(link_recall(&counts), 2.0 / 3));
	assert_true(close_to(link_f1(&counts), 12.0 / 17));
	assert_true(close_to(link_error_rate(&counts), 1 - 5.0 / 7));
	link_counts_add(&counts, &nothing, &gold); /* a sentence without links: counts are summed */
	assert_true(close_to(link_precision(&counts), 0.75));
	assert_true(close_to(link_recall(&counts), 2.0 / 6));
	assert_true(close_to(link_error_rate(&counts), 1 - 5.0 / 10));

	/* No denominator, no figure; nothing right, an error rate of 1. */
	counts = (struct link_counts){0};
	assert_true(isnan(link_precision(&counts)) && isnan(link_recall(&counts)));
	assert_true(isnan(link_f1(&counts)) && isnan(link_error_rate(&counts)));
	counts = (struct link_counts){.found = 2, .sure = 1, .possible = 1};
	assert_true(link_f1(&counts) == 0 && link_error_rate(&counts) == 1);
	link_list_release(&gold);
	link_list_release(&found);
}

static void check_join(bool (*join)(const struct link_list *, const struct link_list *, struct link_list *),
		       const char *a, const char *b, const char *expected)
{
	struct link_list first = links_of(a), second = links_of(b), out = {0};
	assert_true(join(&first, &second, &out));
	check_links(&out, expected);
	link_list_release(&first);
	link_list_release(&second);
	link_list_release(&out);
}

static void test_joins(void **state)
{
	(void)state;
	check_join(links_intersect, "0-0 1-1 2-1", "0-0 2-1 3-3", "0-0 2-1");
	check_join(links_union, "0-0 1-1 2-1", "0-0 2-1 3-3", "0-0 1-1 2-1 3-3");
	check_join(links_union, "", "", "");
	/* From 0-0: 1-1 is beside it, and 2-0 beside that; then both words of 2-1 have a link.  5-5 and
	 * 7-7 have neither, and then 5-6 has one. */
	check_join(links_grow, "0-0 1-1 2-1 5-5", "0-0 2-0 5-6 7-7", "0-0 1-1 2-0 5-5 7-7");
	check_join(links_grow, "0-0 1-1 2-2", "1-0 0-1 2-2", "0-0 1-1 2-2");
	check_join(links_grow, "", "3-4", "3-4");
}

static void check_gold(const char *text, size_t first, bool reversed, size_t sentence, const char *expected)
{
	struct gold gold;
	assert_int_equal(gold_parse(&gold, text, strlen(text), first, reversed, NULL), ATTN_OK);
	assert_true(sentence < gold.count);
	struct link_list *links = &gold.sentences[sentence].links, wanted = links_of(expected);
	check_links(links, expected);
	for (size_t i = 0; i < links->count; i++)
		assert_int_equal(links->items[i].possible, wanted.items[i].possible);
	link_list_release(&wanted);
	gold_release(&gold);
}

static void check_bad(const char *text, size_t first, const char *message)
{
	struct gold gold;
	struct attn_error err;
	assert_int_equal(gold_parse(&gold, text, strlen(text), first, false, &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, message));
	gold_release(&gold);
}

static void test_gold(void **state)
{
	(void)state;
	check_gold("1-2 0p3 0?4\n\n5-5", 0, false, 0, "0p3 0p4 1-2");
	check_gold("1-2 0p3\n\n5-5", 0, false, 1, "");
	check_gold("1-2 0p3\n\n5-5", 0, false, 2, "5-5");
	check_gold("7\t1-2\r\n8\t\r\n", 0, false, 0, "1-2");
	check_gold("7\t1-2\r\n8\t\r\n", 0, false, 1, "");
	check_gold("1-2 3p1\n", 1, true, 0, "0p2 1-0");
	check_gold("1-1 1p1\n", 0, false, 0, "1-1"); /* sure and possible: sure */
	check_gold("0001 1 2 P\n0001 1 1 S\n\n0003 2 1\n3 4 0 S\n", 0, false, 0, "0-0 0p1");
	check_gold("0001 1 2 P\n0001 1 1 S\n\n0003 2 1\n3 4 0 S\n", 0, false, 1, "");
	check_gold("0001 1 2 P\n0001 1 1 S\n\n0003 2 1 S 0.5\n3 4 0 S\n", 0, false, 2, "1-0");
	check_bad("0-0\n0-\n", 0, "line 2: '0-'");
	check_bad("0-0 1:1\n", 0, "'1:1' is no link");
	check_bad("0-1\n", 1, "'0-1' has word 0");
	check_bad("-1-1\n", 0, "'-1-1' is no link");
	check_bad("1 1 1 S\n1 1\n", 0, "line 2");
	check_bad("1 1 1 X\n", 0, "line 1");
	check_bad("0 1 1 S\n", 0, "sentence '0'");
	check_bad("1000001 1 1 S\n", 0, "sentence '1000001'");
}

static void check_path(const double *x, size_t rows, size_t cols, const char *expected)
{
	struct path_step steps[20];
	struct link_list found = {0};
	size_t count = monotone_path(x, rows, cols, steps);
	for (size_t i = 0; i < count; i++)
		assert_true(
		    link_list_add(&found, (struct link){.source = steps[i].row, .target = steps[i].col}));
	check_links(&found, expected);
	link_list_release(&found);
}

static void test_path(void **state)
{
	(void)state;
	/* Of all six monotone paths through negative numbers, the one of both steps is heaviest. */
	static const double costs[] = {-1, -5, -5, -5, -1, -5, -5, -5, -1};
	check_path(costs, 3, 3, "0-0 1-1 2-2");
	static const double detour[] = {-1, -5, -1, -1, -1, -5};
	check_path(detour, 3, 2, "0-0 1-0 2-0 2-1");
	/* Gains: every cell on the way adds to the sum. */
	static const double gains[] = {1, 1, 0, 0, 1, 1};
	check_path(gains, 2, 3, "0-0 0-1 1-1 1-2");
	static const double zeros[6] = {0};
	check_path(zeros, 2, 3, "0-0 1-0 1-1 1-2"); /* ties: back by columns first */
	check_path(zeros, 1, 1, "0-0");
	check_path(zeros, 1, 3, "0-0 0-1 0-2");
	check_path(zeros, 3, 1, "0-0 1-0 2-0");
}

static void test_before_path(void **state)
{
	(void)state;
	float x[] = {1, 2, 7, 3, 2, 7};
	static const float standard[] = {-1, 0, 0, 1, 0, 0};
	columns_standardise(x, 2, 3);
	for (size_t i = 0; i < COUNT(x); i++)
		assert_true(fabsf(x[i] - standard[i]) < 1e-6f);
	/* 3 2 | 3 9 1 4 5 | 4 1 */
	float row[] = {2, 3, 9, 1, 4, 5}, short_row[] = {2, 1};
	static const float median[] = {3, 3, 3, 4, 4, 4};
	assert_true(rows_median(row, 1, 6, 3));
	for (size_t i = 0; i < COUNT(row); i++)
		assert_true(row[i] == median[i]);
	assert_true(rows_median(short_row, 1, 2, 5));
	assert_true(short_row[0] == 2 && short_row[1] == 1); /* too short to be mirrored */
	float five[] = {5, 1, 4};                            /* 4 1 | 5 1 4 | 1 5 */
	assert_true(rows_median(five, 1, 3, 5));
	assert_true(five[0] == 4 && five[1] == 1 && five[2] == 4);
}

/* Two heads of three queries and four keys. */
static const struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 2, .queries = 3, .keys = 4};
static const float weights[2][3][4] = {
    {{0.5f, 0.25f, 0.25f, 0}, {0.125f, 0.25f, 0.25f, 0.375f}, {0.5f, 0, 0.25f, 0.25f}},
    {{0, 0.25f, 0.75f, 0}, {0.25f, 0.25f, 0.25f, 0.25f}, {0, 0, 0, 0}},
};
static const unsigned char cells[2][3][4] = {
    {{1, 1, 1, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 1, 1, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}},
};
static const bool all_queries[] = {true, true, true}, all_keys[] = {true, true, true, true};

/* Rows one by one, or all in a block. */
static void align(struct alignment *a, const struct alignment_options *o, size_t step)
{
	assert_int_equal(alignment_init(a, &shape, o, NULL), ATTN_OK);
	for (size_t h = 0; h < 2; h++) {
		for (size_t q = 0; q < 3; q += step) {
			struct row_block block = {.head = h,
						  .query = q,
						  .count = step,
						  .keys = 4,
						  .weights = weights[h][q],
						  .cells = cells[h][q]};
			assert_int_equal(a->consumer.consume(&a->consumer, &block, NULL), ATTN_OK);
		}
	}
}

static void check_head(struct alignment_options o, size_t head, const char *expected)
{
	for (size_t step = 1; step <= 3; step += 2) {
		struct alignment a;
		struct link_list found = {0};
		o.queries = o.queries ? o.queries : all_queries;
		o.keys = o.keys ? o.keys : all_keys;
		align(&a, &o, step);
		assert_int_equal(alignment_links(&a, 0, 0, head, &found, NULL), ATTN_OK);
		check_links(&found, expected);
		link_list_release(&found);
		alignment_release(&a);
	}
}

static void test_methods(void **state)
{
	(void)state;
	static const bool no_first[] = {false, true, true, true}, first[] = {true, false, false, false};
	static const bool no_last[] = {true, true, false};
	check_head((struct alignment_options){.method = ALIGN_ARGMAX}, 0, "0-0 0-2 3-1");
	check_head((struct alignment_options){.method = ALIGN_ARGMAX}, 1, "0-1 2-0"); /* ties; a masked row */
	check_head((struct alignment_options){.method = ALIGN_REVERSE}, 0, "0-0 1-0 2-0 3-1");
	check_head((struct alignment_options){.method = ALIGN_MUTUAL}, 0, "0-0 3-1");
	check_head((struct alignment_options){.method = ALIGN_UNION}, 0, "0-0 0-2 1-0 2-0 3-1");
	check_head((struct alignment_options){.method = ALIGN_GROW}, 0, "0-0 1-0 2-0 3-1");
	check_head((struct alignment_options){.method = ALIGN_THRESHOLD, .threshold = 0.3}, 0, "0-0 0-2 3-1");
	check_head((struct alignment_options){.method = ALIGN_THRESHOLD, .threshold = 0}, 1,
		   "0-1 1-0 1-1 2-0 2-1 3-1");

	/* Left out, key 0 is no choice; as a null token it is one, and means no link. */
	check_head((struct alignment_options){.method = ALIGN_ARGMAX, .keys = no_first}, 0, "1-0 2-2 3-1");
	check_head((struct alignment_options){.method = ALIGN_ARGMAX, .keys = no_first, .nulls = first}, 0,
		   "3-1");
	check_head((struct alignment_options){.method = ALIGN_REVERSE, .queries = no_last, .keys = no_first},
		   0, "1-0 2-0 3-1");

	/* Each head by itself; to key 2 of query 1 as much leads by query 0 as by key 1, which comes first.
	 */
	check_head((struct alignment_options){.method = ALIGN_MONOTONE, .median = 1}, 0,
		   "0-0 1-0 1-1 2-1 3-1 3-2");
}

static void test_pooled_path(void **state)
{
	(void)state;
	/* The mean of both heads: .25 .25 .5 0, .1875 .25 .25 .3125, .25 0 .125 .125. */
	check_head((struct alignment_options){.method = ALIGN_MONOTONE, .median = 1, .heads = 2}, 0,
		   "0-0 1-0 2-0 2-1 3-1 3-2");
	static const bool ends[] = {true, false, true};
	check_head(
	    (struct alignment_options){.method = ALIGN_MONOTONE, .median = 1, .heads = 2, .queries = ends}, 0,
	    "0-0 1-0 2-0 2-2 3-2");
}

static void test_confidence(void **state)
{
	(void)state;
	struct alignment_options o = {.method = ALIGN_MUTUAL, .queries = all_queries, .keys = all_keys};
	struct alignment a;
	struct link_list found = {0};
	align(&a, &o, 3);
	assert_int_equal(alignment_links(&a, 0, 0, 0, &found, NULL), ATTN_OK);
	assert_true(found.items[0].weight == 0.5);
	assert_true(close_to(found.items[0].confidence, sqrt(0.5 * 0.5 / 1.125))); /* key 0 gets 1.125 */
	assert_true(close_to(found.items[1].confidence, sqrt(0.375 * 0.375 / 0.625)));
	link_list_release(&found);
	alignment_release(&a);

	/* Beyond what is kept for a path. */
	struct rows_shape large = shape;
	struct attn_error err;
	large.queries = large.keys = 1 << 14;
	o.method = ALIGN_MONOTONE;
	assert_int_equal(alignment_init(&a, &large, &o, &err), ATTN_USAGE);
	alignment_release(&a);
}

static void test_marks(void **state)
{
	(void)state;
	static const char *const marks[] = {"<s>",     "</s>",  "<pad>", "<|en|>", "<|startoftranscript|>",
					    ">>fra<<", "[CLS]", "[SEP]"};
	static const char *const words[] = {"<unk>", "[UNK]", "<mask>", "[MASK]", "<0x0A>", "[nH]",
					    "[OH]",  "[Na+]", ">>",     "<",      "a<b>",   "",
					    "</w>",  "<>",    "[",      "[12]"};
	for (size_t i = 0; i < COUNT(marks); i++)
		assert_true(token_is_mark(marks[i]));
	for (size_t i = 0; i < COUNT(words); i++)
		assert_false(token_is_mark(words[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_scores),      cmocka_unit_test(test_joins),
	    cmocka_unit_test(test_gold),        cmocka_unit_test(test_path),
	    cmocka_unit_test(test_before_path), cmocka_unit_test(test_methods),
	    cmocka_unit_test(test_pooled_path), cmocka_unit_test(test_confidence),
	    cmocka_unit_test(test_marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
