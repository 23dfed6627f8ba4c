#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "draw/image/png.h"

struct file {
	unsigned char *bytes;
	size_t length;
};

static void append(png_structp png, png_bytep data, size_t length)
{
	struct file *file = png_get_io_ptr(png);

	file->bytes = realloc(file->bytes, file->length + length);
	memcpy(file->bytes + file->length, data, length);
	file->length += length;
}

struct kind {
	int type, depth;
	bool interlaced;
	const png_color *palette;
	int palette_size;
	const png_byte *alpha; /* of the palette */
	int alpha_size;
	const png_color_16 *transparent; /* the one colour that is */
	double gamma;                    /* 0: not said */
};

/* Encode rows of samples as they are in the file. */
static struct file encode(const struct kind *kind, size_t width, size_t height, const unsigned char *rows)
{
	struct file file = {NULL, 0};
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);

	png_set_write_fn(png, &file, append, NULL);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, kind->depth, kind->type,
		     kind->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (kind->palette)
		png_set_PLTE(png, info, kind->palette, kind->palette_size);
	if (kind->alpha || kind->transparent)
		png_set_tRNS(png, info, kind->alpha, kind->alpha_size, kind->transparent);
	if (kind->gamma > 0)
		png_set_gAMA(png, info, kind->gamma);
	png_write_info(png, info);
	for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
		for (size_t y = 0; y < height; y++)
			png_write_row(png, rows + y * png_get_rowbytes(png, info));
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return file;
}

/* Encode a picture of one row, and expect these bytes of red, green and blue. */
static void check(const struct kind *kind, const unsigned char *row, size_t width,
		  const unsigned char *expected)
{
	struct file file = encode(kind, width, 1, row);
	struct image image;

	assert_int_equal(image_parse_png(file.bytes, file.length, "x.png", &image, NULL), ATTN_OK);
	assert_int_equal(image.width, width);
	assert_int_equal(image.height, 1);
	assert_memory_equal(image.pixels, expected, width * 3);
	image_release(&image);
	free(file.bytes);
}

#define BYTES(...)                                                                                           \
	(const unsigned char[])                                                                              \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

static void test_grey(void **state)
{
	static const png_color_16 transparent = {.gray = 2};

	(void)state;
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 1}, BYTES(0x40), 3,
	      BYTES(0, 0, 0, 255, 255, 255, 0, 0, 0));
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 2}, BYTES(0x1b), 4,
	      BYTES(0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255));
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 4}, BYTES(0x1f), 2,
	      BYTES(17, 17, 17, 255, 255, 255));
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 8}, BYTES(7, 200), 2,
	      BYTES(7, 7, 7, 200, 200, 200));
	/* 16 bits to the nearest of 8: 0x017f / 257 = 1.49, 0x0182 / 257 = 1.502 */
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 16},
	      BYTES(0x01, 0x7f, 0x01, 0x82, 0xff, 0xff), 3, BYTES(1, 1, 1, 2, 2, 2, 255, 255, 255));
	/* Over white: 100 x 51/255 + 255 x 204/255 = 20 + 204. */
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY_ALPHA, .depth = 8}, BYTES(100, 51, 9, 0, 9, 255), 3,
	      BYTES(224, 224, 224, 255, 255, 255, 9, 9, 9));
	check(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 2, .transparent = &transparent},
	      BYTES(0x60), 2, BYTES(85, 85, 85, 255, 255, 255));
}

static void test_colour(void **state)
{
	static const png_color palette[] = {{1, 2, 3}, {40, 50, 60}, {100, 0, 200}};
	static const png_byte alpha[] = {255, 51};
	static const png_color_16 transparent = {.red = 1, .green = 2, .blue = 3};

	(void)state;
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 8}, BYTES(1, 2, 3, 4, 5, 6), 2,
	      BYTES(1, 2, 3, 4, 5, 6));
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 8, .transparent = &transparent},
	      BYTES(1, 2, 3, 4, 5, 6), 2, BYTES(255, 255, 255, 4, 5, 6));
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 16}, BYTES(0x01, 0x82, 0, 0, 0xff, 0xff), 1,
	      BYTES(2, 0, 255));
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 8}, BYTES(100, 0, 255, 51), 1,
	      BYTES(224, 204, 255));
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 16},
	      BYTES(100, 100, 0, 0, 0xff, 0xff, 51, 51), 1, BYTES(224, 204, 255));
	for (int depth = 2; depth <= 8; depth *= 2) {
		struct kind kind = {.type = PNG_COLOR_TYPE_PALETTE,
				    .depth = depth,
				    .palette = palette,
				    .palette_size = 3,
				    .alpha = alpha,
				    .alpha_size = 2};
		const unsigned char *row = depth == 2   ? BYTES(0x18)
					   : depth == 4 ? BYTES(0x01, 0x20)
							: BYTES(0, 1, 2);

		/* 40 x 51/255 + 204 = 212, 50: 214, 60: 216 */
		check(&kind, row, 3, BYTES(1, 2, 3, 212, 214, 216, 100, 0, 200));
	}
	check(&(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 8, .gamma = 0.2}, BYTES(100, 50, 25), 1,
	      BYTES(100, 50, 25));
}

