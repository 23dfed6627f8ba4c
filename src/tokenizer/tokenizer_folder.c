/* Folders without tokenizer.json.  Their files are made into what a tokenizer.json would say, as the
 * transformers library does it (convert_slow_tokenizer.py), and that is read.
 */
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "files/json_internal.h"
#include "tokenizer/folder.h"
#include "tokenizer/tokenizer_internal.h"
#include "util/buffer.h"

/* The whole of a file in the folder; the caller closes it. */
static enum attn_status open_file(const struct folder *f, const char *name, struct file_bytes *bytes,
				  struct attn_error *err)
{
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/%s", f->path, name);
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : file_bytes_open(bytes, path.data, err);
	if (status == ATTN_OK && bytes->length > TOKENIZER_MAX_FILE) {
		status = attn_fail(err, ATTN_BAD_INPUT, "'%s' has %zu bytes, expected at most %zu", path.data,
				   bytes->length, TOKENIZER_MAX_FILE);
		file_bytes_release(bytes);
	}
	buffer_release(&path);
	return status;
}

/* A token and its id, as processors have them. */
static enum attn_status write_token(const struct algorithm *algorithm, const char *key, const char *token,
				    struct buffer *out, struct attn_error *err)
{
	size_t id;
	if (!algorithm_find(algorithm, token, strlen(token), &id))
		return attn_fail(err, ATTN_BAD_INPUT, "the vocabulary has no '%.100s', which is to be added",
				 token);
	buffer_printf(out, ", \"%s\": [", key);
	buffer_add_json_string(out, token);
	buffer_printf(out, ", %zu]", id);
	return ATTN_OK;
}

/* A processor of the kind "BertProcessing"; `more` is what else it has. */
static enum attn_status write_processor(const struct algorithm *algorithm, const char *type, const char *cls,
					const char *sep, const char *more, struct buffer *out,
					struct attn_error *err)
{
	buffer_printf(out, ", \"post_processor\": {\"type\": \"%s\"%s", type, more);
	TRY(write_token(algorithm, "cls", cls, out, err));
	TRY(write_token(algorithm, "sep", sep, out, err));
	buffer_add_string(out, "}");
	return ATTN_OK;
}

/* Read a document that wants only its last brace. */
static enum attn_status parse_written(struct tokenizer *t, struct buffer *out, struct attn_error *err)
{
	cJSON *root;
	buffer_add_string(out, "}");
	if (out->failed)
		return attn_fail_memory(err);
	TRY(json_text_parse((const unsigned char *)out->data, out->length, &root, err));
	enum attn_status status = tokenizer_parse(t, root, err);
	cJSON_Delete(root);
	return status;
}

static enum attn_status write_wordpiece(const struct folder *f, const struct algorithm *algorithm,
					struct buffer *out, struct attn_error *err)
{
	static const struct folder_default defaults[] = {{"unk_token", "[UNK]"},
							 {"sep_token", "[SEP]"},
							 {"pad_token", "[PAD]"},
							 {"cls_token", "[CLS]"},
							 {"mask_token", "[MASK]"}};
	bool mpnet = folder_is(f, "MPNet", "mpnet");
	const cJSON *accents = cJSON_GetObjectItemCaseSensitive(f->config, "strip_accents");
	buffer_add_string(out, "{");
	TRY(folder_write_added(f, algorithm, defaults, sizeof defaults / sizeof *defaults, out, err));
	buffer_printf(out,
		      ", \"normalizer\": {\"type\": \"BertNormalizer\", \"lowercase\": %s,"
		      " \"handle_chinese_chars\": %s, \"strip_accents\": %s},"
		      " \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}",
		      folder_setting(f, "do_lower_case", true) ? "true" : "false",
		      folder_setting(f, "tokenize_chinese_chars", true) ? "true" : "false",
		      !cJSON_IsBool(accents)  ? "null"
		      : cJSON_IsTrue(accents) ? "true"
					      : "false");
	return write_processor(algorithm, mpnet ? "RobertaProcessing" : "BertProcessing",
			       folder_role(f, "cls_token", mpnet ? "<s>" : "[CLS]"),
			       folder_role(f, "sep_token", mpnet ? "</s>" : "[SEP]"),
			       mpnet ? ", \"trim_offsets\": false" : "", out, err);
}

