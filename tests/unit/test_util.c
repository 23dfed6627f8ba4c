/* The small things that everything rests on: buffers, errors, sizes, text,
 * numbers, elements of tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "bundle_test.h"
#include "util/buffer.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/utf8.h"
#include "util/width.h"

static void test_buffer_grows(void **state)
{
	struct buffer b = BUFFER_INIT;
	(void)state;
	for (int i = 0; i < 5000; i++)
		buffer_printf(&b, "%04d", i);
	assert_int_equal(b.length, 20000);
	assert_memory_equal(b.data + 4 * 4321, "4321", 4);
	assert_int_equal(b.data[b.length], '\0');
	buffer_clear(&b);
	assert_int_equal(b.length, 0);
	buffer_add(&b, "a\0b", 3);
	assert_memory_equal(b.data, "a\0b", 4);
	char *text = buffer_detach(&b);
	assert_memory_equal(text, "a\0b", 4);
	free(text);
	assert_null(b.data);
	text = buffer_detach(&b);
	assert_string_equal(text, "");
	free(text);
	buffer_release(&b);
}

static void test_buffer_escapes(void **state)
{
	struct buffer b = BUFFER_INIT;
	(void)state;
	buffer_add_json_string(&b, "a\"b\\c\n\t\x01é\xff");
	assert_string_equal(b.data, "\"a\\\"b\\\\c\\n\\t\\u0001é\xef\xbf\xbd\"");
	buffer_clear(&b);
	buffer_add_json_string(&b, "\x7f\xc2\x9b\u202e\u200d");
	assert_string_equal(b.data, "\"\\u007f\\u009b\\u202e\u200d\"");
	buffer_clear(&b);
	buffer_add_clean(&b, "a\\é日\u200d\x1b[31m\n\x7f\xc2\x9b\u202e\u2069\ufeff\xff\xc3");
	assert_string_equal(b.data, "a\\é日\u200d\\x1b[31m\\x0a\\x7f\\x9b\\u202e\\u2069\\ufeff\\xff\\xc3");
	buffer_clear(&b);
	buffer_add_tsv(&b, "a\tb\nc\rd\\e é");
	assert_string_equal(b.data, "a\\tb\\nc\\rd\\\\e é");
	buffer_release(&b);
}

static void expect_float(float value, const char *expected)
{
	struct buffer b = BUFFER_INIT;
	buffer_add_float(&b, value);
	if (expected)
		assert_string_equal(b.data, expected);
	assert_true(strlen(b.data) <= 15);
	assert_true(strtof(b.data, NULL) == value);
	buffer_release(&b);
}

/* The fewest digits that read back as the same float. */
static void test_floats(void **state)
{
	uint32_t bits = 1;
	(void)state;
	expect_float(0, "0");
	expect_float(1, "1");
	expect_float(0.5f, "0.5");
	expect_float(0.1f, "0.1");
	expect_float(1 / 3.0f, NULL);
	expect_float(0x1p-149f, NULL);
	expect_float(0x1.fffffep127f, NULL);
	expect_float(-0x1.fffffep127f, NULL);
	for (int i = 0; i < 20000; i++) {
		float value;
		bits = bits * 1664525u + 1013904223u;
		memcpy(&value, &bits, sizeof value);
		if (isfinite(value))
			expect_float(value, NULL);
	}
}

