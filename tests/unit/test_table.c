/* Tables and lists of tokens in text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/formats.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/table/"

static struct bundle read_corpus(const char *name)
{
	char path[200];
	struct bundle b;
	struct attn_error err = {0};
	snprintf(path, sizeof path, CORPUS "%s", name);
	struct bytes bytes = bytes_of_file(path);
	bundle_init(&b);
	if (table_parse(bytes.data, bytes.length, "file", &b, &err) != ATTN_OK)
		fail_msg("%s: %s", name, err.message);
	free(bytes.data);
	return b;
}

/* A list by its strings, "" standing for none. */
static void expect_text(const struct bundle *b, const char *name, const char *expected)
{
	const struct text *text = bundle_text(b, name);
	char found[200] = "";
	for (size_t i = 0; text && i < text->list.count; i++) {
		strcat(found, i ? "|" : "");
		strcat(found, text->list.items[i]);
	}
	assert_string_equal(found, expected);
	assert_true(!text || text->implied);
}

static void test_matrices(void **state)
{
	static const struct {
		const char *file;
		size_t rows, columns;
		double values[9];
		const char *row_labels, *column_labels;
	} cases[] = {
	    {"both.csv", 2, 2, {0.9, 0.1, 0.7, 0.3}, "the|cat", "the|cat"},
	    {"quoted.csv", 3, 3, {0.5, 0.25, 0.25, 1, 0, 0, 0, 1, 0}, "a,b|x\ny|z", "a,b|say \"no\"|"},
	    {"semicolon.csv", 1, 2, {0.9, 0.1}, "the", "the|cat"},
	    {"header.tsv", 2, 2, {0.9, 0.1, 0.7, 0.3}, "", "the|cat"},
	    {"numbered.csv", 3, 3, {1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5}, "", ""},
	    {"index.csv", 3, 3, {1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5}, "", ""},
	    {"column.txt", 3, 3, {1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5}, "", ""},
	    {"short-header.txt", 2, 2, {0.9, 0.1, 0.7, -INFINITY}, "the|##at", "the|cat"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bundle b = read_corpus(cases[i].file);
		expect_tensor(bundle_tensor(&b, ""), DTYPE_F64, 2,
			      (size_t[]){cases[i].rows, cases[i].columns}, cases[i].values);
		expect_text(&b, "tokens", cases[i].row_labels);
		expect_text(&b, "source_tokens", cases[i].column_labels);
		bundle_release(&b);
	}
	struct bundle b = read_corpus("savetxt.txt");
	assert_int_equal(tensor_get(bundle_tensor(&b, ""), 0), 1);
	assert_true(isnan(tensor_get(bundle_tensor(&b, ""), 3)));
	bundle_release(&b);
}

static void test_one_a_row(void **state)
{
	(void)state;
	struct bundle b = read_corpus("weights.tsv");
	expect_tensor(bundle_tensor(&b, "weights"), DTYPE_F32, 5, (size_t[]){1, 1, 2, 2, 2},
		      (double[]){.5, .5, .5, .5, .5, .5, .5, .5});
	expect_text(&b, "tokens", "a\t|\t");
	expect_text(&b, "source_tokens", "");
	expect_text(&b, "head_names", "1|2");
	assert_string_equal(bundle_setting(&b, "layer")->value, "3");
	assert_string_equal(bundle_setting(&b, "axes")->value, "layer,batch");
	bundle_release(&b);
	b = read_corpus("triples.txt");
	expect_tensor(bundle_tensor(&b, "weights"), DTYPE_F32, 3, (size_t[]){1, 3, 3},
		      (double[]){1, 0, 0, .25, .75, 0, 0, 0, 1});
	expect_text(&b, "tokens", "");
	bundle_release(&b);
	b = read_corpus("tokens.tsv");
	expect_tensor(bundle_tensor(&b, "weights"), DTYPE_F32, 3, (size_t[]){1, 2, 2},
		      (double[]){1, 0, .25, .75});
	expect_text(&b, "tokens", "the|cat");
	bundle_release(&b);
	b = read_corpus("words.csv");
	expect_tensor(bundle_tensor(&b, "weights"), DTYPE_F32, 3, (size_t[]){1, 2, 2},
		      (double[]){(double)0.9f, 0, 0, (double)0.8f});
	expect_text(&b, "tokens", "le|chat");
	expect_text(&b, "source_tokens", "the|cat");
	bundle_release(&b);
}

/* The lower triangle of a causal matrix, each row a number longer; three rows at least, for two
 * may be a header and a number. */
static void test_triangles(void **state)
{
	static const struct {
		const char *text, *tokens, *source_tokens;
	} cases[] = {
	    {"1\n.5 .5\n.25 .25 .5\n", "", ""},
	    {"a,1\nb,.5,.5\nc,.25,.25,.5\n", "a|b|c", ""},
	    {",a,b,c\na,1\nb,.5,.5\nc,.25,.25,.5\n", "a|b|c", "a|b|c"},
	    {"a\tb\tc\n1\n.5\t.5\n.25\t.25\t.5\n", "", "a|b|c"},
	    {"a b c\na 1\nb .5 .5\nc .25 .25 .5\n", "a|b|c", "a|b|c"},
	};
	static const char *const bad[] = {"1\n.5 .5\n.25 .25\n.2 .2 .2 .4\n", "1\n.5 .5\n.25 x .5\n",
					  "1 0\n.5 .5\n.25 .25 .5\n"};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bundle b;
		struct attn_error err = {0};
		bundle_init(&b);
		if (table_parse((const unsigned char *)cases[i].text, strlen(cases[i].text), "file", &b,
				&err) != ATTN_OK)
			fail_msg("%s: %s", cases[i].text, err.message);
		expect_tensor(bundle_tensor(&b, ""), DTYPE_F64, 2, (size_t[]){3, 3},
			      (double[]){1, 0, 0, .5, .5, 0, .25, .25, .5});
		expect_text(&b, "tokens", cases[i].tokens);
		expect_text(&b, "source_tokens", cases[i].source_tokens);
		bundle_release(&b);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct bundle b;
		bundle_init(&b);
		if (table_parse((const unsigned char *)bad[i], strlen(bad[i]), "file", &b, NULL) == ATTN_OK)
			fail_msg("%s: read", bad[i]);
		bundle_release(&b);
	}
}

