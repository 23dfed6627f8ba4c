#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/formats.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/npy/"

/* Read a file of the corpus; the caller releases both. */
static struct bytes read_corpus(const char *name, struct bundle *b)
{
	char path[200];
	struct attn_error err;
	snprintf(path, sizeof path, CORPUS "%s.npy", name);
	struct bytes bytes = bytes_of_file(path);
	bundle_init(b);
	if (npy_parse(bytes.data, bytes.length, path, b, &err) != ATTN_OK)
		fail_msg("%s: %s", path, err.message);
	assert_int_equal(b->tensor_count, 1);
	assert_string_equal(b->tensors[0].name, "");
	assert_string_equal(b->tensors[0].origin, path);
	return bytes;
}

static void expect_corpus(const char *name, enum dtype dtype, int rank, const size_t *shape,
			  const double *values)
{
	struct bundle b;
	struct bytes bytes = read_corpus(name, &b);
	expect_tensor(&b.tensors[0], dtype, rank, shape, values);
	bundle_release(&b);
	free(bytes.data);
}

/* Written byte by byte, not by NumPy. */
static void test_by_hand(void **state)
{
	(void)state;
	static const char file[] = "\x93NUMPY\1\0\x35\0"
				   "{'descr': '<u2', 'fortran_order': False, 'shape': ()}"
				   "\x34\x12";
	static const double value = 0x1234;
	struct bundle b;
	bundle_init(&b);
	assert_int_equal(npy_parse((const unsigned char *)file, sizeof file - 1, NULL, &b, NULL), ATTN_OK);
	expect_tensor(&b.tensors[0], DTYPE_U16, 0, NULL, &value);
	bundle_release(&b);
}

static void test_forms_of_header(void **state)
{
	(void)state;
	static const char *const names[] = {"c-order",  "version1",    "version2",
					    "version3", "other-order", "python2"};
	static const double values[] = {0, 1, 2, 3, 4, 5};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		expect_corpus(names[i], DTYPE_F32, 2, (size_t[]){2, 3}, values);
	expect_corpus("vector-fortran", DTYPE_F32, 1, (size_t[]){6}, values);
	expect_corpus("scalar", DTYPE_F64, 0, NULL, (double[]){1.5});
	expect_corpus("empty", DTYPE_F32, 2, (size_t[]){0, 3}, NULL);
}

static void test_points_into_file(void **state)
{
	(void)state;
	struct bundle b;
	struct bytes bytes = read_corpus("c-order", &b);
	assert_null(b.tensors[0].owned);
	assert_ptr_equal(b.tensors[0].data, bytes.data + bytes.length - 24);
	bundle_release(&b);
	free(bytes.data);
}

static void test_dtypes(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = {{"f2", DTYPE_F16}, {"f4", DTYPE_F32}, {"f8", DTYPE_F64},
		     {"i2", DTYPE_I16}, {"i4", DTYPE_I32}, {"i8", DTYPE_I64},
		     {"u2", DTYPE_U16}, {"u4", DTYPE_U32}, {"u8", DTYPE_U64}};
	static const double positive[] = {0, 1, 2, 100}, negative[] = {0, 1, -2, 100};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		char name[40];
		const double *values = types[i].name[0] == 'u' ? positive : negative;
		snprintf(name, sizeof name, "%s-little", types[i].name);
		expect_corpus(name, types[i].dtype, 1, (size_t[]){4}, values);
		snprintf(name, sizeof name, "%s-big", types[i].name);
		expect_corpus(name, types[i].dtype, 1, (size_t[]){4}, values);
	}
	expect_corpus("i1-one", DTYPE_I8, 1, (size_t[]){4}, negative);
	expect_corpus("u1-one", DTYPE_U8, 1, (size_t[]){4}, positive);
	expect_corpus("bool", DTYPE_BOOL, 2, (size_t[]){2, 2}, (double[]){1, 0, 0, 1});
	/* 803f 00c0 0040: the upper halves of 1, -2 and 2. */
	expect_corpus("bfloat16-void", DTYPE_BF16, 1, (size_t[]){3}, (double[]){1, -2, 2});
	expect_corpus("bfloat16-name", DTYPE_BF16, 1, (size_t[]){3}, (double[]){1, -2, 2});
}

/* The files hold 0, 1, 2, ... as C order counts them. */
static void test_fortran(void **state)
{
	(void)state;
	static double count[70 * 37];
	for (size_t i = 0; i < sizeof count / sizeof *count; i++)
		count[i] = (double)i;
	expect_corpus("fortran", DTYPE_I16, 4, (size_t[]){2, 3, 4, 5}, count);
	expect_corpus("fortran-big-endian", DTYPE_F64, 4, (size_t[]){2, 3, 4, 5}, count);
	expect_corpus("fortran-tall", DTYPE_U16, 2, (size_t[]){70, 37}, count);
}

