/* WordPiece, Unigram and WordLevel: numbers worked out by hand, and random Unigram models against all
 * ways to cut a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "algorithm_test.h"

static void test_wordlevel(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"type\": \"WordLevel\", \"vocab\": {\"[U]\": 0, \"on\": 7, \"é\": 3},"
			 "\"unk_token\": \"[U]\"}");
	assert_string_equal(algorithm_kind(a), "WordLevel");
	expect_encoded(a, "on", "7:0-2");
	expect_encoded(a, "é", "3:0-2");
	expect_encoded(a, "one", "0:0-3");
	expect_encoded(a, "", "");
	assert_int_equal(algorithm_size(a), 8);
	algorithm_free(a);
	a = algorithm_of("{\"vocab\": {\"on\": 7}}");
	assert_string_equal(algorithm_kind(a), "WordLevel");
	expect_encoded(a, "on", "7:0-2");
	expect_encoded(a, "off",
		       "error: the vocabulary has neither all of the text nor its unknown token '<unk>'");
	algorithm_free(a);
}

#define WORDS                                                                                                \
	"\"[UNK]\": 0, \"un\": 1, \"##aff\": 2, \"##able\": 3, \"##a\": 4, \"u\": 5, \"##\": 6, \"aff\": 7"

static void test_wordpiece(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"type\": \"WordPiece\", \"vocab\": {" WORDS "}}");
	assert_string_equal(algorithm_kind(a), "WordPiece");
	expect_encoded(a, "unaffable", "1:0-2 2:2-5 3:5-9");
	expect_encoded(a, "una", "1:0-2 4:2-3");
	expect_encoded(a, "ua", "5:0-1 4:1-2");
	expect_encoded(a, "affa", "7:0-3 4:3-4");
	expect_encoded(a, "unaffab", "0:0-7"); /* one gap: all of it */
	expect_encoded(a, "able", "0:0-4");    /* only inside a word */
	expect_encoded(a, "##", "6:0-2");
	expect_encoded(a, "##a", "4:0-3"); /* as a whole it is what starts the word */
	expect_encoded(a, "ué", "0:0-3");
	algorithm_free(a);
	a = algorithm_of("{\"vocab\": {\"u\": 0}, \"max_input_chars_per_word\": 3}");
	assert_string_equal(algorithm_kind(a), "WordPiece");
	expect_encoded(a, "u", "0:0-1");
	expect_encoded(a, "uu",
		       "error: the vocabulary has neither all of the text nor its unknown token '[UNK]'");
	algorithm_free(a);
}

/* The limit is one of characters, not of bytes. */
static void test_wordpiece_length(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"vocab\": {\"é\": 0, \"+é\": 1, \"<u>\": 2},"
					   "\"continuing_subword_prefix\": \"+\", \"unk_token\": \"<u>\","
					   "\"max_input_chars_per_word\": 3}");
	expect_encoded(a, "ééé", "0:0-2 1:2-4 1:4-6");
	expect_encoded(a, "éééé", "2:0-8");
	algorithm_free(a);
}

static void test_wordpiece_lines(void **state)
{
	static const char text[] = "[UNK]\nun\r\n##aff \n\n##able";
	struct attn_error err = {0};
	struct algorithm *a;
	(void)state;
	assert_int_equal(algorithm_parse_wordpiece(&a, text, sizeof text - 1, "[UNK]", &err), ATTN_OK);
	assert_int_equal(algorithm_size(a), 5);
	assert_string_equal(algorithm_token(a, 1), "un");
	assert_string_equal(algorithm_token(a, 3), "");
	expect_encoded(a, "unaffable", "1:0-2 2:2-5 4:5-9");
	expect_encoded(a, "affable", "0:0-7");
	algorithm_free(a);
	assert_int_equal(algorithm_parse_wordpiece(&a, "", 0, "[UNK]", &err), ATTN_OK);
	assert_int_equal(algorithm_size(a), 0);
	assert_null(algorithm_token(a, 0));
	algorithm_free(a);
}

/* The example of the reference's documentation: "abcd" with 10 beats "abc" + "d" with 5, "cd" with 1
 * beats "c" + "d" with 0, and two unknown x are one. */
static void test_unigram(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0], [\"a\", 0], "
			 "[\"b\", 0], [\"c\", 0],"
			 "[\"d\", 0], [\"cd\", 1], [\"ab\", 2], [\"abc\", 5], [\"abcd\", 10]]}");
	assert_string_equal(algorithm_kind(a), "Unigram");
	expect_encoded(a, "abcdacdxx", "8:0-4 1:4-5 5:5-7 0:7-9?");
	expect_encoded(a, "xéabc", "0:0-3? 7:3-6");
	expect_encoded(a, "", "");
	/* The unknown token's own text is a token, unless unknown text is beside it. */
	expect_encoded(a, "<unk>a", "0:0-5 1:5-6");
	expect_encoded(a, "<unk>x", "0:0-6?");
	algorithm_free(a);
}