/* What classes of BPE tokenizers differ in; the last of them is GPT-2, and everyone else. */
static const struct bpe_class {
	const char *names[6][2]; /* of classes and types of models */
	const char *normalizer;  /* and pre-tokenizers, before that for bytes */
	const char *pattern;     /* to split at, with what is done to the matches; NULL: that of bytes */
	const char *processor;   /* NULL: it adds nothing, or one token before the text */
	const char *cls_role, *cls, *sep_role, *sep;
	const char *suffix; /* of a word's last piece */
} bpe_classes[] = {
    {.names = {{"Roberta", "roberta"},
	       {"Bart", "bart"},
	       {"Longformer", "longformer"},
	       {"LED", "led"},
	       {"MVP", "mvp"}},
     .processor = "RobertaProcessing",
     .cls_role = "cls_token",
     .cls = "<s>",
     .sep_role = "sep_token",
     .sep = "</s>"},
    {.names = {{"Deberta", "deberta"}},
     .processor = "BertProcessing",
     .cls_role = "cls_token",
     .cls = "[CLS]",
     .sep_role = "sep_token",
     .sep = "[SEP]"},
    {.names = {{"CLIP", "clip"}, {"CLIP", "clip_text_model"}},
     .normalizer = "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"Replace\","
		   " \"pattern\": {\"Regex\": \"\\\\s+\"}, \"content\": \" \"}, {\"type\": \"Lowercase\"}]}",
     .pattern = "\"pattern\": {\"Regex\": "
		"\"'s|'t|'re|'ve|'m|'ll|'d|[\\\\p{L}]+|[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}]+\"},"
		" \"behavior\": \"Removed\", \"invert\": true",
     .processor = "RobertaProcessing",
     .cls_role = "bos_token",
     .cls = "<|startoftext|>",
     .sep_role = "eos_token",
     .sep = "<|endoftext|>",
     .suffix = "</w>"},
    {.names = {{"Qwen2", "qwen2"}, {"Qwen2", "qwen3"}, {"Qwen2", "qwen2_moe"}, {"Qwen2", "qwen3_moe"}},
     .normalizer = "{\"type\": \"NFC\"}",
     .pattern = "\"pattern\": {\"Regex\": "
		"\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}|"
		" ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},"
		" \"behavior\": \"Isolated\", \"invert\": false"},
    {.cls = "<|endoftext|>"},
};

static const struct bpe_class *find_bpe_class(const struct folder *f)
{
	const struct bpe_class *class = bpe_classes;
	for (; class->names[0][0]; class ++)
		for (size_t i = 0; class->names[i][0]; i++)
			if (folder_is(f, class->names[i][0], class->names[i][1]))
				return class;
	return class;
}

/* A token before the text, and none before the pair. */
static enum attn_status write_first(const struct algorithm *algorithm, const char *first, struct buffer *out,
				    struct attn_error *err)
{
	static const char start[] =
	    "[{\"SpecialToken\": {\"id\": \"first\"}}, {\"Sequence\": {\"id\": \"A\"}}";
	size_t id;
	if (!algorithm_find(algorithm, first, strlen(first), &id))
		return attn_fail(err, ATTN_BAD_INPUT, "the vocabulary has no '%.100s', which is to be added",
				 first);
	buffer_printf(
	    out,
	    ", \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": %s], \"pair\": %s,"
	    " {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}], \"special_tokens\": {\"first\":"
	    " {\"ids\": [%zu], \"tokens\": [",
	    start, start, id);
	buffer_add_json_string(out, first);
	buffer_add_string(out, "]}}}");
	return ATTN_OK;
}

