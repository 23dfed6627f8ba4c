/* SentencePiece models (sentencepiece_model.proto): pieces with scores, an algorithm on them, and how a
 * text is normalised before.
 *
 * What comes out is what the sentencepiece library gives, which differs from tokenizer.json's Unigram and
 * BPE: scores are float32, merges go by the score of what they make, and the map of characters takes the
 * longest match.
 */
#ifndef ATTN_TOKENIZER_SENTENCEPIECE_H
#define ATTN_TOKENIZER_SENTENCEPIECE_H

#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/algorithm.h"
#include "tokenizer/normalizer.h"
#include "util/error.h"

/* Kinds of pieces, by the numbers of the format, which GGUF's token types have too. */
enum sentencepiece_type {
	PIECE_NORMAL = 1,
	PIECE_UNKNOWN = 2,
	PIECE_CONTROL = 3,      /* never found in a text */
	PIECE_USER_DEFINED = 4, /* found before all others, and not normalised */
	PIECE_UNUSED = 5,       /* BPE may merge it on the way, and splits it again */
	PIECE_BYTE = 6,         /* "<0x00>" to "<0xFF>": never found, but made of what is unknown */
};

struct sentencepiece_model {
	struct sentencepiece_piece {
		const char *text; /* [length], UTF-8; not owned */
		size_t length;
		float score;
		enum sentencepiece_type type;
	} * pieces; /* owned; a piece's index is its id */
	size_t count, capacity;
	bool bpe;           /* else Unigram */
	bool byte_fallback; /* what is unknown becomes the pieces of its bytes */
	const char *map;    /* [map_length], not owned: charsmap_read takes it; 0: no map */
	size_t map_length;
	bool dummy_prefix;    /* a space is put before the text */
	bool remove_spaces;   /* at the ends, and all but one elsewhere */
	bool escape_spaces;   /* as U+2581 */
	bool space_as_suffix; /* the space of dummy_prefix comes behind the text */
};

/* Read the bytes of a .model file; the model points into them.  ATTN_BAD_INPUT says what is wrong and at
 * which byte or piece; what is released afterwards in any case. */
enum attn_status sentencepiece_read(struct sentencepiece_model *m, const void *bytes, size_t length,
				    struct attn_error *err);
void sentencepiece_release(struct sentencepiece_model *m);

/* Make the algorithm, which copies all it needs.  ATTN_BAD_INPUT: no unknown piece or several, pieces
 * that repeat, bytes that are missing, scores that are not finite. */
enum attn_status sentencepiece_algorithm(struct algorithm **out, const struct sentencepiece_model *m,
					 struct attn_error *err);

/* Make an algorithm that cuts a text as `pieces` does, which it owns from now on, and gives the pieces the
 * ids of `vocab`, an object of tokens and ids (Marian's vocab.json); what that doesn't have is `unknown`. */
enum attn_status sentencepiece_map(struct algorithm **out, struct algorithm *pieces, const cJSON *vocab,
				   const char *unknown, struct attn_error *err);

/* Append the model's way to normalise as one step; it copies all it needs, too. */
enum attn_status sentencepiece_add_normalizer(struct normalizer_list *list,
					      const struct sentencepiece_model *m, struct attn_error *err);

#endif
