/* Files of Q, K or V as they enter the scores. */
#ifndef ATTN_RESULT_VECTORS_FILE_H
#define ATTN_RESULT_VECTORS_FILE_H

#include "attention/plan.h"
#include "files/tensor_writer.h"
#include "result/subject.h"

/* One file in the making. */
struct vectors_file {
	const char *path;
	enum vectors_of which;

	/* Private. */
	const struct plan *plan;
	struct tensor_spec spec;
	struct bundle labels;
	struct tensor_writer *writer;
};

/* Open `path` ("-": standard output) for a tensor 'q' (heads, queries, d), 'k' (kv heads,
 * keys, d) or 'v' (kv heads, keys, e), with batch items in front where the input has them.
 * The format is as for result_open.  Tokens go with it, but no settings: what they say has
 * been done to the vectors.  The plan and the subject must outlive the file. */
enum attn_status vectors_file_open(struct vectors_file *file, const struct subject *subject,
				   const struct plan *plan, enum vectors_of which, const char *path,
				   enum format format, struct attn_error *err);

/* The bytes of such a file, without making it: *exact, or about. */
enum attn_status vectors_file_size(const struct subject *subject, const struct plan *plan,
				   enum vectors_of which, const char *path, enum format format,
				   uint64_t *size, bool *exact, struct attn_error *err);

/* Put the vectors of a source of the plan that has been started, and make the file appear. */
enum attn_status vectors_file_commit(struct vectors_file *file, const struct row_source *source,
				     struct attn_error *err);
void vectors_file_abort(struct vectors_file *file); /* safe on a zeroed one */

#endif
