/* SHA-256 (FIPS 180-4): what a page's security policy names its scripts by. */
#ifndef ATTN_UTIL_SHA256_H
#define ATTN_UTIL_SHA256_H

#include <stddef.h>

void sha256(const void *bytes, size_t length, unsigned char digest[32]);

#endif
