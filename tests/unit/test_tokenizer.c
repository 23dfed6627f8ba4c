/* Tokenizers against the reference library: what it made of texts with small vocabularies of every kind
 * and with published ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_test.h"

static void test_made(void **state)
{
	struct tally tally = {0};
	(void)state;
	check_folders(SHARED "/made", "cases.jsonl", &tally);
	check_tally(&tally, SHARED "/made");
}

static void test_published(void **state)
{
	struct tally tally = {0};
	(void)state;
	check_folders(SHARED "/published", "dev.jsonl", &tally);
	check_tally(&tally, SHARED "/published");
}

/* Of the same kinds as those above, so that a suite without them means something. */
static void test_small(void **state)
{
	struct tally tally = {0};
	(void)state;
	check_folders("tests/data/tokenizers", "cases.jsonl", &tally);
	assert_true(tally.cases > 200);
	check_tally(&tally, "tests/data/tokenizers");
}

static struct tokenizer *open_small(const char *name)
{
	char path[200];
	struct tokenizer *t;
	struct attn_error err = {0};
	snprintf(path, sizeof path, "tests/data/tokenizers/%s/tokenizer.json", name);
	if (tokenizer_open(&t, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return t;
}

static void test_vocabulary(void **state)
{
	struct tokenizer *t = open_small("wordlevel");
	(void)state;
	assert_string_equal(tokenizer_kind(t), "WordLevel");
	assert_int_equal(tokenizer_size(t), 207);
	assert_string_equal(tokenizer_token(t, 1), "[CLS]");
	assert_null(tokenizer_token(t, 207));
	assert_null(tokenizer_token(t, SIZE_MAX));
	tokenizer_free(t);
	tokenizer_free(NULL);
}

/* Every proper beginning of a character, and bytes that are none, by their places. */
static void test_not_utf8(void **state)
{
	struct tokenizer *t = open_small("bpe_unk");
	struct encoding found;
	struct attn_error err = {0};
	(void)state;
	assert_int_equal(tokenizer_encode(t, "ab\xc3", 3, NULL, 0, true, &found, &err), ATTN_BAD_INPUT);
	assert_string_equal(err.message, "byte 2 of the text is not UTF-8");
	assert_int_equal(tokenizer_encode(t, "ab", 2, "\xed\xa0\x80", 3, true, &found, &err), ATTN_BAD_INPUT);
	assert_string_equal(err.message, "byte 0 of the text is not UTF-8");
	assert_int_equal(found.count, 0);
	assert_null(found.tokens);
	tokenizer_free(t);
}

/* Models of all families: their tokens, as the reference has them. */
static void test_families(void **state)
{
	static const char root[] = "../shared/models/families";
	DIR *directory = opendir(root);
	size_t count = 0;
	(void)state;
	if (!directory) {
		printf("skipped: no %s\n", root);
		skip();
	}
	for (struct dirent *entry; (entry = readdir(directory));) {
		char folder[300], path[400];
		struct tally tally = {0};
		struct file_bytes bytes;
		struct tokenizer *t;
		snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
		snprintf(path, sizeof path, "%s/tokenizer.json", folder);
		if (entry->d_name[0] == '.' || access(path, F_OK) != 0)
			continue;
		assert_int_equal(tokenizer_open(&t, folder, NULL), ATTN_OK);
		snprintf(path, sizeof path, "%s/inputs.json", folder);
		assert_int_equal(file_bytes_open(&bytes, path, NULL), ATTN_OK);
		cJSON *inputs = cJSON_ParseWithLength((const char *)bytes.data, bytes.length);
		cJSON *pair = cJSON_DetachItemFromObjectCaseSensitive(inputs, "text_pair");
		if (pair)
			cJSON_AddItemToObject(inputs, "pair", pair);
		check(t, folder, inputs, inputs, true, &tally);
		assert_int_equal(tally.wrong, 0);
		count++;
		cJSON_Delete(inputs);
		file_bytes_release(&bytes);
		tokenizer_free(t);
	}
	closedir(directory);
	assert_true(count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_made),     cmocka_unit_test(test_published),
	    cmocka_unit_test(test_small),    cmocka_unit_test(test_vocabulary),
	    cmocka_unit_test(test_not_utf8), cmocka_unit_test(test_families),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
