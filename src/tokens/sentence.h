/* Where sentences end in a list of tokens. */
#ifndef ATTN_TOKENS_SENTENCE_H
#define ATTN_TOKENS_SENTENCE_H

#include <stdbool.h>

#include "util/strings.h"

/* For each of the shown tokens whether a sentence ends with it; the caller frees
 * it, and it is NULL without memory.  That is a token that ends in a full stop or
 * a mark of question or exclamation of any of the larger scripts, maybe with
 * closing quotes and brackets after it, or a mark of a model ([SEP], </s>, <eos>,
 * <|endoftext|>); of several in a row the last.  A point does not end a sentence
 * after a single letter or between points and letters ("U.S."), nor as a token
 * between numbers. */
bool *sentence_ends(const struct string_list *shown);

/* Whether a shown token separates others and means nothing itself: full stops and the like,
 * commas, colons and semicolons of the larger scripts, maybe with closing quotes and
 * brackets, or a mark of a model. */
bool token_separates(const char *shown);

#endif
