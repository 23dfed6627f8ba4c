/* Byte pair encoding: numbers worked out by hand, and random merges against the plain definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "algorithm_test.h"

#define LETTERS "\"a\": 0, \"b\": 1, \"c\": 2"

/* b c comes before a b, so that "ab" is not even tried in "abc". */
static void test_order(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"type\": \"BPE\", \"vocab\": {" LETTERS
			 ", \"ab\": 3, \"bc\": 4, \"abc\": 5, \"aa\": 6, \"aaaa\": 7},"
			 "\"merges\": [\"b c\", \"a b\", \"a bc\", [\"a\", \"a\"], \"aa aa\"]}");
	assert_string_equal(algorithm_kind(a), "BPE");
	expect_encoded(a, "", "");
	expect_encoded(a, "a", "0:0-1");
	expect_encoded(a, "ab", "3:0-2");
	expect_encoded(a, "bc", "4:0-2");
	expect_encoded(a, "abc", "5:0-3");
	expect_encoded(a, "abab", "3:0-2 3:2-4");
	expect_encoded(a, "aab", "0:0-1 3:1-3"); /* a b before a a */
	expect_encoded(a, "aaa", "6:0-2 0:2-3"); /* the leftmost of equals */
	expect_encoded(a, "aaaaa", "7:0-4 0:4-5");
	expect_encoded(a, "cab", "2:0-1 3:1-3");
	algorithm_free(a);
}

/* What no merge leads to is found only where merges are ignored. */
static void test_whole_piece(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"vocab\": {" LETTERS ", \"abc\": 9}, \"merges\": []}");
	expect_encoded(a, "abc", "0:0-1 1:1-2 2:2-3");
	assert_int_equal(algorithm_size(a), 10);
	assert_null(algorithm_token(a, 5));
	assert_null(algorithm_token(a, 10));
	assert_string_equal(algorithm_token(a, 9), "abc");
	size_t id;
	assert_true(algorithm_find(a, "abcd", 3, &id));
	assert_int_equal(id, 9);
	assert_false(algorithm_find(a, "abcd", 4, &id));
	algorithm_free(a);
	a = algorithm_of("{\"vocab\": {" LETTERS ", \"abc\": 9}, \"merges\": [], \"ignore_merges\": true}");
	expect_encoded(a, "abc", "9:0-3");
	expect_encoded(a, "abca", "0:0-1 1:1-2 2:2-3 0:3-4");
	algorithm_free(a);
}

static void test_unknown(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"vocab\": {" LETTERS ", \"<u>\": 3}, \"merges\": [],"
					   "\"unk_token\": \"<u>\", \"fuse_unk\": true}");
	expect_encoded(a, "aé日b", "0:0-1 3:1-6 1:6-7");
	expect_encoded(a, "éaé", "3:0-2 0:2-3 3:3-5");
	algorithm_free(a);
	a = algorithm_of("{\"vocab\": {" LETTERS ", \"<u>\": 3}, \"merges\": [], \"unk_token\": \"<u>\"}");
	expect_encoded(a, "aé日b", "0:0-1 3:1-3 3:3-6 1:6-7");
	algorithm_free(a);
	/* Without an unknown token it is as if they were not there: places move up. */
	a = algorithm_of("{\"vocab\": {" LETTERS ", \"ab\": 3}, \"merges\": [\"a b\"], \"unk_token\": null}");
	expect_encoded(a, "aéb", "3:0-2");
	expect_encoded(a, "é", "");
	algorithm_free(a);
	a = algorithm_of("{\"vocab\": {" LETTERS "}, \"merges\": [], \"unk_token\": \"<u>\"}");
	expect_encoded(a, "ab", "0:0-1 1:1-2");
	expect_encoded(a, "aé",
		       "error: the vocabulary has neither all of the text nor its unknown token '<u>'");
	algorithm_free(a);
}

/* é is C3 A9. */
static void test_bytes(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"vocab\": {" LETTERS ", \"<u>\": 3, \"<0xC3>\": 4, \"<0xA9>\": 5},"
			 "\"merges\": [], \"unk_token\": \"<u>\", \"byte_fallback\": true}");
	expect_encoded(a, "aé", "0:0-1 4:1-2 5:2-3");
	expect_encoded(a, "èa", "3:0-2 0:2-3"); /* A8 is missing */
	algorithm_free(a);
}

