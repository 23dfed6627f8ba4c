/* What SentencePiece's two algorithms share. */
#ifndef ATTN_TOKENIZER_SENTENCEPIECE_INTERNAL_H
#define ATTN_TOKENIZER_SENTENCEPIECE_INTERNAL_H

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/trie.h"

#define ALL_PIECES (~0u)
#define TEXT_PIECES (1u << PIECE_NORMAL | 1u << PIECE_USER_DEFINED | 1u << PIECE_UNUSED)

struct sentencepiece {
	struct algorithm base;
	struct vocabulary found; /* the pieces that a text can have: normal, user defined and unused */
	struct trie trie;        /* Unigram: of those; BPE: of user defined ones alone */
	float *scores;           /* owned; (pieces) */
	uint32_t *ranks;         /* owned; (pieces) of BPE: 0 for the best score, and equal for equal ones */
	unsigned char *types;    /* owned; (pieces) of enum sentencepiece_type */
	float least, greatest;   /* of the normal scores */
	uint32_t unknown;
	bool any_unused, byte_fallback;
	uint32_t bytes[256];
};

/* Appends what an algorithm finds: unknown characters side by side are one token, or each the tokens of
 * its bytes. */
struct piece_writer {
	const struct sentencepiece *model;
	const char *text;
	struct subtokens *out;
	bool after_unknown;
	bool failed; /* no memory */
};

void write_piece(struct piece_writer *w, uint32_t id, size_t start, size_t end);

enum attn_status sentencepiece_encode_unigram(const struct algorithm *a, const char *piece, size_t length,
					      struct subtokens *out, struct attn_error *err);
enum attn_status sentencepiece_encode_bpe(const struct algorithm *a, const char *piece, size_t length,
					  struct subtokens *out, struct attn_error *err);

/* Make a vocabulary, with the pieces' ids, of those whose type is in `types`, a bit for each.
 * Unless they are all, none may be there twice. */
enum attn_status sentencepiece_collect(struct vocabulary *v, const struct sentencepiece_model *m,
				       unsigned types, struct attn_error *err);

#endif
