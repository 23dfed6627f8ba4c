/* Errors: a status that is also the exit status, and one message.
 *
 * Library code fills an error and returns its status; only the command layer
 * prints.  A message is lower case, without a full stop, and says what was
 * found and what would be accepted: "'wq' is 64 x 512, expected 512 x 64".
 */
#ifndef ATTN_UTIL_ERROR_H
#define ATTN_UTIL_ERROR_H

enum attn_status {
	ATTN_OK = 0,        /* done */
	ATTN_NO_MATCH = 1,  /* nothing matched */
	ATTN_USAGE = 2,     /* the user asked wrongly */
	ATTN_BAD_INPUT = 3, /* the input is bad */
	ATTN_FAILED = 4,    /* could not read, write or allocate */
};

struct attn_error {
	enum attn_status status;
	char message[1000]; /* NUL-terminated; a longer one is cut */
};

/* Fill `err` (which may be NULL) and return `status`, so that a check stays
 * one line: return attn_fail(err, ATTN_BAD_INPUT, "..."). */
enum attn_status attn_fail(struct attn_error *err, enum attn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* attn_fail for a system call: appends ": " and strerror(errno). */
enum attn_status attn_fail_errno(struct attn_error *err, enum attn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory" with ATTN_FAILED. */
enum attn_status attn_fail_memory(struct attn_error *err);

/* Go on where `call` is ATTN_OK, else return its status: for functions that have nothing to
 * free when a step fails. */
#define TRY(call)                                                                                            \
	do {                                                                                                 \
		enum attn_status try_status_ = (call);                                                       \
		if (try_status_ != ATTN_OK)                                                                  \
			return try_status_;                                                                  \
	} while (0)

/* Put `prefix` and ": " before the message of `err`, as a caller that knows
 * the file does for a reader that knows only bytes. */
void attn_error_prefix(struct attn_error *err, const char *prefix);

#endif
