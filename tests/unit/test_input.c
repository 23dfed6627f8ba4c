#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/input.h"
#include "reader_test.h"

#define NPY "tests/fuzz/corpus/npy/"
#define NPZ "tests/fuzz/corpus/npz/"
#define JSON "tests/fuzz/corpus/json/"
#define SAFETENSORS "tests/fuzz/corpus/safetensors/"

static const double count[] = {0, 1, 2, 3, 4, 5};

/* A scratch directory, which the tests work in by name. */
static char scratch[] = "/tmp/attn-test-XXXXXX";

static const char *scratch_path(const char *name)
{
	static char path[300];
	snprintf(path, sizeof path, "%s/%s", scratch, name);
	return path;
}

static const char *copy_to(const char *from, const char *name)
{
	struct bytes bytes = bytes_of_file(from);
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.length, file), bytes.length);
	fclose(file);
	free(bytes.data);
	return path;
}

static void add(struct bundle *b, const char *operand)
{
	struct attn_error err;
	if (input_add(b, operand, &err) != ATTN_OK)
		fail_msg("%s: %s", operand, err.message);
	if (load_all(b, &err) != ATTN_OK)
		fail_msg("%s: %s", operand, err.message);
	bundle_sum(b);
}

static void expect_failure(const char *operand, enum attn_status expected, const char *part)
{
	struct attn_error err = {0};
	struct bundle b;
	bundle_init(&b);
	enum attn_status status = input_add(&b, operand, &err);
	if (status != expected || err.status != expected || !strstr(err.message, part))
		fail_msg("%s: status %d, '%s', expected %d, '%s'", operand, (int)status, err.message,
			 (int)expected, part);
	bundle_release(&b);
}