static enum attn_status write_bpe(const struct folder *f, const struct bpe_class *class,
				  const struct algorithm *algorithm, struct buffer *out,
				  struct attn_error *err)
{
	const struct folder_default defaults[] = {
	    {"bos_token", class->cls},
	    {"eos_token", class->sep ? class->sep : class->cls},
	    {"unk_token", class->cls && class->cls[0] == '<' && class->cls[1] == '|' ? class->cls : "<unk>"},
	    {"sep_token", class->sep},
	    {"pad_token", "<pad>"},
	    {"cls_token", class->cls},
	    {"mask_token", "<mask>"}};
	const char *prefix = folder_setting(f, "add_prefix_space", false) ? "true" : "false";
	buffer_add_string(out, "{");
	TRY(folder_write_added(f, algorithm, defaults, sizeof defaults / sizeof *defaults, out, err));
	if (class->normalizer)
		buffer_printf(out, ", \"normalizer\": %s", class->normalizer);
	buffer_add_string(out, ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [");
	if (class->pattern)
		buffer_printf(out, "{\"type\": \"Split\", %s}, ", class->pattern);
	bool whole = class->pattern && !class->suffix;
	buffer_printf(out, "{\"type\": \"ByteLevel\", \"add_prefix_space\": %s, \"use_regex\": %s}]}", prefix,
		      whole ? "false" : "true");
	if (!class->processor && folder_setting(f, "add_bos_token", false))
		return write_first(algorithm, folder_role(f, "bos_token", class->cls), out, err);
	if (!class->processor)
		return ATTN_OK;
	struct buffer more = BUFFER_INIT;
	buffer_printf(&more, ", \"add_prefix_space\": %s, \"trim_offsets\": %s", prefix,
		      class->suffix ? "false" : "true");
	enum attn_status status =
	    more.failed
		? attn_fail_memory(err)
		: write_processor(algorithm, class->processor, folder_role(f, class->cls_role, class->cls),
				  folder_role(f, class->sep_role, class->sep), more.data, out, err);
	buffer_release(&more);
	return status;
}

static enum attn_status read_wordpiece(struct tokenizer *t, const struct folder *f, struct buffer *out,
				       struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(open_file(f, "vocab.txt", &bytes, err));
	enum attn_status status = algorithm_parse_wordpiece(
	    &t->algorithm, (const char *)bytes.data, bytes.length, folder_role(f, "unk_token", "[UNK]"), err);
	file_bytes_release(&bytes);
	if (status != ATTN_OK)
		attn_error_prefix(err, "vocab.txt");
	TRY(status);
	TRY(write_wordpiece(f, t->algorithm, out, err));
	return parse_written(t, out, err);
}

static enum attn_status read_vocabulary(const struct folder *f, cJSON **vocab, struct attn_error *err)
{
	struct buffer path = BUFFER_INIT;
	buffer_printf(&path, "%s/vocab.json", f->path);
	enum attn_status status =
	    path.failed ? attn_fail_memory(err) : tokenizer_read_json(path.data, vocab, err);
	buffer_release(&path);
	return status;
}

static enum attn_status read_bpe(struct tokenizer *t, const struct folder *f, struct buffer *out,
				 struct attn_error *err)
{
	const struct bpe_class *class = find_bpe_class(f);
	struct file_bytes merges;
	cJSON *vocab = NULL;
	TRY(open_file(f, "merges.txt", &merges, err));
	enum attn_status status = read_vocabulary(f, &vocab, err);
	if (status == ATTN_OK)
		status = algorithm_parse_bpe(&t->algorithm, vocab, (const char *)merges.data, merges.length,
					     class->suffix ? folder_role(f, "unk_token", class->sep) : NULL,
					     class->suffix, err);
	cJSON_Delete(vocab);
	file_bytes_release(&merges);
	TRY(status);
	TRY(write_bpe(f, class, t->algorithm, out, err));
	return parse_written(t, out, err);
}

static enum attn_status read_folder(struct tokenizer *t, const char *path,
				    enum attn_status (*read)(struct tokenizer *t, const struct folder *f,
							     struct buffer *out, struct attn_error *err),
				    struct attn_error *err)
{
	struct buffer out = BUFFER_INIT;
	struct folder f;
	enum attn_status status = folder_read(&f, path, err);
	if (status == ATTN_OK) {
		status = read(t, &f, &out, err);
		if (status == ATTN_BAD_INPUT)
			attn_error_prefix(err, path);
	}
	buffer_release(&out);
	folder_release(&f);
	return status;
}

enum attn_status tokenizer_read_wordpiece(struct tokenizer *t, const char *folder, struct attn_error *err)
{
	return read_folder(t, folder, read_wordpiece, err);
}

enum attn_status tokenizer_read_bpe(struct tokenizer *t, const char *folder, struct attn_error *err)
{
	return read_folder(t, folder, read_bpe, err);
}
