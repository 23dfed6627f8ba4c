#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/formats.h"
#include "files/zip_internal.h"
#include "input/fingerprint.h"
#include "reader_test.h"

#define CORPUS "tests/fuzz/corpus/npz/"

static struct bytes read_corpus(const char *name, struct bundle *b)
{
	char path[200];
	struct attn_error err;
	snprintf(path, sizeof path, CORPUS "%s.npz", name);
	struct bytes bytes = bytes_of_file(path);
	bundle_init(b);
	if (npz_parse(bytes.data, bytes.length, path, b, &err) != ATTN_OK)
		fail_msg("%s: %s", path, err.message);
	for (size_t i = 0; i < b->tensor_count; i++)
		assert_null(b->tensors[i].data);
	for (size_t i = 0; i < b->text_count; i++)
		assert_int_equal(b->texts[i].list.count, 0);
	if (load_all(b, &err) != ATTN_OK)
		fail_msg("%s: %s", path, err.message);
	return bytes;
}

static const double count[] = {0, 1, 2, 3, 4, 5};

static void test_two_arrays(void **state)
{
	(void)state;
	static const char *const names[] = {"stored", "deflated"};
	for (int i = 0; i < 2; i++) {
		struct bundle b;
		struct bytes bytes = read_corpus(names[i], &b);
		assert_int_equal(b.tensor_count, 2);
		const struct tensor *q = bundle_tensor(&b, "q"), *k = bundle_tensor(&b, "k");
		expect_tensor(q, DTYPE_F32, 2, (size_t[]){2, 3}, count);
		expect_tensor(k, DTYPE_I32, 2, (size_t[]){3, 2}, count);
		/* A stored array in C order is not copied. */
		const unsigned char *at = q->data;
		bool inside = at > bytes.data && at + 24 < bytes.data + bytes.length;
		assert_int_equal(inside, i == 0);
		assert_int_equal(q->owned == NULL, i == 0);
		bundle_release(&b);
		free(bytes.data);
	}
}

static void test_forms(void **state)
{
	(void)state;
	static const struct {
		const char *name, *tensor;
	} files[] = {
	    {"zip64", "q"}, {"zip64-all", "q"}, {"comment", "q"}, {"directory", "d/q"}, {"descriptor", "q"}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct bundle b;
		struct bytes bytes = read_corpus(files[i].name, &b);
		assert_int_equal(b.tensor_count, 1);
		expect_tensor(bundle_tensor(&b, files[i].tensor), DTYPE_F32, 2, (size_t[]){2, 3}, count);
		bundle_release(&b);
		free(bytes.data);
	}
}

static void test_tokens(void **state)
{
	(void)state;
	struct bundle b;
	struct bytes bytes = read_corpus("tokens", &b);
	free(bytes.data);
	assert_non_null(bundle_tensor(&b, "embeddings"));
	assert_int_equal(bundle_text(&b, "tokens")->list.count, 2);
	assert_string_equal(bundle_text(&b, "tokens")->list.items[1], "cat");
	bundle_release(&b);
}

static void test_empty_and_dense(void **state)
{
	(void)state;
	static const double zeros[90000];
	struct bundle b;
	struct bytes bytes = read_corpus("empty", &b);
	assert_int_equal(b.tensor_count, 0);
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("zeros", &b);
	assert_true(bytes.length < 1000);
	expect_tensor(bundle_tensor(&b, "q"), DTYPE_F32, 2, (size_t[]){300, 300}, zeros);
	bundle_release(&b);
	free(bytes.data);
}

