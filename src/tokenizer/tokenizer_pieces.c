/* Folders whose tokenizer is a SentencePiece model, which is made into what a tokenizer.json would say but
 * for its algorithm and its own normalization.
 */
#include <string.h>

#include "files/input.h"
#include "files/json_internal.h"
#include "tokenizer/piece_class.h"
#include "tokenizer/tokenizer_internal.h"

/* What goes on before the model's own normalization: ALBERT's and lower case. */
static enum attn_status add_normalizers(struct tokenizer *t, const struct folder *f, struct attn_error *err)
{
	bool albert = folder_is(f, "Albert", "albert");
	bool lowercase = folder_setting(f, "do_lower_case", albert);
	bool accents = !albert || folder_setting(f, "keep_accents", false);
	struct buffer text = BUFFER_INIT;
	cJSON *root = NULL;
	buffer_printf(
	    &text, "{\"type\": \"Sequence\", \"normalizers\": [%s%s%s]}",
	    albert ? "{\"type\": \"Replace\", \"pattern\": {\"String\": \"``\"}, \"content\": \"\\\"\"},"
		     "{\"type\": \"Replace\", \"pattern\": {\"String\": \"''\"}, \"content\": \"\\\"\"}"
		   : "",
	    accents ? "" : ", {\"type\": \"NFKD\"}, {\"type\": \"StripAccents\"}",
	    !lowercase ? ""
	    : albert   ? ", {\"type\": \"Lowercase\"}"
		       : "{\"type\": \"Lowercase\"}");
	enum attn_status status =
	    text.failed ? attn_fail_memory(err)
			: json_text_parse((const unsigned char *)text.data, text.length, &root, err);
	if (status == ATTN_OK)
		status = normalizer_parse(&t->normalizers, root, err);
	cJSON_Delete(root);
	buffer_release(&text);
	return status;
}

/* Set the algorithm and the normalizers. */
static enum attn_status take_model(struct tokenizer *t, const struct piece_class *class,
				   const struct folder *f, const struct file_bytes *bytes, const cJSON *vocab,
				   struct attn_error *err)
{
	struct sentencepiece_model model;
	struct algorithm *pieces;
	struct buffer names = BUFFER_INIT;
	enum attn_status status = sentencepiece_read(&model, bytes->data, bytes->length, err);
	if (status == ATTN_OK)
		status = piece_class_arrange(class, f, &model, &names, err);
	if (status == ATTN_OK)
		status = add_normalizers(t, f, err);
	if (status == ATTN_OK)
		status = sentencepiece_add_normalizer(&t->normalizers, &model, err);
	if (status == ATTN_OK)
		status = sentencepiece_algorithm(&t->algorithm, &model, err);
	if (status == ATTN_OK && class->arrangement == MAPPED) {
		pieces = t->algorithm;
		status = sentencepiece_map(&t->algorithm, pieces, vocab, folder_role(f, "unk_token", "<unk>"),
					   err);
	}
	sentencepiece_release(&model);
	buffer_release(&names);
	return status;
}

/* Append to the list of added tokens, which is the end of *out, those that Marian's vocabularies have for
 * languages: ">>fra<<". */
static void write_languages(const cJSON *vocab, struct buffer *out)
{
	const cJSON *item;
	if (out->failed)
		return;
	out->data[--out->length] = '\0';
	cJSON_ArrayForEach(item, vocab)
	{
		size_t length = strlen(item->string);
		if (length < 5 || strncmp(item->string, ">>", 2) != 0 ||
		    strcmp(item->string + length - 2, "<<") != 0)
			continue;
		bool first = out->failed || out->data[out->length - 1] == '[';
		buffer_add_string(out, first ? "{\"content\": " : ", {\"content\": ");
		buffer_add_json_string(out, item->string);
		buffer_add_string(out, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"
				       " \"normalized\": false, \"special\": true}");
	}
	buffer_add_string(out, "]");
}

/* What is said beside the model, as a tokenizer.json says it. */
static enum attn_status parse_rest(struct tokenizer *t, const struct folder *f,
				   const struct piece_class *class, const cJSON *vocab, struct buffer *out,
				   struct attn_error *err)
{
	struct piece_roles defaults = piece_class_roles(class);
	cJSON *root;
	buffer_add_string(out, "{");
	TRY(folder_write_added(f, t->algorithm, defaults.items, PIECE_ROLES, out, err));
	if (class->arrangement == MAPPED)
		write_languages(vocab, out);
	TRY(piece_class_write_processor(class, f, t->algorithm, out, err));
	buffer_add_string(out, "}");
	if (out->failed)
		return attn_fail_memory(err);
	TRY(json_text_parse((const unsigned char *)out->data, out->length, &root, err));
	enum attn_status status = tokenizer_parse(t, root, err);
	cJSON_Delete(root);
	return status;
}

static enum attn_status read_model(struct tokenizer *t, const struct folder *f,
				   const struct piece_class *class, const char *path, const cJSON *vocab,
				   struct attn_error *err)
{
	struct file_bytes bytes;
	struct buffer out = BUFFER_INIT;
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status = bytes.length > TOKENIZER_MAX_FILE
				      ? attn_fail(err, ATTN_BAD_INPUT, "%zu bytes, expected at most %zu",
						  bytes.length, TOKENIZER_MAX_FILE)
				      : take_model(t, class, f, &bytes, vocab, err);
	file_bytes_release(&bytes);
	if (status == ATTN_OK)
		status = parse_rest(t, f, class, vocab, &out, err);
	buffer_release(&out);
	if (status != ATTN_OK)
		attn_error_prefix(err, path);
	return status;
}

/* Marian's vocabulary: one for both languages, or one for each. */
static enum attn_status read_vocab(const struct folder *f, const char *name, cJSON **vocab,
				   struct attn_error *err)
{
	struct buffer path = BUFFER_INIT;
	bool target = strcmp(name, "target.spm") == 0 && folder_setting(f, "separate_vocabs", false);
	buffer_printf(&path, "%s/%s", f->path, target ? "target_vocab.json" : "vocab.json");
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : tokenizer_read_json(path.data, vocab, err);
	buffer_release(&path);
	return status;
}

static enum attn_status read_folder(struct tokenizer *t, const struct folder *f, const char *name,
				    struct attn_error *err)
{
	const struct piece_class *class = piece_class_find(f);
	struct buffer path = BUFFER_INIT;
	cJSON *vocab = NULL;
	if (!class)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s' has '%s', and neither tokenizer_config.json nor config.json says that it is of "
		    "Albert, Camembert, DebertaV2, Gemma, Llama, Marian, MT5, T5 or XLMRoberta",
		    f->path, name);
	buffer_printf(&path, "%s/%s", f->path, name);
	enum attn_status status = path.failed ? attn_fail_memory(err) : ATTN_OK;
	if (status == ATTN_OK && class->arrangement == MAPPED)
		status = read_vocab(f, name, &vocab, err);
	if (status == ATTN_OK)
		status = read_model(t, f, class, path.data, vocab, err);
	cJSON_Delete(vocab);
	buffer_release(&path);
	return status;
}

enum attn_status tokenizer_read_pieces(struct tokenizer *t, const char *folder, const char *name,
				       struct attn_error *err)
{
	struct folder f;
	enum attn_status status = folder_read(&f, folder, err);
	if (status == ATTN_OK)
		status = read_folder(t, &f, name, err);
	folder_release(&f);
	return status;
}
