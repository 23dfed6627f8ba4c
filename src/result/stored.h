/* A stored result: a source of weight rows that reads them.
 *
 * Any bundle with `weights` (H, N, M), (N, M) for one head, or with layers or
 * batch items in front as its setting `axes` says ("layer" by default, "batch",
 * or "layer,batch").  What hides keys (mask, key_padding, kv_lengths, causal) is
 * read from the same bundle, so that masked cells are told apart from 0.
 */
#ifndef ATTN_RESULT_STORED_H
#define ATTN_RESULT_STORED_H

#include "attention/rows.h"
#include "input/bundle.h"
#include "input/labels.h"

/* The bundle must outlive the source.  Shapes that disagree are ATTN_BAD_INPUT;
 * a value that is no weight (NaN, negative, above 1) is found when its row is
 * read.  Notes go to `notes`. */
enum attn_status stored_open(struct row_source **source, const struct bundle *b, struct string_list *notes,
			     struct attn_error *err);

/* For other sources that read weights: which keys of a row (info->keys of them) are
 * past ones and which appended, as the bundle's settings say. */
enum attn_status stored_keys(const struct rows_info *info, const struct bundle *b, struct key_counts *keys,
			     struct attn_error *err);

/* Check a block's weights, which begin at element `first` of the tensor, mark keys
 * that have some as visible (block->visible, to write), and count masked rows. */
enum attn_status stored_check(const struct tensor *t, const struct rows_info *info, size_t first,
			      struct row_block *block, unsigned char *visible, struct attn_error *err);

#endif
