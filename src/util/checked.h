/* Arithmetic on sizes that says when it would wrap. */
#ifndef ATTN_UTIL_CHECKED_H
#define ATTN_UTIL_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* *out = a * b and true, or false (and *out unspecified) when it would wrap. */
static inline bool size_mul(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* *out = a + b and true, or false when it would wrap. */
static inline bool size_add(size_t a, size_t b, size_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

#endif
