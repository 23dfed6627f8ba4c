#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/overlay/overlay_internal.h"
#include "draw/text/pango.h"

static struct rgb pixel(const struct image *image, size_t x, size_t y)
{
	const unsigned char *p = image->pixels + (y * image->width + x) * 3;

	return (struct rgb){p[0], p[1], p[2]};
}

static void check_rgb(struct rgb found, int r, int g, int b)
{
	assert_int_equal(found.r, r);
	assert_int_equal(found.g, g);
	assert_int_equal(found.b, b);
}

/* round(i pixels / count): 10 / 3 = 3.3, 20 / 3 = 6.7; 2.5 and 7.5 go up. */
static void test_borders(void **state)
{
	static const size_t thirds[] = {0, 3, 7, 10}, quarters[] = {0, 3, 5, 8, 10};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(overlay_border(i, 10, 3), thirds[i]);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(overlay_border(i, 10, 4), quarters[i]);
	assert_int_equal(overlay_border(14, 224, 14), 224);
	assert_int_equal(overlay_border(1, 3, 7), 0);                /* more patches than pixels */
	assert_int_equal(overlay_border(9999, 32000, 10000), 31997); /* 31996.8 */
}

/* White in the dark is 0.45 x 255 = 114.75; a = 0.75 s. */
static void test_blend(void **state)
{
	const struct rgb white = {255, 255, 255}, black = {0, 0, 0}, red = {255, 0, 0};

	(void)state;
	check_rgb(overlay_blend(white, red, 0, false), 115, 115, 115);
	check_rgb(overlay_blend(white, red, -1, false), 115, 115, 115);
	/* 114.75 / 4 = 28.69, + 191.25 */
	check_rgb(overlay_blend(white, red, 1, false), 220, 29, 29);
	check_rgb(overlay_blend(white, red, 7, false), 220, 29, 29);
	/* a = 0.375: 71.72, + 95.63 */
	check_rgb(overlay_blend(white, red, 0.5, false), 167, 72, 72);
	/* Light: 255 - 114.75 = 140.25. */
	check_rgb(overlay_blend(black, red, 0, true), 140, 140, 140);
	/* Grey of red: 0.45 x 0.299 x 255 = 34.31; of (10, 20, 30): 0.45 x 18.15 = 8.17. */
	check_rgb(overlay_blend(red, red, 0, false), 34, 34, 34);
	check_rgb(overlay_blend((struct rgb){10, 20, 30}, red, 0, false), 8, 8, 8);
}

static void test_colours(void **state)
{
	struct rgb table[OVERLAY_LEVELS];

	(void)state;
	colormap_fill(overlay_colormap(), BACKGROUND_LIGHT, table, OVERLAY_LEVELS);
	assert_false(overlay_is_light(table));
	/* 0.35 x 255 = 89.25; with half of the scale 0.675 x 255 = 172.1. */
	assert_memory_equal(&(struct rgb[]){overlay_colour(table, 0)}, &table[89], 3);
	assert_memory_equal(&(struct rgb[]){overlay_colour(table, 0.5)}, &table[172], 3);
	assert_memory_equal(&(struct rgb[]){overlay_colour(table, 2)}, &table[255], 3);
	colormap_fill(NULL, BACKGROUND_LIGHT, table, OVERLAY_LEVELS);
	assert_true(overlay_is_light(table));
}

static void make_image(struct image *image, size_t width, size_t height)
{
	assert_int_equal(image_init(image, width, height, NULL), ATTN_OK);
	for (size_t i = 0; i < width * height * 3; i++)
		image->pixels[i] = (unsigned char)(i * 2654435761u >> 13);
}

/* Weights land on their patches where these divide nothing: 3 x 4 patches over a picture of
 * 10 x 7 pixels, at (2, 1) of a larger one. */
static void test_patches(void **state)
{
	static const size_t col_of[10] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 3}, row_of[7] = {0, 0, 1, 1, 1, 2, 2};
	struct rgb table[OVERLAY_LEVELS];
	float weights[12];
	unsigned char masked[12] = {0};
	struct overlay_style style = {
	    .patch_rows = 3, .patch_cols = 4, .table = table, .top = 2, .line = 0, .hatch = 1};
	struct overlay_panel panel = {weights, masked, NULL};
	struct image picture, out;

	(void)state;
	colormap_fill(overlay_colormap(), BACKGROUND_LIGHT, table, OVERLAY_LEVELS);
	for (size_t i = 0; i < 12; i++)
		weights[i] = (float)i / 6;
	make_image(&picture, 10, 7);
	assert_int_equal(image_init(&out, 14, 9, NULL), ATTN_OK);
	overlay_paint(&style, &panel, &picture, &out, 2, 1);
	for (size_t y = 0; y < 9; y++) {
		for (size_t x = 0; x < 14; x++) {
			struct rgb expected = {255, 255, 255};

			if (x >= 2 && x < 12 && y >= 1 && y < 8) {
				double share = (double)(row_of[y - 1] * 4 + col_of[x - 2]) / 12;
				struct rgb colour = table[(size_t)((0.35 + 0.65 * share) * 255 + 0.5)];

				expected = overlay_blend(pixel(&picture, x - 2, y - 1), colour, share, false);
			}
			check_rgb(pixel(&out, x, y), expected.r, expected.g, expected.b);
		}
	}

	/* Lines between patches only, and only masked ones hatched. */
	masked[5] = 1;
	style.line = 1;
	struct image lined;
	assert_int_equal(image_init(&lined, 14, 9, NULL), ATTN_OK);
	overlay_paint(&style, &panel, &picture, &lined, 2, 1);
	for (size_t y = 0; y < 7; y++) {
		for (size_t x = 0; x < 10; x++) {
			bool line = x == 3 || x == 5 || x == 8 || y == 2 || y == 5;
			bool hatched = row_of[y] == 1 && col_of[x] == 1 && (x + y) % 6 == 0;
			struct rgb a = pixel(&out, x + 2, y + 1), b = pixel(&lined, x + 2, y + 1);

			assert_int_equal(memcmp(&a, &b, 3) != 0, line || hatched);
		}
	}
	image_release(&lined);
	image_release(&picture);
	image_release(&out);
}

