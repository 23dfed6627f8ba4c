/* Given pairs, over hand-worked matrices; runs of tokens; dependency trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "consumers/pairs.h"
#include "files/conllu.h"
#include "tokens/token.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct rows_shape shape = {.batch = 1, .layers = 1, .heads = 2, .queries = 3, .keys = 4};

/* (heads, queries, keys); query 0 does not attend to key 3, nor query 2 of head 1 to anything. */
static const float weights[2][3][4] = {
    {{0.5f, 0.25f, 0.25f, 0}, {0.125f, 0.25f, 0.25f, 0.375f}, {0.5f, 0, 0.25f, 0.25f}},
    {{0, 1, 0, 0}, {0.25f, 0.25f, 0.25f, 0.25f}, {0, 0, 0, 0}},
};
static const unsigned char cells[2][3][4] = {
    {{1, 1, 1, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 1, 1, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}},
};

static const struct pair pairs[] = {
    {{1, 2}, {3, 4}, 0}, /* one of the most attended keys */
    {{0, 1}, {3, 4}, 0}, /* masked */
    {{0, 1}, {2, 3}, 1}, /* as much as key 1, which comes before */
    {{0, 2}, {1, 3}, 1}, /* two queries and two keys */
    {{1, 3}, {0, 1}, 0}, /* over the end of a block */
};

/* Rows one by one, or all in a block. */
static void feed(struct pairs_consumer *s, size_t step)
{
	for (size_t h = 0; h < 2; h++) {
		for (size_t q = 0; q < 3; q += step) {
			struct row_block block = {.head = h,
						  .query = q,
						  .count = step,
						  .keys = 4,
						  .weights = weights[h][q],
						  .cells = cells[h][q]};
			assert_int_equal(s->consumer.consume(&s->consumer, &block, NULL), ATTN_OK);
		}
	}
}

static void check(const struct pairs_consumer *s, size_t head, size_t pair, float weight, size_t rank,
		  size_t other, float margin)
{
	const struct pair_figures *f = pair_figures_of(s, 0, 0, head, pair);
	assert_true(f->weight == weight);
	assert_int_equal(f->rank, rank);
	assert_int_equal(f->other, other);
	assert_true(f->margin == margin);
}

static void check_figures(size_t step)
{
	struct pairs_consumer s;
	assert_int_equal(pairs_consumer_init(&s, &shape, pairs, COUNT(pairs), NULL), ATTN_OK);
	feed(&s, step);
	check(&s, 0, 0, 0.375f, 1, 1, 0.125f);
	check(&s, 0, 1, 0, 0, 0, -0.5f);
	check(&s, 0, 2, 0.25f, 3, 0, -0.25f);
	check(&s, 0, 3, 0.5f, 1, 0, 0.1875f); /* row 0.3125 0.25 0.25 0.1875 */
	check(&s, 0, 4, 0.3125f, 1, 3, 0);    /* row 0.3125 0.125 0.25 0.3125 */
	check(&s, 1, 0, 0.25f, 4, 0, 0);
	check(&s, 1, 3, 0.75f, 1, 0, 0.625f); /* row 0.125 0.625 0.125 0.125 */
	check(&s, 1, 4, 0.25f, 1, 1, 0);      /* query 2 attends to nothing, and does not count */
	struct pair_score score = pair_score_of(&s, 0, 0, 0, 0);
	assert_int_equal(score.count, 3);
	assert_true(score.accuracy == 2.0 / 3 && score.rank == 1 && score.weight == (0.375 + 0.3125) / 3);
	score = pair_score_of(&s, 0, 0, 0, 1);
	assert_true(score.count == 2 && score.accuracy == 0.5 && score.rank == 2 && score.weight == 0.375);
	pairs_consumer_release(&s);
}

static void test_pairs_by_hand(void **state)
{
	(void)state;
	check_figures(1);
	check_figures(3);
}

static void test_one_key(void **state)
{
	(void)state;
	struct pairs_consumer s;
	const struct rows_shape one = {.batch = 1, .layers = 1, .heads = 1, .queries = 1, .keys = 1};
	const struct pair pair = {{0, 1}, {0, 1}, 0};
	const float weight = 1;
	const unsigned char cell = 1;
	struct row_block block = {.count = 1, .keys = 1, .weights = &weight, .cells = &cell};
	assert_int_equal(pairs_consumer_init(&s, &one, &pair, 1, NULL), ATTN_OK);
	assert_int_equal(s.consumer.consume(&s.consumer, &block, NULL), ATTN_OK);
	check(&s, 0, 0, 1, 1, SIZE_MAX, 1);
	pairs_consumer_release(&s);
}

