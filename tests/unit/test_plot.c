/* Axes, strokes and plots, against numbers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/plot/plot_internal.h"

static const double sizes[] = {4, 16, 64, 256, 1024}, values[] = {0, 3.5, NAN, 6.4, -1};

static struct axis axis_of(const struct plot_axis *x, const struct plot_axis *y, size_t count, bool upright)
{
	const struct plot_series series = {.x = sizes, .y = values, .count = count};
	const struct plot_panel panel = {.x = *x, .y = *y, .series = &series, .series_count = 1};
	struct axis axis;
	axis_make(&axis, &panel, upright, 5);
	return axis;
}

static void expect_ticks(const struct axis *axis, const char *const *texts, size_t count)
{
	assert_int_equal(axis->tick_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(axis->ticks[i].text, texts[i]);
}

/* 4 to 1024 is 8 doublings, within 4 % of the length at either end. */
static void test_logarithmic(void **state)
{
	static const char *const given[] = {"4", "16", "64", "256", "1024"}, *const round[] = {"10", "100",
											       "1000"};
	const struct plot_axis plain = {0}, marked = {.logarithmic = true, .ticks = sizes, .tick_count = 5};
	const struct plot_axis unmarked = {.logarithmic = true};
	struct axis axis = axis_of(&marked, &plain, 5, false);
	(void)state;
	/* The third point has no value, and others remain at both ends. */
	expect_ticks(&axis, given, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(fabs(axis.ticks[i].share - (0.04 + 0.92 * (double)i / 4)) < 1e-12);
	assert_true(isnan(axis_share(&axis, 0)) && isnan(axis_share(&axis, (double)INFINITY)));
	axis = axis_of(&unmarked, &plain, 5, false);
	expect_ticks(&axis, round, 3);
}

/* Round steps, from one to another of them. */
static void test_linear(void **state)
{
	static const char *const upwards[] = {"0", "2", "4", "6", "8"};
	static const char *const below[] = {"\u22122", "0", "2", "4", "6", "8"};
	static const char *const tenths[] = {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"};
	const struct plot_axis plain = {0}, unit = {.low = 0, .high = 1};
	struct axis axis = axis_of(&plain, &plain, 4, true);
	(void)state;
	expect_ticks(&axis, upwards, 5);
	assert_true(axis_share(&axis, 8) == 1 && axis_share(&axis, 6) == 0.75);
	axis = axis_of(&plain, &plain, 5, true);
	expect_ticks(&axis, below, 6);
	axis = axis_of(&plain, &unit, 1, true);
	expect_ticks(&axis, tenths, 6);
}

/* No point, and one, have an axis too. */
static void test_few_points(void **state)
{
	const struct plot_axis plain = {0}, log = {.logarithmic = true};
	(void)state;
	for (size_t count = 0; count <= 1; count++) {
		for (int upright = 0; upright <= 1; upright++) {
			struct axis axis = axis_of(&log, &plain, count, upright);
			assert_true(axis.low < axis.high && axis.tick_count >= 2);
			axis = axis_of(&log, &log, count, upright); /* 0 is left out */
			assert_true(axis.low < axis.high && axis.low > 0 && axis.tick_count >= 1);
		}
	}
}

/* --- strokes --- */

static struct image stroke(const struct canvas_point *points, size_t count, double width, bool clear)
{
	const struct canvas_stroke s = {points, count, width, {0, 0, 0}};
	struct image image;
	struct canvas_pixels c;
	assert_int_equal(image_init(&image, 20, 20, NULL), ATTN_OK);
	if (clear)
		assert_int_equal(image_clear(&image, NULL), ATTN_OK);
	canvas_pixels_init(&c, &image, NULL);
	c.canvas.class->stroke(&c.canvas, &s);
	return image;
}

/* How many pixels are black, with shares. */
static double covered(const struct image *image)
{
	double sum = 0;
	for (size_t i = 0; i < 400; i++)
		sum += image->alpha ? image->alpha[i] / 255.0 : 1 - image->pixels[3 * i] / 255.0;
	return sum;
}

/* A disc of radius 4 has 16 pi pixels; a line of 10 x 2 with round ends 20 + pi. */
static void test_stroke(void **state)
{
	const struct canvas_point middle = {10, 10}, line[] = {{5, 10}, {15, 10}, {12, 10}};
	(void)state;
	for (int clear = 0; clear <= 1; clear++) {
		struct image image = stroke(&middle, 1, 8, clear);
		assert_true(fabs(covered(&image) / (16 * 3.14159265) - 1) < 0.01);
		assert_int_equal(image_pixel(&image, 10, 10).r, 0);
		assert_int_equal(image_pixel(&image, 10, 15).r, 255);
		image_release(&image);
		image = stroke(line, 3, 2, clear);
		assert_true(fabs(covered(&image) - 23.14) < 0.5);
		for (size_t x = 6; x < 15; x++)
			assert_true(image_pixel(&image, x, 9).r == 0 && image_pixel(&image, x, 8).r == 255);
		image_release(&image);
	}
}

/* What lies outside the picture is left out. */
static void test_stroke_outside(void **state)
{
	const struct canvas_point far[] = {{-1e9, 5}, {1e9, 5}}, away[] = {{-50, -50}, {-40, 1e12}};
	struct image image = stroke(far, 2, 2, false);
	(void)state;
	assert_true(fabs(covered(&image) - 40) < 1e-9);
	image_release(&image);
	image = stroke(away, 2, 2, false);
	assert_true(covered(&image) == 0);
	image_release(&image);
}

/* --- a figure --- */

static char *draw(const struct plot_figure *figure, enum attn_status expected)
{
	struct text_engine *text;
	char *out = NULL;
	size_t length = 0;
	if (text_engine_new(&text, NULL) != ATTN_OK)
		skip();
	FILE *stream = open_memstream(&out, &length);
	assert_int_equal(plot_write(text, figure, stream, NULL), expected);
	fclose(stream);
	text_engine_free(text);
	return out;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

static void test_figure(void **state)
{
	const struct plot_series series[] = {{"a<b", sizes, values, 5, PLOT_LINE | PLOT_DOTS, 0},
					     {NULL, sizes, sizes, 5, PLOT_DASHES, 0}};
	const struct plot_panel panels[] = {{"one", {.logarithmic = true, .title = "size"}, {0}, series, 2},
					    {"two", {.logarithmic = true}, {.logarithmic = true}, series, 2}};
	struct plot_figure figure = {.title = "of & for",
				     .note = "said",
				     .panels = panels,
				     .panel_count = 2,
				     .options = {.format = CANVAS_SVG}};
	char *svg = draw(&figure, ATTN_OK);
	(void)state;
	assert_int_equal(count_of(svg, ">a&lt;b</text>"), 1); /* in the legend, once */
	assert_int_equal(count_of(svg, "<title>of &amp; for</title>"), 1);
	/* Of four values, 0 and -1 are not on the logarithmic axis: a halo and a disc for 4 + 2, and one in
	 * the legend. */
	assert_int_equal(count_of(svg, "<circle"), 2 * (4 + 2 + 1));
	assert_non_null(strstr(svg, "said; 2 points at or below 0 are not shown"));
	free(svg);
	figure.options.width = (struct length){40, LENGTH_PX};
	free(draw(&figure, ATTN_USAGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_logarithmic),    cmocka_unit_test(test_linear),
	    cmocka_unit_test(test_few_points),     cmocka_unit_test(test_stroke),
	    cmocka_unit_test(test_stroke_outside), cmocka_unit_test(test_figure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
