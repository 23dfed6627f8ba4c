/* A picture in memory: rows of pixels, with or without transparency. */
#ifndef ATTN_DRAW_IMAGE_IMAGE_H
#define ATTN_DRAW_IMAGE_IMAGE_H

#include <stddef.h>

#include "draw/image/colour.h"
#include "draw/image/rect.h"
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
void image_release(struct image *image); /* safe on a zeroed image */

/* Make the whole picture transparent.  ATTN_FAILED without memory. */
enum attn_status image_clear(struct image *image, struct attn_error *err);

/* Memory for the pixels of a picture, or for one plane of them; free() releases it.
 * NULL without memory. */
unsigned char *image_alloc(size_t bytes);

/* The three bytes of a pixel. */
static inline unsigned char *image_at(const struct image *image, size_t x, size_t y)
{
	return image->pixels + (y * image->width + x) * 3;
}

static inline void pixel_set(unsigned char *pixel, struct rgb colour)
{
	pixel[0] = colour.r;
	pixel[1] = colour.g;
	pixel[2] = colour.b;
}

static inline struct rgb image_pixel(const struct image *image, size_t x, size_t y)
{
	const unsigned char *pixel = image_at(image, x, y);
	return (struct rgb){pixel[0], pixel[1], pixel[2]};
}

/* Fill what of the rectangle lies inside the picture. */
void image_fill(struct image *image, struct rect r, struct rgb colour);

/* The picture in another size, into *out (released by the caller; empty on failure).  Each
 * side for itself: where it shrinks, the mean of the area that a pixel covers; where it
 * grows, the nearest pixel.  Errors as for image_init. */
enum attn_status image_resize(const struct image *image, size_t width, size_t height, struct image *out,
			      struct attn_error *err);

#endif