static void test_baseline(void **state)
{
	(void)state;
	double share;
	long long offset;
	/* offsets of group 0: 2, 3, -1; of group 1: 2, 1 */
	assert_true(pairs_baseline(pairs, COUNT(pairs), 0, NULL, NULL, &share, &offset));
	assert_true(share == 1.0 / 3 && offset == -1);
	const size_t numbers[] = {0, 10, 11, 12};
	assert_true(pairs_baseline(pairs, COUNT(pairs), 1, NULL, numbers, &share, &offset));
	assert_true(share == 0.5 && offset == 10);
	assert_true(pairs_baseline(pairs, 1, 0, NULL, NULL, &share, &offset));
	assert_true(share == 1 && offset == 2);
}

static void test_spans(void **state)
{
	(void)state;
	struct string_list raw = {0}, shown = {0};
	struct spelling s;
	struct span_list found = {0};
	static const char *const tokens[] = {"[CLS]", "the", "str", "##eet", "the", "street", ","};
	for (size_t i = 0; i < COUNT(tokens); i++)
		assert_true(string_list_add(&raw, tokens[i]));
	assert_true(tokens_shown(&raw, &shown));
	assert_true(spelling_init(&s, &raw, &shown));
	assert_true(spelling_find(&s, "the street", &found));
	assert_int_equal(found.count, 2);
	assert_true(found.items[0].first == 1 && found.items[0].end == 4);
	assert_true(found.items[1].first == 4 && found.items[1].end == 6);
	found.count = 0;
	assert_true(spelling_find(&s, "street", &found)); /* a token, so no run */
	assert_true(found.count == 1 && found.items[0].first == 5 && found.items[0].end == 6);
	found.count = 0;
	assert_true(spelling_find(&s, "he str", &found) && found.count == 0); /* begins within a token */
	assert_true(spelling_find(&s, " ", &found) && found.count == 0);
	span_list_release(&found);
	spelling_release(&s);
	string_list_release(&raw);
	string_list_release(&shown);
}

static const char tree[] =
    "# text = du vin\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n"
    "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\r\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tvin\tvin\tNOUN\t_\t_\t0\troot\t_\t_\n\n1\tOui\toui\tX\t_\t_\t0\troot\t_\t_";

static void test_conllu(void **state)
{
	(void)state;
	struct conllu c;
	assert_int_equal(conllu_parse(&c, tree, sizeof tree - 1, NULL), ATTN_OK);
	assert_int_equal(c.count, 4);
	assert_int_equal(c.forms.count, 3); /* du vin Oui */
	assert_string_equal(c.forms.items[0], "du");
	assert_true(c.words[0].surface == 0 && c.words[1].surface == 0 && c.words[2].surface == 1);
	assert_true(c.words[0].head == 2 && c.words[1].head == 2 && c.words[2].head == SIZE_MAX);
	assert_string_equal(c.relations.items[c.words[1].relation], "det");
	assert_true(c.words[2].relation == c.words[3].relation && c.words[3].sentence == 1);
	conllu_release(&c);
}

static void test_bad_conllu(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "1\ta\n",
	    "2\ta\ta\tX\t_\t_\t0\troot\n",
	    "1\ta\ta\tX\t_\t_\t2\tdet\n",
	    "1\ta\ta\tX\t_\t_\t-1\tdet\n",
	    "1\ta\ta\tX\t_\t_\t99999999999999999999\tdet\n",
	    "2-3\ta\t_\t_\t_\t_\t_\t_\n",
	    "1-1\ta\t_\t_\t_\t_\t_\t_\n",
	    "1-x\ta\t_\t_\t_\t_\t_\t_\n",
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct conllu c;
		assert_int_equal(conllu_parse(&c, bad[i], strlen(bad[i]), NULL), ATTN_BAD_INPUT);
		conllu_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pairs_by_hand), cmocka_unit_test(test_one_key),
	    cmocka_unit_test(test_baseline),      cmocka_unit_test(test_spans),
	    cmocka_unit_test(test_conllu),        cmocka_unit_test(test_bad_conllu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
