/* A text that knows where it came from: each byte has the span of bytes of the original text that
 * it stands for, whatever normalisation did to it.  All bytes of a character have the same span,
 * and spans begin and end between characters.
 */
#ifndef ATTN_TOKENIZER_ALIGNED_H
#define ATTN_TOKENIZER_ALIGNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* The most bytes that a text may have when it is normalised; a short one, 64 for each of its own and
 * a million.  The longest decomposition makes 11 of one, but a file may replace what it likes by what it
 * likes. */
#define ALIGNED_MAX ((size_t)256 << 20)

struct span {
	uint32_t start, end; /* bytes of the original text, end excluded */
};

struct aligned {
	char *text;         /* [length], UTF-8, owned */
	struct span *spans; /* [length], owned */
	size_t length, capacity;
	size_t most;   /* bytes that it may have; 0: ALIGNED_MAX */
	bool failed;   /* what came last is not there: no memory, or it is too long */
	bool too_long; /* more than `most` bytes */
};

/* How long a text of so many bytes may become. */
size_t aligned_most(size_t length);

void aligned_release(struct aligned *a);
void aligned_clear(struct aligned *a); /* keeps the memory, and `failed` */

/* Append bytes that all stand for `span`. */
void aligned_add(struct aligned *a, const char *text, size_t length, struct span span);

/* Append original text, in which text[0] is byte `offset`: it stands for itself. */
void aligned_add_original(struct aligned *a, const char *text, size_t length, size_t offset);

/* Append a part of another. */
void aligned_add_part(struct aligned *a, const struct aligned *from, size_t start, size_t end);

/* A character of a text that is rewritten, and what it does with the characters of the old one:
 * 1, it is put in and takes none; 0, it replaces the next; -n, it replaces the next and n after
 * that are dropped.  What stands in for a character has its span, what is put in that of the
 * character before. */
struct change {
	uint32_t code;
	int32_t taken;
};

struct changes {
	struct change *items; /* owned */
	size_t count, capacity;
	bool failed; /* no memory */
};

void changes_release(struct changes *c);
void changes_clear(struct changes *c);
void changes_add(struct changes *c, uint32_t code, int32_t taken);

/* Append all of `from` rewritten by `c`, its first `dropped` characters left out.  A character put
 * in at the very front stands for nothing, at byte `origin` of the original text. */
void aligned_add_changed(struct aligned *a, const struct aligned *from, const struct changes *c,
			 size_t dropped, size_t origin);

/* What made it fail, as a message; ATTN_OK where nothing did. */
enum attn_status aligned_check(const struct aligned *a, struct attn_error *err);

#endif
