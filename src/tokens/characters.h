/* What a character is, as far as words go. */
#ifndef ATTN_TOKENS_CHARACTERS_H
#define ATTN_TOKENS_CHARACTERS_H

#include <stdbool.h>
#include <stdint.h>

/* A mark between words or around them (general category P of Unicode, without the
 * low line, and the ASCII symbols). */
bool character_is_punctuation(uint32_t code);

/* A letter of a script that puts no spaces between words: Chinese, Japanese, Thai, Lao,
 * Khmer, Burmese. */
bool character_is_unspaced(uint32_t code);

/* A sign that belongs to the letter before, in those scripts. */
bool character_is_extending(uint32_t code);

bool character_is_digit(uint32_t code); /* of ASCII */

/* Neither of these, nor a digit, a space or a control character; 0 is none. */
bool character_is_letter(uint32_t code);

#endif