/* What is not read is listed, with its type and shape, beside what is. */
static void test_others(void **state)
{
	static const struct {
		const char *name, *type, *why;
		int rank;
	} others[] = {
	    {"object", "object", "allow_pickle=True)", 1},
	    {"date", "datetime64", "dtype '<M8[D]', expected float16", 1},
	    {"complex", "complex64", "(complex numbers)", 2},
	    {"structure", "structure", "elements are structures", 1},
	    {"cube", "string", "no list of tokens", 3},
	};
	struct bundle b;
	(void)state;
	struct bytes bytes = read_corpus("others", &b);
	assert_int_equal(b.tensor_count, 1);
	assert_int_equal(b.other_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct other *other = bundle_other(&b, others[i].name);
		assert_non_null(other);
		assert_string_equal(other->type, others[i].type);
		assert_int_equal(other->rank, others[i].rank);
		if (!strstr(other->why, others[i].why))
			fail_msg("'%s', expected '%s'", other->why, others[i].why);
	}
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("other-member", &b);
	assert_non_null(bundle_tensor(&b, "q"));
	assert_string_equal(bundle_other(&b, "readme.txt")->type, "file");
	bundle_release(&b);
	free(bytes.data);
	bytes = read_corpus("no-name", &b);
	assert_non_null(bundle_other(&b, ".npy"));
	bundle_release(&b);
	free(bytes.data);
}

static void test_bad(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"twice", "'q' may be given only once"},
	    {"torch",
	     "a PyTorch checkpoint, a pickle, which is not read because it may run code; convert it: "
	     "python3 -c \"import torch, numpy; d = torch.load('file', 'cpu', weights_only=True)"},
	    {"member", "'q.npy': not an npy array"},
	    {"bzip2", "'q.npy' is compressed by method 12, expected stored (0) or deflated (8)"},
	    {"lzma", "'q.npy' is compressed by method 14"},
	    {"encrypted", "'q.npy' is encrypted"},
	    {"crc", "'file': 'q.npy': data is damaged: its CRC is"},
	    {"stored-size", "'q.npy' says it holds 2147483647 bytes, more than its 152 can give"},
	    {"stored-packed", "which is not inside the file"},
	    {"deflated-size", "'q.npy' says it holds 2147483647 bytes"},
	    {"deflated-larger", "'q.npy': data is 25 bytes, expected 24"},
	    {"deflated-smaller", "'q.npy': data is 23 bytes, expected 24"},
	    {"deflated-data", "not an npy array"},
	    {"offset", "'q.npy' is not at byte 2147483647"},
	    {"offset-one", "'q.npy' is not at byte 1 "},
	    {"local", "'q.npy' is not at byte 0 "},
	    {"local-name", "not inside the file"},
	    {"name-nul", "is not UTF-8 text"},
	    {"name-bytes", "is not UTF-8 text"},
	    {"central-name", "directory is cut short"},
	    {"count-more", "too short for 2 members"},
	    {"count-less", "bytes after its 0 members"},
	    {"count-most", "too short for 65535 members"},
	    {"directory-size", "directory of 2147483647 bytes"},
	    {"directory-start", "at byte 2147483647 is not inside the file"},
	    {"disks", "split over disks"},
	    {"no-zip64", "'q.npy' lacks its zip64 sizes"},
	    {"overlap", "share bytes"},
	    {"no-end", "no end record: the file may have been cut short"},
	    {"comment-cut", "no end record"},
	    {"locator", "zip64 end record is not at byte 18446744073709551615"},
	    {"directory64", "not inside the file"},
	    {"count64", "too short for 18446744073709551615 members"},
	    {"extra-short", "lacks its zip64 sizes"},
	    {"extra-long", "lacks its zip64 sizes"},
	    {"extra-offset", "is not at byte 18446744073709551615"},
	    {"extra-size", "not inside the file"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		expect_bad_file(npz_parse, "npz", files[i][0], files[i][1]);
}