static void test_checked(void **state)
{
	size_t out;
	(void)state;
	assert_true(size_mul(SIZE_MAX / 3, 3, &out) && out == SIZE_MAX / 3 * 3);
	assert_false(size_mul(SIZE_MAX / 2 + 1, 2, &out));
	assert_true(size_mul(0, SIZE_MAX, &out) && out == 0);
	assert_true(size_add(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
	assert_false(size_add(SIZE_MAX, 1, &out));
	assert_null(array_alloc(SIZE_MAX / 2 + 1, 2));
	unsigned char *zeros = array_alloc(3, 5), *nothing = array_alloc(0, 5);
	assert_true(zeros && nothing);
	for (size_t i = 0; i < 15; i++)
		assert_int_equal(zeros[i], 0);
	free(zeros);
	free(nothing);
}

static void test_errors(void **state)
{
	struct attn_error err = {0};
	char long_text[3000];
	(void)state;
	assert_int_equal(attn_fail(&err, ATTN_BAD_INPUT, "'%s' is %d", "x", 3), ATTN_BAD_INPUT);
	assert_int_equal(err.status, ATTN_BAD_INPUT);
	assert_string_equal(err.message, "'x' is 3");
	attn_error_prefix(&err, "'a.json'");
	assert_string_equal(err.message, "'a.json': 'x' is 3");
	errno = ENOENT;
	assert_int_equal(attn_fail_errno(&err, ATTN_FAILED, "could not open '%s'", "x"), ATTN_FAILED);
	assert_string_equal(err.message, "could not open 'x': No such file or directory");
	assert_int_equal(attn_fail(NULL, ATTN_USAGE, "nobody hears"), ATTN_USAGE);
	assert_int_equal(attn_fail_memory(NULL), ATTN_FAILED);
	attn_error_prefix(NULL, "nobody");

	/* A long message is cut, and never beyond its end. */
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	attn_fail(&err, ATTN_FAILED, "%s", long_text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	attn_error_prefix(&err, long_text);
	attn_fail_errno(&err, ATTN_FAILED, "%s", long_text);
	assert_true(strlen(err.message) < sizeof err.message);
}

static void test_utf8(void **state)
{
	static const char *const good[] = {"a", "é", "€", "🙂", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",         "\xc0\x80",     "\xc1\xbf",
					  "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
					  "\xf5\x80\x80", "\xe2\x82",     "\xff"};
	uint32_t code;
	char out[4];
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		size_t length = strlen(good[i]);
		assert_int_equal(utf8_decode(good[i], length, &code), length);
		assert_int_equal(utf8_encode(code, out), length);
		assert_memory_equal(out, good[i], length);
		for (size_t cut = 0; cut < length; cut++)
			assert_int_equal(utf8_step(good[i], cut), 0);
	}
	assert_int_equal(utf8_decode("🙂", 4, &code), 4);
	assert_int_equal(code, 0x1f642);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(utf8_step(bad[i], strlen(bad[i])), 0);
		assert_false(utf8_valid(bad[i], strlen(bad[i])));
	}
	assert_true(utf8_valid("aé€🙂", 10));
	assert_true(utf8_valid("", 0));
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(text_width("abc"), 3);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(text_width("é"), 1);
	assert_int_equal(text_width("e\xcc\x81"), 1); /* a combining accent */
	assert_int_equal(text_width("日本"), 4);
	assert_int_equal(text_width(""), 0);
}

static void test_edit_distance(void **state)
{
	char long_text[100];
	(void)state;
	assert_int_equal(edit_distance("", ""), 0);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
	assert_int_equal(edit_distance("abc", ""), 3);
	assert_int_equal(edit_distance("Wq", "wQ"), 0);
	assert_int_equal(edit_distance("flaw", "lawn"), 2);
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	assert_true(edit_distance(long_text, long_text) > 50);
}

static void test_parse(void **state)
{
	static const char *const no_count[] = {
	    "", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "18446744073709551616"};
	static const char *const no_number[] = {"",   "nan",   "inf", "0x1p3", " 1",
						"1 ", "1e999", "1,5", "--1",   "e"};
	size_t count;
	double number;
	bool flag;
	(void)state;
	assert_true(parse_count("18446744073709551615", &count) && count == SIZE_MAX);
	assert_true(parse_count("007", &count) && count == 7);
	for (size_t i = 0; i < sizeof no_count / sizeof *no_count; i++)
		if (parse_count(no_count[i], &count))
			fail_msg("'%s' is a count", no_count[i]);
	assert_true(parse_number("-1.5e-3", &number) && number == -1.5e-3);
	for (size_t i = 0; i < sizeof no_number / sizeof *no_number; i++)
		if (parse_number(no_number[i], &number))
			fail_msg("'%s' is a number", no_number[i]);
	assert_true(parse_bool("true", &flag) && flag);
	assert_true(parse_bool("0", &flag) && !flag);
	assert_false(parse_bool("yes", &flag));
	assert_false(parse_bool("", &flag));
}

static void test_half_floats(void **state)
{
	(void)state;
	assert_true(f16_to_f32(0x3c00) == 1 && f16_to_f32(0xc000) == -2);
	assert_true(f16_to_f32(0x7bff) == 65504);
	assert_true(f16_to_f32(0x0001) == 0x1p-24f && f16_to_f32(0x83ff) == -0x3ffp-24f);
	assert_true(f16_to_f32(0x0400) == 0x1p-14f);
	assert_true(f16_to_f32(0x7c00) == INFINITY && f16_to_f32(0xfc00) == -INFINITY);
	assert_true(isnan(f16_to_f32(0x7e00)));
	assert_true(signbit(f16_to_f32(0x8000)) && f16_to_f32(0x8000) == 0);
	assert_true(bf16_to_f32(0x3f80) == 1 && bf16_to_f32(0xc049) == -3.140625f);
	assert_true(bf16_to_f32(0x7f80) == INFINITY && isnan(bf16_to_f32(0x7fc0)));
}

/* Elements at any address, in every type. */
static void test_elements(void **state)
{
	static const struct {
		enum dtype dtype;
		unsigned char bytes[8]; /* little-endian */
		double value;
	} elements[] = {
	    {DTYPE_F64, {0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, -1.5},
	    {DTYPE_F32, {0, 0, 0xc0, 0xbf}, -1.5},
	    {DTYPE_F16, {0x00, 0xbe}, -1.5},
	    {DTYPE_BF16, {0xc0, 0xbf}, -1.5},
	    {DTYPE_I64, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -2},
	    {DTYPE_I32, {0xfe, 0xff, 0xff, 0xff}, -2},
	    {DTYPE_I16, {0xfe, 0xff}, -2},
	    {DTYPE_I8, {0xfe}, -2},
	    {DTYPE_U64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 18446744073709551615.0},
	    {DTYPE_U32, {0xff, 0xff, 0xff, 0xff}, 4294967295.0},
	    {DTYPE_U16, {0xff, 0xff}, 65535},
	    {DTYPE_U8, {0xfe}, 254},
	    {DTYPE_BOOL, {2}, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
		unsigned char odd[17] = {0};
		memcpy(odd + 1, elements[i].bytes, 8);
		struct tensor t = {.dtype = elements[i].dtype, .count = 1, .data = odd + 1};
		if (tensor_get(&t, 0) != elements[i].value)
			fail_msg("%s is %g, expected %g", dtype_name(t.dtype), tensor_get(&t, 0),
				 elements[i].value);
	}
}

static void test_tensor_texts(void **state)
{
	static const size_t shape[] = {2, 3, 4}, huge[] = {SIZE_MAX / 4, 3};
	struct attn_error err = {0};
	struct tensor t;
	char text[100], small[8];
	(void)state;
	assert_int_equal(tensor_init(&t, "weights", "x.npy", DTYPE_F32, 3, shape, &err), ATTN_OK);
	assert_int_equal(t.count, 24);
	assert_string_equal(tensor_shape_text(3, shape, text, sizeof text), "2 x 3 x 4");
	assert_string_equal(tensor_shape_text(0, shape, text, sizeof text), "a scalar");
	assert_string_equal(tensor_index_text(&t, 23, text, sizeof text), "weights[1,2,3]");
	assert_string_equal(tensor_index_text(&t, 23, small, sizeof small), "weights");
	assert_string_equal(tensor_shape_text(3, shape, small, sizeof small), "2 x 3 x");
	tensor_release(&t);
	assert_int_equal(tensor_init(&t, "huge", NULL, DTYPE_F64, 1, huge, &err), ATTN_BAD_INPUT);
	assert_int_equal(tensor_init(&t, "huge", NULL, DTYPE_BOOL, 2, huge, &err), ATTN_OK);
	tensor_release(&t);
	assert_int_equal(tensor_init(&t, "deep", NULL, DTYPE_BOOL, 9, shape, &err), ATTN_BAD_INPUT);
}

static void test_bundle(void **state)
{
	struct attn_error err = {0};
	(void)state;
	struct bundle a = bundle_of("{\"wq\": [[1]], \"tokens\": [\"a\"], \"causal\": true}");
	struct bundle b = bundle_of("{\"wk\": [[2]], \"causal\": true}");
	assert_int_equal(bundle_merge(&a, &b, &err), ATTN_OK);
	assert_non_null(bundle_tensor(&a, "wk"));
	assert_int_equal(b.tensor_count, 0);
	b = bundle_of("{\"wq\": [[2]]}");
	assert_int_equal(bundle_merge(&a, &b, &err), ATTN_BAD_INPUT);
	expect_parts("twice", err.message, (const char *const[]){"'wq'", "once", NULL});
	b = bundle_of("{\"causal\": false}");
	assert_int_equal(bundle_merge(&a, &b, &err), ATTN_BAD_INPUT);
	expect_parts("two values", err.message,
		     (const char *const[]){"'causal'", "'true'", "'false'", "one value", NULL});
	/* The command line overrides, before and after. */
	assert_int_equal(bundle_override(&a, "causal", "false", "--causal", &err), ATTN_OK);
	assert_int_equal(bundle_add_setting(&a, "causal", "true", "x.json", &err), ATTN_OK);
	assert_string_equal(bundle_setting(&a, "causal")->value, "false");
	bundle_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_buffer_grows), cmocka_unit_test(test_buffer_escapes),
	    cmocka_unit_test(test_floats),       cmocka_unit_test(test_checked),
	    cmocka_unit_test(test_errors),       cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_width),        cmocka_unit_test(test_edit_distance),
	    cmocka_unit_test(test_parse),        cmocka_unit_test(test_half_floats),
	    cmocka_unit_test(test_elements),     cmocka_unit_test(test_tensor_texts),
	    cmocka_unit_test(test_bundle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
