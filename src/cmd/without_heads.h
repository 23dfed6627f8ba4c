/* --without-head: heads whose contexts count as 0. */
#ifndef ATTN_CMD_WITHOUT_HEADS_H
#define ATTN_CMD_WITHOUT_HEADS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* *out (layers, heads), owned by the caller, of a list such as "2.0,2.3-5,0-4.1,1.*": LAYER.HEAD, each a
 * number, a range or '*' for all.  With one layer and not `layered` it is of heads alone: "0,3-5".
 * ATTN_USAGE for what is no such list or is not there. */
enum attn_status without_heads_parse(bool **out, const char *list, bool layered, size_t layers, size_t heads,
				     struct attn_error *err);

#endif