static void check_resize(size_t from, const unsigned char *row, size_t to, const unsigned char *expected)
{
	struct image image, out;

	for (int tall = 0; tall < 2; tall++) {
		assert_int_equal(image_init(&image, tall ? 1 : from, tall ? from : 1, NULL), ATTN_OK);
		for (size_t i = 0; i < from * 3; i++)
			image.pixels[i] = row[i / 3];
		assert_int_equal(image_resize(&image, tall ? 1 : to, tall ? to : 1, &out, NULL), ATTN_OK);
		for (size_t i = 0; i < to * 3; i++)
			assert_int_equal(out.pixels[i], expected[i / 3]);
		image_release(&image);
		image_release(&out);
	}
}

static void test_resize(void **state)
{
	(void)state;
	check_resize(4, (const unsigned char[]){0, 10, 100, 50}, 2, (const unsigned char[]){5, 75});
	/* Three to two: the middle one counts half to both sides. */
	check_resize(3, (const unsigned char[]){0, 90, 180}, 2, (const unsigned char[]){30, 150});
	/* Five to two: (0 + 10 + 20 / 2) / 2.5, (20 / 2 + 30 + 200) / 2.5. */
	check_resize(5, (const unsigned char[]){0, 10, 20, 30, 200}, 2, (const unsigned char[]){8, 96});
	check_resize(3, (const unsigned char[]){1, 2, 6}, 1, (const unsigned char[]){3});
	check_resize(2, (const unsigned char[]){7, 9}, 5, (const unsigned char[]){7, 7, 9, 9, 9});
	check_resize(2, (const unsigned char[]){7, 9}, 4, (const unsigned char[]){7, 7, 9, 9});
	check_resize(3, (const unsigned char[]){7, 8, 9}, 3, (const unsigned char[]){7, 8, 9});
}

static size_t count_colour(const struct image *image, struct rgb colour)
{
	size_t count = 0;

	for (size_t i = 0; i < image->width * image->height; i++)
		count += memcmp(image->pixels + i * 3, &colour, 3) == 0;
	return count;
}

/* A whole figure: its size, and the areas that its patches have. */
static void test_figure(void **state)
{
	static const size_t sizes[] = {0, 250, 400, 777};
	const float weights[] = {0.5f, 0.25f, 0.125f, 0};
	struct overlay_panel panels[] = {{weights, NULL, "head 0"}, {weights, NULL, "head 1"}};
	struct image picture, out;
	struct text_engine *text;
	struct rgb table[256];
	struct attn_error err = {0};

	(void)state;
	if (text_engine_new(&text, NULL) != ATTN_OK)
		skip();
	colormap_fill(overlay_colormap(), BACKGROUND_LIGHT, table, 256);
	assert_int_equal(image_init(&picture, 100, 60, NULL), ATTN_OK); /* white */
	for (size_t i = 0; i < 4 * 2; i++) {
		struct overlay_figure figure = {.picture = &picture,
						.patch_rows = 2,
						.patch_cols = 2,
						.panels = panels,
						.panel_count = 1 + i % 2,
						.title = "ball",
						.size = sizes[i / 2]};
		size_t first, second, third;

		assert_int_equal(overlay_draw(text, &figure, &out, NULL), ATTN_OK);
		if (figure.size)
			assert_int_equal(out.width > out.height ? out.width : out.height, figure.size);
		first = count_colour(&out, overlay_blend((struct rgb){255, 255, 255}, table[255], 1, false));
		second =
		    count_colour(&out, overlay_blend((struct rgb){255, 255, 255}, table[172], 0.5, false));
		third =
		    count_colour(&out, overlay_blend((struct rgb){255, 255, 255}, table[131], 0.25, false));
		assert_true(first > 1000 * figure.panel_count);
		/* The lines at their borders are a little of them. */
		assert_true(second <= first && second > first * 9 / 10);
		assert_true(third <= first && third > first * 9 / 10);
		if (!figure.size && figure.panel_count == 1) /* grown five times: 250 x 150 a patch */
			assert_int_equal(first, 250 * 150);
		image_release(&out);
	}
	struct overlay_figure figure = {.picture = &picture,
					.patch_rows = 2,
					.patch_cols = 2,
					.panels = panels,
					.panel_count = 1,
					.size = 40};
	assert_int_equal(overlay_draw(text, &figure, &out, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "--size 40: give --size"));
	image_release(&picture);
	text_engine_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_borders), cmocka_unit_test(test_blend),  cmocka_unit_test(test_colours),
	    cmocka_unit_test(test_patches), cmocka_unit_test(test_resize), cmocka_unit_test(test_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