static void test_affixes(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"vocab\": {\"l\": 0, \"o\": 1, \"w</w>\": 2, \"lo\": 3, \"low</w>\": 4, \"w\": "
			 "5, \"l</w>\": 6},"
			 "\"merges\": [\"l o\", \"lo w</w>\"], \"end_of_word_suffix\": \"</w>\"}");
	expect_encoded(a, "low", "4:0-3");
	expect_encoded(a, "wlo", "5:0-1 0:1-2"); /* "o</w>" is missing */
	expect_encoded(a, "l", "6:0-1");
	algorithm_free(a);
	a = algorithm_of(
	    "{\"vocab\": {\"a\": 0, \"##b\": 1, \"ab\": 2, \"##a\": 3, \"##ba\": 4},"
	    "\"merges\": [[\"##b\", \"##a\"], [\"a\", \"##b\"]], \"continuing_subword_prefix\": \"##\"}");
	expect_encoded(a, "ab", "2:0-2");
	expect_encoded(a, "aba", "0:0-1 4:1-3");
	algorithm_free(a);
}

static void test_refused(void **state)
{
	(void)state;
	expect_bad_model("[]", "'model'");
	expect_bad_model("{\"type\": \"BBPE\", \"vocab\": {}}", "BBPE");
	expect_bad_model("{\"type\": \"BPE\", \"merges\": []}", "'vocab' is missing");
	expect_bad_model("{\"type\": \"BPE\", \"vocab\": {}}", "'merges' is missing");
	expect_bad_model("{\"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}",
			 "merges[0]: 'b' is not in the vocabulary");
	expect_bad_model("{\"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": [\"a b\"]}",
			 "'ab' is not in the vocabulary");
	expect_bad_model("{\"vocab\": {\"a\": 0}, \"merges\": [\"aa\"]}", "one space");
	expect_bad_model("{\"vocab\": {\"a\": 0}, \"merges\": [\"a a a\"]}", "one space");
	expect_bad_model("{\"vocab\": {\"a\": 0}, \"merges\": [[\"a\"]]}", "two strings");
	expect_bad_model("{\"vocab\": {\"a\": 0}, \"merges\": [1]}", "two strings");
	expect_bad_model("{\"vocab\": {\"a\": -1}, \"merges\": []}", "'a'");
	expect_bad_model("{\"vocab\": {\"a\": 0.5}, \"merges\": []}", "'a'");
	expect_bad_model("{\"vocab\": {\"a\": 1e18}, \"merges\": []}", "'a'");
	expect_bad_model("{\"vocab\": {\"a\": null}, \"merges\": []}", "'a'");
	expect_bad_model("{\"vocab\": {}, \"merges\": [], \"unk_token\": 3}",
			 "'unk_token' is a number, expected a string");
	expect_bad_model("{\"vocab\": {}, \"merges\": [], \"fuse_unk\": 3}", "'fuse_unk'");
	expect_bad_model("{\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"],"
			 "\"continuing_subword_prefix\": \"##\"}",
			 "shorter than the prefix");
	char long_suffix[300];
	snprintf(long_suffix, sizeof long_suffix,
		 "{\"vocab\": {}, \"merges\": [], \"end_of_word_suffix\": \"%0100d\"}", 0);
	expect_bad_model(long_suffix, "'end_of_word_suffix'");
}

/* Ids that repeat, tokens that repeat, merges that repeat. */
static void test_repeated(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"vocab\": {\"a\": 0, \"b\": 1, \"c\": 1, \"ab\": 2, \"a\": 3,"
					   "\"bb\": 4}, \"merges\": [\"a b\", \"b b\", \"a b\"]}");
	/* The last "a" counts, and the last rank of "a b", which is behind "b b". */
	expect_encoded(a, "a", "3:0-1");
	expect_encoded(a, "abb", "3:0-1 4:1-3");
	assert_string_equal(algorithm_token(a, 1), "c");
	assert_string_equal(algorithm_token(a, 3), "a");
	algorithm_free(a);
}

static void test_files(void **state)
{
	static const char merges[] = "#version: 0.2\r\nb c\r\na bc\r\n\r\n";
	struct attn_error err = {0};
	struct algorithm *a;
	cJSON *vocab = cJSON_Parse("{" LETTERS ", \"bc\": 4, \"abc\": 5}");
	(void)state;
	assert_int_equal(algorithm_parse_bpe(&a, vocab, merges, sizeof merges - 1, NULL, NULL, &err),
			 ATTN_OK);
	expect_encoded(a, "abcb", "5:0-3 1:3-4");
	algorithm_free(a);
	assert_int_equal(algorithm_parse_bpe(&a, vocab, "a b\nb d", 7, NULL, NULL, &err), ATTN_BAD_INPUT);
	assert_null(a);
	assert_non_null(strstr(err.message, "line 1"));
	assert_int_equal(algorithm_parse_bpe(&a, NULL, "", 0, NULL, NULL, &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "'vocab'"));
	cJSON_Delete(vocab);
}

/* --- random merges, by the definition ------------------------------------------- */

enum {
	LONGEST = 40,
	MERGES = 30
};

struct plain {
	char left[MERGES][LONGEST], right[MERGES][LONGEST];
	size_t count;
};