/* a + bc and ab + c are both -2: bc's way comes to the end first, from place 1. */
static void test_unigram_ties(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"unk_id\": 0, \"vocab\": [[\"?\", -9], [\"a\", -1], [\"ab\", -1],"
			 "[\"bc\", -1], [\"c\", -1]]}");
	expect_encoded(a, "abc", "1:0-1 3:1-3");
	algorithm_free(a);
	/* Of a token that is there twice the last counts. */
	a = algorithm_of("{\"unk_id\": 0, \"vocab\": [[\"?\", -9], [\"a\", -1], [\"b\", -1], [\"ab\", -1],"
			 "[\"ab\", -3]]}");
	expect_encoded(a, "ab", "1:0-1 2:1-2");
	assert_string_equal(algorithm_token(a, 3), "ab");
	size_t id;
	assert_true(algorithm_find(a, "ab", 2, &id));
	assert_int_equal(id, 4);
	algorithm_free(a);
}

/* All bytes of what is unknown, or none; each stands at the whole. */
static void test_unigram_bytes(void **state)
{
	(void)state;
	struct algorithm *a =
	    algorithm_of("{\"unk_id\": 0, \"byte_fallback\": true, \"vocab\": [[\"?\", 0], [\"a\", 0],"
			 "[\"<0xC3>\", 0], [\"<0xA9>\", 0]]}");
	expect_encoded(a, "aéa", "1:0-1 2:1-3 3:1-3 1:3-4");
	expect_encoded(a, "éé", "2:0-4 3:0-4 2:0-4 3:0-4");
	expect_encoded(a, "éè", "0:0-4?");
	algorithm_free(a);
}

/* A token of two characters is no reason to go without one, and no unknown token is needed where it is
 * not the better way. */
static void test_unigram_without_unknown(void **state)
{
	(void)state;
	struct algorithm *a = algorithm_of("{\"unk_id\": null, \"vocab\": [[\"a\", -1], [\"b\", -1]]}");
	expect_encoded(a, "ab", "0:0-1 1:1-2");
	expect_encoded(a, "aé", "error: the vocabulary doesn't have 'é', and 'unk_id' is null");
	algorithm_free(a);
	a = algorithm_of("{\"unk_id\": 0, \"vocab\": [[\"?\", -1], [\"ab\", -1], [\"b\", -30]]}");
	/* ab is -1; unknown a (-40) and b (-30) -70. */
	expect_encoded(a, "ab", "1:0-2");
	expect_encoded(a, "aab", "0:0-1? 1:1-3");
	algorithm_free(a);
}

static void test_refused(void **state)
{
	(void)state;
	expect_bad_model("{\"type\": \"Unigram\"}", "'vocab' is missing");
	expect_bad_model("{\"type\": \"Unigram\", \"vocab\": {}}", "'vocab'");
	expect_bad_model("{\"vocab\": [[\"a\", 0]], \"unk_id\": 1}", "'unk_id' is 1");
	expect_bad_model("{\"vocab\": [[\"a\", 0]], \"unk_id\": -1}", "'unk_id'");
	expect_bad_model("{\"vocab\": [], \"unk_id\": 0}", "'unk_id'");
	expect_bad_model("{\"vocab\": [[\"a\", 1e999]]}", "'vocab[0]'");
	expect_bad_model("{\"vocab\": [[\"b\", 1], [\"a\", null]]}", "'vocab[1]'");
	expect_bad_model("{\"vocab\": [[\"a\"]]}", "'vocab[0]'");
	expect_bad_model("{\"vocab\": [[\"a\", 1, 2]]}", "'vocab[0]'");
	expect_bad_model("{\"vocab\": [[1, 1]]}", "'vocab[0]'");
	expect_bad_model("{\"type\": \"WordPiece\", \"vocab\": [], \"unk_token\": \"a\"}", "'vocab'");
	expect_bad_model("{\"vocab\": {}, \"max_input_chars_per_word\": 1.5}", "'max_input_chars_per_word'");
	expect_bad_model("{\"vocab\": {}, \"max_input_chars_per_word\": \"x\"}",
			 "'max_input_chars_per_word'");
	expect_bad_model("{\"vocab\": null}", "'vocab'");
}

static void test_not_finite(void **state)
{
	struct attn_error err = {0};
	struct algorithm *a;
	cJSON *model = cJSON_Parse("{\"vocab\": [[\"a\", 0]]}");
	(void)state;
	cJSON_SetNumberValue(model->child->child->child->next, (double)NAN);
	assert_int_equal(algorithm_parse(&a, model, &err), ATTN_BAD_INPUT);
	assert_null(a);
	cJSON_Delete(model);
}

/* Tokens that are too deep for a trie. */
static void test_long_token(void **state)
{
	struct buffer json = BUFFER_INIT;
	(void)state;
	buffer_printf(&json, "{\"vocab\": [[\"%01024d\", 0]]}", 0);
	algorithm_free(algorithm_of(json.data));
	buffer_clear(&json);
	buffer_printf(&json, "{\"vocab\": [[\"%01025d\", 0]]}", 0);
	expect_bad_model(json.data, "1025 bytes");
	buffer_release(&json);
}

