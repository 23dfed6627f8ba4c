/* Reading a picture: PNG of any colour type and depth, interlaced or not. */
#ifndef ATTN_DRAW_CANVAS_PICTURE_H
#define ATTN_DRAW_CANVAS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/canvas/png.h"
#include "util/error.h"

/* Decode the PNG file bytes[length] into *out (released by the caller; empty on
 * failure) as 8-bit sRGB over white.  Depths of 16 bits are rounded; gamma and colour
 * profiles are ignored.  ATTN_BAD_INPUT, with `origin` as the file's name, for what is
 * no PNG, damaged, cut off, or larger than a picture may be (draw/png.h); ATTN_FAILED
 * without memory. */
enum attn_status picture_parse(const void *bytes, size_t length, const char *origin, struct image *out,
			       struct attn_error *err);

#endif
