/* Rows that are computed by a set of kernels other than the best one. */
#ifndef ATTN_ATTENTION_BY_KERNELS_H
#define ATTN_ATTENTION_BY_KERNELS_H

#include "attention/rows.h"
#include "kernels/kernels.h"

/* Wrap a source of rows that were planned while kernels_swap(set) held, so that whatever they start and
 * prepare is done by that set, too: *source then owns what it was.  Not to be started while other rows
 * are read.  ATTN_FAILED: no memory, and *source is as before. */
enum attn_status rows_by_kernels(struct row_source **source, const struct kernels *set,
				 struct attn_error *err);

#endif
