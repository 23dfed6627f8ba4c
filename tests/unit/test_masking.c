/* Which keys a query may see, told without the engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "bundle_test.h"
#include "input/bind.h"

/* The sizes of a problem, before masks are bound. */
static const struct masking two_by_three = {.batch = 1, .heads = 1, .queries = 2, .plain_keys = 3};

static struct masking bound(struct masking sizes, const char *json, struct string_list *notes)
{
	struct attn_error err = {0};
	struct bundle b = bundle_of(json);
	struct masking v = sizes;
	if (bind_masking(&v, &b, notes, &err) != ATTN_OK)
		fail_msg("%s: %s", json, err.message);
	bundle_release(&b); /* it keeps nothing of the bundle */
	return v;
}

/* Every row, batch by batch, head by head, is as the text says: '1' or '.' a key,
 * a space between rows. */
static void expect_rows(struct masking sizes, const char *json, const char *expected)
{
	struct string_list notes = {0};
	struct masking v = bound(sizes, json, &notes);
	size_t keys = v.plain_keys + v.appended_keys;
	char found[500], *end = found;
	unsigned char row[32];
	for (size_t i = 0; i < v.batch * v.heads * v.queries; i++) {
		masking_row(&v, i / v.queries / v.heads, i / v.queries % v.heads, i % v.queries, row);
		if (i > 0)
			*end++ = ' ';
		for (size_t j = 0; j < keys; j++)
			*end++ = row[j] ? '1' : '.';
	}
	*end = '\0';
	if (strcmp(found, expected) != 0)
		fail_msg("%s: '%s', expected '%s'", json, found, expected);
	masking_release(&v);
	string_list_release(&notes);
}

static void expect_refusal(struct masking sizes, const char *json, const char *const *parts)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct bundle b = bundle_of(json);
	struct masking v = sizes;
	if (bind_masking(&v, &b, &notes, &err) != ATTN_BAD_INPUT)
		fail_msg("%s: status %d", json, (int)err.status);
	expect_parts(json, err.message, parts);
	masking_release(&v);
	string_list_release(&notes);
	bundle_release(&b);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_nothing_hidden(void **state)
{
	struct string_list notes = {0};
	(void)state;
	expect_rows(two_by_three, "{}", "111 111");
	expect_rows(two_by_three, "{\"causal\": false}", "111 111");
	struct masking v = bound(two_by_three, "{}", &notes);
	assert_true(masking_bias(&v, 0, 0, 1, 2) == 0);
	masking_release(&v);
	v = bound(two_by_three, "{\"causal\": true}", &notes);
	assert_int_equal(notes.count, 0);
	masking_release(&v);
}

static void test_causal(void **state)
{
	struct masking v = two_by_three;
	(void)state;
	expect_rows(v, "{\"causal\": true}", "1.. 11.");
	v.queries = 4;
	expect_rows(v, "{\"causal\": true}", "1.. 11. 111 111");
	v.queries = 2;
	v.past_keys = 1;
	expect_rows(v, "{\"causal\": true}", "11. 111");
	v.appended_keys = 2;
	expect_rows(v, "{\"causal\": true}", "11.11 11111");
}

static void test_lengths(void **state)
{
	struct masking v = {.batch = 2, .heads = 1, .queries = 2, .plain_keys = 4};
	(void)state;
	expect_rows(v, "{\"kv_lengths\": [3, 1]}", "111. 111. 1... 1...");
	expect_rows(v, "{\"kv_lengths\": [4, 0]}", "1111 1111 .... ....");
	/* The offset is length - queries: 1 and 0, then 0 and -1. */
	expect_rows(v, "{\"kv_lengths\": [3, 2], \"causal\": true}", "11.. 111. 1... 11..");
	expect_rows(v, "{\"kv_lengths\": [2, 1], \"causal\": true}", "1... 11.. .... 1...");
	expect_rows(v, "{\"kv_lengths\": [0, 4], \"causal\": true}", ".... .... 111. 1111");
}

