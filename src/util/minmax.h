/* The smaller and the larger of two sizes or ints. */
#ifndef ATTN_UTIL_MINMAX_H
#define ATTN_UTIL_MINMAX_H

#include <stddef.h>

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static inline int int_min(int a, int b)
{
	return a < b ? a : b;
}

static inline int int_max(int a, int b)
{
	return a > b ? a : b;
}

#endif
