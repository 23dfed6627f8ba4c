/* GGUF files as tokenizers. */
#include <stdlib.h>
#include <string.h>

#include "files/input.h"
#include "tokenizer/gguf_internal.h"
#include "tokenizer/tokenizer_internal.h"

char *gguf_tokenizer_text(const struct gguf *g, const char *key)
{
	const struct gguf_pair *pair = gguf_pair(g, key);
	const char *text;
	size_t length;
	if (!pair || pair->array || pair->kind != GGUF_TEXT)
		return NULL;
	gguf_text(pair->data, &text, &length);
	return gguf_string(text, length);
}

bool gguf_tokenizer_bool(const struct gguf *g, const char *key, bool otherwise)
{
	const struct gguf_pair *pair = gguf_pair(g, key);
	return pair && !pair->array && pair->kind == GGUF_BOOL ? gguf_number(pair, 0) != 0 : otherwise;
}

enum attn_status gguf_tokenizer_id(const struct gguf *g, const struct gguf_vocabulary *v, const char *key,
				   size_t otherwise, size_t *id, struct attn_error *err)
{
	const struct gguf_pair *pair = gguf_pair(g, key);
	double number = !pair                                    ? (double)otherwise
			: pair->array || pair->kind == GGUF_TEXT ? -1
								 : gguf_number(pair, 0);
	if (!(number >= 0 && number < (double)v->count))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is none of the %zu tokens", key, v->count);
	*id = (size_t)number;
	return ATTN_OK;
}

static void write_special(struct buffer *out, const char *name, int type)
{
	buffer_printf(out, "{\"SpecialToken\": {\"id\": \"%s\", \"type_id\": %d}}", name, type);
}

static void write_template(struct buffer *out, bool bos, bool eos, bool pair)
{
	for (int i = 0; i <= pair; i++) {
		buffer_add_string(out, i ? ", " : "[");
		if (bos) {
			write_special(out, "bos", i);
			buffer_add_string(out, ", ");
		}
		buffer_printf(out, "{\"Sequence\": {\"id\": \"%c\", \"type_id\": %d}}", 'A' + i, i);
		if (eos) {
			buffer_add_string(out, ", ");
			write_special(out, "eos", i);
		}
	}
	buffer_add_string(out, "]");
}

enum attn_status gguf_write_processor(const struct gguf *g, const struct gguf_vocabulary *v, bool bos,
				      bool eos, struct buffer *out, struct attn_error *err)
{
	size_t ids[2] = {0, 0};
	const bool has[2] = {gguf_tokenizer_bool(g, "tokenizer.ggml.add_bos_token", bos),
			     gguf_tokenizer_bool(g, "tokenizer.ggml.add_eos_token", eos)};
	if (has[0])
		TRY(gguf_tokenizer_id(g, v, "tokenizer.ggml.bos_token_id", 1, &ids[0], err));
	if (has[1])
		TRY(gguf_tokenizer_id(g, v, "tokenizer.ggml.eos_token_id", 2, &ids[1], err));
	buffer_add_string(out, "{\"type\": \"TemplateProcessing\", \"single\": ");
	write_template(out, has[0], has[1], false);
	buffer_add_string(out, ", \"pair\": ");
	write_template(out, has[0], has[1], true);
	buffer_add_string(out, ", \"special_tokens\": {");
	for (int i = 0; i < 2; i++) {
		if (!has[i])
			continue;
		buffer_printf(out, "%s\"%s\": {\"ids\": [%zu], \"tokens\": [", i && has[0] ? ", " : "",
			      i ? "eos" : "bos", ids[i]);
		buffer_add_json_string(out, v->tokens[ids[i]]);
		buffer_add_string(out, "]}");
	}
	buffer_add_string(out, "}}");
	return ATTN_OK;
}

static void release_vocabulary(struct gguf_vocabulary *v)
{
	for (size_t i = 0; i < v->count && v->tokens; i++)
		free(v->tokens[i]);
	free(v->tokens);
	free(v->types);
}

