/* A picture in memory, and writing it as PNG. */
#ifndef ATTN_DRAW_CANVAS_PNG_H
#define ATTN_DRAW_CANVAS_PNG_H

#include <stddef.h>
#include <stdio.h>

#include "util/error.h"

enum {
	IMAGE_MAX_SIDE = 32000,             /* pixels */
	IMAGE_MAX_BYTES = 512 * 1024 * 1024 /* of pixels in memory */
};

struct image {
	size_t width, height;  /* pixels */
	unsigned char *pixels; /* (height, width, 3): 8-bit sRGB, row 0 on top; owned */
	unsigned char *alpha;  /* (height, width): 0 is transparent, 255 opaque; owned.  NULL: all opaque */
};

/* A white picture.  ATTN_USAGE beyond the limits above (or for an empty side),
 * ATTN_FAILED without memory; *image is then empty. */
enum attn_status image_init(struct image *image, size_t width, size_t height, struct attn_error *err);
/* Make it all transparent.  ATTN_FAILED without memory. */
enum attn_status image_clear(struct image *image, struct attn_error *err);
void image_release(struct image *image); /* safe on a zeroed image */

/* Write as PNG to `stream`, with the resolution `dpi` in its pHYs chunk.  The
 * stream is neither flushed nor closed.  A failed write ends it early and is the
 * stream's to tell, by ferror or output_commit, which knows the path and the
 * reason: it is not an error here.  ATTN_FAILED without memory. */
enum attn_status image_write_png(FILE *stream, const struct image *image, double dpi, struct attn_error *err);

#endif
