/* The algorithm of a tokenizer with its vocabulary: BPE, WordPiece, Unigram or WordLevel.
 *
 * It turns one piece of text, as the normalizers and pre-tokenizers left it, into ids.  What is
 * done before and after that (added tokens, normalization, splitting, special tokens, offsets in
 * the original text) is the pipeline's.  An algorithm never changes once it is read, so any number
 * of threads may use it.
 *
 * Formulas and the choice between equals are those of the reference library, Hugging Face's
 * tokenizers; each algorithm's file names its paper.
 */
#ifndef ATTN_TOKENIZER_ALGORITHM_H
#define ATTN_TOKENIZER_ALGORITHM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct subtoken {
	size_t id;
	size_t start, end; /* bytes of the piece given, start <= end <= its length */
	bool unknown;      /* of Unigram: its text is the piece's own, not the vocabulary's entry */
};

struct subtokens {
	struct subtoken *items; /* owned */
	size_t count, capacity;
};

#define SUBTOKENS_INIT                                                                                       \
	{                                                                                                    \
		NULL, 0, 0                                                                                   \
	}

void subtokens_release(struct subtokens *list);

struct algorithm;

/* Read the "model" object of a tokenizer.json into *out, which the caller frees by algorithm_free.
 * Where "type" is missing, as in older files, it is told from the other keys.  Nothing of `model`
 * is needed afterwards.  ATTN_BAD_INPUT, naming the key, for what the format does not allow, with
 * *out NULL. */
enum attn_status algorithm_parse(struct algorithm **out, const cJSON *model, struct attn_error *err);

/* The same for a WordPiece vocabulary in text[length]: an entry a line, its id the line's number
 * from 0 (vocab.txt).  `unk_token` stands for words that cannot be made of it; it may be missing
 * from the vocabulary until such a word comes. */
enum attn_status algorithm_parse_wordpiece(struct algorithm **out, const char *text, size_t length,
					   const char *unk_token, struct attn_error *err);

/* The same for BPE in two files: `vocab` is an object of entries and ids (vocab.json), merges[length]
 * has a pair a line, best first, and may start with a line "#version" (merges.txt).  `unk_token` and
 * `end_of_word_suffix` (CLIP's "</w>") may be NULL: none. */
enum attn_status algorithm_parse_bpe(struct algorithm **out, const cJSON *vocab, const char *merges,
				     size_t length, const char *unk_token, const char *end_of_word_suffix,
				     struct attn_error *err);

void algorithm_free(struct algorithm *a); /* `a` may be NULL */

/* Append the subtokens of piece[length] to *out; the piece is valid UTF-8, an empty one has none.
 * Takes O(length log length) at most.  ATTN_BAD_INPUT where the piece needs an unknown token and the
 * vocabulary has none; *out then holds what it held before. */
enum attn_status algorithm_encode(const struct algorithm *a, const char *piece, size_t length,
				  struct subtokens *out, struct attn_error *err);

/* "BPE", "WordPiece", "Unigram" or "WordLevel". */
const char *algorithm_kind(const struct algorithm *a);

size_t algorithm_size(const struct algorithm *a); /* every id is below it; there may be holes */

/* The entry with this id, NUL-terminated and owned by `a`, or NULL where there is none.  Of several
 * entries with one id it is the last. */
const char *algorithm_token(const struct algorithm *a, size_t id);

/* The id of the entry token[length], or false. */
bool algorithm_find(const struct algorithm *a, const char *token, size_t length, size_t *id);

#endif
