/* What a tokenizer is made of. */
#ifndef ATTN_TOKENIZER_TOKENIZER_INTERNAL_H
#define ATTN_TOKENIZER_TOKENIZER_INTERNAL_H

#include <cjson/cJSON.h>

#include "tokenizer/added.h"
#include "tokenizer/algorithm.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/postprocessor.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/tokenizer.h"

/* Bytes of a file; the largest published tokenizer.json is of a vocabulary of a million, and has 62 million.
 */
#define TOKENIZER_MAX_FILE ((size_t)80 << 20)

/* In the order in which a text meets them; the added tokens both before and after the normalizers. */
struct tokenizer {
	struct added_vocabulary added;
	struct normalizer_list normalizers;
	struct pretokenizer_list pretokenizers;
	struct algorithm *algorithm; /* owned */
	struct postprocessor post;
};

/* Read the document of a tokenizer.json into an empty tokenizer; its "model" only where there is no
 * algorithm yet.  Messages begin with the key. */
enum attn_status tokenizer_parse(struct tokenizer *t, const cJSON *root, struct attn_error *err);

/* Read a JSON file, which the caller frees by cJSON_Delete; larger ones than any tokenizer are refused
 * unread.  Messages name the file. */
enum attn_status tokenizer_read_json(const char *path, cJSON **root, struct attn_error *err);

/* Read the older files of a folder into an empty tokenizer: vocab.txt, or vocab.json and merges.txt, with
 * what tokenizer_config.json, special_tokens_map.json, added_tokens.json and config.json have to say. */
enum attn_status tokenizer_read_wordpiece(struct tokenizer *t, const char *folder, struct attn_error *err);
enum attn_status tokenizer_read_bpe(struct tokenizer *t, const char *folder, struct attn_error *err);

/* Read a vocabulary of CTranslate2 into an empty tokenizer. */
enum attn_status tokenizer_read_vocabulary(struct tokenizer *t, const char *path, struct attn_error *err);

/* Read a SentencePiece model into an empty tokenizer: as it is, with nothing added around the text.  Of its
 * bytes nothing is needed afterwards; messages about a file name it. */
enum attn_status tokenizer_parse_sentencepiece(struct tokenizer *t, const void *bytes, size_t length,
					       struct attn_error *err);
enum attn_status tokenizer_read_sentencepiece(struct tokenizer *t, const char *path, struct attn_error *err);

/* Read the tokenizer of a GGUF file into an empty one; nothing of the bytes is needed afterwards. */
enum attn_status tokenizer_parse_gguf(struct tokenizer *t, const void *bytes, size_t length,
				      struct attn_error *err);
enum attn_status tokenizer_read_gguf(struct tokenizer *t, const char *path, struct attn_error *err);

/* Read the SentencePiece model `name` of a folder, with what the class of its tokenizer makes of it. */
enum attn_status tokenizer_read_pieces(struct tokenizer *t, const char *folder, const char *name,
				       struct attn_error *err);

#endif
