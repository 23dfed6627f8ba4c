#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "files/tensor_writer.h"
#include "files/tensor_writer_internal.h"

static char folder[] = "/tmp/test_writer.XXXXXX";
static unsigned char found[1 << 18]; /* the last file read */
static size_t found_length;

static int enter(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	char command[100];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void read_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	assert_non_null(stream);
	found_length = fread(found, 1, sizeof found - 1, stream);
	found[found_length] = '\0';
	fclose(stream);
}

static uint64_t le(const unsigned char *at, int bytes)
{
	uint64_t value = 0;
	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | at[i];
	return value;
}

static char *word_items[] = {"a\tb", "\\", "c"};
static const struct string_list words = {word_items, 3, 3};

/* (batch 2, query 1 from 5 on, key 3), with labels on the keys */
static const struct tensor_spec weights = {
    .name = "weights",
    .value_name = "weight",
    .dtype = DTYPE_F32,
    .rank = 3,
    .axes = {{.name = "batch", .length = 2},
	     {.name = "query", .length = 1, .first = 5},
	     {.name = "key", .length = 3, .labels = &words}},
};
static const float weight_values[] = {0.1f, -INFINITY, 1, 0, NAN, 1e-7f};

/* Two tensors that need care: odd bytes, then eight-byte integers. */
static const struct tensor_spec pair[] = {
    {.name = "visible", .dtype = DTYPE_BOOL, .rank = 1, .axes = {{.name = "key", .length = 3}}},
    {.name = "counts",
     .dtype = DTYPE_I64,
     .rank = 2,
     .axes = {{.name = "row", .length = 2}, {.name = "column", .length = 1}}},
};
static const unsigned char visible_values[] = {0, 1, 7};
static const int64_t count_values[] = {-2, INT64_C(0x0102030405060708)};

/* Texts and settings, as a bundle that nobody has to release. */
static struct text label_texts[] = {{.name = "tokens", .list = {word_items, 3, 3}}};
static struct setting label_settings[] = {
    {.name = "num_heads", .value = "8"},
    {.name = "causal", .value = "true"},
    {.name = "layout", .value = "in,out"},
    {.name = "version", .value = "1."},
};
static const struct bundle labels = {
    .texts = label_texts, .text_count = 1, .settings = label_settings, .setting_count = 4};

static void write_pair(const char *path, enum format format, const struct bundle *with)
{
	struct tensor_writer *w;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, path, format, pair, 2, with, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 0, visible_values, 1, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 0, visible_values + 1, 2, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 1, count_values, 2, &err), ATTN_OK);
	assert_int_equal(tensor_writer_commit(w, &err), ATTN_OK);
}

static void write_one(const char *path, enum format format, const struct tensor_spec *spec,
		      const void *values, size_t count)
{
	struct tensor_writer *w;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, path, format, spec, 1, NULL, &err), ATTN_OK);
	size_t half = count / 2;
	const char *rest = (const char *)values + half * dtype_size(spec->dtype);
	assert_int_equal(tensor_writer_put(w, 0, values, half, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 0, rest, count - half, &err), ATTN_OK);
	assert_int_equal(tensor_writer_commit(w, &err), ATTN_OK);
	read_file(path);
}

static const unsigned char pair_bytes[] = {
    0,    1,    1,                                  /* visible */
    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* -2 */
    8,    7,    6,    5,    4,    3,    2,    1,
};

static void test_safetensors(void **state)
{
	(void)state;
	static const char header[] =
	    "{\"__metadata__\":{\"tokens\":\"[\\\"a\\\\tb\\\", \\\"\\\\\\\\\\\", \\\"c\\\"]\","
	    "\"num_heads\":\"8\",\"causal\":\"true\",\"layout\":\"in,out\",\"version\":\"1.\"},"
	    "\"visible\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]},"
	    "\"counts\":{\"dtype\":\"I64\",\"shape\":[2,1],\"data_offsets\":[3,19]}}";
	write_pair("x.safetensors", FORMAT_SAFETENSORS, &labels);
	read_file("x.safetensors");
	size_t length = (size_t)le(found, 8);
	assert_int_equal(length % 8, 0);
	assert_true(length >= strlen(header) && length < strlen(header) + 8);
	assert_memory_equal(found + 8, header, strlen(header));
	for (size_t i = strlen(header); i < length; i++)
		assert_int_equal(found[8 + i], ' ');
	assert_int_equal(found_length, 8 + length + sizeof pair_bytes);
	assert_memory_equal(found + 8 + length, pair_bytes, sizeof pair_bytes);

	write_one("y.safetensors", FORMAT_SAFETENSORS, &weights, weight_values, 6);
	assert_non_null(strstr((char *)found + 8, "{\"weights\":{\"dtype\":\"F32\",\"shape\":[2,1,3],"
						  "\"data_offsets\":[0,24]}}"));
	assert_memory_equal(found + 8 + le(found, 8) + 8, "\0\0\x80\x3f", 4); /* 1 */
}

