/* The tokenizers of GGUF files that a tokenizer.json could say, byte-level BPE and WordPiece, made into that.
 */
#include <stdlib.h>
#include <string.h>

#include "files/json_internal.h"
#include "tokenizer/gguf_internal.h"

/* Splits at these, then letters for bytes; what the files call them. */
#define GPT2_PATTERN                                                                                         \
	"'s|'t|'re|'ve|'m|'ll|'d| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)|\\\\s+"
#define CL100K_PATTERN(digits)                                                                               \
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" digits                       \
	"| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define O200K_UPPER "\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}"
#define O200K_LOWER "\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}"
#define O200K_END "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
#define O200K_PATTERN                                                                                        \
	"[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[" O200K_UPPER "]*[" O200K_LOWER "]+" O200K_END                       \
	"[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[" O200K_UPPER "]+[" O200K_LOWER "]*" O200K_END                       \
	"\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static const struct {
	const char *names[4];
	const char *pattern;
	bool compose, ignore_merges, bos;
} kinds[] = {
    {.names = {"gpt-2", "gpt2", "phi-2"}, .pattern = GPT2_PATTERN},
    {.names = {"llama-bpe", "llama3", "llama-v3"},
     .pattern = CL100K_PATTERN("\\\\p{N}{1,3}"),
     .ignore_merges = true,
     .bos = true},
    {.names = {"qwen2"}, .pattern = CL100K_PATTERN("\\\\p{N}"), .compose = true},
    {.names = {"gpt-4o", "llama4"}, .pattern = O200K_PATTERN},
};

/* Read JSON text and put it into an object. */
static enum attn_status add_json(cJSON *object, const char *key, const struct buffer *text,
				 struct attn_error *err)
{
	cJSON *value;
	if (text->failed)
		return attn_fail_memory(err);
	TRY(json_text_parse((const unsigned char *)text->data, text->length, &value, err));
	if (cJSON_AddItemToObject(object, key, value))
		return ATTN_OK;
	cJSON_Delete(value);
	return attn_fail_memory(err);
}

/* An object of the tokens and their ids; of WordPiece as BERT writes them: the file marks what begins a
 * word by U+2581, not what goes on. */
