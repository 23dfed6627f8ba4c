/* What a shard of a run says about itself (shards.h), and whether shards make a run. */
#ifndef ATTN_RESULT_SHARD_H
#define ATTN_RESULT_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/bundle.h"

enum {
	SHARDS_MAX = 1000000,
	SHARDS_MAX_PAST = 1 << 22 /* past keys of shards that hold no weights */
};

/* What a shard says about itself. */
struct shard {
	size_t number, count; /* shard `number` of `count`, from 1 */
	uint64_t run;         /* fingerprint of the run's input */
	size_t layers, batch, heads, queries, keys;
	size_t value_size, output_size; /* 0 where the run has no context, no output */
	bool has_tokens;
	const char *kernel; /* what computed it: the reader's points into the bundle */
};

/* As settings of a bundle; its `version` is set by the caller. */
enum attn_status shard_describe(const struct shard *shard, struct bundle *to, struct attn_error *err);

/* The blocks [*first, *last) that are this shard's, of `blocks`. */
void shard_range(const struct shard *shard, size_t blocks, size_t *first, size_t *last);

/* Whether the bundle is, or has taken in, a shard. */
bool bundle_is_shard(const struct bundle *b);

/* Read that back; false where it is damaged. */
bool shard_read(const struct bundle *b, struct shard *shard);

/* The file of a shard: all that is in it came from there. */
const char *shard_name(const struct bundle *b);

/* Put the shards in their order, and check that they are all of one run, each once, written
 * by `version` of this program.  ATTN_BAD_INPUT names one that is not; things worth a word
 * go to `notes`. */
enum attn_status shards_check(struct bundle *shards, size_t count, const char *version,
			      struct string_list *notes, struct attn_error *err);

#endif