static void assert_npy(const unsigned char *at, size_t length, const char *dictionary, size_t bytes)
{
	assert_memory_equal(at, "\x93NUMPY\1\0", 8);
	size_t header = 10 + (size_t)le(at + 8, 2);
	assert_int_equal(header % 64, 0);
	assert_memory_equal(at + 10, dictionary, strlen(dictionary));
	for (size_t i = 10 + strlen(dictionary); i < header - 1; i++)
		assert_int_equal(at[i], ' ');
	assert_int_equal(at[header - 1], '\n');
	assert_int_equal(length, header + bytes);
}

static void test_npy(void **state)
{
	(void)state;
	write_one("x.npy", FORMAT_NPY, &weights, weight_values, 6);
	assert_npy(found, found_length, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 3), }", 24);
	assert_memory_equal(found + found_length - 16, "\0\0\x80\x3f", 4); /* 1 */
	write_one("x.npy", FORMAT_NPY, &pair[0], visible_values, 3);
	assert_npy(found, found_length, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 3);
	assert_memory_equal(found + found_length - 3, pair_bytes, 3);
	write_one("x.npy", FORMAT_NPY, &pair[1], count_values, 2);
	assert_npy(found, found_length, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }", 16);
	assert_memory_equal(found + found_length - 16, pair_bytes + 3, 16);

	const struct tensor_spec scalar = {.name = "x", .dtype = DTYPE_F32};
	write_one("x.npy", FORMAT_NPY, &scalar, weight_values, 1);
	assert_npy(found, found_length, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4);
}

/* Check one member of the zip in `found` from its central header at `at`; returns
 * where the next is. */
static size_t check_member(size_t at, const char *name, const void *bytes, size_t length, bool described)
{
	const unsigned char *central = found + at;
	assert_memory_equal(central, "PK\1\2", 4);
	assert_int_equal(le(central + 8, 2), described ? 8 : 0);
	assert_int_equal(le(central + 10, 2), 0);
	assert_int_equal(le(central + 12, 4), 0x00210000);
	size_t size = (size_t)le(central + 24, 4);
	assert_int_equal(le(central + 20, 4), size);
	assert_int_equal(le(central + 28, 2), strlen(name));
	assert_memory_equal(central + 46, name, strlen(name));

	const unsigned char *local = found + le(central + 42, 4);
	assert_memory_equal(local, "PK\3\4", 4);
	assert_int_equal(le(local + 6, 2), described ? 8 : 0);
	assert_int_equal(le(local + 26, 2), strlen(name));
	assert_int_equal(le(local + 28, 2), 0);
	assert_memory_equal(local + 30, name, strlen(name));
	const unsigned char *data = local + 30 + strlen(name);
	uint64_t crc = crc32(0, data, (unsigned)size);
	assert_int_equal(le(central + 16, 4), crc);
	assert_int_equal(le(local + 14, 4), described ? 0 : crc);
	assert_int_equal(le(local + 18, 4), described ? 0 : size);
	assert_int_equal(le(local + 22, 4), described ? 0 : size);
	if (described) {
		assert_memory_equal(data + size, "PK\7\10", 4);
		assert_int_equal(le(data + size + 4, 4), crc);
		assert_int_equal(le(data + size + 8, 4), size);
		assert_int_equal(le(data + size + 12, 4), size);
	}
	assert_memory_equal(data, "\x93NUMPY", 6);
	assert_memory_equal(data + size - length, bytes, length);
	return at + 46 + strlen(name);
}

