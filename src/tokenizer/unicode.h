/* Classes of characters as the reference tokenizers know them, and Unicode's normal forms with the
 * changes that lead to them. */
#ifndef ATTN_TOKENIZER_UNICODE_H
#define ATTN_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokenizer/aligned.h"

bool unicode_is_space(uint32_t code);       /* White_Space */
bool unicode_is_word(uint32_t code);        /* Alphabetic, M, Nd, Pc, Join_Control: \w of UTS #18 */
bool unicode_is_numeric(uint32_t code);     /* N */
bool unicode_is_punctuation(uint32_t code); /* P, and what ASCII has besides: $ + < = > ^ ` | ~ */
bool unicode_is_mark(uint32_t code);        /* M */
bool unicode_is_nonspacing(uint32_t code);  /* Mn */
bool unicode_is_other(uint32_t code);       /* Cc, Cf, Co; not what is unassigned */

/* Write the lower case of a character, without regard to those around it, and return its length. */
size_t unicode_lower(uint32_t code, uint32_t lower[2]);

/* Add the changes that make text[length] normal (UAX #15): decomposed, of compatibility too, or
 * composed again after that. */
void unicode_normalize(struct changes *c, const char *text, size_t length, bool compatible, bool compose);

/* Bytes of the grapheme cluster (UAX #29) at the start of text[length], which is not empty. */
size_t unicode_cluster(const char *text, size_t length);

#endif
