#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/formats.h"
#include "files/gguf.h"
#include "model/weights.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/gguf/"

static struct bytes open_corpus(const char *name, struct gguf *g)
{
	char path[200];
	struct attn_error err;
	snprintf(path, sizeof path, CORPUS "%s.gguf", name);
	struct bytes bytes = bytes_of_file(path);
	if (gguf_open(g, bytes.data, bytes.length, &err) != ATTN_OK)
		fail_msg("%s: %s", path, err.message);
	return bytes;
}

static void expect_number(const struct gguf *g, const char *key, enum gguf_kind kind, double value)
{
	const struct gguf_pair *p = gguf_pair(g, key);
	assert_non_null(p);
	assert_int_equal(p->kind, kind);
	assert_int_equal(p->count, 1);
	assert_false(p->array);
	if (!(gguf_number(p, 0) == value))
		fail_msg("%s is %.17g, expected %.17g", key, gguf_number(p, 0), value);
}

static void test_values(void **state)
{
	(void)state;
	struct gguf g;
	struct bytes bytes = open_corpus("good", &g);
	assert_int_equal(g.version, 3);
	assert_int_equal(g.pair_count, 17);
	expect_number(&g, "k.u8", GGUF_U8, 255);
	expect_number(&g, "k.i8", GGUF_I8, -1);
	expect_number(&g, "k.u16", GGUF_U16, 65534);
	expect_number(&g, "k.i16", GGUF_I16, -2);
	expect_number(&g, "k.u32", GGUF_U32, 4000000000);
	expect_number(&g, "k.i32", GGUF_I32, -5);
	expect_number(&g, "k.f32", GGUF_F32, (double)0.1f);
	expect_number(&g, "k.bool", GGUF_BOOL, 1);
	expect_number(&g, "k.u64", GGUF_U64, 0x1p40);
	expect_number(&g, "k.i64", GGUF_I64, -0x1p40);
	expect_number(&g, "k.f64", GGUF_F64, 0.1);
	assert_null(gguf_pair(&g, "k"));
	assert_null(gguf_pair(&g, ""));
	assert_null(gguf_pair(&g, "z"));

	const struct gguf_pair *p = gguf_pair(&g, "k.numbers");
	assert_true(p->array && p->count == 3 && p->kind == GGUF_I32);
	assert_true(gguf_number(p, 0) == 1 && gguf_number(p, 1) == -2 && gguf_number(p, 2) == 3);
	p = gguf_pair(&g, "k.empty");
	assert_true(p->array && p->count == 0);
	p = gguf_pair(&g, "k.texts");
	assert_int_equal(p->count, 3);
	const unsigned char *at = p->data;
	static const char *const expected[] = {"a", "", "bc"};
	for (size_t i = 0; i < 3; i++) {
		const char *text;
		size_t length;
		at = gguf_text(at, &text, &length);
		assert_int_equal(length, strlen(expected[i]));
		assert_memory_equal(text, expected[i], length);
	}
	gguf_release(&g);
	free(bytes.data);
}

static void test_tensors(void **state)
{
	(void)state;
	struct gguf g;
	struct bytes bytes = open_corpus("good", &g);
	assert_int_equal(g.tensor_count, 2);
	assert_string_equal(g.tensors[0].name, "a.weight");
	assert_int_equal(g.tensors[0].rank, 2); /* dims (3, 2) in the file */
	assert_int_equal(g.tensors[0].shape[0], 2);
	assert_int_equal(g.tensors[0].shape[1], 3);
	assert_int_equal(g.tensors[0].bytes, 24);
	assert_string_equal(g.tensors[1].type->name, "float16");
	assert_ptr_equal(g.tensors[1].data, g.tensors[0].data + 32);
	gguf_release(&g);
	free(bytes.data);

	bytes = open_corpus("blocks", &g);
	assert_string_equal(g.tensors[0].type->name, "Q4_0");
	assert_int_equal(g.tensors[0].count, 64);
	assert_int_equal(g.tensors[0].bytes, 36);
	assert_string_equal(g.tensors[1].type->name, "NVFP4");
	gguf_release(&g);
	free(bytes.data);

	bytes = open_corpus("aligned64", &g);
	float value;
	memcpy(&value, g.tensors[1].data, sizeof value);
	assert_true(value == 1);
	gguf_release(&g);
	free(bytes.data);
}

