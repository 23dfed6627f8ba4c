/* Groups of things that are near each other, by all distances between them. */
#ifndef ATTN_CONSUMERS_HEAD_GROUPS_H
#define ATTN_CONSUMERS_HEAD_GROUPS_H

#include <stddef.h>

#include "util/error.h"

/* Complete linkage (Defays 1977): the nearest two groups become one as long as no two members are
 * more than `limit` apart.  distances (count, count) are symmetric, and not changed; groups (count)
 * gets for each thing the first one of its group.  ATTN_FAILED: no memory. */
enum attn_status find_groups(const double *distances, size_t count, double limit, size_t *groups,
			     struct attn_error *err);

#endif