/* --- random models, against all ways -------------------------------------------- */

enum {
	TOKENS = 24,
	TEXT = 12
};

struct plain {
	char tokens[TOKENS][5];
	double scores[TOKENS], unknown; /* eighths: sums are exact */
};

/* The score of the token text[length], or of an unknown letter, or minus infinity. */
static double score_of(const struct plain *p, const char *text, size_t length)
{
	for (size_t i = TOKENS; i-- > 0;)
		if (strlen(p->tokens[i]) == length && memcmp(p->tokens[i], text, length) == 0)
			return p->scores[i];
	return length == 1 ? p->unknown : (double)-INFINITY;
}

/* The best of all ways to cut text[length]: a bit for each place where it is cut or not. */
static double best_of_all(const struct plain *p, const char *text, size_t length)
{
	double best = (double)-INFINITY;
	for (unsigned cuts = 0; cuts < 1u << (length - 1); cuts++) {
		double sum = 0;
		size_t start = 0;
		for (size_t end = 1; end <= length; end++)
			if (end == length || cuts >> (end - 1) & 1) {
				sum += score_of(p, text + start, end - start);
				start = end;
			}
		best = fmax(best, sum);
	}
	return best;
}

static struct algorithm *random_model(struct plain *p, unsigned *seed)
{
	struct buffer json = BUFFER_INIT;
	buffer_add_string(&json, "{\"unk_id\": 0, \"vocab\": [");
	p->unknown = 0;
	for (size_t i = 0; i < TOKENS; i++) {
		size_t length = 1 + next_random(seed, 4);
		for (size_t j = 0; j < length; j++)
			p->tokens[i][j] = i ? "abc"[next_random(seed, 3)] : '?';
		p->tokens[i][length] = '\0';
		p->scores[i] = next_random(seed, 160) / -8.0;
		p->unknown = fmin(p->unknown, p->scores[i]);
		buffer_printf(&json, "%s[\"%s\", %.3f]", i ? ", " : "", p->tokens[i], p->scores[i]);
	}
	p->unknown -= 10;
	buffer_add_string(&json, "]}");
	struct algorithm *a = algorithm_of(json.data);
	buffer_release(&json);
	return a;
}

/* Unknown letters side by side count each, though they are one token. */
static double sum_of(const struct plain *p, const struct subtokens *list, const char *text)
{
	double sum = 0;
	for (size_t i = 0; i < list->count; i++) {
		size_t length = list->items[i].end - list->items[i].start;
		sum += list->items[i].unknown ? (double)length * p->unknown
					      : score_of(p, text + list->items[i].start, length);
	}
	return sum;
}

static void test_random(void **state)
{
	unsigned seed = 11;
	(void)state;
	for (int model = 0; model < 60; model++) {
		struct plain p;
		struct algorithm *a = random_model(&p, &seed);
		for (int i = 0; i < 10; i++) {
			struct subtokens list = SUBTOKENS_INIT;
			char text[TEXT + 1];
			size_t length = 1 + next_random(&seed, TEXT);
			for (size_t j = 0; j < length; j++)
				text[j] = "abcd"[next_random(&seed, 4)];
			assert_int_equal(algorithm_encode(a, text, length, &list, NULL), ATTN_OK);
			assert_true(sum_of(&p, &list, text) == best_of_all(&p, text, length));
			assert_int_equal(list.items[0].start, 0);
			assert_int_equal(list.items[list.count - 1].end, length);
			subtokens_release(&list);
		}
		algorithm_free(a);
	}
}

/* A million characters in one piece: it would not end if the cost were quadratic. */
static void test_long_piece(void **state)
{
	struct algorithm *a =
	    algorithm_of("{\"unk_id\": 0, \"vocab\": [[\"?\", -9], [\"a\", -2], [\"aaa\", -3]]}");
	size_t length = 1000000;
	char *piece = malloc(length);
	struct subtokens list = SUBTOKENS_INIT;
	(void)state;
	memset(piece, 'a', length);
	assert_int_equal(algorithm_encode(a, piece, length, &list, NULL), ATTN_OK);
	assert_int_equal(list.count, 333334); /* 333333 of three, one of one */
	subtokens_release(&list);
	memset(piece, 'x', length);
	assert_int_equal(algorithm_encode(a, piece, length, &list, NULL), ATTN_OK);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].end, length);
	subtokens_release(&list);
	free(piece);
	algorithm_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_wordlevel),        cmocka_unit_test(test_wordpiece),
	    cmocka_unit_test(test_wordpiece_length), cmocka_unit_test(test_wordpiece_lines),
	    cmocka_unit_test(test_unigram),          cmocka_unit_test(test_unigram_ties),
	    cmocka_unit_test(test_unigram_bytes),    cmocka_unit_test(test_unigram_without_unknown),
	    cmocka_unit_test(test_refused),          cmocka_unit_test(test_not_finite),
	    cmocka_unit_test(test_long_token),       cmocka_unit_test(test_random),
	    cmocka_unit_test(test_long_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
