/* The web page of attn view: what comes before and after its weights.
 *
 * src/draw/page holds the page's own files.  page.html has places for the rest, such as
 * @POLICY@.  The page's policy allows no request, and no script but its own, which it
 * names by SHA-256 (W3C Content Security Policy Level 3).
 */
#ifndef ATTN_DRAW_PAGE_DOCUMENT_H
#define ATTN_DRAW_PAGE_DOCUMENT_H

#include <stdint.h>

#include "util/buffer.h"
#include "util/error.h"

/* Append a JSON string that may stand in a script element: nothing in it ends the
 * element or begins a comment. */
void page_add_json_string(struct buffer *json, const char *text);

/* Append text as HTML; bytes that are not UTF-8 become U+FFFD, control characters are
 * left out. */
void page_add_html(struct buffer *html, const char *text);

/* Append the page up to its weights.  `meta` is JSON, its strings by
 * page_add_json_string. */
enum attn_status page_begin(struct buffer *page, const char *title, const char *meta, struct attn_error *err);

/* Append what follows the weights; `bytes` came before. */
enum attn_status page_end(struct buffer *page, uint64_t bytes, struct attn_error *err);

#endif
