#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/formats.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/json/"

static void read_text(const char *text, struct bundle *b)
{
	struct attn_error err;
	bundle_init(b);
	if (json_parse((const unsigned char *)text, strlen(text), "x.json", b, &err) != ATTN_OK)
		fail_msg("%s: %s", text, err.message);
}

static void expect_bad_text(const char *text, const char *part)
{
	expect_bad(json_parse, bytes_of(text, strlen(text)), part);
}

static void expect_setting(const struct bundle *b, const char *name, const char *value)
{
	assert_non_null(bundle_setting(b, name));
	assert_string_equal(bundle_setting(b, name)->value, value);
}

static void test_roles(void **state)
{
	(void)state;
	struct bundle b;
	read_text("{\"_note\": {\"anything\": [null, \"\"]}, \"tokens\": [\"a\", \"b\"],\n"
		  " \"embeddings\": [[1, 2.5], [-3e2, 0]], \"bq\": [0.1], \"kv_lengths\": [16777217],\n"
		  " \"key_padding\": [true, false], \"weights\": [[[1, 2]], [[3, 4]]]}\n",
		  &b);
	assert_int_equal(b.tensor_count, 5);
	expect_tensor(bundle_tensor(&b, "embeddings"), DTYPE_F64, 2, (size_t[]){2, 2},
		      (double[]){1, 2.5, -300, 0});
	expect_tensor(bundle_tensor(&b, "bq"), DTYPE_F64, 1, (size_t[]){1}, (double[]){0.1});
	expect_tensor(bundle_tensor(&b, "kv_lengths"), DTYPE_F64, 1, (size_t[]){1}, (double[]){16777217});
	expect_tensor(bundle_tensor(&b, "key_padding"), DTYPE_BOOL, 1, (size_t[]){2}, (double[]){1, 0});
	expect_tensor(bundle_tensor(&b, "weights"), DTYPE_F64, 3, (size_t[]){2, 1, 2},
		      (double[]){1, 2, 3, 4});
	assert_string_equal(bundle_tensor(&b, "bq")->origin, "x.json");
	assert_int_equal(b.text_count, 1);
	assert_int_equal(b.texts[0].list.count, 2);
	assert_string_equal(b.texts[0].list.items[1], "b");
	assert_int_equal(b.setting_count, 0);
	assert_true(b.head_list == 0);
	bundle_release(&b);
}

static void test_settings(void **state)
{
	(void)state;
	struct bundle b;
	read_text("{\"num_heads\": 8, \"scale\": 0.1, \"causal\": true, \"packed\": false,"
		  " \"layout\": \"out,in\", \"softcap\": 1e22, \"num_kv_heads\": 2.0}",
		  &b);
	expect_setting(&b, "num_heads", "8");
	expect_setting(&b, "scale", "0.1");
	expect_setting(&b, "causal", "true");
	expect_setting(&b, "packed", "false");
	expect_setting(&b, "layout", "out,in");
	expect_setting(&b, "softcap", "1e+22");
	expect_setting(&b, "num_kv_heads", "2");
	bundle_release(&b);
	read_text("{\"scale\": 0.12345678901234568}", &b); /* 17 digits are needed */
	expect_setting(&b, "scale", "0.12345678901234568");
	bundle_release(&b);
}

/* A pair may be an array; a number for each head may be one for all; null is not given. */
static void test_kinds_of_settings(void **state)
{
	(void)state;
	struct bundle b;
	read_text("{\"rope\": \"none\", \"alibi\": false, \"window\": [ 4,\n -1 ], \"sinks\": null,"
		  " \"temperature\": 0.5, \"lambda\": [0.1, 0.2]}",
		  &b);
	expect_setting(&b, "rope", "none");
	expect_setting(&b, "alibi", "false");
	expect_setting(&b, "window", "4,-1");
	expect_setting(&b, "temperature", "0.5");
	expect_tensor(bundle_tensor(&b, "lambda"), DTYPE_F64, 1, (size_t[]){2}, (double[]){0.1, 0.2});
	assert_int_equal(b.tensor_count, 1);
	assert_int_equal(b.setting_count, 4);
	bundle_release(&b);
	expect_bad_text("{\"rope\": {\"theta\": 1}}", "'rope' is an object, expected a number");
	expect_bad_text("{\"window\": [1, 2, 3]}", "'window' is an array, expected 'L,R'");
	expect_bad_text("{\"num_heads\": [1, 2]}", "'num_heads' is an array, expected a whole number");
}

static void test_strings(void **state)
{
	(void)state;
	expect_bad_text("{\"tokens\": [1]}", "'tokens[0]' is a number, expected a string");
	expect_bad_text("{\"tokens\": [1, 2]}", "'tokens[0]' is a number, expected a string");
	expect_bad_text("{\"tokens\": [\"a\", 1]}", "'tokens[1]' is a number, expected a string");
	expect_bad_text("{\"tokens\": [[1]]}", "'tokens[0]' is an array, expected a string");
	expect_bad_text("{\"tokens\": {\"a\": 1}}", "'tokens' is an object, expected an array of strings");
}