static void test_masks(void **state)
{
	struct masking v = {.batch = 1, .heads = 2, .queries = 2, .plain_keys = 3};
	(void)state;
	expect_rows(v, "{\"mask\": [true, false, true]}", "1.1 1.1 1.1 1.1");
	expect_rows(v, "{\"mask\": [[true, false, true], [false, true, false]]}", "1.1 .1. 1.1 .1.");
	expect_rows(v, "{\"mask\": [[true], [false]]}", "111 ... 111 ...");
	expect_rows(v, "{\"mask\": [[[true, true, false]], [[false, true, true]]]}", "11. 11. .11 .11");
	expect_rows(v, "{\"mask\": [[[true], [false]], [[false], [true]]]}", "111 ... ... 111");
	expect_rows(v, "{\"mask\": [true]}", "111 111 111 111");
	expect_rows(v, "{\"mask\": [[0, null, 1], [null, null, -1e30]]}", "1.1 ..1 1.1 ..1");
	/* too short: what is beyond is hidden, and said so */
	expect_rows(v, "{\"mask\": [true, true]}", "11. 11. 11. 11.");
	/* with the others */
	expect_rows(v, "{\"mask\": [true, false, true], \"causal\": true}", "1.. 1.. 1.. 1..");
	v.appended_keys = 1;
	expect_rows(v, "{\"mask\": [false, false, false]}", "...1 ...1 ...1 ...1");
	expect_rows(v, "{\"mask\": [false]}", "...1 ...1 ...1 ...1");
}

static void test_mask_of_batch(void **state)
{
	struct masking v = {.batch = 2, .heads = 2, .queries = 1, .plain_keys = 2};
	(void)state;
	expect_rows(v, "{\"mask\": [[[[true, false]]], [[[false, true]]]]}", "1. 1. .1 .1");
	expect_rows(v, "{\"mask\": [[[[true, false]], [[false, true]]]]}", "1. .1 1. .1");
	expect_rows(v, "{\"mask\": [[[[true, false]], [[true, true]]], [[[false, false]], [[false, true]]]]}",
		    "1. 11 .. .1");
	/* PyTorch's (B H, N, M); three or two are no B H. */
	expect_rows(v, "{\"mask\": [[[true, false]], [[true, true]], [[false, false]], [[false, true]]]}",
		    "1. 11 .. .1");
	expect_rows(v, "{\"mask\": [[[true, false]], [[true, true]]]}", "1. 11 1. 11");
	expect_refusal(v, "{\"mask\": [[[true, false]], [[true, true]], [[true, true]]]}",
		       PARTS("'mask' is 3 x 1 x 2"));
}

static void test_padding(void **state)
{
	struct masking v = {.batch = 2, .heads = 1, .queries = 1, .plain_keys = 3};
	(void)state;
	expect_rows(v, "{\"key_padding\": [true, false, true]}", "1.1 1.1");
	expect_rows(v, "{\"key_padding\": [[true, true, false], [false, true, true]]}", "11. .11");
	expect_rows(v, "{\"key_padding\": [[1, 1, 0]]}", "11. 11.");
	/* Added to the scores, as transformers and PyTorch have it. */
	expect_rows(v, "{\"key_padding\": [[0.0, 0.0, -10000.0]]}", "11. 11.");
	expect_rows(v, "{\"key_padding\": [-3.4028234663852886e38, -1e30, 0]}", "..1 ..1");
	v.past_keys = 1; /* of own keys, or of all */
	expect_rows(v, "{\"key_padding\": [false, true]}", "1.1 1.1");
	expect_rows(v, "{\"key_padding\": [false, false, true]}", "..1 ..1");
}

static void test_bias(void **state)
{
	struct masking sizes = {.batch = 1, .heads = 2, .queries = 2, .plain_keys = 2, .appended_keys = 1};
	struct string_list notes = {0};
	(void)state;
	struct masking v = bound(sizes, "{\"mask\": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]}", &notes);
	for (size_t i = 0; i < 8; i++)
		assert_true(masking_bias(&v, 0, i / 4, i / 2 % 2, i % 2) == (float)(i + 1));
	assert_true(masking_bias(&v, 0, 1, 1, 2) == 0); /* an appended key */
	masking_release(&v);
	v = bound(sizes, "{\"mask\": [[10], [20]]}", &notes);
	assert_true(masking_bias(&v, 0, 1, 0, 1) == 10 && masking_bias(&v, 0, 0, 1, 1) == 20);
	assert_true(masking_bias(&v, 0, 0, 1, 2) == 0);
	masking_release(&v);
	/* what float32 has not becomes as low as it goes, and is not masked */
	v = bound(sizes, "{\"mask\": [-1.7976931348623157e308, 1e300]}", &notes);
	assert_true(masking_bias(&v, 0, 0, 0, 0) == -0x1.fffffep127f);
	assert_true(masking_bias(&v, 0, 0, 0, 1) == 0x1.fffffep127f);
	masking_release(&v);
	assert_int_equal(notes.count, 0);
}

