/* A list of strings: tokens, head names. */
#ifndef ATTN_CORE_STRINGS_H
#define ATTN_CORE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

struct string_list {
	char **items; /* owned, each NUL-terminated UTF-8 */
	size_t count;
	size_t capacity;
};

bool string_list_add(struct string_list *list, const char *text); /* copies; false: out of memory */
void string_list_release(struct string_list *list);

/* How many single-character edits (Levenshtein) lead from a to b; inputs beyond
 * 63 bytes count as far apart. */
size_t edit_distance(const char *a, const char *b);

#endif
