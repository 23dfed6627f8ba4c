/* Which keys a query may see.
 *
 * One description serves the engine, which must not compute what is hidden, and
 * a stored result, whose pictures tell a masked cell from a weight of 0.
 */
#ifndef ATTN_CORE_VISIBILITY_H
#define ATTN_CORE_VISIBILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/bundle.h"

struct visibility {
	size_t batch, heads, queries; /* the whole problem's */
	size_t plain_keys;            /* past and own keys: what masks apply to */
	size_t appended_keys;         /* bias and zero keys behind them: always seen */

	bool causal; /* key j is seen by query i only when j <= i + offset, where the offset is
		      * kv_lengths[b] - queries where there are lengths, else `past_keys` */
	size_t past_keys;
	size_t *lengths; /* (batch), owned: keys from lengths[b] on are hidden; or NULL */

	/* A mask (batch, heads, queries, keys) that broadcasts from the right: a
	 * dimension is 1 or the whole.  Keys beyond mask_shape[3] (when it is not 1)
	 * are hidden. */
	unsigned char *mask; /* owned: 1 = attend; or NULL */
	float *bias;         /* owned: what a float mask adds to the scores, in mask's shape; or NULL */
	size_t mask_shape[4];

	unsigned char *padding; /* owned, (padding_batch, plain_keys): 1 = a real key; or NULL */
	size_t padding_batch;   /* 1 or batch */
};

/* Fill `v` from the bundle's mask, key_padding, kv_lengths and causal; the sizes
 * (batch, heads, queries, plain_keys, appended_keys, past_keys) are set by the
 * caller.  Every disagreement is ATTN_BAD_INPUT that names tensor, found and
 * expected.  Things worth a word (a float mask of zeros and ones, one too short)
 * go to `notes`. */
enum attn_status visibility_bind(struct visibility *v, const struct bundle *b, struct string_list *notes,
				 struct attn_error *err);
void visibility_release(struct visibility *v);

/* Whether anything is ever hidden. */
bool visibility_limited(const struct visibility *v);

/* Whether causal and lengths alone decide, so that query i sees just the first
 * visibility_count keys. */
bool visibility_is_prefix(const struct visibility *v);

/* How many leading plain keys a query may see as far as causal, lengths and the
 * mask's width go. */
size_t visibility_count(const struct visibility *v, size_t batch, size_t query);

/* Write row[plain_keys + appended_keys]: 1 = the query may see the key. */
void visibility_row(const struct visibility *v, size_t batch, size_t head, size_t query, unsigned char *row);

/* What a float mask adds to the plain keys of a row: that of key j is
 * row[j * *step].  NULL where there is no float mask.  A mask that is too short
 * hides the keys beyond its end, which must not be asked for. */
const float *visibility_bias_row(const struct visibility *v, size_t batch, size_t head, size_t query,
				 size_t *step);

/* The same for one key (0 where there is none); call only for visible keys. */
float visibility_bias(const struct visibility *v, size_t batch, size_t head, size_t query, size_t key);

#endif