static void check_pair_zip(bool described)
{
	const unsigned char *end = found + found_length - 22;
	assert_memory_equal(end, "PK\5\6", 4);
	assert_int_equal(le(end + 8, 2), 2);
	assert_int_equal(le(end + 10, 2), 2);
	size_t at = (size_t)le(end + 16, 4);
	assert_int_equal(at + le(end + 12, 4), found_length - 22);
	at = check_member(at, "visible.npy", pair_bytes, 3, described);
	at = check_member(at, "counts.npy", pair_bytes + 3, 16, described);
	assert_int_equal(at, found_length - 22);
}

static void test_npz(void **state)
{
	(void)state;
	write_pair("x.npz", FORMAT_NPZ, &labels);
	read_file("x.npz");
	check_pair_zip(false);
}

static void test_npz_on_a_pipe(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	write_pair("-", FORMAT_NPZ, NULL);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	found_length = (size_t)read(ends[0], found, sizeof found);
	close(ends[0]);
	check_pair_zip(true);
}

/* Nothing more needs to be put once the reader has left. */
static void test_reader_that_leaves(void **state)
{
	(void)state;
	static const enum format formats[] = {FORMAT_SAFETENSORS, FORMAT_NPY, FORMAT_NPZ, FORMAT_JSON,
					      FORMAT_TSV};
	static float many[1 << 17];
	static const struct tensor_spec spec = {
	    .name = "w",
	    .dtype = DTYPE_F32,
	    .rank = 2,
	    .axes = {{.name = "row", .length = 9}, {.name = "column", .length = 1 << 17}}};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct tensor_writer *w;
		struct attn_error err;
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		close(ends[0]);
		fflush(stdout);
		int saved = dup(STDOUT_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[1]);
		enum attn_status opened = tensor_writer_open(&w, "-", formats[i], &spec, 1, NULL, &err);
		dup2(saved, STDOUT_FILENO);
		close(saved);
		assert_int_equal(opened, ATTN_OK);
		assert_false(tensor_writer_abandoned(w));
		assert_int_equal(tensor_writer_put(w, 0, many, 1 << 17, &err), ATTN_OK);
		assert_true(tensor_writer_abandoned(w));
		assert_int_equal(tensor_writer_put(w, 0, many, 1, &err), ATTN_OK);
		assert_int_equal(tensor_writer_commit(w, &err), ATTN_OK);
	}
}

static void test_zip64_headers(void **state)
{
	(void)state;
	struct buffer buf = BUFFER_INIT;
	struct npz_member member = {.name = "w", .size = 0xfffffffe, .offset = 0xfffffffe, .crc = 1};
	const unsigned char *at;

	npz_local_header(&buf, &member);
	assert_int_equal(buf.length, 30 + 5);
	buffer_clear(&buf);
	npz_central_header(&buf, &member);
	assert_int_equal(buf.length, 46 + 5);
	assert_int_equal(le((unsigned char *)buf.data + 42, 4), 0xfffffffe);

	member.size = 0xffffffff; /* what fits in 32 bits but says "zip64" there */
	buffer_clear(&buf);
	npz_local_header(&buf, &member);
	at = (unsigned char *)buf.data;
	assert_int_equal(buf.length, 30 + 5 + 20);
	assert_int_equal(le(at + 4, 2), 45);
	assert_int_equal(le(at + 18, 4), 0xffffffff);
	assert_int_equal(le(at + 22, 4), 0xffffffff);
	assert_int_equal(le(at + 28, 2), 20);
	assert_memory_equal(at + 35, "\1\0\20\0", 4);
	assert_int_equal(le(at + 39, 8), 0xffffffff);
	assert_int_equal(le(at + 47, 8), 0xffffffff);

	member.size = UINT64_C(0x123456789a);
	member.offset = UINT64_C(0x2000000000);
	buffer_clear(&buf);
	npz_central_header(&buf, &member);
	at = (unsigned char *)buf.data;
	assert_int_equal(buf.length, 46 + 5 + 28);
	assert_int_equal(le(at + 6, 2), 45);
	assert_int_equal(le(at + 20, 4), 0xffffffff);
	assert_int_equal(le(at + 24, 4), 0xffffffff);
	assert_int_equal(le(at + 30, 2), 28);
	assert_int_equal(le(at + 42, 4), 0xffffffff);
	assert_memory_equal(at + 51, "\1\0\30\0", 4);
	assert_int_equal(le(at + 55, 8), member.size);
	assert_int_equal(le(at + 63, 8), member.size);
	assert_int_equal(le(at + 71, 8), member.offset);

	member.size = 5; /* small, but far into the file */
	buffer_clear(&buf);
	npz_central_header(&buf, &member);
	at = (unsigned char *)buf.data;
	assert_int_equal(buf.length, 46 + 5 + 12);
	assert_int_equal(le(at + 24, 4), 5);
	assert_memory_equal(at + 51, "\1\0\10\0", 4);
	assert_int_equal(le(at + 55, 8), member.offset);
	buffer_release(&buf);
}

