#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/formats.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/safetensors/"

static struct bytes read_corpus(const char *name, struct bundle *b)
{
	char path[200];
	struct attn_error err;
	snprintf(path, sizeof path, CORPUS "%s.safetensors", name);
	struct bytes bytes = bytes_of_file(path);
	bundle_init(b);
	if (safetensors_parse(bytes.data, bytes.length, path, b, &err) != ATTN_OK)
		fail_msg("%s: %s", path, err.message);
	return bytes;
}

static void test_by_hand(void **state)
{
	(void)state;
	static const char file[] = "\x37\0\0\0\0\0\0\0"
				   "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]}}"
				   "\x80\x3f\x00\xc0";
	struct bundle b;
	bundle_init(&b);
	assert_int_equal(safetensors_parse((const unsigned char *)file, sizeof file - 1, NULL, &b, NULL),
			 ATTN_OK);
	expect_tensor(bundle_tensor(&b, "a"), DTYPE_BF16, 1, (size_t[]){2}, (double[]){1, -2});
	assert_ptr_equal(b.tensors[0].data, file + sizeof file - 5);
	assert_null(b.tensors[0].owned);
	bundle_release(&b);
}

static void test_tensors_and_metadata(void **state)
{
	(void)state;
	struct bundle b;
	struct bytes bytes = read_corpus("good", &b);
	assert_int_equal(b.tensor_count, 2);
	expect_tensor(bundle_tensor(&b, "q"), DTYPE_F32, 2, (size_t[]){2, 3}, (double[]){0, 1, 2, 3, 4, 5});
	expect_tensor(bundle_tensor(&b, "k"), DTYPE_I16, 1, (size_t[]){3}, (double[]){1, -2, 3});
	assert_int_equal(b.text_count, 2);
	const struct string_list *tokens = &bundle_text(&b, "tokens")->list;
	assert_int_equal(tokens->count, 3);
	assert_string_equal(tokens->items[0], "the");
	assert_string_equal(tokens->items[1], "\xe2\x96\x81it");
	assert_string_equal(tokens->items[2], "a \"b\"");
	assert_string_equal(bundle_text(&b, "head_names")->list.items[0], "coreference");
	assert_int_equal(b.setting_count, 2);
	assert_string_equal(bundle_setting(&b, "num_heads")->value, "2");
	assert_string_equal(bundle_setting(&b, "format")->value, "pt");
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("padded", &b);
	assert_int_equal(b.tensor_count, 2);
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("none", &b);
	assert_int_equal(b.tensor_count, 0);
	bundle_release(&b);
	free(bytes.data);
}

/* The data of the file is the bytes 0, 1, 2, ... */
static void test_dtypes(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum dtype dtype;
		double first;
	} types[] = {
	    {"i64", DTYPE_I64, (double)0x2726252423222120},
	    {"i32", DTYPE_I32, 0x33323130},
	    {"i16", DTYPE_I16, 0x3938},
	    {"i8", DTYPE_I8, 0x3c},
	    {"u64", DTYPE_U64, (double)0x4544434241403f3e},
	    {"u32", DTYPE_U32, 0x51504f4e},
	    {"u16", DTYPE_U16, 0x5756},
	    {"u8", DTYPE_U8, 0x5a},
	    {"bool", DTYPE_BOOL, 1},
	};
	struct bundle b;
	struct bytes bytes = read_corpus("dtypes", &b);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const struct tensor *t = bundle_tensor(&b, types[i].name);
		assert_non_null(t);
		assert_int_equal(t->dtype, types[i].dtype);
		assert_int_equal(t->count, 2);
		assert_true(tensor_get(t, 0) == types[i].first);
	}
	assert_int_equal(bundle_tensor(&b, "f64")->dtype, DTYPE_F64);
	assert_int_equal(bundle_tensor(&b, "f32")->dtype, DTYPE_F32);
	assert_int_equal(bundle_tensor(&b, "f16")->dtype, DTYPE_F16);
	assert_int_equal(bundle_tensor(&b, "bf16")->dtype, DTYPE_BF16);
	expect_tensor(bundle_tensor(&b, "scalar"), DTYPE_U8, 0, NULL, (double[]){94});
	expect_tensor(bundle_tensor(&b, "zero"), DTYPE_F32, 2, (size_t[]){0, 3}, NULL);
	bundle_release(&b);
	free(bytes.data);
}

/* Every FP8 number, by the definition of its format. */
static void test_f8(void **state)
{
	static const struct {
		const char *name;
		int exponent_bits, bias;
		bool ieee; /* the highest exponent is infinity and NaN; else only all ones is NaN */
	} types[] = {{"f8-e4m3", 4, 7, false}, {"f8-e5m2", 5, 15, true}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bundle b;
		struct bytes bytes = read_corpus(types[i].name, &b);
		const struct tensor *t = bundle_tensor(&b, "q");
		for (int bits = 0; bits < 256; bits++) {
			int fractions = 1 << (7 - types[i].exponent_bits);
			int fraction = bits % fractions, exponent = bits % 128 / fractions;
			int top = (1 << types[i].exponent_bits) - 1;
			double value = exponent
					   ? ldexp(1 + (double)fraction / fractions, exponent - types[i].bias)
					   : ldexp((double)fraction / fractions, 1 - types[i].bias);
			if (exponent == top && (types[i].ieee || fraction == fractions - 1))
				value = types[i].ieee && fraction == 0 ? INFINITY : NAN;
			value = bits < 128 ? value : -value;
			double found = tensor_get(t, (size_t)bits);
			if (isnan(value) ? !isnan(found) : found != value || signbit(found) != signbit(value))
				fail_msg("%s %#x is %g, expected %g", types[i].name, (unsigned)bits, found,
					 value);
		}
		bundle_release(&b);
		free(bytes.data);
	}
}