/* Values and bytes of the blocks are those of ggml-common.h. */
static void test_types(void **state)
{
	(void)state;
	static const struct {
		unsigned long number;
		const char *name;
		size_t values, bytes;
	} types[] = {
	    {0, "float32", 1, 4},   {1, "float16", 1, 2},     {2, "Q4_0", 32, 18},    {3, "Q4_1", 32, 20},
	    {6, "Q5_0", 32, 22},    {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},    {10, "Q2_K", 256, 84},
	    {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176}, {14, "Q6_K", 256, 210},
	    {20, "IQ4_NL", 32, 18}, {23, "IQ4_XS", 256, 136}, {24, "int8", 1, 1},     {26, "int32", 1, 4},
	    {28, "float64", 1, 8},  {30, "bfloat16", 1, 2},   {39, "MXFP4", 32, 17},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const struct value_type *t = value_type_of_ggml(types[i].number);
		assert_non_null(t);
		assert_string_equal(t->name, types[i].name);
		assert_int_equal(t->values, types[i].values);
		assert_int_equal(t->bytes, types[i].bytes);
	}
	static const unsigned long none[] = {4, 5, 31, 36, 38, 42, 1000, 0xffffffff};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_null(value_type_of_ggml(none[i]));
}

static void test_bundle(void **state)
{
	(void)state;
	struct bytes bytes = bytes_of_file(CORPUS "good.gguf");
	struct bundle b;
	bundle_init(&b);
	assert_int_equal(format_sniff(bytes.data, bytes.length), FORMAT_GGUF);
	assert_int_equal(gguf_parse(bytes.data, bytes.length, "file", &b, NULL), ATTN_OK);
	expect_tensor(bundle_tensor(&b, "a.weight"), DTYPE_F32, 2, (size_t[]){2, 3},
		      (double[]){0, 1, 2, 3, 4, 5});
	expect_tensor(bundle_tensor(&b, "b.weight"), DTYPE_F16, 1, (size_t[]){4}, (double[]){1, -2, 0.5, 0});
	assert_string_equal(bundle_setting(&b, "general.architecture")->value, "llama");
	assert_string_equal(bundle_setting(&b, "k.f32")->value, "0.1");
	assert_string_equal(bundle_setting(&b, "k.f64")->value, "0.1");
	assert_string_equal(bundle_setting(&b, "k.bool")->value, "true");
	assert_string_equal(bundle_setting(&b, "k.text")->value, "\xe2\x96\x81it");
	assert_string_equal(bundle_other(&b, "k.numbers")->value, "[1, -2, 3]");
	assert_string_equal(bundle_other(&b, "k.bools")->value, "[false, true]");
	assert_string_equal(bundle_other(&b, "k.empty")->value, "[]");
	assert_string_equal(bundle_other(&b, "k.texts")->type, "string");
	assert_int_equal(bundle_other(&b, "k.texts")->shape[0], 3);
	bundle_release(&b);
	free(bytes.data);
}

