/* SentencePiece models: small ones written here and worked out by hand, broken ones, and published ones
 * against what the sentencepiece library made of texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sentencepiece_test.h"
#include "tokenizer/lines.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer_test.h"

/* trainer_spec, and fields that nobody here knows. */
static void add_trainer(struct buffer *model, unsigned type, bool byte_fallback, bool suffix)
{
	struct buffer spec = BUFFER_INIT;
	add_bytes(&spec, 2, "name", 4);
	add_number(&spec, 3, type);
	add_varint(&spec, 10 << 3 | 5);
	buffer_add(&spec, "\0\0\0\0", 4);
	add_number(&spec, 35, byte_fallback);
	add_number(&spec, 24, suffix);
	add_number(&spec, 41, UINT64_MAX);
	add_varint(&spec, 200 << 3 | 1);
	buffer_add(&spec, "\0\0\0\0\0\0\0\0", 8);
	add_bytes(model, 2, spec.data, spec.length);
	buffer_release(&spec);
}

static void add_normalizer(struct buffer *model, bool prefix, bool remove)
{
	struct buffer spec = BUFFER_INIT;
	add_bytes(&spec, 1, "identity", 8);
	add_number(&spec, 3, prefix);
	add_number(&spec, 4, remove);
	add_bytes(model, 3, spec.data, spec.length);
	buffer_release(&spec);
}

/* A tokenizer of a model's bytes, which are released. */
static struct tokenizer *tokenizer_of(struct buffer *model)
{
	char path[] = "/tmp/attn-test-XXXXXX.model";
	struct tokenizer *t;
	struct attn_error err = {0};
	int fd = mkstemps(path, 6);
	FILE *file = fdopen(fd, "wb");
	fwrite(model->data, 1, model->length, file);
	fclose(file);
	enum attn_status status = tokenizer_open(&t, path, &err);
	unlink(path);
	buffer_release(model);
	if (status != ATTN_OK)
		fail_msg("%s", err.message);
	return t;
}

/* Expect the tokens of a text as "id:start-end ...", in code points. */
static void expect(const struct tokenizer *t, const char *text, const char *expected)
{
	struct encoding e;
	struct attn_error err = {0};
	struct buffer found = BUFFER_INIT;
	if (tokenizer_encode(t, text, strlen(text), NULL, 0, true, &e, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < e.count; i++)
		buffer_printf(&found, "%s%zu:%zu-%zu", i ? " " : "", e.tokens[i].id, e.tokens[i].start,
			      e.tokens[i].end);
	encoding_release(&e);
	char *words = buffer_detach(&found);
	if (strcmp(words, expected) != 0)
		fail_msg("'%s' is %s, expected %s", text, words, expected);
	free(words);
}

/* ▁ab is -3; ▁ (-1) and ab (-1.5) are -2.5. */
static void test_unigram(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "<s>", 0, PIECE_CONTROL);
	add_piece(&m, "▁", -1, PIECE_NORMAL);
	add_piece(&m, "ab", -1.5f, PIECE_NORMAL);
	add_piece(&m, "▁ab", -3, PIECE_NORMAL);
	add_piece(&m, "a", -2, PIECE_NORMAL);
	add_piece(&m, "xy", 0, PIECE_USER_DEFINED);
	add_piece(&m, "aa", 0, PIECE_UNUSED);
	struct tokenizer *t = tokenizer_of(&m);
	assert_string_equal(tokenizer_kind(t), "SentencePiece Unigram");
	assert_int_equal(tokenizer_size(t), 8);
	expect(t, "ab", "2:0-1 3:0-2");
	expect(t, "", "");
	expect(t, "  ", "");
	expect(t, "  ab   ab ", "2:2-3 3:2-4 2:4-5 3:7-9");
	expect(t, "aa", "2:0-1 5:0-1 5:1-2");         /* never the unused piece */
	expect(t, "zéa", "2:0-1 0:0-2 5:2-3");        /* unknown characters are one token */
	expect(t, "axyb", "2:0-1 5:0-1 6:1-3 0:3-4"); /* user defined */
	expect(t, "<s>", "2:0-1 0:0-3");              /* control pieces are no text */
	tokenizer_free(t);
}

/* Of equal sums the one that is found first: a + bc comes to the end from place 1, ab + c from 2. */
static void test_ties(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "a", -1, PIECE_NORMAL);
	add_piece(&m, "bc", -1, PIECE_NORMAL);
	add_piece(&m, "ab", -1, PIECE_NORMAL);
	add_piece(&m, "c", -1, PIECE_NORMAL);
	add_normalizer(&m, false, true);
	struct tokenizer *t = tokenizer_of(&m);
	expect(t, "abc", "1:0-1 2:1-3");
	tokenizer_free(t);
}

