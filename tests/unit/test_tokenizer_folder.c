/* Folders with the older files of tokenizers, made here of a tokenizer.json, against what the reference
 * library makes of the same texts with that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_test.h"

/* A new folder for a test; the caller removes it by remove_folder. */
static void make_folder(char *folder, size_t size)
{
	const char *root = getenv("TMPDIR");
	snprintf(folder, size, "%s/attn-tokenizer-XXXXXX", root ? root : "/tmp");
	assert_non_null(mkdtemp(folder));
}

static const char *const names[] = {
    "vocab.txt",         "vocab.json",  "merges.txt",    "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "config.json", "tokenizer.json"};

static void remove_folder(const char *folder)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[400];
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void put_json(const char *folder, const char *name, const cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);
	put(folder, name, text);
	free(text);
}

static cJSON *read_json(const char *path)
{
	struct file_bytes bytes;
	if (file_bytes_open(&bytes, path, NULL) != ATTN_OK)
		return NULL;
	cJSON *root = cJSON_ParseWithLength((const char *)bytes.data, bytes.length);
	file_bytes_release(&bytes);
	return root;
}

/* tokenizer_config.json: `settings`, and with `flags` what the document says of its added tokens. */
static void put_config(const char *folder, const cJSON *document, const char *settings, bool flags)
{
	cJSON *config = cJSON_Parse(settings);
	cJSON *decoder = cJSON_CreateObject();
	assert_non_null(config);
	for (const cJSON *item = key_of(document, "added_tokens")->child; item; item = item->next) {
		char id[32];
		snprintf(id, sizeof id, "%d", key_of(item, "id")->valueint);
		cJSON_AddItemToObject(decoder, id, cJSON_Duplicate(item, true));
	}
	if (flags)
		cJSON_AddItemToObject(config, "added_tokens_decoder", decoder);
	else
		cJSON_Delete(decoder);
	put_json(folder, "tokenizer_config.json", config);
	cJSON_Delete(config);
}

static void put_merges(const char *folder, const cJSON *model)
{
	struct buffer text = BUFFER_INIT;
	buffer_add_string(&text, "#version: 0.2\n");
	for (const cJSON *item = key_of(model, "merges")->child; item; item = item->next) {
		if (cJSON_IsString(item))
			buffer_printf(&text, "%s\n", item->valuestring);
		else
			buffer_printf(&text, "%s %s\n", item->child->valuestring,
				      item->child->next->valuestring);
	}
	put(folder, "merges.txt", text.data);
	put_json(folder, "vocab.json", key_of(model, "vocab"));
	buffer_release(&text);
}

static void put_lines(const char *folder, const cJSON *model)
{
	const cJSON *vocab = key_of(model, "vocab");
	size_t count = (size_t)cJSON_GetArraySize(vocab);
	const char **lines = calloc(count, sizeof *lines);
	struct buffer text = BUFFER_INIT;
	for (const cJSON *item = vocab->child; item; item = item->next)
		lines[item->valueint] = item->string;
	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, "%s\n", lines[i]);
	put(folder, "vocab.txt", text.data);
	buffer_release(&text);
	free(lines);
}

/* Make a folder of root/NAME/tokenizer.json and try its cases. */
static void check_folder(const char *root, const char *name, const char *settings, bool flags)
{
	char path[400], folder[300];
	struct tally tally = {0};
	struct tokenizer *t;
	struct attn_error err = {0};
	snprintf(path, sizeof path, "%s/%s/tokenizer.json", root, name);
	cJSON *document = read_json(path);
	if (!document) {
		printf("skipped: no %s\n", path);
		skip();
	}
	const cJSON *model = key_of(document, "model");
	make_folder(folder, sizeof folder);
	put_config(folder, document, settings, flags);
	if (key_of(model, "merges"))
		put_merges(folder, model);
	else
		put_lines(folder, model);
	enum attn_status status = tokenizer_open(&t, folder, &err);
	remove_folder(folder);
	cJSON_Delete(document);
	if (status != ATTN_OK)
		fail_msg("%s", err.message);
	snprintf(path, sizeof path, "%s/%s/cases.jsonl", root, name);
	check_file(t, path, &tally);
	tokenizer_free(t);
	check_tally(&tally, path);
}

static void test_wordpiece(void **state)
{
	(void)state;
	check_folder("tests/data/tokenizers", "wordpiece_uncased", "{}", false);
	check_folder("tests/data/tokenizers", "wordpiece_uncased", "{\"tokenizer_class\": \"BertTokenizer\"}",
		     true);
}

static void test_cased(void **state)
{
	(void)state;
	check_folder(SHARED "/made", "wordpiece_cased", "{\"do_lower_case\": false}", false);
}

static void test_gpt2(void **state)
{
	(void)state;
	check_folder(SHARED "/made", "gpt2", "{\"tokenizer_class\": \"GPT2Tokenizer\"}", false);
}

