/* The letters that stand for bytes in byte-level vocabularies, such as U+0120 for a space. */
#ifndef ATTN_TOKENIZER_BYTES_H
#define ATTN_TOKENIZER_BYTES_H

#include <stddef.h>

#include "tokenizer/aligned.h"

/* The letter of a byte: printable ones of Latin-1 for themselves, the 68 others in their order from
 * U+0100 on (bytes_to_unicode of GPT-2's encoder.py). */
uint32_t byte_letter(unsigned char byte);

/* Append the letters of the bytes [start, end) of `from`. */
void aligned_add_letters(struct aligned *out, const struct aligned *from, size_t start, size_t end);

#endif
