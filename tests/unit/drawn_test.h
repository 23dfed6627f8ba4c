/* Heatmaps as the program draws them: written as PNG, and read back by libpng. */
#ifndef ATTN_TESTS_UNIT_DRAWN_TEST_H
#define ATTN_TESTS_UNIT_DRAWN_TEST_H

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap/heatmap.h"
#include "draw/image/image.h"

/* Into *out, whose alpha is there where the file has one; empty on failure. */
static enum attn_status draw_pixels(struct heatmap_painter *painter, const struct heatmap_figure *figure,
				    struct image *out, struct attn_error *err)
{
	char *file = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&file, &length);
	*out = (struct image){0};
	enum attn_status status = heatmap_write(painter, figure, stream, err);
	fclose(stream);
	if (status == ATTN_OK) {
		png_image png = {.version = PNG_IMAGE_VERSION};
		assert_true(png_image_begin_read_from_memory(&png, file, length));
		bool clear = (png.format & PNG_FORMAT_FLAG_ALPHA) != 0;
		png.format = PNG_FORMAT_RGBA;
		unsigned char *rgba = malloc(PNG_IMAGE_SIZE(png));
		assert_true(png_image_finish_read(&png, NULL, rgba, 0, NULL));
		assert_int_equal(image_init(out, png.width, png.height, NULL), ATTN_OK);
		if (clear)
			assert_int_equal(image_clear(out, NULL), ATTN_OK);
		for (size_t i = 0; i < out->width * out->height; i++) {
			memcpy(out->pixels + 3 * i, rgba + 4 * i, 3);
			if (clear)
				out->alpha[i] = rgba[4 * i + 3];
		}
		free(rgba);
	}
	free(file);
	return status;
}

#endif
