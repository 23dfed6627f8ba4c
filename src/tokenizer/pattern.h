/* Patterns that cut and replace text: literal strings, and regular expressions in Oniguruma's
 * syntax, as files of tokenizers have them, which PCRE2 matches.
 *
 * A pattern comes from outside: its length, its nesting and the steps of each match are limited.
 */
#ifndef ATTN_TOKENIZER_PATTERN_H
#define ATTN_TOKENIZER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/error.h"

/* A part of a text, and whether the pattern matched it or it lies between matches. */
struct range {
	size_t start, end; /* bytes; start == end for an empty match */
	bool match;
};

struct ranges {
	struct range *items; /* owned */
	size_t count, capacity;
};

void ranges_release(struct ranges *list);
bool ranges_add(struct ranges *list, size_t start, size_t end, bool match); /* false: no memory */

struct pattern;

/* text[length] itself; an empty one matches between all characters. */
enum attn_status pattern_literal(struct pattern **out, const char *text, struct attn_error *err);

/* ATTN_BAD_INPUT, with the pattern in the message, where it is wrong, too long, or has a construct
 * that is not supported. */
enum attn_status pattern_regex(struct pattern **out, const char *regex, struct attn_error *err);

void pattern_free(struct pattern *p); /* NULL is none */

/* Append to *out the ranges that text[length] falls into, in order and without gaps, from the
 * leftmost match on; an empty match right behind another one does not count.  ATTN_BAD_INPUT: a
 * match takes too many steps. */
enum attn_status pattern_find(struct pattern *p, const char *text, size_t length, struct ranges *out,
			      struct attn_error *err);

/* Append to *out the pattern for PCRE2 (with UTF, UCP and MULTILINE) that matches what Oniguruma's
 * `regex` does.  They differ in \s and \w, in classes within classes and their intersections, in
 * flags, properties' names and some quantifiers.  ATTN_BAD_INPUT: "... has '(?C', which is not
 * supported". */
enum attn_status pattern_translate(const char *regex, struct buffer *out, struct attn_error *err);

#endif
