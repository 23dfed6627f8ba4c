/* What to call queries, keys and heads. */
#ifndef ATTN_INPUT_LABELS_H
#define ATTN_INPUT_LABELS_H

#include "attention/rows.h"
#include "input/bundle.h"

/* Keys in the order of a row: past, own, appended. */
struct key_counts {
	size_t past, own;
	bool bias, zero; /* appended by bias_k and by add_zero_attn */
};

/* All keys of a row. */
static inline size_t key_total(const struct key_counts *keys)
{
	return keys->past + keys->own + keys->bias + keys->zero;
}

/* Fill the labels of `info` (whose sizes, and `cross`, are set) from the bundle's
 * tokens, source_tokens and head_names, and the number of the layer from its
 * settings.  In self-attention the keys are called as the queries are.
 * source_tokens name the own keys, or the past ones too.  A list of the wrong
 * length is ATTN_BAD_INPUT. */
enum attn_status labels_bind(struct rows_info *info, const struct bundle *b, const struct key_counts *keys,
			     struct attn_error *err);

#endif
