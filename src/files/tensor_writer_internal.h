/* What the formats of tensor_writer.c share; for them and for tests. */
#ifndef ATTN_FILES_TENSOR_WRITER_INTERNAL_H
#define ATTN_FILES_TENSOR_WRITER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/output.h"
#include "files/tensor_writer.h"
#include "util/buffer.h"

struct tensor_writer {
	const struct tensor_format *format;
	struct output output;
	const struct tensor_spec *specs;
	size_t spec_count;
	const struct bundle *labels; /* may be NULL */
	size_t *counts;              /* elements of each tensor */
	size_t current;              /* the tensor being put; spec_count after the last */
	size_t done;                 /* elements of it that have been put */
	struct buffer text;          /* not written yet: headers, text */
	uint64_t written;            /* bytes given to the output */
	void *state;                 /* the format's own */
};

/* begin, then start, put..., end for each tensor, then finish.  NULL stands for
 * a step that does nothing.  All but `put` may leave bytes in `text`, which is
 * written after each step. */
struct tensor_format {
	bool binary;     /* not for a terminal */
	bool one_tensor; /* exactly one in a file */
	enum attn_status (*begin)(struct tensor_writer *w, struct attn_error *err);
	enum attn_status (*start)(struct tensor_writer *w, const struct tensor_spec *spec,
				  struct attn_error *err);
	enum attn_status (*put)(struct tensor_writer *w, const void *elements, size_t count,
				struct attn_error *err);
	enum attn_status (*end)(struct tensor_writer *w, struct attn_error *err);
	enum attn_status (*finish)(struct tensor_writer *w, struct attn_error *err);
	void (*release)(struct tensor_writer *w); /* frees w->state; also after a failed begin */
};

extern const struct tensor_format safetensors_format, npy_format, npz_format, json_format, tsv_format;

/* Write w->text and clear it: always, or once it is long. */
enum attn_status writer_flush(struct tensor_writer *w, struct attn_error *err);
enum attn_status writer_flush_long(struct tensor_writer *w, struct attn_error *err);

/* Write elements of the current tensor as they are in memory, but little-endian
 * and with bool as 0 or 1; *crc (may be NULL) is carried on. */
enum attn_status writer_put_raw(struct tensor_writer *w, const void *elements, size_t count, uint32_t *crc,
				struct attn_error *err);

/* Append as ["a", "b"]. */
void buffer_add_json_list(struct buffer *buf, const struct string_list *list);

/* Append the low `bytes` bytes of `value`, lowest first. */
void buffer_add_le(struct buffer *buf, uint64_t value, int bytes);

/* Append element `i` of an array: F32 by buffer_add_float, integers in full, bool
 * as 0 or 1. */
void buffer_add_element(struct buffer *buf, enum dtype dtype, const void *elements, size_t i);

/* Append the magic, version and dictionary of a .npy file: a multiple of 64 bytes. */
void npy_header(struct buffer *buf, const struct tensor_spec *spec);

/* Whether `text` is a number as JSON writes it. */
bool is_json_number(const char *text);

/* A file within a zip. */
struct npz_member {
	const char *name; /* without ".npy", which is appended */
	uint64_t size;    /* bytes; known before they are written */
	uint64_t offset;  /* of its local header */
	uint32_t crc;
	bool described; /* crc and size follow the data: the output cannot be patched */
};

enum {
	NPZ_CRC_OFFSET = 14 /* bytes from a local header to its crc */
};

void npz_local_header(struct buffer *buf, const struct npz_member *member);
void npz_descriptor(struct buffer *buf, const struct npz_member *member);
void npz_central_header(struct buffer *buf, const struct npz_member *member);

/* All of a file that holds a tensor of `count` elements but these: for its size. */
void npz_frame(struct buffer *buf, const struct tensor_spec *spec, size_t count);

/* What ends a zip whose central directory of `count` members has `size` bytes
 * and starts at `offset`. */
void npz_end(struct buffer *buf, uint64_t count, uint64_t size, uint64_t offset);

#endif