static void test_null_is_masked(void **state)
{
	(void)state;
	struct bundle b;
	read_text("{\"mask\": [[null, 0], [0.5, null]], \"scores\": [[[null]]]}", &b);
	expect_tensor(bundle_tensor(&b, "mask"), DTYPE_F64, 2, (size_t[]){2, 2},
		      (double[]){-INFINITY, 0, 0.5, -INFINITY});
	expect_tensor(bundle_tensor(&b, "scores"), DTYPE_F64, 3, (size_t[]){1, 1, 1}, (double[]){-INFINITY});
	bundle_release(&b);
	expect_bad_text("{\"weights\": [[[0, null]]]}", "'weights[0,0,1]' is null, expected a number");
}

static void test_heads(void **state)
{
	(void)state;
	struct bundle b;
	struct bytes bytes = bytes_of_file(CORPUS "heads.json");
	bundle_init(&b);
	assert_int_equal(json_parse(bytes.data, bytes.length, "h.json", &b, NULL), ATTN_OK);
	expect_tensor(bundle_tensor(&b, "wq"), DTYPE_F64, 2, (size_t[]){2, 2}, (double[]){1, 10, 2, 20});
	expect_tensor(bundle_tensor(&b, "wk"), DTYPE_F64, 2, (size_t[]){2, 2}, (double[]){3, 30, 4, 40});
	expect_tensor(bundle_tensor(&b, "wv"), DTYPE_F64, 2, (size_t[]){2, 4},
		      (double[]){5, 6, 50, 60, 7, 8, 70, 80});
	expect_tensor(bundle_tensor(&b, "bq"), DTYPE_F64, 1, (size_t[]){2}, (double[]){9, 90});
	assert_null(bundle_tensor(&b, "bk"));
	assert_true(b.head_list > 0);
	expect_setting(&b, "num_heads", "2");
	const struct string_list *names = &bundle_text(&b, "head_names")->list;
	assert_int_equal(names->count, 2);
	assert_string_equal(names->items[0], "coreference");
	assert_string_equal(names->items[1], "1");
	bundle_release(&b);
	free(bytes.data);
	read_text("{\"heads\": [{\"wq\": [[1]], \"wk\": [[2]], \"wv\": [[3]]}]}", &b);
	assert_null(bundle_text(&b, "head_names"));
	expect_setting(&b, "num_heads", "1");
	bundle_release(&b);
}

static void test_source(void **state)
{
	(void)state;
	struct bundle b;
	read_text("{\"tokens\": [\"x\"], \"source\": {\"tokens\": [\"u\", \"v\"], \"embeddings\": [[1], [2]],"
		  " \"values\": [[3], [4]], \"_why\": 0}}",
		  &b);
	expect_tensor(bundle_tensor(&b, "source_embeddings"), DTYPE_F64, 2, (size_t[]){2, 1},
		      (double[]){1, 2});
	expect_tensor(bundle_tensor(&b, "source_values"), DTYPE_F64, 2, (size_t[]){2, 1}, (double[]){3, 4});
	assert_string_equal(bundle_text(&b, "source_tokens")->list.items[1], "v");
	bundle_release(&b);
}

static void test_bare_arrays(void **state)
{
	(void)state;
	struct bundle b;
	read_text("\xef\xbb\xbf [[1, 2], [3, 4]]\r\n", &b);
	expect_tensor(bundle_tensor(&b, ""), DTYPE_F64, 2, (size_t[]){2, 2}, (double[]){1, 2, 3, 4});
	bundle_release(&b);
	read_text("[\"\\u00e9\", \"\\ud83d\\ude00\", \"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\"]", &b);
	const struct string_list *list = &bundle_text(&b, "")->list;
	assert_int_equal(list->count, 4);
	assert_string_equal(list->items[0], "\xc3\xa9");
	assert_string_equal(list->items[1], "\xf0\x9f\x98\x80");
	assert_string_equal(list->items[2], "\"\\/\b\f\n\r\t");
	assert_string_equal(list->items[3], "");
	bundle_release(&b);
}

