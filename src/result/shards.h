/* Shards of a run: the rows that several machines computed, each its share, as one
 * source.
 *
 * All blocks of rows, in the order of rows_stream, are cut into as many ranges as
 * there are shards.  A shard is a bundle with `weights` (rows, keys), `context`
 * (rows, value size) or both, and settings that say which shard it is of which run.
 * The first one also has what the rows need to be shown: labels, settings, masks,
 * and the output projection.
 */
#ifndef ATTN_RESULT_SHARDS_H
#define ATTN_RESULT_SHARDS_H

#include "attention/attention.h"
#include "attention/plan.h"
#include "result/shard.h"
#include "tokens/rows_info.h"

/* What opening shards gives: rows, which whoever opens releases, and what lives as long as
 * their source. */
struct opened_shards {
	struct named_rows rows;
	const struct masking *masking;
	const struct output_layer *output; /* what a context becomes */
};

/* Put the shards in their order and check that they are all of one run, written by
 * `version` of this program; then open them as a source of what is wanted.  The
 * shards, which it sorts, must outlive it.  Things worth a word go to `notes`.
 * ATTN_BAD_INPUT names a shard that is missing, doubled, damaged, of another run, or
 * without what is wanted.  What is allocated is bounded by the sizes of the shards and by
 * SHARDS_MAX_PAST. */
enum attn_status shards_open(struct opened_shards *opened, struct bundle *shards, size_t count,
			     const char *version, struct rows_want want, struct string_list *notes,
			     struct attn_error *err);

#endif
