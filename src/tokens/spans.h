/* Runs of tokens by what they spell. */
#ifndef ATTN_TOKENS_SPANS_H
#define ATTN_TOKENS_SPANS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/strings.h"

/* Tokens [first, end), at least one. */
struct span {
	size_t first, end;
};

struct span_list {
	struct span *items; /* owned */
	size_t count, room;
};

bool span_list_add(struct span_list *list, struct span span); /* false: no memory */
void span_list_release(struct span_list *list);

/* What tokens spell one after the other, without markers and white space.  Zeroed, nothing. */
struct spelling {
	const struct string_list *raw, *shown; /* not owned */
	struct buffer text;
	size_t *ends; /* (count), owned: where each ends in the text */
};

/* Spell a list; both lists outlive the spelling.  False: no memory. */
bool spelling_init(struct spelling *s, const struct string_list *raw, const struct string_list *shown);
void spelling_release(struct spelling *s); /* safe on a zeroed one */

/* Append every place of a text: tokens that token_matches, or, where none does, runs that begin and
 * end where tokens do and spell it, white space aside: "the street".  False: no memory. */
bool spelling_find(const struct spelling *s, const char *text, struct span_list *out);

/* The tokens that have a part in bytes [start, end) of the text, at least one. */
struct span spelling_span(const struct spelling *s, size_t start, size_t end);

/* Read "#8" or "#3-5", from the first to the last; false: it is neither. */
bool span_indices(const char *text, size_t *first, size_t *last);

/* Append a text as it is spelled: without white space. */
void spelling_add(struct buffer *out, const char *text);

#endif