static void test_zip64_descriptor_and_end(void **state)
{
	(void)state;
	struct buffer buf = BUFFER_INIT;
	struct npz_member member = {.name = "w", .size = UINT64_C(0x123456789a), .crc = 7, .described = true};
	npz_local_header(&buf, &member);
	assert_int_equal(le((unsigned char *)buf.data + 39, 8), 0);
	buffer_clear(&buf);
	npz_descriptor(&buf, &member);
	assert_int_equal(buf.length, 24);
	assert_int_equal(le((unsigned char *)buf.data + 16, 8), member.size);

	buffer_clear(&buf);
	npz_end(&buf, 3, 150, 0xfffffffe);
	assert_int_equal(buf.length, 22);
	buffer_clear(&buf);
	npz_end(&buf, 3, 150, UINT64_C(0x100000000));
	const unsigned char *at = (unsigned char *)buf.data;
	assert_int_equal(buf.length, 56 + 20 + 22);
	assert_memory_equal(at, "PK\6\6", 4);
	assert_int_equal(le(at + 4, 8), 44);
	assert_int_equal(le(at + 24, 8), 3);
	assert_int_equal(le(at + 32, 8), 3);
	assert_int_equal(le(at + 40, 8), 150);
	assert_int_equal(le(at + 48, 8), UINT64_C(0x100000000));
	assert_memory_equal(at + 56, "PK\6\7", 4);
	assert_int_equal(le(at + 64, 8), UINT64_C(0x100000000) + 150);
	assert_int_equal(le(at + 72, 4), 1);
	assert_memory_equal(at + 76, "PK\5\6", 4);
	assert_int_equal(le(at + 76 + 10, 2), 3);
	assert_int_equal(le(at + 76 + 12, 4), 150);
	assert_int_equal(le(at + 76 + 16, 4), 0xffffffff);
	buffer_clear(&buf);
	npz_end(&buf, 70000, 150, 9);
	assert_int_equal(buf.length, 56 + 20 + 22);
	buffer_release(&buf);
}

static void test_json(void **state)
{
	(void)state;
	write_one("x.json", FORMAT_JSON, &weights, weight_values, 6);
	assert_string_equal((char *)found, "{\n"
					   " \"weights\": [\n"
					   "  [\n"
					   "   [0.1, null, 1]\n"
					   "  ],\n"
					   "  [\n"
					   "   [0, null, 1e-07]\n"
					   "  ]\n"
					   " ]\n"
					   "}\n");
	write_pair("y.json", FORMAT_JSON, &labels);
	read_file("y.json");
	assert_string_equal((char *)found, "{\n"
					   " \"visible\": [false, true, true],\n"
					   " \"counts\": [\n"
					   "  [-2],\n"
					   "  [72623859790382856]\n"
					   " ],\n"
					   " \"tokens\": [\"a\\tb\", \"\\\\\", \"c\"],\n"
					   " \"num_heads\": 8,\n"
					   " \"causal\": true,\n"
					   " \"layout\": \"in,out\",\n"
					   " \"version\": \"1.\"\n"
					   "}\n");
}

