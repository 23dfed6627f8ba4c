/* How many terminal columns a text takes. */
#ifndef ATTN_UTIL_WIDTH_H
#define ATTN_UTIL_WIDTH_H

#include <stddef.h>

/* Columns of UTF-8 `text`: wide characters count 2, combining ones 0.  Where the
 * system has no locale C.UTF-8, every character counts 1.  One thread at a time. */
size_t text_width(const char *text);

#endif
