/* Pictures that users give: PNG or JPEG, known by their first bytes. */
#ifndef ATTN_DRAW_IMAGE_PICTURE_H
#define ATTN_DRAW_IMAGE_PICTURE_H

#include "draw/image/png.h"

/* Decode the JPEG file bytes[length], grey or in colours, into *out (released by the caller; empty on
 * failure) as 8-bit sRGB, as it lies in the file, whatever Exif says.  ATTN_BAD_INPUT, with `origin` as the
 * file's name, for what is no JPEG, damaged, cut off, in CMYK or too large; ATTN_FAILED without memory or
 * the library. */
enum attn_status image_parse_jpeg(const void *bytes, size_t length, const char *origin, struct image *out,
				  struct attn_error *err);

/* The same for either kind. */
enum attn_status image_parse(const void *bytes, size_t length, const char *origin, struct image *out,
			     struct attn_error *err);

#endif