static void test_sniff(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t length;
		enum format format;
	} files[] = {
	    {"\x93NUMPY\1", 7, FORMAT_NPY},
	    {"PK\3\4", 4, FORMAT_NPZ},
	    {"PK\5\6", 4, FORMAT_NPZ},
	    {"PK\1\2", 4, FORMAT_UNKNOWN},
	    {"\2\0\0\0\0\0\0\0{}", 10, FORMAT_SAFETENSORS},
	    {"{\0\0\0\0\0\0\0{}", 10, FORMAT_SAFETENSORS}, /* 123 bytes of header */
	    {" \n\0\0\0\0\0\0{}", 10, FORMAT_SAFETENSORS},
	    {"\1\2\3\4\5\6\7\x7f{", 9, FORMAT_SAFETENSORS},
	    {"{ \"abc\":{}}", 11, FORMAT_JSON},
	    {" \t\r\n[1]", 7, FORMAT_JSON},
	    {"\xef\xbb\xbf{}", 5, FORMAT_JSON},
	    {"\xef\xbb\xbf", 3, FORMAT_TEXT},
	    {"3", 1, FORMAT_TEXT},
	    {"the\ncat", 7, FORMAT_TEXT},
	    {"[CLS]\nthe", 9, FORMAT_TEXT},
	    {"[\n-1]", 5, FORMAT_JSON},
	    {"[NaN]", 5, FORMAT_JSON},
	    {"caf\xe9", 4, FORMAT_UNKNOWN},
	    {"", 0, FORMAT_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		assert_int_equal(format_sniff((const unsigned char *)files[i].text, files[i].length),
				 files[i].format);
	assert_int_equal(format_of_name("a.b/x.NPY"), FORMAT_NPY);
	assert_int_equal(format_of_name("x.safetensors"), FORMAT_SAFETENSORS);
	assert_int_equal(format_of_name("x.jsonl"), FORMAT_JSONL);
	assert_int_equal(format_of_name("x.json"), FORMAT_JSON);
	assert_int_equal(format_of_name("npy"), FORMAT_UNKNOWN);
	assert_string_equal(format_name(FORMAT_NPZ), "npz");
}

static void test_whole_files(void **state)
{
	(void)state;
	struct bundle b;
	bundle_init(&b);
	add(&b, NPZ "stored.npz");
	add(&b, JSON "source.json");
	expect_tensor(bundle_tensor(&b, "q"), DTYPE_F32, 2, (size_t[]){2, 3}, count);
	expect_tensor(bundle_tensor(&b, "k"), DTYPE_I32, 2, (size_t[]){3, 2}, count);
	assert_non_null(bundle_tensor(&b, "source_embeddings"));
	assert_non_null(bundle_text(&b, "source_tokens"));
	struct attn_error err;
	assert_int_equal(input_add(&b, NPZ "zip64.npz", &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "'q' is in '" NPZ "stored.npz' and again in '" NPZ "zip64.npz'"));
	bundle_release(&b);
}

static void test_read_file(void **state)
{
	(void)state;
	struct bundle b;
	enum format format;
	bundle_init(&b);
	assert_int_equal(input_read_file(&b, SAFETENSORS "good.safetensors", &format, NULL), ATTN_OK);
	assert_int_equal(format, FORMAT_SAFETENSORS);
	assert_non_null(b.resources); /* tensors point into the mapping */
	bundle_sum(&b);
	bundle_release(&b);
	assert_int_equal(input_read_file(&b, NPZ "deflated.npz", &format, NULL), ATTN_OK);
	assert_int_equal(format, FORMAT_NPZ);
	assert_non_null(b.resources); /* tensors may yet be inflated */
	assert_null(bundle_tensor(&b, "q")->data);
	bundle_release(&b);
	assert_int_equal(input_read_file(&b, NPZ "tokens.npz", &format, NULL), ATTN_OK);
	assert_int_equal(bundle_text(&b, "tokens")->list.count, 2);
	bundle_release(&b);
	assert_int_equal(input_read_file(&b, NPY "c-order.npy", &format, NULL), ATTN_OK);
	assert_int_equal(format, FORMAT_NPY);
	bundle_release(&b);
}

static void test_bindings(void **state)
{
	(void)state;
	struct bundle b;
	bundle_init(&b);
	add(&b, "q=" NPY "c-order.npy");
	add(&b, "k=" NPZ "stored.npz"); /* the one called k */
	add(&b, "v=" NPZ "stored.npz:q");
	add(&b, "wq=" NPZ "zip64.npz"); /* the only one */
	add(&b, "bq=" SAFETENSORS "good.safetensors:k");
	add(&b, "mask=" JSON "array.json");
	add(&b, "tokens=" JSON "strings.json");
	add(&b, "source_tokens=" SAFETENSORS "good.safetensors:tokens");
	add(&b, "head_names=" SAFETENSORS "good.safetensors");
	assert_int_equal(b.tensor_count, 6);
	expect_tensor(bundle_tensor(&b, "q"), DTYPE_F32, 2, (size_t[]){2, 3}, count);
	expect_tensor(bundle_tensor(&b, "k"), DTYPE_I32, 2, (size_t[]){3, 2}, count);
	expect_tensor(bundle_tensor(&b, "v"), DTYPE_F32, 2, (size_t[]){2, 3}, count);
	expect_tensor(bundle_tensor(&b, "wq"), DTYPE_F32, 2, (size_t[]){2, 3}, count);
	expect_tensor(bundle_tensor(&b, "bq"), DTYPE_I16, 1, (size_t[]){3}, (double[]){1, -2, 3});
	expect_tensor(bundle_tensor(&b, "mask"), DTYPE_F64, 2, (size_t[]){2, 2}, (double[]){1, 2, 3, 4});
	assert_int_equal(b.text_count, 3);
	assert_string_equal(bundle_text(&b, "tokens")->list.items[2], "plain");
	assert_string_equal(bundle_text(&b, "source_tokens")->list.items[0], "the");
	assert_string_equal(bundle_text(&b, "head_names")->list.items[0], "coreference");
	assert_int_equal(b.setting_count, 0); /* a binding takes one thing */
	struct attn_error err;
	assert_int_equal(input_add(&b, "q=" NPZ "zip64.npz", &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "'q'"));
	bundle_release(&b);
}

static void test_names_of_files(void **state)
{
	(void)state;
	struct bundle b;
	char operand[400];
	bundle_init(&b);
	/* The file as written wins over the split, and the last ':' over others. */
	snprintf(operand, sizeof operand, "q=%s", copy_to(NPZ "zip64.npz", "a:k"));
	add(&b, operand);
	snprintf(operand, sizeof operand, "k=%s:k", copy_to(NPZ "stored.npz", "b:c"));
	add(&b, operand);
	snprintf(operand, sizeof operand, "v=%s:d/q", copy_to(NPZ "directory.npz", "e"));
	add(&b, operand);
	assert_int_equal(bundle_tensor(&b, "k")->dtype, DTYPE_I32);
	bundle_release(&b);
	/* Not a role, but a file. */
	char before[300];
	assert_non_null(getcwd(before, sizeof before));
	copy_to(NPZ "zip64.npz", "x=y.npz");
	assert_int_equal(chdir(scratch), 0);
	add(&b, "x=y.npz");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(b.tensor_count, 1);
	bundle_release(&b);
}

/* Scalars are settings, in the fewest digits; a text of one string may be one. */
static void test_scalars(void **state)
{
	static const char *const expected[][2] = {{"layout", "out,in"},
						  {"axes", "batch"},
						  {"scale", "0.1"},
						  {"num_heads", "8"},
						  {"causal", "true"}};
	struct bundle b;
	(void)state;
	bundle_init(&b);
	add(&b, NPZ "settings.npz");
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_string_equal(bundle_setting(&b, expected[i][0])->value, expected[i][1]);
	assert_int_equal(b.tensor_count + b.text_count, 0);
	bundle_release(&b);
}

/* Matrices of a "heads" list are known as such when bound alone. */
static void test_head_list(void **state)
{
	struct bundle b;
	(void)state;
	bundle_init(&b);
	add(&b, "embeddings=" JSON "heads.json:wv");
	assert_true(b.head_list > 0);
	bundle_release(&b);
	add(&b, "q=" JSON "object.json:mask");
	assert_true(b.head_list == 0);
	bundle_release(&b);
}

static void test_usage(void **state)
{
	(void)state;
	expect_failure("embedings=x.npy", ATTN_USAGE,
		       "unknown role 'embedings' in 'embedings=x.npy', did you mean 'embeddings'");
	expect_failure("zzzzzz=x.npy", ATTN_USAGE, "unknown role 'zzzzzz'");
	expect_failure("Q=x.npy", ATTN_USAGE, "unknown role 'Q' in 'Q=x.npy', did you mean 'q'");
	expect_failure("=x.npy", ATTN_USAGE, "unknown role ''");
	expect_failure("num_heads=8", ATTN_USAGE, "give --num-heads 8");
	expect_failure("causal=true", ATTN_USAGE, "give --causal");
	expect_failure("wq=", ATTN_USAGE, "'wq=' names no file");
	expect_failure("wq=" NPZ "stored.npz:", ATTN_USAGE, "names no tensor after ':'");
}

static void test_bad(void **state)
{
	(void)state;
	expect_failure(NPY "c-order.npy", ATTN_BAD_INPUT,
		       "'" NPY "c-order.npy' needs a role, such as embeddings=" NPY
		       "c-order.npy or weights=" NPY "c-order.npy");
	expect_failure(NPY "fortran.npy", ATTN_BAD_INPUT,
		       "needs a role, such as weights=" NPY "fortran.npy or embeddings=" NPY "fortran.npy");
	expect_failure(JSON "strings.json", ATTN_BAD_INPUT, "needs a role, such as tokens=");
	expect_failure("q=" NPY "c-order.npy:q", ATTN_BAD_INPUT, "holds one tensor without a name, not 'q'");
	expect_failure("v=" NPZ "stored.npz", ATTN_BAD_INPUT, "NAME is one of 'q', 'k'");
	expect_failure("v=" NPZ "directory.npz:d/k", ATTN_BAD_INPUT,
		       "'" NPZ "directory.npz' has no tensor 'd/k', did you mean 'd/q', it has 'd/q'");
	expect_failure("v=" SAFETENSORS "dtypes.safetensors:nothing", ATTN_BAD_INPUT,
		       "'i16', 'i8' and 7 more");
	expect_failure("tokens=" NPZ "stored.npz", ATTN_BAD_INPUT, "holds no list of strings for 'tokens'");
	expect_failure("q=" NPZ "empty.npz", ATTN_BAD_INPUT, "holds no tensor for 'q'");
	expect_failure(NPY "bad-short.npy", ATTN_BAD_INPUT, "'" NPY "bad-short.npy': data is 23 bytes");
	expect_failure("q=" JSON "bad-ragged.json", ATTN_BAD_INPUT,
		       "'" JSON
		       "bad-ragged.json' holds no tensor for 'q': 'wq' row 2 has 3 numbers, expected 4");
	expect_failure("tests/unit/test_input.c", ATTN_BAD_INPUT,
		       "'tests/unit/test_input.c': not a table of numbers");
	expect_failure("/dev/null", ATTN_BAD_INPUT, "'/dev/null' is empty");
	expect_failure("tests", ATTN_FAILED, "'tests' is a directory");
	assert_int_equal(mkdir(scratch_path("results"), 0777), 0);
	copy_to(NPY "c-order.npy", "results/attention.safetensors");
	expect_failure(scratch_path("results"), ATTN_FAILED, "results/attention.safetensors'");
	expect_failure(scratch_path("results"), ATTN_FAILED, "results' is a directory, did you mean '");
	unlink(scratch_path("results/attention.safetensors"));
	rmdir(scratch_path("results"));
	expect_failure("q=tests", ATTN_FAILED, "'tests' is a directory");
	expect_failure("missing.npz", ATTN_FAILED, "could not open 'missing.npz': No such file or directory");
	expect_failure("q=missing.npz:a", ATTN_FAILED, "could not open 'missing.npz': No such file");
	FILE *file = fopen(scratch_path("empty"), "wb");
	assert_non_null(file);
	fclose(file);
	expect_failure(scratch_path("empty"), ATTN_BAD_INPUT, "empty' is empty");
}

/* Standard input is a pipe here, and then used up. */
static void test_standard_input(void **state)
{
	(void)state;
	struct bytes bytes = bytes_of_file(NPZ "stored.npz");
	int ends[2], before = dup(STDIN_FILENO);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes.data, bytes.length), bytes.length);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	struct bundle b;
	bundle_init(&b);
	add(&b, "q=-:k");
	expect_tensor(bundle_tensor(&b, "q"), DTYPE_I32, 2, (size_t[]){3, 2}, count);
	bundle_release(&b);
	expect_failure("k=-:k", ATTN_USAGE, "standard input ('-') may be given only once");
	expect_failure("-", ATTN_USAGE, "standard input ('-') may be given only once");
	if (before >= 0) {
		dup2(before, STDIN_FILENO);
		close(before);
	}
	free(bytes.data);
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	static const char *const names[] = {"a:k", "b:c", "e", "x=y.npz", "empty"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(scratch_path(names[i]));
	return rmdir(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sniff),
	    cmocka_unit_test(test_whole_files),
	    cmocka_unit_test(test_read_file),
	    cmocka_unit_test(test_bindings),
	    cmocka_unit_test(test_names_of_files),
	    cmocka_unit_test(test_scalars),
	    cmocka_unit_test(test_head_list),
	    cmocka_unit_test(test_usage),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_standard_input),
	};
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