/* Numbers that do not mask are added, and summed with what a mask adds. */
static void test_padding_bias(void **state)
{
	struct masking sizes = {.batch = 2, .heads = 2, .queries = 2, .plain_keys = 3};
	struct string_list notes = {0};
	(void)state;
	struct masking v = bound(sizes, "{\"key_padding\": [[0.5, -2, 1], [0, -10000, -9998]]}", &notes);
	for (size_t i = 0; i < 4; i++) {
		assert_true(masking_bias(&v, 0, i / 2, i % 2, 0) == 0.5f);
		assert_true(masking_bias(&v, 0, i / 2, i % 2, 1) == -2);
		assert_true(masking_bias(&v, 0, i / 2, i % 2, 2) == 1);
		assert_true(masking_bias(&v, 1, i / 2, i % 2, 2) == -9998);
	}
	masking_release(&v);
	assert_int_equal(notes.count, 1);
	assert_non_null(strstr(notes.items[0], "it is added to the scores"));
	expect_rows(sizes, "{\"key_padding\": [[0.5, -2, 1], [0, -10000, -9998]]}",
		    "111 111 111 111 1.1 1.1 1.1 1.1");
	v = bound(sizes,
		  "{\"mask\": [[[10, 20, 30], [40, 50, 60]], [[70, 80, 90], [-3.4e38, null, 120]]],"
		  " \"key_padding\": [[1, 2, -3], [4, -5, 6]]}",
		  &notes);
	assert_true(masking_bias(&v, 0, 0, 0, 0) == 11 && masking_bias(&v, 0, 1, 0, 2) == 87);
	assert_true(masking_bias(&v, 1, 0, 1, 1) == 45 && masking_bias(&v, 1, 1, 1, 2) == 126);
	masking_release(&v);
	/* one column for all keys, and which of them to attend to */
	v = bound(sizes, "{\"mask\": [[true], [false]], \"key_padding\": [-1, -2, -3]}", &notes);
	assert_true(masking_bias(&v, 1, 1, 0, 0) == -1 && masking_bias(&v, 1, 1, 0, 2) == -3);
	masking_release(&v);
	expect_rows(sizes, "{\"mask\": [[true], [false]], \"key_padding\": [-1, -2, -3]}",
		    "111 ... 111 ... 111 ... 111 ...");
	sizes.past_keys = 1; /* own keys alone: past ones have none */
	v = bound(sizes, "{\"key_padding\": [-1, -2]}", &notes);
	assert_true(masking_bias(&v, 0, 0, 0, 0) == 0 && masking_bias(&v, 0, 0, 0, 1) == -1);
	masking_release(&v);
	string_list_release(&notes);
}

static void expect_note(const char *json, const char *part)
{
	struct string_list notes = {0};
	struct masking v = bound(two_by_three, json, &notes);
	if (!part)
		assert_int_equal(notes.count, 0);
	else if (notes.count != 1 || !strstr(notes.items[0], part))
		fail_msg("%s: %zu notes, expected '%s'", json, notes.count, part);
	masking_release(&v);
	string_list_release(&notes);
}

static void test_notes(void **state)
{
	(void)state;
	expect_note("{\"mask\": [1, 0, 1]}", "added to the scores");
	expect_note("{\"mask\": [0, 0, 0]}", NULL);
	expect_note("{\"mask\": [true, false, true]}", NULL);
	expect_note("{\"mask\": [true, false]}", "covers 2 of 3 keys");
}