static void test_json_small_shapes(void **state)
{
	(void)state;
	const struct tensor_spec scalar = {.name = "x", .dtype = DTYPE_F32};
	write_one("x.json", FORMAT_JSON, &scalar, weight_values, 1);
	assert_string_equal((char *)found, "{\n \"x\": 0.1\n}\n");
	struct tensor_spec empty = weights;
	empty.axes[2].length = 0;
	write_one("x.json", FORMAT_JSON, &empty, weight_values, 0);
	assert_string_equal((char *)found, "{\n \"weights\": [[[]], [[]]]\n}\n");

	struct tensor_writer *w;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, "x.json", FORMAT_JSON, NULL, 0, NULL, &err), ATTN_OK);
	assert_int_equal(tensor_writer_commit(w, &err), ATTN_OK);
	read_file("x.json");
	assert_string_equal((char *)found, "{\n}\n");
}

static void test_json_numbers(void **state)
{
	(void)state;
	static const char *const good[] = {"0", "-0", "12", "0.5", "-1.25e+3", "1E5", "2e-07"};
	static const char *const bad[] = {"",    "-",   "01", "1.",  ".5", "1e",   "1e+", "+1",
					  "0x1", "inf", "1 ", "nan", "1-", "true", "--1"};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(is_json_number(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(is_json_number(bad[i]));
}

static void test_tsv(void **state)
{
	(void)state;
	write_one("x.tsv", FORMAT_TSV, &weights, weight_values, 6);
	char *nan = strstr((char *)found, "-nan"); /* the sign of a NaN is anybody's guess */
	if (nan)
		memmove(nan, nan + 1, strlen(nan));
	assert_string_equal((char *)found, "query\tkey\tkey_token\tweight\tbatch\n"
					   "5\t0\ta\\tb\t0.1\t0\n"
					   "5\t1\t\\\\\t-inf\t0\n"
					   "5\t2\tc\t1\t0\n"
					   "5\t0\ta\\tb\t0\t1\n"
					   "5\t1\t\\\\\tnan\t1\n"
					   "5\t2\tc\t1e-07\t1\n");
	write_one("x.tsv", FORMAT_TSV, &pair[1], count_values, 2);
	assert_string_equal((char *)found, "row\tcolumn\tcounts\n"
					   "0\t0\t-2\n"
					   "1\t0\t72623859790382856\n");
	const struct tensor_spec by_batch = {
	    .name = "length", .dtype = DTYPE_BOOL, .rank = 1, .axes = {{.name = "batch", .length = 3}}};
	write_one("x.tsv", FORMAT_TSV, &by_batch, visible_values, 3);
	assert_string_equal((char *)found, "length\tbatch\n0\t0\n1\t1\n1\t2\n");
}

/* Rows that do not end where puts do, and text longer than any buffer. */
static void test_many_pieces(void **state)
{
	(void)state;
	enum {
		ROWS = 3000,
		COLUMNS = 7
	};
	const struct tensor_spec spec = {
	    .name = "x",
	    .dtype = DTYPE_I64,
	    .rank = 2,
	    .axes = {{.name = "r", .length = ROWS}, {.name = "c", .length = COLUMNS}}};
	static const enum format formats[] = {FORMAT_SAFETENSORS, FORMAT_NPY, FORMAT_NPZ, FORMAT_JSON,
					      FORMAT_TSV};
	static int64_t values[ROWS * COLUMNS];
	static unsigned char whole[sizeof found];
	for (size_t i = 0; i < ROWS * COLUMNS; i++)
		values[i] = (int64_t)i;
	for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
		struct tensor_writer *w;
		struct attn_error err;
		write_one("whole", formats[f], &spec, values, ROWS * COLUMNS);
		size_t length = found_length;
		memcpy(whole, found, length);
		assert_int_equal(tensor_writer_open(&w, "pieces", formats[f], &spec, 1, NULL, &err), ATTN_OK);
		for (size_t i = 0, n = 0; i < ROWS * COLUMNS; i += n) {
			n = i % 13;
			n = n + 1 < ROWS * COLUMNS - i ? n + 1 : ROWS * COLUMNS - i;
			assert_int_equal(tensor_writer_put(w, 0, values + i, n, &err), ATTN_OK);
		}
		assert_int_equal(tensor_writer_commit(w, &err), ATTN_OK);
		read_file("pieces");
		assert_int_equal(found_length, length);
		assert_memory_equal(found, whole, length);
	}
}

static void test_refused(void **state)
{
	(void)state;
	struct tensor_writer *w;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, "x.npy", FORMAT_NPY, pair, 2, NULL, &err), ATTN_USAGE);
	assert_null(w);
	assert_string_equal(err.message, "'x.npy' holds one tensor, found 2: give a name that ends in "
					 ".safetensors, .npz or .json");
	assert_int_equal(tensor_writer_open(&w, "x.tsv", FORMAT_TSV, pair, 0, NULL, &err), ATTN_USAGE);
	assert_int_equal(tensor_writer_open(&w, "x.txt", FORMAT_UNKNOWN, pair, 2, NULL, &err), ATTN_USAGE);
	assert_string_equal(err.message, "no format to write 'x.txt' in: a name ends in .safetensors, .npy, "
					 ".npz, .json or .tsv");
	struct tensor_spec huge = weights;
	huge.axes[0].length = SIZE_MAX / 2;
	assert_int_equal(tensor_writer_open(&w, "x.npz", FORMAT_NPZ, &huge, 1, NULL, &err), ATTN_FAILED);
	assert_string_equal(err.message, "'weights' has too many elements to write");
	assert_int_equal(access("x.npz", F_OK), -1);
}