/* Texts of the corpus, and what their message says. */
static void test_bad(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"ragged", "'wq' row 2 has 3 numbers, expected 4"},
	    {"ragged-deep", "'q[1,1]' has 1 numbers, expected 2"},
	    {"row-missing", "'q[1]' has 1 rows, expected 2"},
	    {"number-row", "'wq' row 1 is a number, expected an array of 2 numbers"},
	    {"deeper", "'wq[1,1]' is an array, expected a number"},
	    {"string", "'wq[0,1]' is a string, expected a number"},
	    {"mixed", "'mask[0,1]' is a number, expected true or false"},
	    {"mixed-null", "'mask[0,1]' is null, expected true or false"},
	    {"null", "'wq[0,1]' is null, expected a number"},
	    {"empty", "'wq' is empty"},
	    {"empty-row", "'wq' row 0 is empty"},
	    {"infinite", "'wq[0,1]' is beyond the range of float64"},
	    {"scalar", "'wq' is a number, expected an array"},
	    {"rank9", "'weights' has more than 8 levels of arrays"},
	    {"deep", "line 1, column 65: expected at most 64 levels"},
	    {"deep-comment", "at most 64 levels"},
	    {"unknown", "unknown key 'embedings', did you mean 'embeddings'"},
	    {"unknown-far", "unknown key 'zzzzzz', expected a role"},
	    {"case", "unknown key 'WQ', did you mean 'wq'"},
	    {"case2", "unknown key 'Wq', did you mean 'wq'"},
	    {"holds-numbers", "'mask' row 1 holds numbers, expected true or false"},
	    {"holds-numbers-deep", "'q[1]' holds numbers, expected arrays"},
	    {"holds-arrays", "'wq' row 1 holds arrays, expected numbers"},
	    {"holds-arrays-bool", "'mask' row 1 holds arrays, expected true or false"},
	    {"twice", "'wq' may be given only once"},
	    {"setting-twice", "'num_heads' may be given only once"},
	    {"setting-array", "'num_heads' is an array, expected a whole number"},
	    {"setting-infinite", "'scale' is beyond the range"},
	    {"tokens-number", "'tokens[1]' is a number, expected a string"},
	    {"tokens-object", "'tokens' is an object, expected an array of strings"},
	    {"tokens-empty", "'tokens' is empty"},
	    {"nul", "column 15: expected text without \\u0000"},
	    {"key-nul", "expected text without \\u0000"},
	    {"surrogate", "expected a surrogate pair"},
	    {"surrogate-low", "expected a surrogate pair"},
	    {"control", "found character 0x09"},
	    {"escape", "expected an escape such as \\n, found 'x'"},
	    {"trailing", "expected nothing after the document, found 'x'"},
	    {"two", "expected nothing after the document, found '{'"},
	    {"comma", "column 12: expected a value after the last comma, or no comma, found ']'"},
	    {"key-comma", "expected a key after the last comma, or no comma, found '}'"},
	    {"nan", "expected a value (JSON has no NaN or infinity; in a mask or scores, null stands for "
		    "-infinity), found 'N'"},
	    {"infinity", "expected a digit (JSON has no NaN or infinity; in a mask or scores, null"},
	    {"zero", "expected ',' or ']', found '1'"},
	    {"plus", "expected a value, found '+'"},
	    {"dot", "expected a digit, found ']'"},
	    {"long-number", "at most 63 characters"},
	    {"brackets", "expected ',' or ']', found '}'"},
	    {"quotes", "expected a key in double quotes, found '''"},
	    {"number", "document is a number, expected an object or an array"},
	    {"white", "line 2, column 2: expected a value, found the end"},
	    {"heads-empty", "'heads' is empty"},
	    {"heads-object", "'heads' is an object, expected an array"},
	    {"heads-number", "'heads[0]' is a number"},
	    {"heads-missing", "'heads[0]' has no 'wv'"},
	    {"heads-bias", "'heads[0]' has no 'bq', but 'heads[1]' has one"},
	    {"heads-bias2", "'heads[1]' has no 'bq', but 'heads[0]' has one"},
	    {"heads-shape", "'heads[1].wq' is 1 x 2, expected 1 x 1 as in 'heads[0]'"},
	    {"heads-rank", "'heads[0].wq' has 1 dimensions, expected 2"},
	    {"heads-bool", "'heads[0].wq' holds true and false"},
	    {"heads-key", "unknown key 'nane', expected name, wq, wk, wv, bq, bk or bv, did you mean 'name'"},
	    {"heads-name", "'heads[0].name' is a number"},
	    {"heads-twice", "'heads[0]' has 'wq' twice"},
	    {"heads-and-wq", "'wq' is given beside 'heads'"},
	    {"heads-and-num", "'num_heads' is given beside 'heads'"},
	    {"source-array", "'source' is an array"},
	    {"source-key", "unknown key 'source.embedding', did you mean 'embeddings'"},
	    {"source-twice", "'source.tokens' may be given only once"},
	    {"source-both", "'source_tokens' may be given only once"},
	    {"utf8", "byte 13 is not UTF-8"},
	    {"utf16", "byte 0 is not UTF-8"},
	    {"raw-nul", "expected nothing after the document, found character 0x00"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		expect_bad_file(json_parse, "json", files[i][0], files[i][1]);
	expect_bad_text("{\"wq\":\n [[1],\n  [2]\n", "line 4, column 1: expected ',' or ']', found the end");
	expect_bad_text("{\"tokens\": [\"\xc3\xa9\" 1]}",
			"line 1, column 17: expected ',' or ']', found '1'");
}

static void test_damage(void **state)
{
	(void)state;
	static const char *const files[] = {CORPUS "object.json", CORPUS "heads.json", CORPUS "source.json",
					    CORPUS "strings.json"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		expect_truncations_bad(json_parse, files[i]);
		survive_changes(json_parse, files[i], SIZE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_roles),
	    cmocka_unit_test(test_settings),
	    cmocka_unit_test(test_kinds_of_settings),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_null_is_masked),
	    cmocka_unit_test(test_heads),
	    cmocka_unit_test(test_source),
	    cmocka_unit_test(test_bare_arrays),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
