/* One shard of a run in the making, for attn merge (shards.h): a consumer of its rows.
 * Weights are written as they come, and contexts wait for them.
 */
#ifndef ATTN_RESULT_SHARD_FILE_H
#define ATTN_RESULT_SHARD_FILE_H

#include "attention/plan.h"
#include "files/tensor_writer.h"
#include "result/shards.h"
#include "result/subject.h"

struct shard_file {
	struct row_consumer consumer;
	struct rows_selection blocks; /* which rows are this shard's: what to stream */
	size_t rows;                  /* how many these are: of none nothing is streamed */

	/* Private. */
	const struct subject *subject;
	struct shard shard;
	bool weights, context;
	size_t first_row;
	float *contexts; /* (rows, value size) */
	struct tensor_spec specs[9];
	size_t spec_count;
	struct bundle labels;
	struct tensor_writer *writer;
};

/* Open `path` for shard `number` of `count` of the subject's rows, as far
 * as `want` goes, and for what merging needs; `kernel` names what computes them.  The subject must outlive
 * the file. */
enum attn_status shard_file_open(struct shard_file *file, const struct subject *subject, size_t number,
				 size_t count, struct rows_want want, const char *kernel, const char *path,
				 struct attn_error *err);

/* After streaming: make the file appear. */
enum attn_status shard_file_commit(struct shard_file *file, struct attn_error *err);
void shard_file_release(struct shard_file *file); /* what is not committed is lost; safe on a zeroed one */

#endif
