/* A stored result: a source of weight rows that reads them.
 *
 * Any bundle with `weights` (H, N, M), (N, M) for one head, or with layers or
 * batch items in front ("layer" by default), or with the axes that its setting `axes`
 * names.  What masks keys (mask, key_padding, kv_lengths, causal) is
 * read from the same bundle, so that masked cells are told apart from 0.
 */
#ifndef ATTN_RESULT_STORED_H
#define ATTN_RESULT_STORED_H

#include "attention/masking.h"
#include "attention/rows.h"
#include "input/bundle.h"
#include "tokens/rows_info.h"

/* Open the bundle's weights as *rows, which the caller releases; the bundle must outlive
 * them.  *masking says what was masked, and lives as long as the source.  Shapes that
 * disagree are ATTN_BAD_INPUT; a value that is no weight (NaN, negative, above 1) is found
 * when its row is read.  Notes go to `notes`. */
enum attn_status stored_open(struct named_rows *rows, const struct masking **masking, const struct bundle *b,
			     struct string_list *notes, struct attn_error *err);

/* For other sources that read weights: which keys of a row (shape->keys of them) are of a KV
 * cache and which appended, as the bundle's settings say, also in *shape. */
enum attn_status stored_keys(struct rows_shape *shape, const struct bundle *b, struct key_counts *keys,
			     struct attn_error *err);

/* Check a block's weights, which begin at element `first` of the tensor, with strides of that many
 * elements from row to row and key to key, mark keys
 * that have some as attended (block->cells, to write), and count masked rows. */
enum attn_status stored_check(const struct tensor *t, const struct rows_shape *shape, size_t first,
			      size_t row_stride, size_t key_stride, struct row_block *block,
			      unsigned char *cells, struct attn_error *err);

#endif
