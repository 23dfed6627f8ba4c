/* SentencePiece models written field by field.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_SENTENCEPIECE_TEST_H
#define ATTN_TESTS_SENTENCEPIECE_TEST_H

#include <stdint.h>
#include <string.h>

#include "tokenizer/sentencepiece.h"
#include "util/buffer.h"

static inline void add_varint(struct buffer *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buffer_add_char(b, (char)(value | 0x80));
	buffer_add_char(b, (char)value);
}

static inline void add_number(struct buffer *b, unsigned field, uint64_t value)
{
	add_varint(b, field << 3);
	add_varint(b, value);
}

static inline void add_bytes(struct buffer *b, unsigned field, const void *bytes, size_t length)
{
	add_varint(b, field << 3 | 2);
	add_varint(b, length);
	buffer_add(b, bytes, length);
}

static inline void add_piece(struct buffer *model, const char *text, float score, unsigned type)
{
	struct buffer piece = BUFFER_INIT;
	uint32_t bits;
	memcpy(&bits, &score, 4);
	add_bytes(&piece, 1, text, strlen(text));
	add_varint(&piece, 2 << 3 | 5);
	for (int i = 0; i < 4; i++)
		buffer_add_char(&piece, (char)(bits >> 8 * i));
	if (type != PIECE_NORMAL)
		add_number(&piece, 3, type);
	add_bytes(model, 1, piece.data, piece.length);
	buffer_release(&piece);
}

#endif
