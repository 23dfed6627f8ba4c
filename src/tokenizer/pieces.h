/* A normalised text in pieces: what added tokens and pre-tokenizers cut it into, in order. */
#ifndef ATTN_TOKENIZER_PIECES_H
#define ATTN_TOKENIZER_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "tokenizer/aligned.h"
#include "util/error.h"

#define PIECE_NO_ID SIZE_MAX

struct piece {
	size_t start, end; /* bytes of the text, never empty */
	size_t id; /* of the added token that it is, which nothing cuts or changes; else PIECE_NO_ID */
};

struct pieces {
	struct aligned text;
	struct piece *items; /* owned */
	size_t count, capacity;
	bool failed; /* no memory for a piece */
};

void pieces_release(struct pieces *p);

/* Append a piece of the text, unless it is empty. */
void pieces_add(struct pieces *p, size_t start, size_t end, size_t id);

/* What made an addition fail, as a message. */
enum attn_status pieces_check(const struct pieces *p, struct attn_error *err);

#endif
