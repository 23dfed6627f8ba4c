/* Tokenizers of GGUF files: small ones written here, broken ones, and published vocabularies against the ids
 * that come with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_test.h"

/* Pairs of a file, and how many there are. */
struct pairs {
	struct buffer bytes;
	size_t count;
};

static void add_number(struct buffer *b, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buffer_add_char(b, (char)(value >> 8 * i));
}

static void add_string(struct buffer *b, const char *text)
{
	add_number(b, strlen(text), 8);
	buffer_add_string(b, text);
}

/* "tokenizer.ggml.NAME", and the number of its type. */
static void add_key(struct pairs *p, const char *name, unsigned type)
{
	char key[100];
	snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
	add_string(&p->bytes, key);
	add_number(&p->bytes, type, 4);
	p->count++;
}

static void add_text(struct pairs *p, const char *name, const char *text)
{
	add_key(p, name, 8);
	add_string(&p->bytes, text);
}

static void add_u32(struct pairs *p, const char *name, unsigned value)
{
	add_key(p, name, 4);
	add_number(&p->bytes, value, 4);
}

static void add_bool(struct pairs *p, const char *name, bool value)
{
	add_key(p, name, 7);
	buffer_add_char(&p->bytes, value);
}

static void add_texts(struct pairs *p, const char *name, const char *const *texts)
{
	size_t count = 0;
	while (texts[count])
		count++;
	add_key(p, name, 9);
	add_number(&p->bytes, 8, 4);
	add_number(&p->bytes, count, 8);
	for (size_t i = 0; i < count; i++)
		add_string(&p->bytes, texts[i]);
}

static void add_numbers(struct pairs *p, const char *name, const int *values, size_t count)
{
	add_key(p, name, 9);
	add_number(&p->bytes, 5, 4);
	add_number(&p->bytes, count, 8);
	for (size_t i = 0; i < count; i++)
		add_number(&p->bytes, (uint32_t)values[i], 4);
}

/* Write a file of these pairs, which are released, and open it. */
static enum attn_status open_pairs(struct pairs *p, struct tokenizer **t, struct attn_error *err)
{
	char path[] = "/tmp/attn-test-XXXXXX.gguf";
	struct buffer head = BUFFER_INIT;
	buffer_add_string(&head, "GGUF");
	add_number(&head, 3, 4);
	add_number(&head, 0, 8);
	add_number(&head, p->count, 8);
	FILE *file = fdopen(mkstemps(path, 5), "wb");
	assert_non_null(file);
	buffer_add(&head, p->bytes.data, p->bytes.length);
	assert_int_equal(fwrite(head.data, 1, head.length, file), head.length);
	assert_int_equal(fclose(file), 0);
	enum attn_status status = tokenizer_open(t, path, err);
	unlink(path);
	buffer_release(&head);
	buffer_release(&p->bytes);
	*p = (struct pairs){BUFFER_INIT, 0};
	return status;
}

