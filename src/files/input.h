/* From a command's INPUT operands to a bundle. */
#ifndef ATTN_FILES_INPUT_H
#define ATTN_FILES_INPUT_H

#include "files/formats.h"
#include "input/bundle.h"
#include "util/error.h"

/* The whole of a file or of standard input ("-"). */
struct file_bytes {
	unsigned char *data;
	size_t length;
	bool mapped; /* else read into heap memory */
};

/* Map a regular file (read-only), or read a pipe or device to its end.  A
 * directory, a missing or unreadable file is ATTN_FAILED; the message names it. */
enum attn_status file_bytes_open(struct file_bytes *bytes, const char *path, struct attn_error *err);

/* The same of a text, which may be empty. */
enum attn_status file_bytes_open_text(struct file_bytes *bytes, const char *path, struct attn_error *err);

/* The same of what may be read without end: of a pipe or device, no more than the first STREAM_BEGINNING
 * bytes where `hopeless` says that nothing can be made of what begins so. */
enum attn_status file_bytes_open_unless(struct file_bytes *bytes, const char *path,
					bool (*hopeless)(const unsigned char *data, size_t length),
					struct attn_error *err);

enum {
	STREAM_BEGINNING = 65536 /* bytes */
};

void file_bytes_release(struct file_bytes *bytes);

/* The same for one of the files of a folder, which is a regular file of at most `most` bytes, and
 * never standard input: what else there is, such as a pipe that nobody writes to, is ATTN_FAILED, and
 * a larger or empty one ATTN_BAD_INPUT. */
enum attn_status file_bytes_open_regular(struct file_bytes *bytes, const char *path, size_t most,
					 struct attn_error *err);

/* Read a whole file into an empty bundle, whatever its format, and say which
 * format it was (format may be NULL). */
enum attn_status input_read_file(struct bundle *out, const char *path, enum format *format,
				 struct attn_error *err);

/* Add one operand to the bundle: FILE, whose tensors, texts and settings are all
 * added, or ROLE=FILE[:TENSOR], which binds one tensor or text (ROLE is a known
 * tensor, result or text role; TENSOR may be left out where the file holds just
 * one, or one named ROLE).  A path that exists as written wins over the split
 * at ':'.  "-" is standard input, read once. */
bool input_is_binding(const char *operand); /* ROLE=FILE */
enum attn_status input_add(struct bundle *b, const char *operand, struct attn_error *err);

#endif