static void fill(unsigned char *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (unsigned char)(i * 2654435761u >> 11);
}

/* Rows and columns are where they were, also interlaced. */
static void test_interlaced(void **state)
{
	static const size_t sizes[][2] = {{1, 1}, {9, 7}, {3, 20}, {64, 5}};
	unsigned char rows[64 * 20 * 3];

	(void)state;
	fill(rows, sizeof rows);
	for (size_t i = 0; i < 4 * 2; i++) {
		size_t width = sizes[i / 2][0], height = sizes[i / 2][1];
		struct file file =
		    encode(&(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 8, .interlaced = i % 2 == 1},
			   width, height, rows);
		struct image image;

		assert_int_equal(image_parse_png(file.bytes, file.length, "x.png", &image, NULL), ATTN_OK);
		assert_int_equal(image.width, width);
		assert_int_equal(image.height, height);
		assert_memory_equal(image.pixels, rows, width * height * 3);
		image_release(&image);
		free(file.bytes);
	}
}

static void refused(const void *bytes, size_t length, const char *reason)
{
	/* Just as large, so that a sanitizer sees a read past it. */
	unsigned char *copy = malloc(length ? length : 1);
	struct attn_error err = {0};
	struct image image;

	memcpy(copy, bytes, length);
	assert_int_equal(image_parse_png(copy, length, "x.png", &image, &err), ATTN_BAD_INPUT);
	assert_non_null(strstr(err.message, "'x.png' is "));
	if (!strstr(err.message, reason))
		fail_msg("'%s' has no '%s'", err.message, reason);
	assert_null(image.pixels);
	free(copy);
}

/* A PNG of these dimensions with a header only, and `extra` bytes of another chunk. */
static struct file header_only(uint32_t width, uint32_t height, int depth, int type, size_t extra)
{
	struct file file = encode(&(struct kind){.type = PNG_COLOR_TYPE_GRAY, .depth = 8}, 1, 1, BYTES(0));
	unsigned char *ihdr = file.bytes + 8, *padded;
	uLong crc;

	for (int i = 0; i < 4; i++) {
		ihdr[8 + i] = (unsigned char)(width >> (24 - 8 * i));
		ihdr[12 + i] = (unsigned char)(height >> (24 - 8 * i));
	}
	ihdr[16] = (unsigned char)depth;
	ihdr[17] = (unsigned char)type;
	crc = crc32(0, ihdr + 4, 17);
	for (int i = 0; i < 4; i++)
		ihdr[21 + i] = (unsigned char)(crc >> (24 - 8 * i));
	padded = calloc(1, file.length + extra);
	memcpy(padded, file.bytes, file.length);
	free(file.bytes);
	return (struct file){padded, file.length + extra};
}

static void check_header(uint32_t width, uint32_t height, int depth, int type, size_t extra,
			 const char *reason)
{
	struct file file = header_only(width, height, depth, type, extra);

	refused(file.bytes, file.length, reason);
	free(file.bytes);
}

static void test_sizes(void **state)
{
	(void)state;
	check_header(0, 1, 8, 0, 0, "damaged");
	check_header(1, 0x80000000u, 8, 0, 0, "damaged");
	check_header(0x7fffffff, 0x7fffffff, 16, 6, 0, "too short for its pixels");
	check_header(30000, 30000, 1, 0, 0, "too short for its pixels");
	check_header(40000, 1, 1, 0, 0, "too large");
	check_header(32000, 32000, 1, 0, 200000, "too large");
	check_header(100, 100, 8, 0, 0, "damaged"); /* and nothing read past its one pixel */
	check_header(1, 1, 3, 0, 0, "damaged");
	check_header(1, 1, 8, 5, 0, "damaged");
}

/* Cut off anywhere, or with a byte changed: refused, or read as a picture of its size. */
static void test_damaged(void **state)
{
	unsigned char rows[11 * 6 * 3];

	(void)state;
	fill(rows, sizeof rows);
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		struct file file = encode(
		    &(struct kind){.type = PNG_COLOR_TYPE_RGB, .depth = 8, .interlaced = interlaced == 1}, 11,
		    6, rows);

		for (size_t length = 0; length < file.length; length++)
			refused(file.bytes, length, length < 8 ? "no picture" : "damaged");
		for (size_t i = 8; i < file.length; i++) {
			struct image image;

			file.bytes[i] ^= 0x21;
			if (image_parse_png(file.bytes, file.length, "x.png", &image, NULL) == ATTN_OK) {
				assert_int_equal(image.width * image.height, 66);
				image_release(&image);
			}
			file.bytes[i] ^= 0x21;
		}
		free(file.bytes);
	}
}

static void test_others(void **state)
{
	(void)state;
	refused("", 0, "no picture, expected a PNG");
	refused("not a picture at all", 20, "no picture, expected a PNG");
	refused("\xff\xd8\xff\xe0JFIF and so on", 18, "a JPEG picture, expected a PNG: convert it");
	refused("GIF89a......", 12, "a GIF picture");
	refused("RIFF....WEBPVP8 ", 16, "a WebP picture");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_grey),  cmocka_unit_test(test_colour),  cmocka_unit_test(test_interlaced),
	    cmocka_unit_test(test_sizes), cmocka_unit_test(test_damaged), cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
