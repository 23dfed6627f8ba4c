/* PNG files: writing pictures, and reading them from any colour type and depth. */
#ifndef ATTN_DRAW_IMAGE_PNG_H
#define ATTN_DRAW_IMAGE_PNG_H

#include <stddef.h>
#include <stdio.h>

#include "draw/image/image.h"
#include "util/error.h"

/* Write as PNG to `stream`, with the resolution `dpi` in its pHYs chunk.  The
 * stream is neither flushed nor closed.  A failed write ends it early and is the
 * stream's to tell, by ferror or output_commit, which knows the path and the
 * reason: it is not an error here.  ATTN_FAILED without memory. */
enum attn_status image_write_png(FILE *stream, const struct image *image, double dpi, struct attn_error *err);

/* Decode the PNG file bytes[length], interlaced or not, into *out (released by the caller;
 * empty on failure) as 8-bit sRGB over white.  Depths of 16 bits are rounded; gamma and
 * colour profiles are ignored.  ATTN_BAD_INPUT, with `origin` as the file's name, for what
 * is no PNG, damaged, cut off, or larger than a picture may be (draw/image/image.h);
 * ATTN_FAILED without memory. */
enum attn_status image_parse_png(const void *bytes, size_t length, const char *origin, struct image *out,
				 struct attn_error *err);

#endif
