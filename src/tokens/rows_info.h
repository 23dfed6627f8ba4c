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
};

/* A source with what its rows are called, which whoever has the pair releases: the source
 * by its free, the rest by rows_info_release. */
struct named_rows {
	struct row_source *source;
	struct rows_info info;
};

void named_rows_release(struct named_rows *rows); /* safe on a zeroed one */
void rows_info_release(struct rows_info *info);

/* The index by which query or key i is known to users. */
static inline size_t query_number(const struct rows_info *info, size_t i)
{
	return info->query_numbers ? info->query_numbers[i] : i;
}

static inline size_t key_number(const struct rows_info *info, size_t i)
{
	return info->key_numbers ? info->key_numbers[i] : i;
}

#endif
