/* Subword tokens as people read them.
 *
 * Files keep tokens as their tokenizer made them; pictures and texts show what
 * they mean.  Markers that say "a word begins" or "goes on" are dropped:
 * U+2581 (SentencePiece), "##" (WordPiece), "</w>" (BPE).  A list that is in
 * the byte-level alphabet of GPT-2 (it has U+0120, the marked space) is turned
 * back into bytes.
 */
#ifndef ATTN_TOKENS_TOKEN_H
#define ATTN_TOKENS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/strings.h"

/* Append the shown form of every token of `raw` to *shown.  Bytes that are no
 * whole character (one split over tokens) show as "\xe4"; a token of nothing but
 * white space shows as U+2423 for a space, U+21B5 for a line end and U+21E5 for
 * a tab.  False: out of memory. */
bool tokens_shown(const struct string_list *raw, struct string_list *shown);

/* Parts of that.  Whether a list is in the byte-level alphabet; the bytes that a token
 * of such a list stands for; text[length], without markers, with what cannot be seen
 * written out. */
bool tokens_byte_level(const struct string_list *list);
void token_add_bytes(struct buffer *out, const char *text);
void token_add_visible(struct buffer *out, const char *text, size_t length, bool only_space);

/* Whether `text`, as a user types it, names a token: equal to it as it is in the
 * file, or as it is shown. */
bool token_matches(const char *text, const char *raw, const char *shown);

/* Whether a token is a mark that a model puts around texts and between them, and none of their words:
 * <s>, </s>, <pad>, <|en|>, >>fra<<, [CLS], [SEP].  Not <unk> and <mask>, in whose places words
 * stood, a byte such as <0x0A>, and atoms such as [nH] and [OH]. */
bool token_is_mark(const char *token);

/* The index of the token nearest to `text` by edit distance, for suggestions; the
 * list's count when none is near. */
size_t token_nearest(const char *text, const struct string_list *shown);

#endif
