/* Sets of characters in a pattern: what is shared by the two halves of its translation. */
#ifndef ATTN_TOKENIZER_PATTERN_SET_H
#define ATTN_TOKENIZER_PATTERN_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/error.h"

/* What \w takes, as between brackets (doc/RE of Oniguruma; Alphabetic, as its tables have it). */
#define PATTERN_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"

/* A pattern that is read. */
struct pattern_scan {
	const char *regex; /* all of it */
	const char *at;    /* what comes next; ends with a NUL */
	struct attn_error *err;
};

/* "pattern '...' has '...', which is not supported", with length bytes at the place. */
enum attn_status pattern_unsupported(const struct pattern_scan *s, const char *what, size_t length);

/* A set that an escape names: what is in it, to be written between brackets for PCRE2. */
struct pattern_set {
	char content[160];
	bool negated;
};

/* Read the rest of an escape, at its letter, if it stands for a set: s, w, d, h, p and their capitals.  False
 * in *found, and nothing read, if it does not. */
enum attn_status pattern_set_escape(struct pattern_scan *s, struct pattern_set *set, bool *found);

/* Read an escape, at its letter, that stands for one character, and append that, escaped where
 * PCRE2 needs it. */
enum attn_status pattern_character_escape(struct pattern_scan *s, struct buffer *out);

/* Read a class, at its '[', and append what matches the same characters: brackets where that is
 * enough, else alternatives and lookahead. */
enum attn_status pattern_class(struct pattern_scan *s, struct buffer *out);

#endif
