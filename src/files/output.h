/* Files that appear whole or not at all.
 *
 * A file is written beside its final name, synced and renamed; a failure, or a
 * signal, leaves what was there before.  "-" (and /dev/stdout) is standard
 * output.  A reader that closes a pipe early is not an error: what is written
 * after that is dropped.
 *
 * The first failed write is remembered, so a user may ignore the results of
 * fwrite and fprintf and check output_commit alone.
 */
#ifndef ATTN_FILES_OUTPUT_H
#define ATTN_FILES_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

struct output {
	FILE *stream; /* write here; it has no file descriptor, and cannot seek */
	char *path;   /* as the user gave it, or "-" */
	struct output_file *file;
};

/* Open `path` for writing.  `binary`: refuse a terminal (ATTN_USAGE).  A
 * symbolic link is followed and kept, also one to a file that is yet to be made.
 * An existing file gives the new one its mode, and is refused when it is not
 * writable.  An existing device or pipe (/dev/null) is written in place.
 * Missing parent directories are not made.  Pending text of stdout is flushed
 * before "-" is opened; only one "-" at a time keeps its order. */
enum attn_status output_open(struct output *out, const char *path, bool binary, struct attn_error *err);

/* fwrite that fails with the reason. */
enum attn_status output_write(struct output *out, const void *bytes, size_t length, struct attn_error *err);

/* Whether nobody reads the output any more: a pipe's reader has left, so that
 * computing what is to be written may end, too. */
bool output_abandoned(const struct output *out);

/* Whether output_patch can be used: on a file, and not on a pipe or device. */
bool output_can_patch(const struct output *out);

/* Overwrite bytes that have been written, from `offset` on. */
enum attn_status output_patch(struct output *out, uint64_t offset, const void *bytes, size_t length,
			      struct attn_error *err);

/* Flush and close the stream and start writing to the disk, without waiting for
 * it.  Many small files are made in half the time when all are finished before
 * the first is committed; each holds a file descriptor meanwhile, and no memory to
 * speak of. */
enum attn_status output_finish(struct output *out, struct attn_error *err);

/* Finish, sync, close and rename to the final name.  For standard output: flush.
 * *out is empty after it, whatever it returns. */
enum attn_status output_commit(struct output *out, struct attn_error *err);

/* Whether two paths name one file, also where it is yet to be made: then the second
 * would replace the first.  Devices and pipes may be written twice. */
bool output_same_file(const char *a, const char *b);

/* Close and remove the temporary file.  Safe on an empty (zeroed) output. */
void output_abort(struct output *out);

/* Remove the temporary files of all open outputs: for a signal handler, so only
 * async-signal-safe calls. */
void output_remove_temporaries(void);

/* Make a directory and its parents, as mkdir -p does. */
enum attn_status make_directories(const char *path, struct attn_error *err);

#endif
