/* Tokenizers of GGUF files ("tokenizer.ggml.*" of ggml's docs/gguf.md). */
#ifndef ATTN_TOKENIZER_GGUF_INTERNAL_H
#define ATTN_TOKENIZER_GGUF_INTERNAL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "files/gguf.h"
#include "tokenizer/sentencepiece.h"
#include "util/buffer.h"
#include "util/error.h"

enum gguf_algorithm {
	GGUF_SENTENCEPIECE_BPE,     /* "llama" */
	GGUF_SENTENCEPIECE_UNIGRAM, /* "t5" */
	GGUF_BPE,                   /* "gpt2" */
	GGUF_WORDPIECE,             /* "bert" */
};

struct gguf_vocabulary {
	char **tokens;                  /* owned, as are the strings; (count) */
	enum sentencepiece_type *types; /* owned; (count) */
	size_t count;
};

/* The string of a key, which the caller frees; NULL: there is none. */
char *gguf_tokenizer_text(const struct gguf *g, const char *key);

/* The bool of a key, or `otherwise`. */
bool gguf_tokenizer_bool(const struct gguf *g, const char *key, bool otherwise);

/* The id that a key has, or `otherwise`; refused where the vocabulary doesn't have it. */
enum attn_status gguf_tokenizer_id(const struct gguf *g, const struct gguf_vocabulary *v, const char *key,
				   size_t otherwise, size_t *id, struct attn_error *err);

/* Append the "post_processor" that puts bos before and eos behind a text, where the file says so, or by
 * `bos` and `eos` where it doesn't say. */
enum attn_status gguf_write_processor(const struct gguf *g, const struct gguf_vocabulary *v, bool bos,
				      bool eos, struct buffer *out, struct attn_error *err);

/* Fill the object `root` with what a tokenizer.json would say; of SentencePiece, with what goes around
 * its model. */
enum attn_status gguf_write_document(const struct gguf *g, const struct gguf_vocabulary *v,
				     enum gguf_algorithm kind, cJSON *root, struct attn_error *err);

#endif
