/* Tokenizers that are wrong or hostile: one message that says where, and soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_test.h"

#define CORPUS "tests/fuzz/corpus/tokenizer/"

static void expect_refused(const char *path, const char *part)
{
	struct tokenizer *t;
	struct attn_error err = {0};
	assert_int_equal(tokenizer_open(&t, path, &err), ATTN_BAD_INPUT);
	assert_null(t);
	if (strncmp(err.message, path, strlen(path)) != 0 || !strstr(err.message, part))
		fail_msg("'%s', expected '%s' of '%s'", err.message, part, path);
}

static void test_corpus(void **state)
{
	static const char *const files[][2] = {
	    {"type", "normalizer: Cyrillic: this type is not supported"},
	    {"scripts", "pre_tokenizer: UnicodeScripts: this type is not supported"},
	    {"merge", "model: merges[0]: 'c' is not in the vocabulary"},
	    {"template", "post_processor: TemplateProcessing: '[CLS]' is not in 'special_tokens'"},
	    {"template-id",
	     "post_processor: BertProcessing: 'x' has the id 99, which is not in the vocabulary"},
	    {"template-pair",
	     "post_processor: TemplateProcessing: 'single' has the sequence 'B', expected 'A'"},
	    {"regex", "pre_tokenizer: Split: pattern '(?C1)a' has '(?C', which is not supported"},
	    {"behavior", "pre_tokenizer: Split: 'behavior' is 'Kept', expected Removed, "},
	    {"pattern", "pre_tokenizer: Split: 'pattern' is a string, expected an object"},
	    {"mark", "pre_tokenizer: Metaspace: 'replacement' is 'ab', expected one character"},
	    {"scheme",
	     "pre_tokenizer: Metaspace: 'prepend_scheme' is 'last', expected always, first or never"},
	    {"length", "pre_tokenizer: FixedLength: 'length' is 0, expected at least 1"},
	    {"content", "added_tokens: 'aaaaaaaa"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[200];
		snprintf(path, sizeof path, CORPUS "bad-%s.json", files[i][0]);
		expect_refused(path, files[i][1]);
	}
}

/* A new file with `text`, and `length` bytes long where that is more. */
static void make_file(char *path, size_t size, const char *text, off_t length)
{
	const char *root = getenv("TMPDIR");
	snprintf(path, size, "%s/attn-tokenizer-XXXXXX", root ? root : "/tmp");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	if (length > 0)
		assert_int_equal(ftruncate(fd, length), 0);
	close(fd);
}

static void expect_bad_text(const char *text, off_t length, const char *part)
{
	char path[300];
	make_file(path, sizeof path, text, length);
	expect_refused(path, part);
	unlink(path);
}

static void test_documents(void **state)
{
	char deep[400];
	(void)state;
	expect_bad_text("{}", 100000000, "100000000 bytes, expected at most 83886080");
	expect_bad_text("[]", 0, "the document is an array, expected an object");
	expect_bad_text("{\"model\": {}", 0, "line 1, column 13");
	expect_bad_text("{}", 0, "'model' is missing");
	memset(deep, '[', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	memcpy(deep, "{\"model\":", 9);
	expect_bad_text(deep, 0, "at most 64 levels of brackets");
}

static struct tokenizer *open_text(const char *text)
{
	char path[300];
	struct tokenizer *t;
	struct attn_error err = {0};
	make_file(path, sizeof path, text, 0);
	if (tokenizer_open(&t, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	unlink(path);
	return t;
}

static void expect_failure(const struct tokenizer *t, const char *text, size_t length, const char *part)
{
	struct encoding found;
	struct attn_error err = {0};
	assert_int_equal(tokenizer_encode(t, text, length, NULL, 0, true, &found, &err), ATTN_BAD_INPUT);
	assert_int_equal(found.count, 0);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s'", err.message, part);
}

#define MODEL "\"model\": {\"type\": \"WordLevel\", \"vocab\": {\"a\": 0, \"b\": 7}, \"unk_token\": \"a\"}"

/* Ids that no entry has are none; those of added tokens come after the last. */
static void test_holes(void **state)
{
	struct tokenizer *t =
	    open_text("{" MODEL ", \"added_tokens\": [{\"id\": 50, \"content\": \"x\", \"special\": true},"
		      " {\"id\": 3, \"content\": \"b\"}, {\"id\": 4, \"content\": \"\"}]}");
	struct encoding found;
	(void)state;
	assert_int_equal(tokenizer_size(t), 9);
	assert_null(tokenizer_token(t, 3));
	assert_string_equal(tokenizer_token(t, 7), "b");
	assert_string_equal(tokenizer_token(t, 8), "x");
	assert_int_equal(tokenizer_encode(t, "xqb", 3, NULL, 0, true, &found, NULL), ATTN_OK);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.tokens[0].id, 8);
	assert_int_equal(found.tokens[1].id, 0);
	assert_int_equal(found.tokens[2].id, 7);
	encoding_release(&found);
	tokenizer_free(t);
}

static void test_exploding(void **state)
{
	struct tokenizer *t =
	    open_text("{" MODEL ", \"pre_tokenizer\": {\"type\": \"Split\", \"behavior\": \"Removed\","
		      " \"pattern\": {\"Regex\": \"(a+)+$\"}}}");
	(void)state;
	expect_failure(t, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 60,
		       "pattern '(a+)+$' takes too long on this text");
	tokenizer_free(t);
}

/* Nine replacements by 5000 letters each. */
static void test_growth(void **state)
{
	struct tokenizer *t;
	(void)state;
	assert_int_equal(tokenizer_open(&t, CORPUS "bad-growth.json", NULL), ATTN_OK);
	expect_failure(t, "abc", 3, "the text is longer than 1000192 bytes when it is normalised");
	tokenizer_free(t);
}

/* Tokens that almost match everywhere, at the greatest length that they may have. */
static void test_long_tokens(void **state)
{
	struct buffer text = BUFFER_INIT;
	struct encoding found;
	(void)state;
	buffer_add_string(&text, "{" MODEL ", \"added_tokens\": [{\"content\": \"");
	for (int i = 0; i < 1023; i++)
		buffer_add_char(&text, 'c');
	buffer_add_string(&text, "!\"}]}");
	struct tokenizer *t = open_text(text.data);
	buffer_clear(&text);
	for (int i = 0; i < 100000; i++)
		buffer_add_char(&text, 'c');
	buffer_add_char(&text, '!');
	assert_int_equal(tokenizer_encode(t, text.data, text.length, NULL, 0, true, &found, NULL), ATTN_OK);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.tokens[1].start, 100000 - 1023);
	encoding_release(&found);
	buffer_release(&text);
	tokenizer_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_corpus), cmocka_unit_test(test_documents),
	    cmocka_unit_test(test_holes),  cmocka_unit_test(test_exploding),
	    cmocka_unit_test(test_growth), cmocka_unit_test(test_long_tokens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
