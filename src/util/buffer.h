/* A growing byte string.  `data` is always NUL-terminated after the first
 * append, and the NUL is not counted in `length`.
 *
 * Allocation failure is sticky: `failed` is set, later appends do nothing, and
 * the user checks once at the end.
 */
#ifndef ATTN_UTIL_BUFFER_H
#define ATTN_UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *data; /* owned; NULL while empty */
	size_t length;
	size_t capacity;
	bool failed;
};

#define BUFFER_INIT                                                                                          \
	{                                                                                                    \
		NULL, 0, 0, false                                                                            \
	}

void buffer_release(struct buffer *buf);
void buffer_clear(struct buffer *buf); /* keeps the memory, and `failed` */
void buffer_add(struct buffer *buf, const void *bytes, size_t length);
void buffer_add_string(struct buffer *buf, const char *text);
void buffer_add_char(struct buffer *buf, char c);
void buffer_printf(struct buffer *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append `text` as a JSON string with its quotes.  Bytes that are not UTF-8
 * become U+FFFD; control characters are escaped. */
void buffer_add_json_string(struct buffer *buf, const char *text);

/* Append `text` as a TSV field: \t, \n, \r and \\ stand for the four
 * characters that would break a line. */
void buffer_add_tsv(struct buffer *buf, const char *text);

/* Append `text` as it may go to a terminal: control characters, changes of
 * direction and bytes that are not UTF-8 are written \x1b, \u202e, \xff. */
void buffer_add_clean(struct buffer *buf, const char *text);

/* Append a float32 in the fewest digits that read back as the same float32
 * (at most 9), locale-independent.  Infinities and NaN print as C does; the
 * caller decides whether they may occur. */
void buffer_add_float(struct buffer *buf, float value);

/* Append a number of bytes as people read it: "640 bytes", "12.3 MiB". */
void buffer_add_size(struct buffer *buf, double bytes);

/* Return `data` (an empty string if nothing was added), which the caller then
 * owns, and leave the buffer empty.  NULL when an allocation had failed. */
char *buffer_detach(struct buffer *buf);

#endif