static enum attn_status read_vocabulary(const struct gguf *g, struct gguf_vocabulary *v,
					struct attn_error *err)
{
	const struct gguf_pair *tokens = gguf_pair(g, "tokenizer.ggml.tokens");
	const struct gguf_pair *types = gguf_pair(g, "tokenizer.ggml.token_type");
	if (!tokens || !tokens->array || tokens->kind != GGUF_TEXT || tokens->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'tokenizer.ggml.tokens' is not an array of strings");
	if (types && (!types->array || types->kind == GGUF_TEXT || types->count != tokens->count))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'tokenizer.ggml.token_type' is not an array of %zu numbers", tokens->count);
	v->tokens = calloc(tokens->count, sizeof *v->tokens);
	v->types = calloc(tokens->count, sizeof *v->types);
	if (!v->tokens || !v->types)
		return attn_fail_memory(err);
	const unsigned char *at = tokens->data;
	for (; v->count < tokens->count; v->count++) {
		const char *text;
		size_t length;
		at = gguf_text(at, &text, &length);
		double type = types ? gguf_number(types, v->count) : PIECE_NORMAL;
		v->types[v->count] =
		    type >= PIECE_NORMAL && type <= PIECE_BYTE ? (enum sentencepiece_type)type : PIECE_UNUSED;
		v->tokens[v->count] = gguf_string(text, length);
		if (!v->tokens[v->count])
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'tokenizer.ggml.tokens[%zu]' is not UTF-8 without NULs", v->count);
	}
	return ATTN_OK;
}

/* SentencePiece's model as the arrays have it. */
static enum attn_status read_pieces(struct tokenizer *t, const struct gguf *g,
				    const struct gguf_vocabulary *v, bool bpe, struct attn_error *err)
{
	const struct gguf_pair *scores = gguf_pair(g, "tokenizer.ggml.scores");
	const struct gguf_pair *map = gguf_pair(g, "tokenizer.ggml.precompiled_charsmap");
	if (!scores || !scores->array || scores->kind == GGUF_TEXT || scores->count != v->count)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'tokenizer.ggml.scores' is not an array of %zu numbers", v->count);
	struct sentencepiece_model m = {
	    .bpe = bpe,
	    .escape_spaces = true,
	    .dummy_prefix = gguf_tokenizer_bool(g, "tokenizer.ggml.add_space_prefix", true),
	    .remove_spaces = gguf_tokenizer_bool(g, "tokenizer.ggml.remove_extra_whitespaces", !bpe),
	    .pieces = calloc(v->count, sizeof *m.pieces),
	    .count = v->count,
	};
	if (!m.pieces)
		return attn_fail_memory(err);
	if (map && map->array && gguf_kind_size(map->kind) == 1) {
		m.map = (const char *)map->data;
		m.map_length = map->count;
	}
	for (size_t i = 0; i < v->count; i++) {
		m.byte_fallback |= v->types[i] == PIECE_BYTE;
		m.pieces[i] = (struct sentencepiece_piece){v->tokens[i], strlen(v->tokens[i]),
							   (float)gguf_number(scores, i), v->types[i]};
	}
	enum attn_status status = sentencepiece_algorithm(&t->algorithm, &m, err);
	if (status == ATTN_OK)
		status = sentencepiece_add_normalizer(&t->normalizers, &m, err);
	sentencepiece_release(&m);
	return status;
}

static enum attn_status find_algorithm(const struct gguf *g, enum gguf_algorithm *kind,
				       struct attn_error *err)
{
	static const char *const names[] = {"llama", "t5", "gpt2", "bert"};
	char *name = gguf_tokenizer_text(g, "tokenizer.ggml.model");
	size_t i = 0;
	while (i < 4 && !(name && strcmp(names[i], name) == 0))
		i++;
	if (i == 4)
		attn_fail(err, ATTN_BAD_INPUT,
			  "'tokenizer.ggml.model' is '%.100s', expected llama, t5, gpt2 or bert",
			  name ? name : "");
	*kind = (enum gguf_algorithm)i;
	free(name);
	return i < 4 ? ATTN_OK : ATTN_BAD_INPUT;
}

static enum attn_status read_tokenizer(struct tokenizer *t, const struct gguf *g, struct attn_error *err)
{
	struct gguf_vocabulary v = {0};
	enum gguf_algorithm kind;
	TRY(find_algorithm(g, &kind, err));
	cJSON *root = cJSON_CreateObject();
	bool pieces = kind == GGUF_SENTENCEPIECE_BPE || kind == GGUF_SENTENCEPIECE_UNIGRAM;
	enum attn_status status = root ? read_vocabulary(g, &v, err) : attn_fail_memory(err);
	if (status == ATTN_OK && pieces)
		status = read_pieces(t, g, &v, kind == GGUF_SENTENCEPIECE_BPE, err);
	if (status == ATTN_OK)
		status = gguf_write_document(g, &v, kind, root, err);
	if (status == ATTN_OK)
		status = tokenizer_parse(t, root, err);
	cJSON_Delete(root);
	release_vocabulary(&v);
	return status;
}

enum attn_status tokenizer_parse_gguf(struct tokenizer *t, const void *bytes, size_t length,
				      struct attn_error *err)
{
	struct gguf g = {0};
	enum attn_status status = gguf_open(&g, bytes, length, err);
	if (status == ATTN_OK)
		status = read_tokenizer(t, &g, err);
	gguf_release(&g);
	return status;
}

enum attn_status tokenizer_read_gguf(struct tokenizer *t, const char *path, struct attn_error *err)
{
	struct file_bytes bytes;
	TRY(file_bytes_open(&bytes, path, err));
	enum attn_status status = tokenizer_parse_gguf(t, bytes.data, bytes.length, err);
	file_bytes_release(&bytes);
	if (status != ATTN_OK)
		attn_error_prefix(err, path);
	return status;
}
