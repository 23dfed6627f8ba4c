#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum attn_status attn_fail(struct attn_error *err, enum attn_status status, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		vsnprintf(err->message, sizeof err->message, format, args);
		va_end(args);
		err->status = status;
	}
	return status;
}

enum attn_status attn_fail_errno(struct attn_error *err, enum attn_status status, const char *format, ...)
{
	int saved = errno;
	if (err) {
		va_list args;
		va_start(args, format);
		vsnprintf(err->message, sizeof err->message, format, args);
		va_end(args);
		size_t length = strlen(err->message);
		char reason[200];
		snprintf(err->message + length, sizeof err->message - length, ": %s",
			 strerror_r(saved, reason, sizeof reason));
		err->status = status;
	}
	return status;
}

enum attn_status attn_fail_memory(struct attn_error *err)
{
	return attn_fail(err, ATTN_FAILED, "out of memory");
}

void attn_error_prefix(struct attn_error *err, const char *prefix)
{
	if (!err)
		return;
	char message[sizeof err->message];
	memcpy(message, err->message, sizeof message);
	snprintf(err->message, sizeof err->message, "%.300s: %.690s", prefix, message);
}
