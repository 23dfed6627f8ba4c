/* Parts of JSON documents of other programs. */
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

#define CORPUS "tests/fuzz/corpus/json_part/"

static struct bundle read_corpus(const char *name, const char *wanted)
{
	char path[200];
	struct bundle b;
	struct attn_error err = {0};
	snprintf(path, sizeof path, CORPUS "%s", name);
	struct bytes bytes = bytes_of_file(path);
	bundle_init(&b);
	if (json_parse_part(bytes.data, bytes.length, "file", wanted, NULL, &b, &err) != ATTN_OK)
		fail_msg("%s: %s", name, err.message);
	free(bytes.data);
	return b;
}

static const double causal[] = {1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5};

static void test_list(void **state)
{
	(void)state;
	struct bundle b = read_corpus("dump.json", NULL);
	expect_tensor(bundle_tensor(&b, "layers"), DTYPE_F64, 4, (size_t[]){1, 1, 3, 3}, causal);
	assert_int_equal(bundle_text(&b, "tokens")->list.count, 3);
	assert_int_equal(b.other_count, 4);
	assert_string_equal(bundle_other(&b, "prompt")->type, "string");
	assert_string_equal(bundle_other(&b, "prompt")->value, "a b c");
	assert_string_equal(bundle_other(&b, "n")->value, "3");
	assert_string_equal(bundle_other(&b, "ok")->value, "true");
	assert_null(bundle_other(&b, "none")->value);
	bundle_release(&b);
	b = read_corpus("nested.json", NULL);
	assert_int_equal(b.tensor_count, 3);
	assert_non_null(bundle_tensor(&b, "examples.1.attn"));
	assert_non_null(bundle_tensor(&b, "a.b"));
	assert_non_null(bundle_text(&b, "examples.0.words"));
	bundle_release(&b);
	/* What is called as a role, and none, is listed as it is. */
	b = read_corpus("roles.json", NULL);
	assert_string_equal(bundle_other(&b, "wq")->why, "'wq' row 1 has 1 numbers, expected 2");
	assert_string_equal(bundle_text(&b, "tokens.1")->list.items[1], "c");
	expect_tensor(bundle_tensor(&b, "layer"), DTYPE_F64, 2, (size_t[]){1, 2}, (double[]){1, 2});
	bundle_release(&b);
}

static void test_paths(void **state)
{
	static const char *const paths[] = {"examples.0.attn", "examples[0].attn", "examples[1][attn"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bundle b = read_corpus("nested.json", paths[i]);
		assert_int_equal(b.tensor_count, 1);
		expect_tensor(bundle_tensor(&b, paths[i]), DTYPE_F64, 4, (size_t[]){1, 1, 3, 3}, causal);
		bundle_release(&b);
	}
	struct bundle b = read_corpus("nested.json", "a.b"); /* a key with a dot */
	assert_int_equal(b.tensor_count, 1);
	bundle_release(&b);
	b = read_corpus("nested.json", "examples.0.attn.0.0.2");
	expect_tensor(bundle_tensor(&b, "examples.0.attn.0.0.2"), DTYPE_F64, 1, (size_t[]){3},
		      (double[]){0.2, 0.3, 0.5});
	bundle_release(&b);
	b = read_corpus("nested.json", paths[2]); /* not there: all there is */
	assert_int_equal(b.tensor_count, 3);
	bundle_release(&b);
	b = read_corpus("lines.jsonl", "1.a");
	expect_tensor(bundle_tensor(&b, "1.a"), DTYPE_F64, 1, (size_t[]){2}, (double[]){3, 4});
	bundle_release(&b);
	b = read_corpus("rows.jsonl", NULL);
	expect_tensor(bundle_tensor(&b, ""), DTYPE_F64, 2, (size_t[]){2, 2},
		      (double[]){0.5, 0.5, 0.25, 0.75});
	bundle_release(&b);
}

/* Steps of a generation, each with a key more, are one causal matrix. */
static void test_steps(void **state)
{
	(void)state;
	struct bundle b = read_corpus("causal.json", "w");
	expect_tensor(bundle_tensor(&b, "w"), DTYPE_F64, 2, (size_t[]){3, 3}, causal);
	bundle_release(&b);
	b = read_corpus("steps.json", "attentions");
	expect_tensor(bundle_tensor(&b, "attentions"), DTYPE_F64, 4, (size_t[]){1, 1, 4, 4},
		      (double[]){1, 0, 0, 0, .5, .5, 0, 0, .2, .3, .5, 0, .1, .2, .3, .4});
	bundle_release(&b);
	b = read_corpus("ragged.json", NULL);
	assert_string_equal(bundle_other(&b, "w")->why, "'w' row 1 has 3 numbers, expected 1");
	bundle_release(&b);
}

static void test_bertviz(void **state)
{
	static const char *const files[][2] = {{"bertviz.json", "attention"}, {"bertviz-all.json", "all"}};
	(void)state;
	for (int i = 0; i < 2; i++) {
		char path[200];
		struct bundle whole, b = read_corpus(files[i][0], i ? "all" : "attention.0");
		expect_tensor(&b.tensors[0], DTYPE_F64, 4, (size_t[]){1, 1, 3, 3}, causal);
		assert_true(bundle_text(&b, "tokens")->implied);
		assert_string_equal(bundle_text(&b, "tokens")->list.items[2], "c");
		assert_string_equal(bundle_text(&b, "source_tokens")->list.items[0], "a");
		bundle_release(&b);
		snprintf(path, sizeof path, CORPUS "%s", files[i][0]);
		struct bytes bytes = bytes_of_file(path);
		bundle_init(&whole);
		assert_int_equal(json_parse(bytes.data, bytes.length, "file", &whole, NULL), ATTN_OK);
		expect_tensor(bundle_tensor(&whole, "weights"), DTYPE_F64, 4, (size_t[]){1, 1, 3, 3}, causal);
		bundle_release(&whole);
		free(bytes.data);
	}
}

static enum attn_status list(const unsigned char *data, size_t length, const char *origin, struct bundle *out,
			     struct attn_error *err)
{
	return json_parse_part(data, length, origin, NULL, NULL, out, err);
}

static void test_bad(void **state)
{
	(void)state;
	expect_bad(list, bytes_of_file(CORPUS "bad-comma.json"),
		   "expected a value after the last comma, or no comma");
	expect_bad(list, bytes_of_file(CORPUS "bad-comment.json"), "expected nothing after the document");
	static const char comment[] = "{\"a\": // first\n1}", infinite[] = "[-Infinity]";
	expect_bad(list, bytes_of(comment, strlen(comment)), "JSON has no comments");
	expect_bad(json_parse, bytes_of(infinite, strlen(infinite)), "null stands for -infinity");
}

static void test_damage(void **state)
{
	static const char *const files[] = {CORPUS "dump.json", CORPUS "nested.json", CORPUS "steps.json",
					    CORPUS "ragged.json"};
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		survive_changes(list, files[i], SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_list),    cmocka_unit_test(test_paths), cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_bertviz), cmocka_unit_test(test_bad),   cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
