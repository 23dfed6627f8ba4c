/* Text to tokens, as the tokenizer of a model does it: what is in a tokenizer.json, or in the
 * older files of a model's folder.  Truncation and padding that a file asks for are not done.
 *
 * A tokenizer is not changed by encoding, but one is used by one thread at a time.
 */
#ifndef ATTN_TOKENIZER_TOKENIZER_H
#define ATTN_TOKENIZER_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct token {
	size_t id;
	/* The vocabulary's entry; of an unknown piece of a Unigram model the piece's own text; of an
	 * added token what it matched.  Owned. */
	char *text;
	/* Code points of the text (of the pair, for its tokens); 0 and 0 where the post-processor added it.
	 */
	size_t start, end;
	bool special; /* added by the post-processor */
	/* The segment that the post-processor puts it into: 0 or 1, rarely more. */
	unsigned char type;
};

struct encoding {
	struct token *tokens; /* [count], owned */
	size_t count;
};

struct tokenizer;

/* Open what is at `path`: a folder, or one of its files.  In a folder that is tokenizer.json, else
 * vocab.txt (WordPiece), else vocab.json and merges.txt (BPE), else a SentencePiece model (spiece.model,
 * sentencepiece.bpe.model, tokenizer.model, spm.model, or Marian's source.spm with vocab.json); the older
 * ones are read together with tokenizer_config.json and special_tokens_map.json where there are such.
 * CTranslate2's source_vocabulary.txt or shared_vocabulary.txt come last: of single characters each is a
 * token, else what white space parts.
 * A .model file alone is read as it is, with nothing added around a text; target.spm stands for its folder
 * with the other language.  A .gguf file's tokenizer is in its keys.
 * ATTN_FAILED: a file cannot be read; ATTN_BAD_INPUT: it is not as it should be, or asks for
 * something that is not supported, with the file and the key in the message. */
enum attn_status tokenizer_open(struct tokenizer **out, const char *path, struct attn_error *err);

/* What a model's folder has for the texts that its decoder writes; *out is NULL where that is the same:
 * target.spm of Marian, or CTranslate2's target_vocabulary.txt. */
enum attn_status tokenizer_open_target(struct tokenizer **out, const char *path, struct attn_error *err);
void tokenizer_free(struct tokenizer *t); /* NULL is none */

/* Encode text[length], and pair[pair_length] unless `pair` is NULL (an empty pair is a pair), with
 * what the post-processor adds if `specials`.  *out is overwritten, and empty after a failure.
 * ATTN_BAD_INPUT: the text is not UTF-8, or a pattern of the tokenizer takes too long on it. */
enum attn_status tokenizer_encode(const struct tokenizer *t, const char *text, size_t length,
				  const char *pair, size_t pair_length, bool specials, struct encoding *out,
				  struct attn_error *err);
void encoding_release(struct encoding *e);

/* All ids are below it. */
size_t tokenizer_size(const struct tokenizer *t);

/* The entry of `id`, of the vocabulary or an added token, or NULL where there is none; owned by
 * the tokenizer. */
const char *tokenizer_token(const struct tokenizer *t, size_t id);

/* The algorithm, for people: "BPE", "WordPiece", "Unigram", "WordLevel", "SentencePiece BPE" and so on. */
const char *tokenizer_kind(const struct tokenizer *t);

#endif
