/* Folders with a SentencePiece model: which ids the pieces have and what is put around texts, class by
 * class, as the transformers library's tokenizers of these classes do it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sentencepiece_test.h"
#include "tokenizer/tokenizer.h"

static const char *const files[] = {"spiece.model",
				    "sentencepiece.bpe.model",
				    "tokenizer.model",
				    "spm.model",
				    "source.spm",
				    "target.spm",
				    "vocab.json",
				    "target_vocab.json",
				    "tokenizer_config.json",
				    "config.json"};

static char folder[300];

static int make_folder(void **state)
{
	const char *root = getenv("TMPDIR");
	(void)state;
	snprintf(folder, sizeof folder, "%s/attn-pieces-XXXXXX", root ? root : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[400];
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	return rmdir(folder);
}

static void put(const char *name, const void *bytes, size_t length)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* Write a model of these pieces, of which those in angle or square brackets are control pieces and the
 * one that `unknown` names is unknown; the others are ever less likely. */
static void put_model(const char *name, const char *const *pieces, const char *unknown)
{
	struct buffer m = BUFFER_INIT;
	for (size_t i = 0; pieces[i]; i++) {
		bool control = pieces[i][0] == '<' || pieces[i][0] == '[';
		add_piece(&m, pieces[i], control ? 0 : -1 - (float)i,
			  strcmp(pieces[i], unknown) == 0 ? PIECE_UNKNOWN
			  : control                       ? PIECE_CONTROL
							  : PIECE_NORMAL);
	}
	put(name, m.data, m.length);
	buffer_release(&m);
}

