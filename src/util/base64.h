/* Base64 (RFC 4648, section 4), in one line. */
#ifndef ATTN_UTIL_BASE64_H
#define ATTN_UTIL_BASE64_H

#include <stddef.h>

#include "util/buffer.h"

/* Append bytes[length] in base64. */
void buffer_add_base64(struct buffer *buf, const void *bytes, size_t length);

#endif