static void expect_ids(const struct tokenizer *t, const char *text, const char *pair, const char *expected)
{
	struct encoding e;
	struct attn_error err = {0};
	struct buffer found = BUFFER_INIT;
	if (tokenizer_encode(t, text, strlen(text), pair, pair ? strlen(pair) : 0, true, &e, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < e.count; i++)
		buffer_printf(&found, "%s%zu%s", i ? " " : "", e.tokens[i].id, e.tokens[i].type ? ":1" : "");
	encoding_release(&e);
	char *ids = buffer_detach(&found);
	if (strcmp(ids, expected) != 0)
		fail_msg("'%s' is %s, expected %s", text, ids, expected);
	free(ids);
}

static const char *const pieces[] = {"<unk>", "<s>", "</s>", "▁a", "a", "b", "▁", NULL};

/* Only ▁ and a can be merged. */
static void add_llama(struct pairs *p)
{
	add_text(p, "model", "llama");
	add_texts(p, "tokens", pieces);
	add_numbers(p, "token_type", (const int[]){2, 3, 3, 1, 1, 1, 1}, 7);
	add_numbers(p, "scores", (const int[]){0, 0, 0, -1, -2, -3, -4}, 7);
}

static void test_llama(void **state)
{
	struct pairs p = {BUFFER_INIT, 0};
	struct attn_error err = {0};
	struct tokenizer *t;
	(void)state;
	add_llama(&p);
	assert_int_equal(open_pairs(&p, &t, &err), ATTN_OK);
	assert_string_equal(tokenizer_kind(t), "SentencePiece BPE");
	expect_ids(t, "a  b", NULL, "1 3 6 6 5");
	expect_ids(t, "a</s>", "b", "1 3 2 1:1 6:1 5:1");
	tokenizer_free(t);
	add_llama(&p);
	add_bool(&p, "add_bos_token", false);
	add_bool(&p, "add_eos_token", true);
	add_bool(&p, "add_space_prefix", false);
	add_u32(&p, "eos_token_id", 1);
	assert_int_equal(open_pairs(&p, &t, &err), ATTN_OK);
	expect_ids(t, "ab", NULL, "4 5 1");
	tokenizer_free(t);
}

static void test_t5(void **state)
{
	struct pairs p = {BUFFER_INIT, 0};
	struct attn_error err = {0};
	struct tokenizer *t;
	(void)state;
	add_text(&p, "model", "t5");
	add_texts(&p, "tokens", (const char *const[]){"<pad>", "</s>", "<unk>", "▁a", "b", "<x>", NULL});
	add_numbers(&p, "token_type", (const int[]){3, 3, 2, 1, 1, 4}, 6);
	add_numbers(&p, "scores", (const int[]){0, 0, 0, -1, -2, 0}, 6);
	add_u32(&p, "eos_token_id", 1);
	assert_int_equal(open_pairs(&p, &t, &err), ATTN_OK);
	assert_string_equal(tokenizer_kind(t), "SentencePiece Unigram");
	expect_ids(t, " a  ab <x>", NULL, "3 3 4 5 1");
	tokenizer_free(t);
}

static void test_gpt2(void **state)
{
	struct pairs p = {BUFFER_INIT, 0};
	struct attn_error err = {0};
	struct tokenizer *t;
	(void)state;
	for (int llama = 0; llama < 2; llama++) {
		add_text(&p, "model", "gpt2");
		add_text(&p, "pre", llama ? "llama-bpe" : "gpt-2");
		add_texts(&p, "tokens",
			  (const char *const[]){"a", "b", "Ġ", "ab", "Ġa", "<|x|>", "aba", NULL});
		add_numbers(&p, "token_type", (const int[]){1, 1, 1, 1, 1, 3, 1}, 7);
		add_texts(&p, "merges", (const char *const[]){"a b", "Ġ a", NULL});
		add_u32(&p, "bos_token_id", 5);
		assert_int_equal(open_pairs(&p, &t, &err), ATTN_OK);
		assert_string_equal(tokenizer_kind(t), "BPE");
		/* Llama 3 takes a piece that is a token whole, and has bos. */
		expect_ids(t, "aba ab<|x|>", NULL, llama ? "5 6 2 3 5" : "3 0 2 3 5");
		tokenizer_free(t);
	}
}

static void test_bert(void **state)
{
	struct pairs p = {BUFFER_INIT, 0};
	struct attn_error err = {0};
	struct tokenizer *t;
	(void)state;
	add_text(&p, "model", "bert");
	add_texts(&p, "tokens", (const char *const[]){"[UNK]", "[CLS]", "[SEP]", "▁un", "able", "▁!", NULL});
	add_numbers(&p, "token_type", (const int[]){2, 3, 3, 1, 1, 1}, 6);
	add_u32(&p, "unknown_token_id", 0);
	add_u32(&p, "cls_token_id", 1);
	add_u32(&p, "seperator_token_id", 2);
	assert_int_equal(open_pairs(&p, &t, &err), ATTN_OK);
	assert_string_equal(tokenizer_kind(t), "WordPiece");
	assert_string_equal(tokenizer_token(t, 4), "##able");
	expect_ids(t, "Unable!", "able", "1 3 4 5 2 0:1 2:1");
	tokenizer_free(t);
}

static void expect_refused(struct pairs *p, const char *part)
{
	struct attn_error err = {0};
	struct tokenizer *t;
	assert_int_equal(open_pairs(p, &t, &err), ATTN_BAD_INPUT);
	assert_null(t);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s' in it", err.message, part);
}

static void test_refused(void **state)
{
	struct pairs p = {BUFFER_INIT, 0};
	(void)state;
	expect_refused(&p, "'tokenizer.ggml.model'");
	add_text(&p, "model", "rwkv");
	expect_refused(&p, "'rwkv'");
	add_text(&p, "model", "llama");
	expect_refused(&p, "'tokenizer.ggml.tokens'");
	add_text(&p, "model", "llama");
	add_texts(&p, "tokens", pieces);
	expect_refused(&p, "'tokenizer.ggml.scores'");
	add_text(&p, "model", "llama");
	add_texts(&p, "tokens", pieces);
	add_numbers(&p, "token_type", (const int[]){2}, 1);
	expect_refused(&p, "'tokenizer.ggml.token_type'");
	add_text(&p, "model", "llama");
	add_texts(&p, "tokens", (const char *const[]){"a", "\xff", NULL});
	expect_refused(&p, "'tokenizer.ggml.tokens[1]'");
	add_llama(&p);
	add_u32(&p, "bos_token_id", 7);
	expect_refused(&p, "'tokenizer.ggml.bos_token_id'");
	add_text(&p, "model", "gpt2");
	add_text(&p, "pre", "viking");
	add_texts(&p, "tokens", pieces);
	expect_refused(&p, "'viking'");
	add_text(&p, "model", "gpt2");
	add_text(&p, "pre", "gpt-2");
	add_texts(&p, "tokens", pieces);
	expect_refused(&p, "'tokenizer.ggml.merges'");
	add_text(&p, "model", "gpt2");
	add_text(&p, "pre", "gpt-2");
	add_texts(&p, "tokens", pieces);
	add_texts(&p, "merges", (const char *const[]){"a c", NULL});
	expect_refused(&p, "'c' is not in the vocabulary");
}

/* --- published vocabularies ---------------------------------------------------- */

/* Compare the ids of text[length] with those in a line. */
static bool same_ids(const struct tokenizer *t, const char *text, size_t length, const char *line,
		     size_t used)
{
	struct encoding e;
	struct attn_error err = {0};
	struct buffer found = BUFFER_INIT, wanted = BUFFER_INIT;
	if (tokenizer_encode(t, text, length, NULL, 0, false, &e, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < e.count; i++)
		buffer_printf(&found, " %zu", e.tokens[i].id);
	buffer_add(&wanted, line, used);
	char *ids = buffer_detach(&found), *expected = buffer_detach(&wanted);
	bool same = strcmp(ids, expected) == 0;
	if (!same)
		printf("'%.*s' is%s, expected%s\n", (int)length, text, ids, expected);
	free(ids);
	free(expected);
	encoding_release(&e);
	return same;
}

static void check_vocabulary(const char *name)
{
	static const char mark[] = "\n__ggml_vocab_test__\n";
	char path[300], text_path[310], ids_path[310];
	struct file_bytes texts, ids;
	struct attn_error err = {0};
	struct tokenizer *t;
	size_t wrong = 0;
	snprintf(path, sizeof path, SHARED "/published/gguf/ggml-vocab-%s.gguf", name);
	snprintf(text_path, sizeof text_path, "%s.inp", path);
	snprintf(ids_path, sizeof ids_path, "%s.out", path);
	if (access(path, F_OK) != 0) {
		printf("skipped: no %s\n", path);
		return;
	}
	if (tokenizer_open(&t, path, &err) != ATTN_OK ||
	    file_bytes_open(&texts, text_path, &err) != ATTN_OK ||
	    file_bytes_open(&ids, ids_path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const char *at = (const char *)texts.data, *end = at + texts.length;
	const char *line = (const char *)ids.data, *ids_end = line + ids.length;
	while (at < end && line < ids_end) {
		const char *next = memmem(at, (size_t)(end - at), mark, sizeof mark - 1);
		const char *line_end = memchr(line, '\n', (size_t)(ids_end - line));
		line_end = line_end ? line_end : ids_end;
		wrong +=
		    !same_ids(t, at, (size_t)((next ? next : end) - at), line, (size_t)(line_end - line));
		at = next ? next + sizeof mark - 1 : end + 1;
		line = line_end + 1;
	}
	assert_true(at >= end && line >= ids_end);
	file_bytes_release(&texts);
	file_bytes_release(&ids);
	tokenizer_free(t);
	if (wrong)
		fail_msg("%zu texts of %s are wrong", wrong, path);
}

static void test_published(void **state)
{
	(void)state;
	check_vocabulary("llama-spm");
	check_vocabulary("gpt-2");
	check_vocabulary("bert-bge");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_llama), cmocka_unit_test(test_t5),      cmocka_unit_test(test_gpt2),
	    cmocka_unit_test(test_bert),  cmocka_unit_test(test_refused), cmocka_unit_test(test_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
