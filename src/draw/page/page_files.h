/* The files of src/draw/page, which the Makefile turns into arrays of bytes. */
#ifndef ATTN_DRAW_PAGE_PAGE_FILES_H
#define ATTN_DRAW_PAGE_PAGE_FILES_H

#include <stddef.h>

extern const unsigned char page_html[], page_css[], page_js[];
extern const size_t page_html_size, page_css_size, page_js_size;

#endif
