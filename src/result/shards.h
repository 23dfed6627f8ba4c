/* Parts of a run: the rows that several machines computed, each its share, as one
 * source.
 *
 * All blocks of rows, in the order of rows_stream, are cut into as many ranges as
 * there are parts.  A part is a bundle with `weights` (rows, keys), `context`
 * (rows, value size) or both, and settings that say which part it is of which run.
 * The first one also has what the rows need to be shown: labels, settings, what
 * hides keys, and the output projection.
 */
#ifndef ATTN_RESULT_SHARDS_H
#define ATTN_RESULT_SHARDS_H

#include <stdint.h>

#include "attention/attention.h"
#include "attention/plan.h"
#include "input/bundle.h"
#include "tokens/rows_info.h"

enum {
	PARTS_MAX = 1000000,
	PARTS_MAX_PAST = 1 << 22 /* past keys of parts that hold no weights */
};

/* What a part says about itself. */
struct part {
	size_t number, count; /* part `number` of `count`, from 1 */
	uint64_t run;         /* fingerprint of the run's input */
	size_t layers, batch, heads, queries, keys;
	size_t value_size, output_size; /* 0 where the run has no context, no output */
	bool has_tokens;
	const char *kernel; /* what computed it: the reader's points into the bundle */
};

/* As settings of a bundle; its `version` is set by the caller. */
enum attn_status shard_describe(const struct part *part, struct bundle *to, struct attn_error *err);

/* The blocks [*first, *last) that are this part's, of `blocks`. */
void shard_range(const struct part *part, size_t blocks, size_t *first, size_t *last);

/* Whether the bundle is, or has taken in, a part. */
bool bundle_is_shard(const struct bundle *b);

/* What opening parts gives: rows, which whoever opens releases, and what lives as long as
 * their source. */
struct opened_parts {
	struct named_rows rows;
	const struct masking *masking;
	const struct output_layer *output; /* what a context becomes */
};

/* Put the parts in their order and check that they are all of one run, written by
 * `version` of this program; then open them as a source of what is wanted.  The
 * parts, which it sorts, must outlive it.  Things worth a word go to `notes`.
 * ATTN_BAD_INPUT names a part that is missing, doubled, damaged, of another run, or
 * without what is wanted.  What is allocated is bounded by the sizes of the parts and by
 * PARTS_MAX_PAST. */
enum attn_status shards_open(struct opened_parts *opened, struct bundle *parts, size_t count,
			     const char *version, struct rows_want want, struct string_list *notes,
			     struct attn_error *err);

#endif
