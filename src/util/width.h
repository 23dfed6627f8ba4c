/* How many terminal columns a text takes. */
#ifndef ATTN_UTIL_WIDTH_H
#define ATTN_UTIL_WIDTH_H

#include <stddef.h>

/* Columns of UTF-8 `text`: wide characters count 2, combining ones 0.  Needs the
 * program's LC_CTYPE to be a UTF-8 locale (main sets it); else characters count 1. */
size_t text_width(const char *text);

#endif