/* Types that are not computed with, and metadata that only looks like tokens, are listed. */
static void test_others(void **state)
{
	struct bundle b;
	(void)state;
	struct bytes bytes = read_corpus("others", &b);
	assert_non_null(bundle_tensor(&b, "q"));
	assert_int_equal(b.other_count, 2);
	assert_string_equal(bundle_other(&b, "c")->type, "C64");
	assert_string_equal(bundle_other(&b, "f")->type, "F4");
	assert_int_equal(bundle_other(&b, "f")->rank, 2);
	assert_int_equal(bundle_other(&b, "c")->shape[0], 3);
	assert_non_null(strstr(bundle_other(&b, "c")->why, "'c' has dtype 'C64', expected F64"));
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("tokens-text", &b);
	assert_string_equal(bundle_other(&b, "tokens")->value, "the cat");
	assert_non_null(strstr(bundle_other(&b, "tokens")->why,
			       "metadata 'tokens' is not a JSON list of strings: line 1, column 1"));
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("tokens-numbers", &b);
	assert_non_null(
	    strstr(bundle_other(&b, "tokens")->why, "'tokens[0]' is a number, expected a string"));
	bundle_release(&b);
	free(bytes.data);
}

static void test_bad(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"dtype-number", "'q' has a dtype that is a number"},
	    {"shape-number", "'q' has a shape that is a number"},
	    {"shape-negative", "expected whole numbers"},
	    {"shape-fraction", "expected whole numbers"},
	    {"shape-beyond", "expected whole numbers"},
	    {"shape-huge", "'q' has 24 bytes, which is not 9007199254740992 x 9007199254740992 of float32"},
	    {"shape-zero-huge", "'q' has 24 bytes, which is not 0 x"},
	    {"rank9", "more than 8 dimensions"},
	    {"offsets-swapped", "'q' is at bytes 24 to 0, but the data has 24 bytes"},
	    {"offsets-beyond", "'q' is at bytes 0 to 28, but the data has 24 bytes"},
	    {"offsets-huge", "but the data has 24 bytes"},
	    {"offsets-one", "two whole numbers"},
	    {"offsets-three", "two whole numbers"},
	    {"offsets-infinite", "two whole numbers"},
	    {"size", "'q' has 24 bytes, which is not 2 x 2 of float32"},
	    {"gap", "'k' starts at byte 26 of the data, expected 24"},
	    {"overlap", "'k' starts at byte 22 of the data, expected 24"},
	    {"same", "starts at byte 0 of the data, expected 24"},
	    {"rest", "data is 30 bytes, expected 24"},
	    {"short", "but the data has 23 bytes"},
	    {"no-dtype", "'q' has no 'dtype'"},
	    {"not-object", "'q' is an array, expected an object"},
	    {"twice", "'q' may be given only once"},
	    {"dtype-twice", "'q' has 'dtype' twice"},
	    {"metadata-twice", "'__metadata__' may be given only once"},
	    {"metadata-key-twice", "metadata 'a' may be given only once"},
	    {"metadata-number", "metadata 'a' is a number, expected a string"},
	    {"metadata-list", "'__metadata__' is an array, expected an object"},
	    {"nul", "header: line 1, column 4: expected text without \\u0000"},
	    {"trailing", "expected nothing after the document, found 'x'"},
	    {"array", "header does not start with '{'"},
	    {"space-first", "header does not start with '{'"},
	    {"not-utf8", "header: byte 2 is not UTF-8"},
	    {"length-beyond", "header is 5000 bytes, but only"},
	    {"length-cap", "header is 100000001 bytes, expected at most 100000000"},
	    {"length-huge", "header is 18446744073709551615 bytes"},
	    {"length-zero", "header does not start with '{'"},
	    {"seven", "file is 7 bytes"},
	    {"deep", "at most 64 levels"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		expect_bad_file(safetensors_parse, "safetensors", files[i][0], files[i][1]);
}

static void test_damage(void **state)
{
	(void)state;
	static const char *const files[] = {CORPUS "good.safetensors", CORPUS "dtypes.safetensors"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		expect_truncations_bad(safetensors_parse, files[i]);
		survive_changes(safetensors_parse, files[i], SIZE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand), cmocka_unit_test(test_tensors_and_metadata),
	    cmocka_unit_test(test_dtypes),  cmocka_unit_test(test_f8),
	    cmocka_unit_test(test_others),  cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
