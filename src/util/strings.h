/* A list of strings: tokens, head names. */
#ifndef ATTN_UTIL_STRINGS_H
#define ATTN_UTIL_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

struct string_list {
	char **items; /* owned, each NUL-terminated UTF-8 */
	size_t count;
	size_t capacity;
};

bool string_list_add(struct string_list *list, const char *text); /* copies; false: out of memory */
void string_list_release(struct string_list *list);

/* Append copies of all of `from`; false: out of memory. */
bool string_list_copy(struct string_list *to, const struct string_list *from);
bool string_list_same(const struct string_list *a, const struct string_list *b);

/* The name of a file in messages: `origin`, or "?" where that is NULL. */
const char *origin_name(const char *origin);

/* How many single-character edits (Levenshtein) lead from a to b, where the case of ASCII
 * letters is none; inputs beyond 63 bytes count as far apart. */
size_t edit_distance(const char *a, const char *b);

#endif
