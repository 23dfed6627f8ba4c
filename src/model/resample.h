/* Pictures in another size, to the last bit as Pillow makes them, by which most vision models were taught.
 *
 * Each side by itself, across first: a pixel is the sum of those that a filter covers, widened where the
 * picture shrinks, in fixed point of 22 bits, and rounded to 8 bits between the two (Pillow's Resample.c,
 * precompute_coeffs and ImagingResampleHorizontal_8bpc).
 */
#ifndef ATTN_MODEL_RESAMPLE_H
#define ATTN_MODEL_RESAMPLE_H

#include <stddef.h>

#include "util/error.h"

/* By Pillow's numbers, as preprocessor_config.json has them. */
enum resampling {
	RESAMPLE_NEAREST,
	RESAMPLE_LANCZOS,
	RESAMPLE_BILINEAR,
	RESAMPLE_BICUBIC,
	RESAMPLE_BOX,
	RESAMPLE_HAMMING,
	RESAMPLINGS
};

/* Pixels (height, width, 3). */
struct pixels {
	size_t width, height;
	unsigned char *data; /* owned */
};

void pixels_release(struct pixels *p); /* safe on zeroed ones */

/* *out, released by the caller, is `in` with sides of at least 1.  ATTN_FAILED: no memory. */
enum attn_status pixels_resize(const struct pixels *in, size_t width, size_t height, enum resampling how,
			       struct pixels *out, struct attn_error *err);

/* The middle of `in`; where that is smaller there is black around it. */
enum attn_status pixels_crop(const struct pixels *in, size_t width, size_t height, struct pixels *out,
			     struct attn_error *err);

#endif