/* Open what is in the folder, or one of its files. */
static struct tokenizer *open_it(const char *name)
{
	char path[400];
	struct tokenizer *t;
	struct attn_error err = {0};
	snprintf(path, sizeof path, "%s%s%s", folder, name ? "/" : "", name ? name : "");
	if (tokenizer_open(&t, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return t;
}

/* Expect ids, with ":1" behind those of type 1; `pair` may be NULL. */
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

static void expect_refused(const char *part)
{
	struct tokenizer *t;
	struct attn_error err = {0};
	assert_int_equal(tokenizer_open(&t, folder, &err), ATTN_BAD_INPUT);
	assert_null(t);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s' in it", err.message, part);
}

/* 5 pieces, then <extra_id_2>, <extra_id_1>, <extra_id_0>. */
static void test_t5(void **state)
{
	(void)state;
	put_model("spiece.model", (const char *const[]){"<pad>", "</s>", "<unk>", "▁a", "▁b", NULL}, "<unk>");
	put_text("tokenizer_config.json",
		 "{\"tokenizer_class\": \"T5Tokenizer\", \"extra_ids\": 3,"
		 "\"additional_special_tokens\": [\"<extra_id_0>\", \"<extra_id_1>\"]}");
	struct tokenizer *t = open_it(NULL);
	assert_int_equal(tokenizer_size(t), 8);
	assert_string_equal(tokenizer_token(t, 7), "<extra_id_0>");
	expect_ids(t, "a b", NULL, "3 4 1");
	expect_ids(t, "a<extra_id_0> b", "b", "3 7 4 1 4 1");
	expect_ids(t, "", NULL, "1");
	tokenizer_free(t);
	/* Without a class it is the type of the model that counts; there are 100 then. */
	put_text("tokenizer_config.json", "{}");
	put_text("config.json", "{\"model_type\": \"mt5\"}");
	t = open_it(NULL);
	assert_int_equal(tokenizer_size(t), 105);
	assert_string_equal(tokenizer_token(t, 104), "<extra_id_0>");
	tokenizer_free(t);
	put_text("config.json", "{\"model_type\": \"reformer\"}");
	expect_refused("XLMRoberta");
	put_text("config.json", "{\"model_type\": \"t5\"}");
	put_text("tokenizer_config.json", "{\"extra_ids\": 1e9}");
	expect_refused("'extra_ids'");
	/* The file alone is what it is. */
	t = open_it("spiece.model");
	expect_ids(t, "a b", NULL, "3 4");
	tokenizer_free(t);
}

/* The pieces from the third on come one later, and unknown is 3 in place of 0. */
static void test_xlm_roberta(void **state)
{
	(void)state;
	put_model("sentencepiece.bpe.model", (const char *const[]){"<unk>", "<s>", "</s>", "▁a", "▁b", NULL},
		  "<unk>");
	put_text("config.json", "{\"model_type\": \"xlm-roberta\"}");
	struct tokenizer *t = open_it(NULL);
	assert_int_equal(tokenizer_size(t), 7);
	expect_ids(t, "a b", NULL, "0 4 5 2");
	expect_ids(t, "a x", "b", "0 4 3 2 2 5 2");
	expect_ids(t, "a <mask>", NULL, "0 4 6 2");
	tokenizer_free(t);
}

static void test_camembert(void **state)
{
	(void)state;
	put_model("sentencepiece.bpe.model", (const char *const[]){"<unk>", "<s>", "</s>", "▁a", NULL},
		  "<unk>");
	put_text("tokenizer_config.json", "{\"tokenizer_class\": \"CamembertTokenizer\"}");
	struct tokenizer *t = open_it(NULL);
	expect_ids(t, "a x", NULL, "5 7 3 6"); /* <s> is piece 1, and 1 + 4 */
	expect_ids(t, "<mask>", NULL, "5 8 6");
	tokenizer_free(t);
}

static void test_deberta(void **state)
{
	(void)state;
	put_model("spm.model", (const char *const[]){"[PAD]", "[CLS]", "[SEP]", "[UNK]", "▁a", "▁B", NULL},
		  "[UNK]");
	put_text("config.json", "{\"model_type\": \"deberta-v2\"}");
	struct tokenizer *t = open_it(NULL);
	expect_ids(t, "a B", "a", "1 4 5 2 4:1 2:1");
	expect_ids(t, "a [MASK]", NULL, "1 4 6 2");
	tokenizer_free(t);
}

/* ALBERT makes quotes alike, takes accents away and letters small. */
static void test_albert(void **state)
{
	(void)state;
	put_model(
	    "spiece.model",
	    (const char *const[]){"<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "▁a", "e", "\"", "▁", NULL},
	    "<unk>");
	put_text("config.json", "{\"model_type\": \"albert\"}");
	struct tokenizer *t = open_it(NULL);
	expect_ids(t, "Aé``", NULL, "2 5 6 7 3");
	expect_ids(t, "[MASK]", NULL, "2 4 3");
	tokenizer_free(t);
	put_text("tokenizer_config.json", "{\"do_lower_case\": false, \"keep_accents\": true}");
	t = open_it(NULL);
	expect_ids(t, "aé", NULL, "2 5 1 3");
	expect_ids(t, "A", NULL, "2 8 1 3");
	tokenizer_free(t);
}

static void test_llama(void **state)
{
	(void)state;
	put_model("tokenizer.model", (const char *const[]){"<unk>", "<s>", "</s>", "▁a", "▁b", NULL},
		  "<unk>");
	put_text("config.json", "{\"model_type\": \"llama\"}");
	struct tokenizer *t = open_it(NULL);
	expect_ids(t, "a", "b", "1 3 1:1 4:1");
	expect_ids(t, "a</s>", NULL, "1 3 2");
	tokenizer_free(t);
	put_text("tokenizer_config.json", "{\"add_bos_token\": false, \"add_eos_token\": true}");
	t = open_it(NULL);
	expect_ids(t, "a", "b", "3 2 4:1 2:1");
	tokenizer_free(t);
}

static void test_gemma(void **state)
{
	(void)state;
	put_model("tokenizer.model", (const char *const[]){"<pad>", "<eos>", "<bos>", "<unk>", "▁a", NULL},
		  "<unk>");
	put_text("config.json", "{\"model_type\": \"gemma2\"}");
	struct tokenizer *t = open_it(NULL);
	expect_ids(t, "a", NULL, "2 4");
	tokenizer_free(t);
	put_model("tokenizer.model", (const char *const[]){"<unk>", "▁a", NULL}, "<unk>");
	expect_refused("'<bos>'");
}

/* The ids are in vocab.json; the piece "▁c" is not. */
static void test_marian(void **state)
{
	(void)state;
	put_model("source.spm", (const char *const[]){"<unk>", "▁a", "▁b", "▁c", NULL}, "<unk>");
	put_model("target.spm", (const char *const[]){"<unk>", "▁b", "▁d", NULL}, "<unk>");
	put_text("vocab.json", "{\"</s>\": 0, \"<unk>\": 1, \"▁b\": 2, \"▁a\": 3, \"▁d\": 4, \">>fra<<\": 5,"
			       "\"<pad>\": 6}");
	put_text("config.json", "{\"model_type\": \"marian\"}");
	struct tokenizer *t = open_it(NULL);
	assert_int_equal(tokenizer_size(t), 7);
	expect_ids(t, "a b c x", NULL, "3 2 1 1 0");
	expect_ids(t, ">>fra<< a", "b", "5 3 2 0");
	tokenizer_free(t);
	t = open_it("target.spm");
	expect_ids(t, "b d a", NULL, "2 4 1 0");
	tokenizer_free(t);
	put_text("target_vocab.json", "{\"</s>\": 0, \"<unk>\": 1, \"▁d\": 2}");
	put_text("tokenizer_config.json", "{\"separate_vocabs\": true}");
	t = open_it("target.spm");
	expect_ids(t, "d", NULL, "2 0");
	tokenizer_free(t);
	put_text("vocab.json", "{\"</s>\": 0}");
	expect_refused("'<unk>'");
	put_text("vocab.json", "[]");
	expect_refused("vocab.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_t5, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_xlm_roberta, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_camembert, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_deberta, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_albert, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_llama, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_gemma, make_folder, remove_folder),
	    cmocka_unit_test_setup_teardown(test_marian, make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
