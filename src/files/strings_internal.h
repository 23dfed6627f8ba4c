/* Lists of strings, as the readers meet them. */
#ifndef ATTN_FILES_STRINGS_INTERNAL_H
#define ATTN_FILES_STRINGS_INTERNAL_H

#include "util/error.h"
#include "util/strings.h"

/* `list` holds `items` lists of one length, one for each batch item, which share their labels:
 * keep the first, if all are the same.  ATTN_BAD_INPUT, which calls them `label`, if not. */
enum attn_status string_lists_agree(struct string_list *list, size_t items, const char *label,
				    struct attn_error *err);

#endif