/* Whole members, whatever is in them. */
static void test_extract(void **state)
{
	(void)state;
	static const char *const files[][2] = {
	    {"deflated-larger", "compressed data is damaged: 152 of 153 bytes"},
	    {"deflated-smaller", "compressed data is damaged: 151 of 151 bytes"},
	    {"deflated-data", "is damaged"},
	    {"crc", "data is damaged: its CRC is"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[200];
		struct attn_error err = {0};
		struct zip zip;
		const unsigned char *inflated;
		unsigned char *owned;
		snprintf(path, sizeof path, CORPUS "bad-%s.npz", files[i][0]);
		struct bytes bytes = bytes_of_file(path);
		assert_int_equal(zip_open(&zip, bytes.data, bytes.length, &err), ATTN_OK);
		assert_int_equal(zip_extract(&zip.members[0], bytes.data, &inflated, &owned, &err),
				 ATTN_BAD_INPUT);
		if (!strstr(err.message, files[i][1]))
			fail_msg("%s: '%s', expected '%s'", path, err.message, files[i][1]);
		assert_null(owned);
		zip_release(&zip);
		free(bytes.data);
	}
}

/* Only what is asked for is inflated, and a failure leaves the tensor as it was. */
static void test_inflated_when_wanted(void **state)
{
	(void)state;
	struct bundle b;
	struct attn_error err;
	struct bytes bytes = bytes_of_file(CORPUS "bad-crc.npz");
	bundle_init(&b);
	assert_int_equal(npz_parse(bytes.data, bytes.length, "x.npz", &b, &err), ATTN_OK);
	struct tensor *t = bundle_tensor(&b, "q");
	assert_int_equal(t->count, 6);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tensor_load(t, &err), ATTN_BAD_INPUT);
		assert_null(t->data);
		assert_non_null(strstr(err.message, "'x.npz': 'q.npy': data is damaged"));
	}
	bundle_release(&b);
	free(bytes.data);
	bytes = bytes_of_file(CORPUS "deflated.npz");
	assert_int_equal(npz_parse(bytes.data, bytes.length, "x.npz", &b, &err), ATTN_OK);
	assert_int_equal(tensor_load(bundle_tensor(&b, "q"), &err), ATTN_OK);
	const void *data = bundle_tensor(&b, "q")->data;
	assert_non_null(data);
	assert_int_equal(tensor_load(bundle_tensor(&b, "q"), &err), ATTN_OK);
	assert_ptr_equal(bundle_tensor(&b, "q")->data, data);
	assert_null(bundle_tensor(&b, "k")->data);
	bundle_release(&b);
	free(bytes.data);
}

/* What is not inflated yet counts, too. */
static void test_fingerprint(void **state)
{
	(void)state;
	static const char *const names[] = {CORPUS "stored.npz", CORPUS "deflated.npz", CORPUS "bad-crc.npz"};
	uint64_t fingerprints[2] = {0};
	for (int i = 0; i < 3; i++) {
		struct bytes bytes = bytes_of_file(names[i]);
		struct bundle b;
		uint64_t found;
		bundle_init(&b);
		assert_int_equal(npz_parse(bytes.data, bytes.length, "x.npz", &b, NULL), ATTN_OK);
		assert_int_equal(bundle_fingerprint(&b, &found, NULL), i < 2 ? ATTN_OK : ATTN_BAD_INPUT);
		if (i < 2)
			fingerprints[i] = found;
		bundle_release(&b);
		free(bytes.data);
	}
	assert_true(fingerprints[0] == fingerprints[1]);
}

static void test_damage(void **state)
{
	(void)state;
	static const char *const files[] = {CORPUS "stored.npz",     CORPUS "deflated.npz",
					    CORPUS "zip64-all.npz",  CORPUS "comment.npz",
					    CORPUS "descriptor.npz", CORPUS "zip64.npz"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		expect_truncations_bad(npz_parse, files[i]);
		survive_changes(npz_parse, files[i], SIZE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_arrays), cmocka_unit_test(test_forms),
	    cmocka_unit_test(test_tokens),     cmocka_unit_test(test_empty_and_dense),
	    cmocka_unit_test(test_others),     cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_damage),     cmocka_unit_test(test_fingerprint),
	    cmocka_unit_test(test_extract),    cmocka_unit_test(test_inflated_when_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