static void test_failure_and_abort(void **state)
{
	(void)state;
	static const float block[1 << 18];
	const struct tensor_spec spec = {
	    .name = "x", .dtype = DTYPE_F32, .rank = 1, .axes = {{.name = "i", .length = 1 << 18}}};
	static const enum format formats[] = {FORMAT_SAFETENSORS, FORMAT_NPY, FORMAT_NPZ, FORMAT_JSON,
					      FORMAT_TSV};
	struct tensor_writer *w;
	struct attn_error err;
	for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
		assert_int_equal(tensor_writer_open(&w, "/dev/full", formats[f], &spec, 1, NULL, &err),
				 ATTN_OK);
		assert_int_equal(tensor_writer_put(w, 0, block, 1 << 18, &err), ATTN_FAILED);
		assert_string_equal(err.message, "could not write '/dev/full': No space left on device");
		tensor_writer_abort(w);

		assert_int_equal(tensor_writer_open(&w, "x", formats[f], &spec, 1, NULL, &err), ATTN_OK);
		tensor_writer_abort(w);
		assert_int_equal(access("x", F_OK), -1);
	}
	tensor_writer_abort(NULL);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing was left */
	assert_int_equal(mkdir(folder, 0700), 0);
}

/* A small file fails only when it is flushed, at the commit. */
static void test_failure_at_commit(void **state)
{
	(void)state;
	struct tensor_writer *w;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, "/dev/full", FORMAT_NPY, &pair[0], 1, NULL, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 0, visible_values, 3, &err), ATTN_OK);
	assert_int_equal(tensor_writer_commit(w, &err), ATTN_FAILED);
	assert_string_equal(err.message, "could not write '/dev/full': No space left on device");
}

static void test_finish(void **state)
{
	(void)state;
	struct tensor_writer *w;
	struct output out;
	struct attn_error err;
	assert_int_equal(tensor_writer_open(&w, "x.npy", FORMAT_NPY, &pair[0], 1, NULL, &err), ATTN_OK);
	assert_int_equal(tensor_writer_put(w, 0, visible_values, 3, &err), ATTN_OK);
	assert_int_equal(tensor_writer_finish(w, &out, &err), ATTN_OK);
	assert_int_equal(access("x.npy", F_OK), -1);
	assert_int_equal(output_commit(&out, &err), ATTN_OK);
	assert_int_equal(access("x.npy", F_OK), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_safetensors),
	    TEST(test_npy),
	    TEST(test_npz),
	    TEST(test_npz_on_a_pipe),
	    TEST(test_reader_that_leaves),
	    TEST(test_zip64_headers),
	    TEST(test_zip64_descriptor_and_end),
	    TEST(test_json),
	    TEST(test_json_small_shapes),
	    TEST(test_json_numbers),
	    TEST(test_tsv),
	    TEST(test_many_pieces),
	    TEST(test_refused),
	    TEST(test_failure_and_abort),
	    TEST(test_failure_at_commit),
	    TEST(test_finish),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