/* bc is merged first, then a with bc; of two equal pairs the left one. */
static void test_bpe(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "bc", -1, PIECE_NORMAL);
	add_piece(&m, "ab", -2, PIECE_NORMAL);
	add_piece(&m, "abc", -3, PIECE_NORMAL);
	add_piece(&m, "aa", -4, PIECE_NORMAL);
	add_piece(&m, "a", -5, PIECE_NORMAL);
	add_piece(&m, "b", -6, PIECE_NORMAL);
	add_piece(&m, "[ab]", 0, PIECE_USER_DEFINED);
	add_piece(&m, "▁", -7, PIECE_NORMAL);
	add_trainer(&m, 2, false, false);
	add_normalizer(&m, false, false);
	struct tokenizer *t = tokenizer_of(&m);
	assert_string_equal(tokenizer_kind(t), "SentencePiece BPE");
	expect(t, "abc", "3:0-3");
	expect(t, "aaa", "4:0-2 5:2-3");
	expect(t, "cab", "0:0-1 2:1-3");
	expect(t, "a[ab]b", "5:0-1 7:1-5 6:5-6");
	expect(t, "a  c", "5:0-1 8:1-2 8:2-3 0:3-4");
	tokenizer_free(t);
}

/* abcd can only be reached through abc, which is unused: it is split as it was merged. */
static void test_unused(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "ab", -1, PIECE_UNUSED);
	add_piece(&m, "abc", -2, PIECE_UNUSED);
	add_piece(&m, "abcd", -3, PIECE_NORMAL);
	add_piece(&m, "a", -4, PIECE_NORMAL);
	add_piece(&m, "b", -5, PIECE_NORMAL);
	add_trainer(&m, 2, false, false);
	add_normalizer(&m, false, false);
	struct tokenizer *t = tokenizer_of(&m);
	expect(t, "abcd", "3:0-4");
	expect(t, "abce", "4:0-1 5:1-2 0:2-4");
	tokenizer_free(t);
}

/* Each unknown character becomes its bytes. */
static void test_bytes_and_suffix(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	for (unsigned i = 0; i < 256; i++) {
		char name[8];
		snprintf(name, sizeof name, "<0x%02X>", i);
		add_piece(&m, name, 0, PIECE_BYTE);
	}
	add_piece(&m, "a", -1, PIECE_NORMAL);  /* 257 */
	add_piece(&m, "▁", -1, PIECE_NORMAL);  /* 258 */
	add_piece(&m, "a▁", -1, PIECE_NORMAL); /* 259 */
	add_trainer(&m, 2, true, true);
	struct tokenizer *t = tokenizer_of(&m);
	expect(t, "a aé", "259:0-2 257:2-3 196:3-4 170:3-4 258:3-4"); /* C3 A9, one more each */
	tokenizer_free(t);
}

static void expect_bad(struct buffer *m, const char *part)
{
	struct sentencepiece_model model;
	struct algorithm *a = NULL;
	struct attn_error err = {0};
	enum attn_status status = sentencepiece_read(&model, m->data, m->length, &err);
	if (status == ATTN_OK)
		status = sentencepiece_algorithm(&a, &model, &err);
	assert_int_equal(status, ATTN_BAD_INPUT);
	assert_null(a);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s' in it", err.message, part);
	sentencepiece_release(&model);
	buffer_release(m);
}

static void test_refused(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	buffer_add(&m, "", 0);
	expect_bad(&m, "no pieces");
	buffer_add(&m,
		   "\x0a\x05"
		   "ab",
		   4); /* 5 bytes, of which there are 2 */
	expect_bad(&m, "byte 2");
	buffer_add(&m, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	expect_bad(&m, "no whole field");
	buffer_add(&m, "{\"model\": 1}", 12);
	expect_bad(&m, "not a SentencePiece model");
	add_piece(&m, "a", 0, PIECE_NORMAL);
	expect_bad(&m, "0 pieces for what is unknown");
	add_piece(&m, "a", 0, PIECE_UNKNOWN);
	add_piece(&m, "b", 0, PIECE_UNKNOWN);
	expect_bad(&m, "2 pieces for what is unknown");
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "b", 0, PIECE_NORMAL);
	add_piece(&m, "b", 0, PIECE_USER_DEFINED);
	expect_bad(&m, "piece 2, 'b', is piece 1 again");
	add_piece(&m, "<unk>", (float)NAN, PIECE_UNKNOWN);
	expect_bad(&m, "not finite");
	add_piece(&m, "", 0, PIECE_UNKNOWN);
	expect_bad(&m, "0 bytes");
	add_piece(&m, "\xff", 0, PIECE_UNKNOWN);
	expect_bad(&m, "UTF-8");
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_trainer(&m, 2, true, false);
	expect_bad(&m, "'<0x00>'");
	add_piece(&m, "<unk>", 0, 7);
	expect_bad(&m, "type 7");
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_trainer(&m, 3, false, false);
	expect_bad(&m, "'model_type' is 3");
}

