/* What the rows of a source are called: labels of queries and keys, names of heads. */
#ifndef ATTN_TOKENS_ROWS_INFO_H
#define ATTN_TOKENS_ROWS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "attention/rows.h"
#include "util/strings.h"

/* The name of a head that is an average over heads. */
#define AVERAGED_HEADS "averaged over heads"

struct rows_info {
	struct rows_shape shape;
	bool has_batch;     /* the input had a batch dimension */
	bool has_layers;    /* the weights have a layer dimension */
	bool layer_known;   /* titles and file names say the layer */
	size_t first_layer; /* the number of layer 0 */

	/* Raw labels as the files have them: `queries` and `keys` strings.  A
	 * number stands where a label is missing. */
	struct string_list query_labels, key_labels;

	/* Where some are left out: the index that each had before, (queries) and (keys),
	 * owned; or NULL. */
	size_t *query_numbers, *key_numbers;
	struct string_list head_names; /* `heads` strings, or empty */
	bool has_tokens;               /* some labels are tokens, not numbers */

	/* The same for heads and layers, (heads) and (layers); or, where the one is several
	 * joined, what it is called: "mean of heads 3, 7".  Owned, or NULL. */
	size_t *head_numbers, *layer_numbers;
	char *joined_heads, *joined_layers;

	/* Where a view leaves some keys out: how far query 0's own key was from key 0, beyond
	 * shape.past_keys, and how many keys had a position.  0: nothing was left out. */
	size_t own_offset, positioned;

	bool other_keys; /* queries or keys are not those that masking is about: some, or joined */
};

/* A source with what its rows are called, which whoever has the pair releases: the source
 * by its free, the rest by rows_info_release. */
struct named_rows {
	struct row_source *source;
	struct rows_info info;
};

void named_rows_release(struct named_rows *rows); /* safe on a zeroed one */
void rows_info_release(struct rows_info *info);

/* Whether the first `count` labels are all numbers that stand for missing ones. */
bool labels_missing(const struct string_list *labels, size_t count);

/* The index by which query or key i is known to users. */
static inline size_t query_number(const struct rows_info *info, size_t i)
{
	return info->query_numbers ? info->query_numbers[i] : i;
}

static inline size_t key_number(const struct rows_info *info, size_t i)
{
	return info->key_numbers ? info->key_numbers[i] : i;
}

static inline size_t head_number(const struct rows_info *info, size_t i)
{
	return info->head_numbers ? info->head_numbers[i] : i;
}

static inline size_t layer_number(const struct rows_info *info, size_t i)
{
	return info->layer_numbers ? info->layer_numbers[i] : info->first_layer + i;
}

/* Whether a key of self-attention is nearer than `distance` places to the query's own.  Appended
 * keys have no place, and are near to nothing. */
static inline bool rows_are_near(const struct rows_info *info, size_t query, size_t key, size_t distance)
{
	size_t own = query_number(info, query) + info->own_offset + info->shape.past_keys;
	size_t other = key_number(info, key);
	size_t end = info->positioned ? info->positioned : info->shape.keys - info->shape.appended_keys;
	return other < end && (own > other ? own - other : other - own) < distance;
}

#endif
