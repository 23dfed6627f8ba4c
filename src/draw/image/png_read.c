/* Reading PNG.  A file of a few bytes can claim to be a picture of gigabytes, so what its
 * length cannot hold is refused before memory is asked for. */
#include "draw/image/png.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/image/png_internal.h"
#include "util/checked.h"
#include "util/memory.h"

enum {
	SIGNATURE = 8,        /* bytes */
	CHANNELS = 4,         /* as libpng is asked to deliver: red, green, blue, alpha */
	MOST_INFLATED = 1032, /* bytes that deflate makes of one at most */
	CHUNK_BYTES = 1024 * 1024
};

struct png_reader {
	const unsigned char *bytes;
	size_t length, at;
	struct image *image;
	unsigned char *rows; /* (height or 1, width, CHANNELS) */
	bool too_large, no_memory;
	struct png_failure failure;
};

static void read_bytes(png_structp png, png_bytep data, size_t length)
{
	struct png_reader *r = png_get_io_ptr(png);
	if (length > r->length - r->at)
		png_error(png, "it ends too early");
	memcpy(data, r->bytes + r->at, length);
	r->at += length;
}

/* Ask for red, green, blue, alpha in 8 bits each, whatever there is. */
static void set_transforms(png_structp png)
{
	png_set_expand(png); /* palettes, grey of less than 8 bits, a transparent colour */
	png_set_scale_16(png);
	png_set_gray_to_rgb(png);
	png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
}

/* Whether the file is long enough for its pixels. */
static bool plausible(png_structp png, png_infop info, size_t length)
{
	double bits = (double)png_get_image_width(png, info) * png_get_channels(png, info) *
		      png_get_bit_depth(png, info);
	return bits / 8 * png_get_image_height(png, info) <= (double)length * MOST_INFLATED;
}

/* Over white. */
static void put_row(struct image *image, const unsigned char *row, size_t y)
{
	unsigned char *out = image->pixels + y * image->width * 3;
	for (size_t x = 0; x < image->width; x++, row += CHANNELS, out += 3)
		for (size_t i = 0; i < 3; i++)
			out[i] = (unsigned char)((row[i] * row[3] + 255 * (255 - row[3]) + 127) / 255);
}

static void make_room(png_structp png, struct png_reader *r, size_t width, size_t height, bool interlaced)
{
	size_t bytes;
	if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
	    !size_mul(width * CHANNELS, height, &bytes) || bytes > IMAGE_MAX_BYTES) {
		r->too_large = true;
		png_error(png, "too large");
	}
	r->rows = array_alloc(interlaced ? height : 1, width * CHANNELS);
	if (!r->rows || image_init(r->image, width, height, NULL) != ATTN_OK) {
		r->no_memory = true;
		png_error(png, "out of memory");
	}
}

/* All that may jump. */
static void read_picture(png_structp png, png_infop info, struct png_reader *r)
{
	png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
	png_set_chunk_malloc_max(png, CHUNK_BYTES);
	/* Comments, profiles and the like are passed over, not kept. */
	png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_set_read_fn(png, r, read_bytes);
	png_read_info(png, info);
	size_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
	bool plain = png_get_interlace_type(png, info) == PNG_INTERLACE_NONE;
	if (!plausible(png, info, r->length))
		png_error(png, "it is too short for its pixels");
	set_transforms(png);
	int passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);
	if (png_get_rowbytes(png, info) != width * CHANNELS)
		png_error(png, "unknown kind of pixels");
	make_room(png, r, width, height, !plain);
	for (int pass = 0; pass < passes; pass++) {
		for (size_t y = 0; y < height; y++) {
			unsigned char *row = plain ? r->rows : r->rows + y * width * CHANNELS;
			png_read_row(png, row, NULL);
			if (pass + 1 == passes)
				put_row(r->image, row, y);
		}
	}
	png_read_end(png, NULL);
}

/* False, with r->failure.message set, on failure. */
static bool decode(struct png_reader *r)
{
	png_infop info = NULL;
	png_structp png =
	    png_create_read_struct(PNG_LIBPNG_VER_STRING, &r->failure, png_on_error, png_on_warning);
	if (png)
		info = png_create_info_struct(png);
	if (!info) {
		r->no_memory = true;
		png_destroy_read_struct(&png, &info, NULL);
		return false;
	}
	if (setjmp(png_jmpbuf(png))) {
		png_destroy_read_struct(&png, &info, NULL);
		return false;
	}
	read_picture(png, info, r);
	png_destroy_read_struct(&png, &info, NULL);
	return true;
}

/* What a file that is no PNG is, for those that people have. */
static const char *other_format(const unsigned char *bytes, size_t length)
{
	if (length >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
		return "a JPEG picture";
	if (length >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
		return "a WebP picture";
	if (length >= 4 && memcmp(bytes, "GIF8", 4) == 0)
		return "a GIF picture";
	return NULL;
}

enum attn_status image_parse_png(const void *bytes, size_t length, const char *origin, struct image *out,
				 struct attn_error *err)
{
	struct png_reader r = {.bytes = bytes, .length = length, .image = out};
	*out = (struct image){0};
	if (length < SIGNATURE || png_sig_cmp(r.bytes, 0, SIGNATURE) != 0) {
		const char *other = other_format(r.bytes, length);
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is %s, expected a PNG%s", origin,
				 other ? other : "no picture", other ? ": convert it" : "");
	}
	bool done = decode(&r);
	free(r.rows);
	if (done)
		return ATTN_OK;
	image_release(out);
	if (r.no_memory)
		return attn_fail_memory(err);
	if (r.too_large)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is too large a picture, expected at most %d pixels a side and %d "
				 "million in all",
				 origin, IMAGE_MAX_SIDE, IMAGE_MAX_BYTES / CHANNELS / 1000000);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' is a damaged PNG: %s", origin, r.failure.message);
}
