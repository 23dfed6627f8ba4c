#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "draw/image/png.h"
#include "files/output.h"

/* Encode, and decode with libpng's own reader. */
static unsigned char *round_trip(const struct image *image, double dpi, png_image *decoded, char **file,
				 size_t *length)
{
	unsigned char *pixels;
	FILE *stream = open_memstream(file, length);

	assert_int_equal(image_write_png(stream, image, dpi, NULL), ATTN_OK);
	fclose(stream);
	memset(decoded, 0, sizeof *decoded);
	decoded->version = PNG_IMAGE_VERSION;
	assert_true(png_image_begin_read_from_memory(decoded, *file, *length));
	decoded->format = PNG_FORMAT_RGB;
	pixels = malloc(PNG_IMAGE_SIZE(*decoded));
	assert_true(png_image_finish_read(decoded, NULL, pixels, 0, NULL));
	return pixels;
}

/* The four bytes after a chunk's name, big-endian. */
static uint32_t chunk_number(const char *file, size_t length, const char *name)
{
	for (size_t i = 0; i + 8 <= length; i++)
		if (memcmp(file + i, name, 4) == 0)
			return (uint32_t)(unsigned char)file[i + 4] << 24 |
			       (uint32_t)(unsigned char)file[i + 5] << 16 |
			       (uint32_t)(unsigned char)file[i + 6] << 8 | (unsigned char)file[i + 7];
	fail_msg("no %s chunk", name);
	return 0;
}

static void check_round_trip(size_t width, size_t height, unsigned int colours, double dpi)
{
	unsigned char *pixels;
	struct image image;
	png_image decoded;
	char *file = NULL;
	size_t length = 0;

	assert_int_equal(image_init(&image, width, height, NULL), ATTN_OK);
	for (size_t i = 0; i < width * height * 3; i++)
		assert_int_equal(image.pixels[i], 255);
	for (size_t i = 0; i < width * height; i++) {
		unsigned int colour = (unsigned int)(i / 3 * 2654435761u) % colours * 40503u;

		if (i / width % 4 == 3) { /* some rows repeat the one above */
			memcpy(image.pixels + i * 3, image.pixels + (i - width) * 3, 3);
			continue;
		}
		image.pixels[i * 3] = (unsigned char)colour;
		image.pixels[i * 3 + 1] = (unsigned char)(colour >> 8);
		image.pixels[i * 3 + 2] = (unsigned char)(colour >> 16);
	}
	pixels = round_trip(&image, dpi, &decoded, &file, &length);
	assert_int_equal(decoded.width, width);
	assert_int_equal(decoded.height, height);
	assert_memory_equal(pixels, image.pixels, width * height * 3);
	assert_int_equal(chunk_number(file, length, "pHYs"), (uint32_t)(dpi / 0.0254 + 0.5));
	free(pixels);
	free(file);
	image_release(&image);
}

static void test_round_trip(void **state)
{
	static const unsigned int colours[] = {1, 2, 255, 256, 257, 5000};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		check_round_trip(1, 1, colours[i], 96);
		check_round_trip(97, 61, colours[i], 300);
		check_round_trip(211, 130, colours[i], 72.5);
	}
}

static void test_limits(void **state)
{
	struct attn_error err;
	struct image image;

	(void)state;
	assert_int_equal(image_init(&image, 0, 5, &err), ATTN_USAGE);
	assert_int_equal(image_init(&image, IMAGE_MAX_SIDE + 1, 1, &err), ATTN_USAGE);
	assert_int_equal(image_init(&image, IMAGE_MAX_SIDE, IMAGE_MAX_SIDE, &err), ATTN_USAGE);
	assert_int_equal(image_init(&image, SIZE_MAX, SIZE_MAX, &err), ATTN_USAGE);
	assert_null(image.pixels);
	image_release(&image);
}

/* A full disk ends the writing, and the stream tells. */
static void test_full(void **state)
{
	FILE *full = fopen("/dev/full", "wb");
	struct image image;

	(void)state;
	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(image_init(&image, 300, 300, NULL), ATTN_OK);
	assert_int_equal(image_write_png(full, &image, 96, NULL), ATTN_OK);
	assert_true(ferror(full));
	image_release(&image);
	fclose(full);
}

/* An output knows its path and the reason. */
static void test_full_output(void **state)
{
	struct output out = {0};
	struct attn_error err;
	struct image image;

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(image_init(&image, 300, 300, NULL), ATTN_OK);
	assert_int_equal(output_open(&out, "/dev/full", true, NULL), ATTN_OK);
	assert_int_equal(image_write_png(out.stream, &image, 96, NULL), ATTN_OK);
	assert_int_equal(output_commit(&out, &err), ATTN_FAILED);
	assert_non_null(strstr(err.message, "/dev/full"));
	assert_non_null(strstr(err.message, strerror(ENOSPC)));
	image_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_full),
	    cmocka_unit_test(test_full_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
