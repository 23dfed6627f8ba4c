#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/config.h"

static struct config *parse(const char *text)
{
	struct config *c;
	struct attn_error err;
	if (config_parse(&c, (const unsigned char *)text, strlen(text), "m/config.json", &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return c;
}

static void expect_fail(enum attn_status status, const struct attn_error *err, const char *message)
{
	assert_int_equal(status, ATTN_BAD_INPUT);
	assert_string_equal(err->message, message);
}

static void test_values(void **state)
{
	(void)state;
	struct config *c = parse(
	    "{\"layers\": 12, \"model_type\": \"bert\", \"eps\": 1e-12, \"tied\": false, \"none\": null}");
	size_t size;
	double number;
	bool truth;
	assert_int_equal(config_size(c, "layers", 1, 1, 100, &size, NULL), ATTN_OK);
	assert_int_equal(size, 12);
	assert_int_equal(config_number(c, "eps", 1, 0, 1, &number, NULL), ATTN_OK);
	assert_true(number == 1e-12);
	assert_int_equal(config_number(c, "layers", NAN, 0, 100, &number, NULL), ATTN_OK);
	assert_true(number == 12);
	assert_int_equal(config_bool(c, "tied", true, &truth, NULL), ATTN_OK);
	assert_false(truth);
	assert_string_equal(config_text(c, "model_type", NULL), "bert");
	assert_null(config_text(c, "layers", NULL));
	assert_true(config_has(c, "layers"));
	assert_string_equal(config_origin(c), "m/config.json");
	config_free(c);
}

static void test_absent(void **state)
{
	(void)state;
	struct config *c = parse("{\"none\": null, \"a\": {\"b\": null}}");
	size_t size;
	double number;
	bool truth;
	static const char *const keys[] = {"none", "other", "a.b", "a.b.c", "none.x"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		assert_false(config_has(c, keys[i]));
		assert_int_equal(config_is_null(c, keys[i]), i == 0 || i == 2);
		/* A fallback may be out of the range. */
		assert_int_equal(config_size(c, keys[i], 0, 1, 2, &size, NULL), ATTN_OK);
		assert_int_equal(size, 0);
		assert_int_equal(config_number(c, keys[i], 7, 1, 2, &number, NULL), ATTN_OK);
		assert_true(number == 7);
		assert_int_equal(config_bool(c, keys[i], true, &truth, NULL), ATTN_OK);
		assert_true(truth);
		assert_string_equal(config_text(c, keys[i], "x"), "x");
		assert_int_equal(config_list(c, keys[i]), 0);
	}
	config_free(c);
}

static void test_paths(void **state)
{
	(void)state;
	struct config *c = parse(
	    "{\"rope\": {\"theta\": 5, \"deep\": {\"er\": \"x\"}}, \"llama.rope.theta\": 6,"
	    " \"llama\": {\"rope\": {\"theta\": 7, \"other\": 8}}, \"rope.x\": 9, \"list\": [1, 2, [3]]}");
	static const struct {
		const char *key;
		size_t value;
	} cases[] = {{"rope.theta", 5},
		     {"llama.rope.theta", 6},
		     {"llama.rope.other", 8},
		     {"rope.x", 9},
		     {"rope.y", 0},
		     {"rope", 0},
		     {"rope.", 0},
		     {".rope", 0},
		     {"", 0},
		     {"list.0", 1},
		     {"list.1", 2},
		     {"list.2.0", 3},
		     {"list.3", 0},
		     {"list.2.1", 0},
		     {"list.x", 0},
		     {"list.", 0},
		     {"list.99999999999999999999", 0},
		     {"list.-1", 0},
		     {"rope.theta.x", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t size = 0;
		if (config_size(c, cases[i].key, 0, 0, 10, &size, NULL) == ATTN_OK)
			assert_int_equal(size, cases[i].value);
		else
			assert_string_equal(cases[i].key, "rope"); /* which is an object */
	}
	assert_string_equal(config_text(c, "rope.deep.er", NULL), "x");
	config_free(c);
}

static void test_lists(void **state)
{
	(void)state;
	struct config *c =
	    parse("{\"types\": [\"full\", \"sliding\", 3], \"factors\": [1, 1.5, -2e3 ], \"empty\": [],"
		  " \"x\": [[1, 2], {\"a\": 1}, null, true]}");
	assert_int_equal(config_list(c, "types"), 3);
	assert_string_equal(config_list_text(c, "types", 1), "sliding");
	assert_null(config_list_text(c, "types", 2));
	assert_true(config_list_number(c, "types", 2) == 3);
	assert_true(isnan(config_list_number(c, "types", 0)));
	assert_null(config_list_text(c, "types", 3));
	assert_int_equal(config_list(c, "factors"), 3);
	assert_true(config_list_number(c, "factors", 0) == 1);
	assert_true(config_list_number(c, "factors", 1) == 1.5);
	assert_true(config_list_number(c, "factors", 2) == -2000);
	assert_true(isnan(config_list_number(c, "factors", 3)));
	assert_int_equal(config_list(c, "empty"), 0);
	assert_int_equal(config_list(c, "x"), 4);
	assert_null(config_list_text(c, "x", 0));
	assert_true(isnan(config_list_number(c, "x", 3)));
	config_free(c);
}

/* As Python's reader has it: the last counts. */
static void test_twice(void **state)
{
	(void)state;
	struct config *c = parse("{\"a\": 1, \"b\": 2, \"a\": 3, \"a\": 4, \"b\": {\"c\": 1, \"c\": 2}}");
	size_t size;
	assert_int_equal(config_size(c, "a", 0, 0, 9, &size, NULL), ATTN_OK);
	assert_int_equal(size, 4);
	assert_int_equal(config_size(c, "b.c", 0, 0, 9, &size, NULL), ATTN_OK);
	assert_int_equal(size, 2);
	config_free(c);
}

/* Python writes these, and they are only in the way where somebody asks for them. */
static void test_not_finite(void **state)
{
	(void)state;
	struct config *c = parse("{\"a\": NaN, \"b\": [0.0, Infinity], \"c\": -Infinity, \"d\": 1}");
	struct attn_error err;
	double number;
	size_t size;
	expect_fail(config_number(c, "a", 1, 0, 1, &number, &err), &err,
		    "'m/config.json': 'a' is nan, expected a number from 0 to 1");
	expect_fail(config_size(c, "c", 1, 0, 1, &size, &err), &err,
		    "'m/config.json': 'c' is -inf, expected a whole number from 0 to 1");
	assert_true(isinf(config_list_number(c, "b", 1)));
	assert_int_equal(config_size(c, "d", 0, 0, 1, &size, NULL), ATTN_OK);
	config_free(c);
}

static void test_messages(void **state)
{
	(void)state;
	struct config *c =
	    parse("{\"n\": \"x\", \"half\": 1.5, \"many\": 1e300, \"minus\": -1, \"yes\": true, "
		  "\"list\": [1], \"object\": {\"a\": 1}, \"none\": null}");
	struct attn_error err;
	size_t size = 77;
	double number = 77;
	bool truth = true;
#define SIZE(key) config_size(c, key, CONFIG_REQUIRED, 1, 99, &size, &err)
	expect_fail(SIZE("n"), &err, "'m/config.json': 'n' is \"x\", expected a whole number from 1 to 99");
	expect_fail(SIZE("half"), &err,
		    "'m/config.json': 'half' is 1.5, expected a whole number from 1 to 99");
	expect_fail(SIZE("many"), &err,
		    "'m/config.json': 'many' is 1e+300, expected a whole number from 1 to 99");
	expect_fail(SIZE("minus"), &err,
		    "'m/config.json': 'minus' is -1, expected a whole number from 1 to 99");
	expect_fail(SIZE("yes"), &err,
		    "'m/config.json': 'yes' is true, expected a whole number from 1 to 99");
	expect_fail(SIZE("list"), &err,
		    "'m/config.json': 'list' is an array, expected a whole number from 1 to 99");
	expect_fail(SIZE("object"), &err,
		    "'m/config.json': 'object' is an object, expected a whole number from 1 to 99");
	expect_fail(SIZE("none"), &err,
		    "'m/config.json': 'none' is null, expected a whole number from 1 to 99");
	expect_fail(SIZE("gone"), &err,
		    "'m/config.json': 'gone' is missing, expected a whole number from 1 to 99");
	expect_fail(config_number(c, "gone", NAN, 0, 0.5, &number, &err), &err,
		    "'m/config.json': 'gone' is missing, expected a number from 0 to 0.5");
	expect_fail(config_number(c, "minus", 0, 0, 0.5, &number, &err), &err,
		    "'m/config.json': 'minus' is -1, expected a number from 0 to 0.5");
	expect_fail(config_bool(c, "minus", false, &truth, &err), &err,
		    "'m/config.json': 'minus' is -1, expected true or false");
	expect_fail(config_fail(c, "n", "one of a and b", &err), &err,
		    "'m/config.json': 'n' is \"x\", expected one of a and b");
	assert_int_equal(size, 77);
	assert_true(number == 77 && truth);
	config_free(c);
}

static void test_bad_documents(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
	    {"[1, 2]", "'m/config.json': document is an array, expected an object"},
	    {"[{}]", "'m/config.json': document is an array, expected an object"},
	    {"3", "'m/config.json': document is a number, expected an object"},
	    {"NaN", "'m/config.json': document is NaN, expected an object"},
	    {"{\"a\": 1", "'m/config.json': line 1, column 8: expected ',' or '}', found the end"},
	    {"{\"a\": 01}", "'m/config.json': line 1, column 8: expected ',' or '}', found '1'"},
	    {"{\"\": 0}", "'m/config.json': line 1, column 2: expected a key that is not empty, found '\"'"},
	    {"\xff", "'m/config.json': byte 0 is not UTF-8 text"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config *c;
		struct attn_error err;
		expect_fail(config_parse(&c, (const unsigned char *)cases[i].text, strlen(cases[i].text),
					 "m/config.json", &err),
			    &err, cases[i].message);
		assert_null(c);
	}
}

/* 4 MB of brackets, of numbers, of one key: within a moment, and found where it is. */
static void test_large(void **state)
{
	(void)state;
	enum {
		LENGTH = 4 << 20
	};
	static const char *const parts[] = {"[],", "1,", "{\"a\":1},"};
	char *text = malloc(LENGTH + 100);
	struct config *c;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t at = (size_t)sprintf(text, "{\"z\": ["), step = strlen(parts[i]), count = 0;
		for (; at + step < LENGTH; at += step, count++)
			memcpy(text + at, parts[i], step);
		strcpy(text + at - 1, "], \"y\": 1}");
		c = parse(text);
		assert_int_equal(config_list(c, "z"), count);
		assert_true(config_has(c, "y"));
		config_free(c);
	}
	size_t at = (size_t)sprintf(text, "{\"z\": 0");
	for (size_t i = 0; at < LENGTH; i++)
		at += (size_t)sprintf(text + at, ",\"%zu\":%zu", i % 100000, i);
	strcpy(text + at, "}");
	c = parse(text);
	size_t size;
	assert_int_equal(config_size(c, "99999", 0, 0, SIZE_MAX, &size, NULL), ATTN_OK);
	assert_int_equal(size % 100000, 99999);
	config_free(c);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),   cmocka_unit_test(test_absent),
	    cmocka_unit_test(test_paths),    cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_twice),    cmocka_unit_test(test_not_finite),
	    cmocka_unit_test(test_messages), cmocka_unit_test(test_bad_documents),
	    cmocka_unit_test(test_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