static void test_refusals(void **state)
{
	struct masking batch = {.batch = 2, .heads = 3, .queries = 2, .plain_keys = 4};
	static const double values[] = {1, 0, NAN, INFINITY};
	(void)state;
	expect_refusal(two_by_three, "{\"mask\": [[true, true, true]], \"causal\": 5}", PARTS("causal", "5"));
	expect_refusal(two_by_three, "{\"mask\": [true, true, true, true]}",
		       PARTS("'x.json'", "'mask' is 4", "expected 2 x 3"));
	expect_refusal(batch, "{\"mask\": [[true], [true], [true]]}",
		       PARTS("'mask' is 3 x 1", "2 x 4", "heads, 3,", "2 x 3, in front"));
	expect_refusal(batch, "{\"mask\": [[[[[true]]]]]}", PARTS("'mask' is 1 x 1 x 1 x 1 x 1"));
	expect_refusal(batch, "{\"key_padding\": [true, true]}", PARTS("'key_padding' is 2", "4, or 2 x 4"));
	expect_refusal(batch,
		       "{\"key_padding\": [[true, true, true, true], [true, true, true, true],"
		       " [true, true, true, true]]}",
		       PARTS("'key_padding' is 3 x 4", "2 x 4"));
	expect_refusal(batch, "{\"key_padding\": [1, 0, 0, -1e9]}", PARTS("'key_padding[0]' is 1"));
	expect_refusal(batch, "{\"key_padding\": [1, 1, 2, 1]}", PARTS("'key_padding[2]' is 2", "true"));
	expect_refusal(batch, "{\"kv_lengths\": [1]}", PARTS("'kv_lengths' is 1", "expected 2"));
	expect_refusal(batch, "{\"kv_lengths\": [1, 5]}", PARTS("'kv_lengths[1]' is 5", "from 0 to 4"));
	expect_refusal(batch, "{\"kv_lengths\": [-1, 4]}", PARTS("'kv_lengths[0]' is -1"));
	expect_refusal(batch, "{\"kv_lengths\": [1.5, 4]}", PARTS("'kv_lengths[0]' is 1.5", "whole"));
	batch.past_keys = 1;
	expect_refusal(batch, "{\"kv_lengths\": [1, 4]}", PARTS("'kv_lengths'", "'past_k'"));

	for (size_t i = 2; i < 4; i++) {
		struct attn_error err = {0};
		struct masking v = {.batch = 1, .heads = 1, .queries = 1, .plain_keys = 1};
		struct bundle b;
		bundle_init(&b);
		put(&b, "mask", DTYPE_F64, SHAPE(1), values + i);
		assert_int_equal(bind_masking(&v, &b, NULL, &err), ATTN_BAD_INPUT);
		expect_parts("mask", err.message, PARTS("'mask[0]' is", i == 2 ? "nan" : "inf", "-inf"));
		masking_release(&v);
		bundle_release(&b);
	}
}

/* What can be added is finite, or minus infinity. */
static void test_padding_infinite(void **state)
{
	static const double values[][3] = {{-1, 2, NAN}, {-1, 2, INFINITY}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct attn_error err = {0};
		struct masking v = two_by_three;
		struct bundle b;
		bundle_init(&b);
		put(&b, "key_padding", DTYPE_F64, SHAPE(3), values[i]);
		assert_int_equal(bind_masking(&v, &b, NULL, &err), ATTN_BAD_INPUT);
		expect_parts("key_padding", err.message,
			     PARTS("'key_padding[2]' is", i == 0 ? "nan" : "inf", "a finite number"));
		masking_release(&v);
		bundle_release(&b);
	}
}

/* Integers could mean either kind of mask, so they are refused. */
static void test_integer_mask(void **state)
{
	static const double ones[] = {1, 1, 1};
	struct attn_error err = {0};
	struct masking v = two_by_three;
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put(&b, "mask", DTYPE_I64, SHAPE(3), ones);
	assert_int_equal(bind_masking(&v, &b, NULL, &err), ATTN_BAD_INPUT);
	expect_parts("mask", err.message, PARTS("'mask' is int64", "bool", "float"));
	masking_release(&v);
	bundle_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_hidden), cmocka_unit_test(test_causal),
	    cmocka_unit_test(test_lengths),        cmocka_unit_test(test_masks),
	    cmocka_unit_test(test_mask_of_batch),  cmocka_unit_test(test_padding),
	    cmocka_unit_test(test_padding_bias),   cmocka_unit_test(test_padding_infinite),
	    cmocka_unit_test(test_bias),           cmocka_unit_test(test_notes),
	    cmocka_unit_test(test_refusals),       cmocka_unit_test(test_integer_mask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