/* One string without a dimension is a list of one. */
static void test_string_scalar(void **state)
{
	struct bundle b;
	struct bytes bytes = bytes_of_file(CORPUS "strings-scalar.npy");
	(void)state;
	bundle_init(&b);
	assert_int_equal(npy_parse(bytes.data, bytes.length, "x.npy", &b, NULL), ATTN_OK);
	free(bytes.data);
	assert_int_equal(bundle_text(&b, "")->list.count, 1);
	assert_string_equal(bundle_text(&b, "")->list.items[0], "out,in");
	bundle_release(&b);
}

static void test_strings(void **state)
{
	(void)state;
	static const char *const files[] = {CORPUS "strings-little.npy", CORPUS "strings-big.npy",
					    CORPUS "strings-bytes.npy"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct bundle b;
		struct bytes bytes = bytes_of_file(files[i]);
		bundle_init(&b);
		assert_int_equal(npy_parse(bytes.data, bytes.length, "x.npy", &b, NULL), ATTN_OK);
		free(bytes.data);
		assert_int_equal(b.tensor_count, 0);
		assert_int_equal(b.text_count, 1);
		const struct string_list *list = &bundle_text(&b, "")->list;
		assert_int_equal(list->count, 4);
		assert_string_equal(list->items[0], "the");
		assert_string_equal(list->items[1], "\xe2\x96\x81it");
		assert_string_equal(list->items[2], "");
		assert_string_equal(list->items[3], "\xf0\x9f\x98\x80\xc3\xa9");
		bundle_release(&b);
	}
}

static void test_bad(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"version4", "version is 4.0, expected 1.0, 2.0 or 3.0"},
	    {"minor1", "version is 1.1"},
	    {"short", "data is 23 bytes, expected 24 for 2 x 3 of float32"},
	    {"long", "data is 25 bytes, expected 24"},
	    {"header-beyond", "header is 60000 bytes, but only"},
	    {"header-beyond2", "header is 4294967295 bytes, but only"},
	    {"header-cut", "malformed at byte"},
	    {"no-shape", "expected 'descr', 'fortran_order' and 'shape'"},
	    {"twice", "each once"},
	    {"unknown-key", "each once"},
	    {"not-dict", "expected '{'"},
	    {"after", "expected white space to its end"},
	    {"int-shape", "expected ',' after the only number"},
	    {"negative", "expected a whole number"},
	    {"double-comma", "expected a whole number"},
	    {"rank9", "more than 8 dimensions, expected at most 8"},
	    {"wraps", "more elements than memory"},
	    {"wraps-bytes", "more elements than memory"},
	    {"wraps-zero", "more elements than memory"},
	    {"huge-number", "beyond what memory can hold"},
	    {"structure", "elements are structures, expected float16"},
	    {"strings-2d", "differs between batch items, which share their labels: string 1 is 'bc'"},
	    {"strings-3d", "strings have the shape 1 x 1 x 2, expected at most one dimension"},
	    {"strings-empty", "strings have the shape 0, expected"},
	    {"strings-nothing", "dtype '<U0', expected"},
	    {"strings-wrap", "dtype '<U4611686018427387905', expected"},
	    {"strings-short", "data is 15 bytes, expected 16 for 2 of strings"},
	    {"strings-code", "string 0 is not Unicode text"},
	    {"strings-surrogate", "string 0 is not Unicode text"},
	    {"strings-zero", "string 1 is not Unicode text"},
	    {"bytes-latin1", "string 0 is not Unicode text"},
	    {"objects", "dtype '|O' (Python objects)"},
	    {"complex", "dtype '<c8' (complex numbers)"},
	    {"date", "dtype '<M8[s]', expected"},
	    {"longdouble", "dtype '<f16', expected"},
	    {"void3", "dtype '|V3', expected"},
	    {"empty-descr", "dtype '', expected"},
	    {"open-string", "expected a key in quotes"},
	    {"only-magic", "not an npy array"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		expect_bad_file(npy_parse, "npy", files[i][0], files[i][1]);
}

static void test_damage(void **state)
{
	(void)state;
	static const char *const files[] = {CORPUS "c-order.npy", CORPUS "fortran.npy", CORPUS "version2.npy",
					    CORPUS "scalar.npy", CORPUS "strings-little.npy"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		expect_truncations_bad(npy_parse, files[i]);
		survive_changes(npy_parse, files[i], 128);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),          cmocka_unit_test(test_forms_of_header),
	    cmocka_unit_test(test_points_into_file), cmocka_unit_test(test_dtypes),
	    cmocka_unit_test(test_fortran),          cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_string_scalar),    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
