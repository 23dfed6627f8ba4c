/* Rows of which some heads' contexts count as 0. */
#ifndef ATTN_RESULT_WITHOUT_H
#define ATTN_RESULT_WITHOUT_H

#include "attention/rows.h"

/* *source becomes one around it, which owns it; its contexts have `size` numbers.  `without` (heads) must
 * outlive it.  ATTN_FAILED: no memory, and *source is what it was. */
enum attn_status without_open(struct row_source **source, const bool *without, size_t size,
			      struct attn_error *err);

#endif
