/* Writing result tensors, in every format, by row blocks.
 *
 * The tensors of a file are declared when it is opened and then put piece by
 * piece, in their order and from first to last element, so that none has to
 * exist whole.
 *
 * safetensors: tensors in the declared order, their data from a multiple of 8
 * bytes on, so that a reader may map a float32 tensor that comes first.
 * npz: stored, not compressed (weights are noise to a compressor).
 * JSON: one document, the tensors as nested arrays with one innermost row a
 * line.  Infinity and NaN, which JSON does not have, are null.  A setting that
 * is true, false or a JSON number is written as that, any other as a string.
 * TSV: one element a line.  For each axis a column of its number and, where it
 * has labels, one of those; then the value; last, so that the columns before it
 * stay where they are, the axis named "batch".  Bool is 1 or 0.
 */
#ifndef ATTN_FILES_TENSOR_WRITER_H
#define ATTN_FILES_TENSOR_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/formats.h"
#include "files/output.h"
#include "input/bundle.h"
#include "input/tensor.h"

/* One dimension of a tensor, named for tables. */
struct axis {
	const char *name; /* "query" */
	size_t length;
	size_t first;                     /* the number of its index 0 */
	const struct string_list *labels; /* `length` tokens for a "query_token" column after it, or NULL */
	const size_t *numbers;            /* (length), instead of those from `first` on, or NULL */
	const char *text;                 /* what index 0, the only one, is called instead; or NULL */
};

struct tensor_spec {
	const char *name;       /* "weights" */
	const char *value_name; /* a table's value column: "weight"; NULL: `name` */
	enum dtype dtype;       /* DTYPE_F32, DTYPE_BOOL or DTYPE_I64 */
	int rank;
	struct axis axes[TENSOR_MAX_RANK];
};

struct tensor_writer;

/* Open `path` ("-": standard output) in `format`: safetensors, npz and JSON
 * take any number of tensors, npy and TSV exactly one (else ATTN_USAGE, as for
 * a format that is not written).  `labels` (its texts and settings; no tensors)
 * goes into the metadata of safetensors, as strings (lists as JSON), and into
 * JSON documents as keys; it may be NULL.  `specs` and `labels` and what they
 * point to must outlive the writer. */
enum attn_status tensor_writer_open(struct tensor_writer **writer, const char *path, enum format format,
				    const struct tensor_spec *specs, size_t spec_count,
				    const struct bundle *labels, struct attn_error *err);

/* How many bytes such a file has: *exact where that depends on the shapes alone, as
 * in the binary formats. */
enum attn_status tensor_writer_size(enum format format, const struct tensor_spec *specs, size_t spec_count,
				    const struct bundle *labels, uint64_t *size, bool *exact,
				    struct attn_error *err);

/* Append `count` elements of tensor `index` (elements have the spec's dtype,
 * native byte order).  Tensors in order, each wholly before the next. */
enum attn_status tensor_writer_put(struct tensor_writer *writer, size_t index, const void *elements,
				   size_t count, struct attn_error *err);

/* Whether the output's reader has left: what is put then is dropped, and need not be
 * the whole of a tensor. */
bool tensor_writer_abandoned(const struct tensor_writer *writer);

/* Finish and make the file appear.  Frees the writer, whatever it returns. */
enum attn_status tensor_writer_commit(struct tensor_writer *writer, struct attn_error *err);

/* The same, but leave the last step to the caller, who commits *out among other
 * outputs (see output_finish).  On failure *out is empty. */
enum attn_status tensor_writer_finish(struct tensor_writer *writer, struct output *out,
				      struct attn_error *err);

/* Give up: no file appears.  Frees the writer; NULL is fine. */
void tensor_writer_abort(struct tensor_writer *writer);

#endif