/* Each beginning of a model is a model or refused. */
static void test_cut(void **state)
{
	struct buffer m = BUFFER_INIT;
	(void)state;
	add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
	add_piece(&m, "a", -1, PIECE_NORMAL);
	add_trainer(&m, 2, false, false);
	add_normalizer(&m, true, true);
	for (size_t length = 0; length <= m.length; length++) {
		struct sentencepiece_model model;
		struct attn_error err = {0};
		char *bytes = malloc(length ? length : 1);
		memcpy(bytes, m.data, length);
		if (sentencepiece_read(&model, bytes, length, &err) != ATTN_OK)
			assert_true(err.message[0] != '\0');
		sentencepiece_release(&model);
		free(bytes);
	}
	buffer_release(&m);
}

/* A million characters in one piece: it would not end if the cost were quadratic. */
static void test_long_text(void **state)
{
	(void)state;
	for (unsigned type = 1; type <= 2; type++) {
		struct buffer m = BUFFER_INIT, text = BUFFER_INIT;
		struct encoding e;
		add_piece(&m, "<unk>", 0, PIECE_UNKNOWN);
		add_piece(&m, "a", -3, PIECE_NORMAL);
		add_piece(&m, "aa", -2, PIECE_NORMAL);
		add_piece(&m, "aaaa", -1, PIECE_NORMAL);
		add_trainer(&m, type, false, false);
		add_normalizer(&m, false, false);
		struct tokenizer *t = tokenizer_of(&m);
		for (size_t i = 0; i < 250000; i++)
			buffer_add_string(&text, "aaaa");
		assert_int_equal(tokenizer_encode(t, text.data, text.length, NULL, 0, true, &e, NULL),
				 ATTN_OK);
		assert_int_equal(e.count, 250000);
		encoding_release(&e);
		buffer_release(&text);
		tokenizer_free(t);
	}
}

/* --- published models ---------------------------------------------------------- */

/* Whether a line's "ids" and "pieces" are what is found. */
static bool same_pieces(const struct tokenizer *t, const char *name, const cJSON *line)
{
	size_t length;
	char *text = bytes_of(key_of(line, "text")->valuestring, &length);
	const cJSON *id = key_of(line, "ids")->child;
	const cJSON *piece = key_of(line, "pieces")->child;
	struct encoding e;
	struct attn_error err = {0};
	if (tokenizer_encode(t, text, length, NULL, 0, true, &e, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	size_t i = 0;
	while (
	    i < e.count && id && e.tokens[i].id == (size_t)id->valuedouble &&
	    (strcmp(e.tokens[i].text, piece->valuestring) == 0 || strstr(piece->valuestring, NUL_STAND_IN))) {
		i++;
		id = id->next;
		piece = piece->next;
	}
	bool same = i == e.count && !id;
	if (!same)
		printf("%s: '%s': token %zu is %zu '%s', expected %d '%s'\n", name, text, i,
		       i < e.count ? e.tokens[i].id : 0, i < e.count ? e.tokens[i].text : "",
		       id ? id->valueint : -1, id ? piece->valuestring : "");
	encoding_release(&e);
	free(text);
	return same;
}

static void check_model(const char *name)
{
	char path[300];
	struct stat st;
	struct tokenizer *t;
	struct file_bytes bytes;
	struct attn_error err = {0};
	size_t wrong = 0;
	snprintf(path, sizeof path, SHARED "/published/%s/spiece.model", name);
	if (stat(path, &st) != 0) {
		printf("skipped: no %s\n", path);
		return;
	}
	if (tokenizer_open(&t, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	snprintf(path, sizeof path, SHARED "/published/%s/dev.jsonl", name);
	assert_int_equal(file_bytes_open(&bytes, path, &err), ATTN_OK);
	const char *at = (const char *)bytes.data, *end = at + bytes.length, *line;
	for (size_t length; next_line(&at, end, &line, &length);) {
		cJSON *root = parse_line(line, length);
		if (!root)
			fail_msg("%s: '%.*s' is not JSON", path, (int)length, line);
		wrong += !same_pieces(t, name, root);
		cJSON_Delete(root);
	}
	file_bytes_release(&bytes);
	tokenizer_free(t);
	if (wrong)
		fail_msg("%zu lines of %s are wrong", wrong, path);
}

static void test_published(void **state)
{
	(void)state;
	check_model("spm-albert");
	check_model("spm-bpe1000");
	check_model("spm-unigram1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_unigram),
	    cmocka_unit_test(test_ties),
	    cmocka_unit_test(test_bpe),
	    cmocka_unit_test(test_unused),
	    cmocka_unit_test(test_bytes_and_suffix),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_long_text),
	    cmocka_unit_test(test_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
