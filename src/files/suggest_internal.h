/* Which of some names was probably meant. */
#ifndef ATTN_FILES_SUGGEST_INTERNAL_H
#define ATTN_FILES_SUGGEST_INTERNAL_H

#include <string.h>

#include "util/strings.h"

struct suggestion {
	const char *name; /* the nearest so far, or NULL */
	size_t distance;
};

/* Take `candidate` if it is nearer to `wanted` than what *best holds, and no
 * more than 2 edits or a third of its letters away. */
static inline void suggest(struct suggestion *best, const char *wanted, const char *candidate)
{
	size_t limit = strlen(wanted) / 3 > 2 ? strlen(wanted) / 3 : 2;
	size_t distance = edit_distance(wanted, candidate);
	if (distance > limit || distance >= strlen(candidate) || (best->name && distance >= best->distance))
		return;
	*best = (struct suggestion){candidate, distance};
}

#endif