/* Three columns are a matrix where they may be one. */
static void test_not_triples(void **state)
{
	static const char *const texts[] = {"1 0 0\n0 1 0\n0 0 1\n", "1 0 0\n1 1 0\n1 1 1\n0 0 1\n",
					    "1,0,0\n0.5,0.5,0\n0.25,0.25,0.5\n",
					    "1 0 0.5\n0 1 0.5\n1 1 0.5\n"};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct bundle b;
		bundle_init(&b);
		assert_int_equal(
		    table_parse((const unsigned char *)texts[i], strlen(texts[i]), "file", &b, NULL),
		    ATTN_OK);
		assert_int_equal(bundle_tensor(&b, "")->shape[1], 3);
		bundle_release(&b);
	}
}

static void test_lines(void **state)
{
	static const char text[] = "\xef\xbb\xbfthe\r\n\n cat \nend";
	struct bundle b;
	(void)state;
	bundle_init(&b);
	assert_int_equal(lines_parse((const unsigned char *)text, strlen(text), "file", &b, NULL), ATTN_OK);
	const struct string_list *list = &bundle_text(&b, "")->list;
	assert_int_equal(list->count, 4);
	assert_string_equal(list->items[0], "the");
	assert_string_equal(list->items[1], "");
	assert_string_equal(list->items[2], " cat ");
	assert_string_equal(list->items[3], "end");
	bundle_release(&b);
}

static void test_bad(void **state)
{
	static const char *const files[][2] = {
	    {"bad-twice.csv", "query '0' and key '0' are given twice"},
	    {"bad-huge.csv", "more than so few can fill"},
	    {"bad-wraps.csv", "more than so few can fill"},
	    {"bad-ragged.csv", "not a table"},
	    {"bad-open.csv", "not a table"},
	    {"bad-story.txt", "not a table"},
	    {"bad-nothing.txt", "not a table"},
	    {"bad-latin1.txt", "not UTF-8 text"},
	    {"bad-zero.txt", "not UTF-8 text"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[200];
		snprintf(path, sizeof path, CORPUS "%s", files[i][0]);
		expect_bad(table_parse, bytes_of_file(path), files[i][1]);
	}
}

static void test_damage(void **state)
{
	(void)state;
	survive_changes(table_parse, CORPUS "both.csv", SIZE_MAX);
	survive_changes(table_parse, CORPUS "weights.tsv", SIZE_MAX);
	survive_changes(table_parse, CORPUS "triples.txt", SIZE_MAX);
	survive_changes(lines_parse, CORPUS "both.csv", SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_matrices),  cmocka_unit_test(test_one_a_row),
	    cmocka_unit_test(test_triangles), cmocka_unit_test(test_not_triples),
	    cmocka_unit_test(test_lines),     cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