static enum attn_status add_vocabulary(cJSON *model, const struct gguf_vocabulary *v, bool wordpiece,
				       struct attn_error *err)
{
	cJSON *vocab = cJSON_AddObjectToObject(model, "vocab");
	struct buffer name = BUFFER_INIT;
	bool ok = vocab != NULL;
	for (size_t i = 0; i < v->count && ok; i++) {
		const char *text = v->tokens[i];
		buffer_clear(&name);
		if (wordpiece && strncmp(text, "\xe2\x96\x81", 3) == 0)
			text += 3;
		else if (wordpiece && v->types[i] == PIECE_NORMAL)
			buffer_add_string(&name, "##");
		buffer_add_string(&name, text);
		ok = !name.failed && cJSON_AddNumberToObject(vocab, name.data, (double)i);
	}
	buffer_release(&name);
	return ok ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status add_merges(cJSON *model, const struct gguf *g, struct attn_error *err)
{
	const struct gguf_pair *pair = gguf_pair(g, "tokenizer.ggml.merges");
	cJSON *merges = cJSON_AddArrayToObject(model, "merges");
	if (!pair || !pair->array || pair->kind != GGUF_TEXT)
		return attn_fail(err, ATTN_BAD_INPUT, "'tokenizer.ggml.merges' is not an array of strings");
	const unsigned char *at = pair->data;
	for (size_t i = 0; i < pair->count; i++) {
		const char *text;
		size_t length;
		at = gguf_text(at, &text, &length);
		char *line = gguf_string(text, length);
		cJSON *item = line ? cJSON_CreateString(line) : NULL;
		bool added = item && cJSON_AddItemToArray(merges, item);
		if (!line)
			attn_fail(err, ATTN_BAD_INPUT,
				  "'tokenizer.ggml.merges[%zu]' is not UTF-8 without NULs", i);
		else if (!added)
			attn_fail_memory(err);
		free(line);
		if (!added) {
			cJSON_Delete(item);
			return err->status;
		}
	}
	return ATTN_OK;
}

static enum attn_status write_bpe(const struct gguf *g, const struct gguf_vocabulary *v, cJSON *root,
				  struct buffer *text, struct attn_error *err)
{
	char *name = gguf_tokenizer_text(g, "tokenizer.ggml.pre");
	size_t kind = 0, kinds_count = sizeof kinds / sizeof *kinds;
	bool found = false;
	for (size_t i = 0; i < kinds_count && name && !found; i++)
		for (size_t n = 0; n < 4 && kinds[i].names[n] && !found; n++) {
			found = strcmp(kinds[i].names[n], name) == 0;
			kind = i;
		}
	if (!found)
		attn_fail(err, ATTN_BAD_INPUT,
			  "'tokenizer.ggml.pre' is '%.100s', expected gpt-2, llama-bpe, qwen2 or gpt-4o",
			  name ? name : "");
	free(name);
	if (!found)
		return ATTN_BAD_INPUT;
	cJSON *model = cJSON_AddObjectToObject(root, "model");
	if (!model || !cJSON_AddStringToObject(model, "type", "BPE") ||
	    !cJSON_AddBoolToObject(model, "ignore_merges", kinds[kind].ignore_merges))
		return attn_fail_memory(err);
	TRY(add_vocabulary(model, v, false, err));
	TRY(add_merges(model, g, err));
	buffer_printf(text,
		      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
		      "{\"Regex\": \"%s\"},"
		      " \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\","
		      " \"add_prefix_space\": %s, \"use_regex\": false}]}",
		      kinds[kind].pattern,
		      gguf_tokenizer_bool(g, "tokenizer.ggml.add_space_prefix", false) ? "true" : "false");
	TRY(add_json(root, "pre_tokenizer", text, err));
	buffer_clear(text);
	buffer_add_string(text, kinds[kind].compose ? "{\"type\": \"NFC\"}" : "null");
	TRY(add_json(root, "normalizer", text, err));
	buffer_clear(text);
	return gguf_write_processor(g, v, kinds[kind].bos, false, text, err);
}

/* Whether a vocabulary has letters with case: only then is the text left as it is. */
static bool is_cased(const struct gguf_vocabulary *v)
{
	for (size_t i = 0; i < v->count; i++) {
		const char *text = v->tokens[i];
		text += strncmp(text, "\xe2\x96\x81", 3) == 0 ? 3 : 0;
		if (v->types[i] == PIECE_NORMAL && *text >= 'A' && *text <= 'Z')
			return true;
	}
	return false;
}

static enum attn_status write_wordpiece(const struct gguf *g, const struct gguf_vocabulary *v, cJSON *root,
					struct buffer *text, struct attn_error *err)
{
	size_t unknown, cls, sep;
	cJSON *model = cJSON_AddObjectToObject(root, "model");
	TRY(gguf_tokenizer_id(g, v, "tokenizer.ggml.unknown_token_id", 100, &unknown, err));
	TRY(gguf_tokenizer_id(g, v, "tokenizer.ggml.cls_token_id", 101, &cls, err));
	TRY(gguf_tokenizer_id(g, v, "tokenizer.ggml.seperator_token_id", 102, &sep, err)); /* sic */
	if (!model || !cJSON_AddStringToObject(model, "type", "WordPiece") ||
	    !cJSON_AddStringToObject(model, "unk_token", v->tokens[unknown]))
		return attn_fail_memory(err);
	TRY(add_vocabulary(model, v, true, err));
	buffer_printf(text,
		      "{\"type\": \"BertNormalizer\", \"lowercase\": %s, \"handle_chinese_chars\": true,"
		      " \"strip_accents\": null}",
		      is_cased(v) ? "false" : "true");
	TRY(add_json(root, "normalizer", text, err));
	buffer_clear(text);
	buffer_add_string(text, "{\"type\": \"BertPreTokenizer\"}");
	TRY(add_json(root, "pre_tokenizer", text, err));
	buffer_clear(text);
	buffer_add_string(text, "{\"type\": \"BertProcessing\", \"cls\": [");
	buffer_add_json_string(text, v->tokens[cls]);
	buffer_printf(text, ", %zu], \"sep\": [", cls);
	buffer_add_json_string(text, v->tokens[sep]);
	buffer_printf(text, ", %zu]}", sep);
	return ATTN_OK;
}

enum attn_status gguf_write_document(const struct gguf *g, const struct gguf_vocabulary *v,
				     enum gguf_algorithm kind, cJSON *root, struct attn_error *err)
{
	struct buffer text = BUFFER_INIT;
	enum attn_status status = kind == GGUF_BPE ? write_bpe(g, v, root, &text, err)
				  : kind == GGUF_WORDPIECE
				      ? write_wordpiece(g, v, root, &text, err)
				      : gguf_write_processor(g, v, kind == GGUF_SENTENCEPIECE_BPE,
							     kind == GGUF_SENTENCEPIECE_UNIGRAM, &text, err);
	if (status == ATTN_OK)
		status = add_json(root, "post_processor", &text, err);
	buffer_clear(&text);
	buffer_add_string(&text, "[");
	for (size_t i = 0; i < v->count; i++) {
		/* SentencePiece's BPE finds its user defined pieces in the middle of a text. */
		bool own = v->types[i] == PIECE_USER_DEFINED && kind != GGUF_SENTENCEPIECE_BPE;
		if (v->types[i] != PIECE_CONTROL && v->types[i] != PIECE_UNKNOWN && !own)
			continue;
		buffer_add_string(&text, text.length > 1 ? ", {\"content\": " : "{\"content\": ");
		buffer_add_json_string(&text, v->tokens[i]);
		buffer_printf(&text, ", \"normalized\": false, \"special\": %s}", own ? "false" : "true");
	}
	buffer_add_string(&text, "]");
	if (status == ATTN_OK)
		status = add_json(root, "added_tokens", &text, err);
	buffer_release(&text);
	return status;
}