/* The rank of a pair, or MERGES. */
static size_t rank_of(const struct plain *p, const char *left, const char *right)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->left[i], left) == 0 && strcmp(p->right[i], right) == 0)
			return i;
	return MERGES;
}

/* Merge the first of the best pairs of the whole list until there is none. */
static size_t merge_plainly(const struct plain *p, const char *piece, char symbols[][LONGEST])
{
	size_t count = strlen(piece);
	for (size_t i = 0; i < count; i++)
		snprintf(symbols[i], LONGEST, "%c", piece[i]);
	for (;;) {
		size_t best = MERGES, at = 0;
		for (size_t i = 0; i + 1 < count; i++)
			if (rank_of(p, symbols[i], symbols[i + 1]) < best) {
				best = rank_of(p, symbols[i], symbols[i + 1]);
				at = i;
			}
		if (best == MERGES)
			return count;
		memmove(symbols[at] + strlen(symbols[at]), symbols[at + 1], strlen(symbols[at + 1]) + 1);
		count--;
		memmove(symbols[at + 1], symbols[at + 2], (count - at - 1) * sizeof *symbols);
	}
}

/* Random merges of three letters and what they made; returns the model's JSON. */
static char *random_model(struct plain *p, unsigned *seed)
{
	struct buffer json = BUFFER_INIT;
	char tokens[MERGES + 3][LONGEST] = {"a", "b", "c"};
	p->count = 0;
	for (int tries = 0; tries < MERGES; tries++) {
		const char *left = tokens[next_random(seed, 3 + (unsigned)p->count)];
		const char *right = tokens[next_random(seed, 3 + (unsigned)p->count)];
		if (strlen(left) + strlen(right) > 9 || rank_of(p, left, right) < MERGES)
			continue;
		strcpy(p->left[p->count], left);
		strcpy(p->right[p->count], right);
		snprintf(tokens[3 + p->count], LONGEST, "%s%s", p->left[p->count], p->right[p->count]);
		p->count++;
	}
	buffer_add_string(&json, "{\"vocab\": {");
	for (size_t i = 0; i < p->count + 3; i++)
		buffer_printf(&json, "%s\"%s\": %zu", i ? ", " : "", tokens[i], i);
	buffer_add_string(&json, "}, \"merges\": [");
	for (size_t i = 0; i < p->count; i++)
		buffer_printf(&json, "%s\"%s %s\"", i ? ", " : "", p->left[i], p->right[i]);
	buffer_add_string(&json, "]}");
	return buffer_detach(&json);
}

static void test_random(void **state)
{
	unsigned seed = 7;
	(void)state;
	for (int model = 0; model < 200; model++) {
		struct plain p;
		char *json = random_model(&p, &seed);
		struct algorithm *a = algorithm_of(json);
		for (int text = 0; text < 20; text++) {
			char piece[LONGEST] = "", symbols[LONGEST][LONGEST];
			struct subtokens list = SUBTOKENS_INIT;
			size_t length = 1 + next_random(&seed, LONGEST - 2);
			for (size_t i = 0; i < length; i++)
				piece[i] = "abc"[next_random(&seed, 3)];
			assert_int_equal(algorithm_encode(a, piece, length, &list, NULL), ATTN_OK);
			assert_int_equal(list.count, merge_plainly(&p, piece, symbols));
			for (size_t i = 0; i < list.count; i++)
				assert_string_equal(algorithm_token(a, list.items[i].id), symbols[i]);
			subtokens_release(&list);
		}
		algorithm_free(a);
		free(json);
	}
}

/* A million characters in one piece: it would not end if the cost were quadratic. */
static void test_long_piece(void **state)
{
	struct algorithm *a =
	    algorithm_of("{\"vocab\": {\"a\": 0, \"aa\": 1, \"aaaa\": 2, \"b\": 3, \"ab\": 4},"
			 "\"merges\": [\"a a\", \"aa aa\", \"a b\"]}");
	size_t length = 1000003;
	char *piece = malloc(length);
	struct subtokens list = SUBTOKENS_INIT;
	(void)state;
	memset(piece, 'a', length);
	assert_int_equal(algorithm_encode(a, piece, length, &list, NULL), ATTN_OK);
	assert_int_equal(list.count, 250002); /* 250000 of four, one of two, one */
	assert_int_equal(list.items[249999].id, 2);
	assert_int_equal(list.items[250000].id, 1);
	assert_int_equal(list.items[250001].id, 0);
	assert_int_equal(list.items[250001].end, length);
	subtokens_release(&list);
	free(piece);
	algorithm_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),    cmocka_unit_test(test_whole_piece),
	    cmocka_unit_test(test_unknown),  cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_affixes),  cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_repeated), cmocka_unit_test(test_files),
	    cmocka_unit_test(test_random),   cmocka_unit_test(test_long_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
