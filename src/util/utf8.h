/* UTF-8, strictly (RFC 3629: no overlong forms, surrogates or values beyond
 * U+10FFFF). */
#ifndef ATTN_UTIL_UTF8_H
#define ATTN_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in the well-formed character at the start of text[length], or 0 when
 * there is none. */
size_t utf8_step(const char *text, size_t length);

/* The same, and its code point in *code. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);

/* Write `code` as UTF-8 into out[4] and return how many bytes. */
size_t utf8_encode(uint32_t code, char *out);

/* Whether a character would steer what shows a text, instead of being shown: a
 * control code, a line or paragraph end, a change of direction, a mark of byte
 * order. */
bool utf8_is_control(uint32_t code);

bool utf8_valid(const char *text, size_t length);

#endif
