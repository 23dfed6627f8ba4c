/* Words: which tokens of a list make one, and how it reads.
 *
 * A tokenizer's markers tell: U+2581 (SentencePiece, Kudo and Richardson 2018), U+0120 (the
 * byte-level pairs of GPT-2) or a space begin a word, "##" (WordPiece) goes on with one,
 * "</w>" ends one, and what ends in "@@" goes on (Sennrich et al. 2016).  In a list
 * without any, each token is a word.
 *
 * Where markers only say that a word begins, one also begins
 *   - at punctuation, which is a word of its own, but for an apostrophe or a full stop within
 *     letters or digits and a comma within digits (Unicode Standard Annex 29, WB6 to WB12);
 *   - at a letter of a script that is written without spaces (Chinese, Japanese, Thai, Lao,
 *     Khmer, Burmese), and behind one, but for signs that belong to the letter before.
 * A token such as <s>, </s>, <|end|> or [SEP] is a word of its own.  A character is
 * never split, whatever tokens its bytes are in.
 */
#ifndef ATTN_TOKENS_WORDS_H
#define ATTN_TOKENS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/strings.h"

struct words {
	size_t count;
	size_t *first;             /* (count + 1), owned: word w is tokens [first[w], first[w + 1]) */
	struct string_list labels; /* each as people read it, without markers */
};

/* Append the words of `list`, or each of its tokens as one.  *words begins as {0}.  False: out
 * of memory. */
bool words_add(struct words *words, const struct string_list *list);
bool words_add_single(struct words *words, const struct string_list *list);
void words_release(struct words *words);

#endif
