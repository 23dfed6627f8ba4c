/* Files that appear whole or not at all.
 *
 * A file is written beside its final name, synced and renamed; a failure, or a
 * signal, leaves what was there before.  "-" is standard output.
 */
#ifndef ATTN_IO_OUTPUT_H
#define ATTN_IO_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

struct output {
	FILE *stream;    /* write here */
	char *path;      /* final name, or "-" */
	char *temporary; /* name written to; NULL for standard output and for what is not a regular file */
};

/* Open `path` for writing.  `binary`: refuse a terminal (ATTN_USAGE).  An
 * existing device or pipe (/dev/null) is written in place.  Missing parent
 * directories are not made. */
enum attn_status output_open(struct output *out, const char *path, bool binary, struct attn_error *err);

/* Flush, sync, close and rename to the final name.  For standard output: flush.
 * A reader that closed the pipe early is not an error.  *out is empty after it,
 * whatever it returns. */
enum attn_status output_commit(struct output *out, struct attn_error *err);

/* Close and remove the temporary file.  Safe on an empty (zeroed) output. */
void output_abort(struct output *out);

/* Remove the temporary files of all open outputs: for a signal handler, so only
 * async-signal-safe calls. */
void output_remove_temporaries(void);

/* Make a directory and its parents, as mkdir -p does. */
enum attn_status make_directories(const char *path, struct attn_error *err);

#endif
