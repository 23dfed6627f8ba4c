/* Result files: weights or scores row by row, context and output at the end. */
#ifndef ATTN_RESULT_RESULT_FILE_H
#define ATTN_RESULT_RESULT_FILE_H

#include "attention/rows.h"
#include "files/tensor_writer.h"
#include "result/subject.h"

/* What a file holds; weights and scores exclude each other. */
struct result_parts {
	bool weights, scores, context, output;
	enum score_stage stage; /* of scores */
};

/* One file in the making: also a consumer, of the rows it holds. */
struct result_file {
	struct row_consumer consumer; /* for weights and scores */
	const char *path;
	struct result_parts parts;

	/* Private. */
	const struct subject *subject;
	struct tensor_spec specs[8];
	size_t spec_count;
	float *lambda; /* owned, (lambda_count), the last of the specs; or NULL */
	size_t lambda_count;
	struct bundle labels;
	struct tensor_writer *writer;
};

/* Open `path` ("-": standard output).  The format is that of its ending, or
 * `format` where that is not FORMAT_UNKNOWN; safetensors and JSON files with
 * weights get the masks beside them, so that they can be read back.
 * ATTN_USAGE for an unknown ending. */
enum attn_status result_open(struct result_file *file, const struct subject *subject, const char *path,
			     enum format format, struct result_parts parts, struct attn_error *err);

/* The bytes of such a file, without making it: *exact, or about. */
enum attn_status result_size(const struct subject *subject, const char *path, enum format format,
			     struct result_parts parts, uint64_t *size, bool *exact, struct attn_error *err);

/* After streaming: put context and output (NULL where the file has none) and
 * make the file appear. */
enum attn_status result_commit(struct result_file *file, const float *context, const float *output,
			       struct attn_error *err);
void result_abort(struct result_file *file); /* safe on a zeroed one */

/* The format of `path`, by its ending, or *format where that says nothing (npy on standard
 * output), into *format.  ATTN_USAGE where neither says it. */
enum attn_status result_format(const char *path, enum format *format, struct attn_error *err);

/* What a result says about its rows: tokens, head names, and settings by name. */
enum attn_status result_labels(struct bundle *labels, const struct subject *subject, struct attn_error *err);

/* Masks, as tensors that bind_masking reads, at most 5: append their specs,
 * and put them from tensor `index` on. */
void masking_specs(const struct masking *v, struct tensor_spec *specs, size_t *count);
enum attn_status masking_put(struct tensor_writer *writer, size_t index, const struct masking *v,
			     struct attn_error *err);

#endif