static void test_bad(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
	    {"short", "file ends at byte 7, in the header"},
	    {"version1", "file is GGUF of version 1, expected 2 or 3: convert it by a newer program"},
	    {"version4", "file is GGUF of version 4, expected 2 or 3"},
	    {"big-endian", "file is big-endian GGUF, expected little-endian"},
	    {"pairs",
	     "header says 1152921504606846976 keys and 0 tensors, more than the rest of the file holds"},
	    {"tensors", "header says 0 keys and 18446744073709551615 tensors"},
	    {"pair-missing", "the name of key 1 has 0 bytes, expected 1 to 65535"},
	    {"key-empty", "the name of key 0 has 0 bytes"},
	    {"key-huge", "the name of key 0 has 4611686018427387904 bytes"},
	    {"key-long", "the name of key 0 has 70000 bytes"},
	    {"key-nul", "the name of key 0 is not UTF-8 text"},
	    {"key-twice", "'k' may be given only once"},
	    {"kind", "'k' has values of type 13, expected 0 to 12"},
	    {"array-kind", "'k' has values of type 13"},
	    {"array-array", "'k' is an array of arrays, expected numbers, bools or strings"},
	    {"array-huge", "'k' has 2305843009213693952 values, more than the rest of the file holds"},
	    {"text-huge", "in k"},
	    {"texts-cut", "in k"},
	    {"alignment-zero", "'general.alignment' is 0, expected a power of 2"},
	    {"alignment-odd", "'general.alignment' is 48, expected a power of 2"},
	    {"alignment-text", "'general.alignment' is 0, expected a power of 2"},
	    {"rank", "'t' has 5 dimensions, expected at most 4"},
	    {"dims", "'t' has more elements than memory can hold"},
	    {"bytes", "'t' has more elements than memory can hold"},
	    {"block", "'t' has rows of 33 numbers, expected whole blocks of 32 (Q4_0)"},
	    {"offset", "'t' starts at byte 8 of the data, expected a multiple of 32"},
	    {"offset-huge", "'t' has 8 bytes from byte 18446744073709551584 of the data on"},
	    {"beyond", "'t' has 28 bytes from byte 0 of the data on, which has 24 bytes"},
	    {"no-data", "'a.weight' has 24 bytes from byte 0 of the data on, which has 0 bytes"},
	    {"name-twice", "'a.weight' may be given only once"},
	    {"name-nul", "the name of tensor 0 is not UTF-8 text"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_bad_file(gguf_parse, "gguf", cases[i][0], cases[i][1]);
}

static void test_damage(void **state)
{
	(void)state;
	expect_truncations_bad(gguf_parse, CORPUS "version2.gguf");
	survive_changes(gguf_parse, CORPUS "good.gguf", 2000);
}

static void test_checkpoint(void **state)
{
	(void)state;
	struct checkpoint *cp;
	struct attn_error err;
	const struct model_tensor *t;
	if (checkpoint_open(&cp, CORPUS "good.gguf", &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const struct config *c = checkpoint_config(cp);
	float values[3];
	size_t size;
	bool truth;
	assert_true(checkpoint_is_gguf(cp));
	assert_string_equal(config_text(c, "general.architecture", NULL), "llama");
	assert_int_equal(config_size(c, "k.u16", 0, 0, SIZE_MAX, &size, NULL), ATTN_OK);
	assert_int_equal(size, 65534);
	assert_int_equal(config_bool(c, "k.bool", false, &truth, NULL), ATTN_OK);
	assert_true(truth);
	assert_int_equal(config_list(c, "k.numbers"), 3);
	assert_true(config_list_number(c, "k.numbers", 1) == -2);
	assert_string_equal(config_list_text(c, "k.texts", 2), "bc");
	assert_int_equal(checkpoint_find(cp, "a.weight", &t, NULL), ATTN_OK);
	assert_int_equal(model_tensor_floats(t, 3, 3, values, NULL), ATTN_OK);
	assert_true(values[0] == 3 && values[2] == 5);
	checkpoint_free(cp);

	assert_int_equal(checkpoint_open(&cp, CORPUS "bad-rank.gguf", &err), ATTN_BAD_INPUT);
	assert_string_equal(err.message,
			    "'" CORPUS "bad-rank.gguf': 't' has 5 dimensions, expected at most 4");
	assert_int_equal(checkpoint_open(&cp, CORPUS "blocks.gguf", &err), ATTN_OK);
	checkpoint_find(cp, "x", &t, NULL);
	assert_int_equal(model_tensor_floats(t, 0, 1, values, &err), ATTN_BAD_INPUT);
	checkpoint_free(cp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),     cmocka_unit_test(test_tensors), cmocka_unit_test(test_types),
	    cmocka_unit_test(test_bundle),     cmocka_unit_test(test_bad),     cmocka_unit_test(test_damage),
	    cmocka_unit_test(test_checkpoint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
