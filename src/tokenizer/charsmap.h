/* The precompiled map of SentencePiece: strings and what each is normalized to.
 *
 * Its form (builder.cc, normalizer.cc of SentencePiece; darts-clone): uint32 size of the trie in
 * bytes, little-endian as all numbers; the trie, a double array of uint32 units; then the
 * replacements, each ended by a NUL.  A value of the trie is an offset into the replacements.
 */
#ifndef ATTN_TOKENIZER_CHARSMAP_H
#define ATTN_TOKENIZER_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Bytes of what is replaced, and of what it is replaced by: sound maps stay far below, and a text takes
 * at most as many times its length, in time and in space. */
#define CHARSMAP_MAX_LENGTH 256

struct charsmap;

/* Read the base64 text[length] ("precompiled_charsmap" of a tokenizer.json) into *out, which the
 * caller frees by charsmap_free.  ATTN_BAD_INPUT, with *out NULL, where it isn't base64 or the sizes
 * do not fit, or a replacement is no UTF-8 or too long.  Units that lead out of the array are met, and end a
 * walk, in charsmap_find. */
enum attn_status charsmap_parse(struct charsmap **out, const char *text, size_t length,
				struct attn_error *err);

/* The same for the bytes themselves, as a SentencePiece model holds them; they are copied. */
enum attn_status charsmap_read(struct charsmap **out, const void *bytes, size_t length,
			       struct attn_error *err);

void charsmap_free(struct charsmap *m); /* `m` may be NULL */

/* Find a prefix of text[length] that the map replaces: the longest, as SentencePiece does, or the
 * shortest, as Hugging Face's Precompiled does.  *matched is its length in bytes, at least 1, and
 * (*replacement)[*replacement_length], which may be empty, belongs to the map.  False: there is none.
 * Replacements are valid UTF-8. */
bool charsmap_find(const struct charsmap *m, const char *text, size_t length, bool longest, size_t *matched,
		   const char **replacement, size_t *replacement_length);

#endif
