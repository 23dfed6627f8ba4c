/* Base64 (RFC 4648, section 4), in one line. */
#ifndef ATTN_UTIL_BASE64_H
#define ATTN_UTIL_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Append bytes[length] in base64. */
void buffer_add_base64(struct buffer *buf, const void *bytes, size_t length);

/* Append the bytes that text[length] stands for, with the padding the standard asks for; false, where it
 * isn't base64 or there is no memory (buf->failed). */
bool buffer_add_from_base64(struct buffer *buf, const char *text, size_t length);

#endif