static void test_roberta(void **state)
{
	(void)state;
	check_folder(SHARED "/made", "roberta", "{\"tokenizer_class\": \"RobertaTokenizer\"}", false);
	check_folder(SHARED "/made", "roberta", "{\"tokenizer_class\": \"RobertaTokenizerFast\"}", true);
}

static void test_clip(void **state)
{
	(void)state;
	check_folder(SHARED "/made", "clip", "{\"tokenizer_class\": \"CLIPTokenizer\"}", true);
}

static void test_qwen2(void **state)
{
	(void)state;
	check_folder(SHARED "/made", "qwen2", "{\"tokenizer_class\": \"Qwen2Tokenizer\"}", true);
}

/* What encoding a text gives: ids with their types, and '+' for what was added. */
static void expect_ids(const char *folder, const char *text, const char *pair, const char *expected)
{
	struct tokenizer *t;
	struct encoding found;
	struct attn_error err = {0};
	struct buffer ids = BUFFER_INIT;
	if (tokenizer_open(&t, folder, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_int_equal(
	    tokenizer_encode(t, text, strlen(text), pair, pair ? strlen(pair) : 0, true, &found, &err),
	    ATTN_OK);
	for (size_t i = 0; i < found.count; i++)
		buffer_printf(&ids, "%s%zu:%d%s", i ? " " : "", found.tokens[i].id, found.tokens[i].type,
			      found.tokens[i].special ? "+" : "");
	assert_string_equal(ids.data, expected);
	buffer_release(&ids);
	encoding_release(&found);
	tokenizer_free(t);
}

/* The model says what the tokenizer's files don't; a file stands for its folder; an older file with
 * tokens and ids. */
static void test_little(void **state)
{
	char folder[300], path[400];
	(void)state;
	make_folder(folder, sizeof folder);
	put(folder, "vocab.json",
	    "{\"<s>\": 0, \"</s>\": 1, \"a\": 2, \"b\": 3, \"ab\": 4, \"<|endoftext|>\": 5}");
	put(folder, "merges.txt", "a b\n");
	put(folder, "added_tokens.json", "{\"[x]\": 6, \"[w]\": 7}");
	expect_ids(folder, "ab[w]ba[x]", NULL, "4:0 7:0 3:0 2:0 6:0");
	put(folder, "config.json", "{\"model_type\": \"roberta\"}");
	snprintf(path, sizeof path, "%s/merges.txt", folder);
	expect_ids(path, "ab", "a", "0:0+ 4:0 1:0+ 1:0+ 2:0 1:0+");
	put(folder, "tokenizer_config.json",
	    "{\"tokenizer_class\": \"GPT2Tokenizer\", \"add_bos_token\": true, \"bos_token\": {\"content\": "
	    "\"</s>\"}}");
	expect_ids(folder, "ab", "a", "1:0+ 4:0 2:1");
	remove_folder(folder);
}

static void expect_bad(const char *folder, const char *part)
{
	struct tokenizer *t;
	struct attn_error err = {0};
	assert_int_equal(tokenizer_open(&t, folder, &err), ATTN_BAD_INPUT);
	assert_null(t);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s'", err.message, part);
}

static void test_bad(void **state)
{
	char folder[300];
	struct tokenizer *t;
	(void)state;
	make_folder(folder, sizeof folder);
	expect_bad(folder, "has no tokenizer, expected tokenizer.json, vocab.txt, vocab.json and merges.txt, "
			   "or a SentencePiece "
			   "model");
	put(folder, "vocab.json", "[]");
	expect_bad(folder, "has no tokenizer");
	put(folder, "merges.txt", "a b\n");
	expect_bad(folder, "vocab.json: the document is an array, expected an object");
	put(folder, "vocab.txt", "a\n[SEP]\n");
	expect_bad(folder, "the vocabulary has no '[CLS]', which is to be added");
	put(folder, "tokenizer_config.json", "{\"do_lower_case\": ");
	expect_bad(folder, "tokenizer_config.json: line 1");
	put(folder, "tokenizer.json",
	    "{\"model\": {\"type\": \"WordLevel\", \"vocab\": {}, \"unk_token\": \"a\"},"
	    " \"normalizer\": {\"type\": \"Cyrillic\"}}");
	expect_bad(folder, "tokenizer.json: normalizer: Cyrillic: this type is not supported");
	remove_folder(folder);
	assert_int_equal(tokenizer_open(&t, folder, NULL), ATTN_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_wordpiece), cmocka_unit_test(test_cased), cmocka_unit_test(test_gpt2),
	    cmocka_unit_test(test_roberta),   cmocka_unit_test(test_clip),  cmocka_unit_test(test_qwen2),
	    cmocka_unit_test(test_little),    cmocka_unit_test(test_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
