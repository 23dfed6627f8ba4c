/* Where a tensor is, as an operand says it. */
#ifndef ATTN_FILES_PLACE_INTERNAL_H
#define ATTN_FILES_PLACE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* FILE[:TENSOR][SLICE], taken apart in memory of its own. */
struct place {
	char *path, *tensor, *slice; /* tensor and slice are NULL where they are not given */
};

void place_release(struct place *place);

/* Take FILE,FILE... apart: places of which each is there, or one. *places (owned, also on
 * failure) has *count of them. */
enum attn_status places_split(const char *text, struct place **places, size_t *count, struct attn_error *err);

/* Take the slice off the name of a tensor that is not there as it is written.  False: it has
 * none, or no memory. */
bool place_slice(struct place *place);

/* Whether there is a file; "-" is one. */
bool path_exists(const char *path);

#endif
