#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/heatmap/heatmap_internal.h"
#include "draw/text/pango.h"
#include "drawn_test.h"

enum {
	CELL = 11, /* too small for lines between cells and numbers */
	LEVELS = 232
};

/* A grid whose cell (r, c) has its own value, with some cells masked. */
static struct grid make_grid(size_t rows, size_t cols, bool masked)
{
	struct grid g = {
	    .queries = rows, .keys = cols, .rows = rows, .cols = cols, .row_factor = 1, .col_factor = 1};

	g.values = calloc(rows * cols, sizeof(float));
	g.masked = calloc(rows * cols, 1);
	for (size_t i = 0; i < rows * cols; i++) {
		g.masked[i] = masked && i % 3 == 1;
		g.any_masked |= g.masked[i] != 0;
		g.values[i] = g.masked[i] ? 0.0f : (float)(i + 1) / (float)(rows * cols);
	}
	g.maximum = 1.0f;
	return g;
}

static void free_grid(struct grid *g)
{
	free(g->values);
	free(g->masked);
}

static struct rgb pixel(const struct image *image, size_t x, size_t y)
{
	const unsigned char *p = image->pixels + (y * image->width + x) * 3;

	return (struct rgb){p[0], p[1], p[2]};
}

static bool same(struct rgb a, struct rgb b)
{
	return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* Find the panel that follows `skip` others in reading order: the first long
 * enough horizontal line of the frame's grey whose left end starts a vertical one. */
static void find_panel(const struct image *image, size_t width, size_t height, int skip, size_t *x0,
		       size_t *y0)
{
	const struct rgb frame = {0x66, 0x66, 0x66};

	for (size_t y = 0; y + height < image->height; y++) {
		for (size_t x = 0; x + width + 1 < image->width; x++) {
			size_t run = 0, fall = 0;

			while (run < width + 2 && same(pixel(image, x + run, y), frame))
				run++;
			while (run == width + 2 && fall < height + 1 &&
			       same(pixel(image, x, y + fall), frame))
				fall++;
			if (fall == height + 1 && !same(pixel(image, x + 1, y + 1), frame) && skip-- == 0) {
				*x0 = x + 1;
				*y0 = y + 1;
				return;
			}
		}
	}
	fail_msg("no panel of %zu x %zu pixels in the picture", width, height);
}

static struct heatmap_painter *painter_or_skip(void)
{
	const struct pango_functions *p;
	struct heatmap_painter *painter;

	if (pango_load(&p, NULL) != ATTN_OK)
		skip();
	assert_int_equal(heatmap_painter_new(&painter, NULL), ATTN_OK);
	return painter;
}

static struct image draw(struct heatmap_painter *painter, const struct heatmap_figure *figure)
{
	struct image image;
	struct attn_error err;
	if (draw_pixels(painter, figure, &image, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return image;
}

static void check_cell(const struct image *image, const struct rgb *table, const struct grid *g, size_t at,
		       size_t x, size_t y, double top)
{
	struct rgb want = table[colour_entry((double)g->values[at] / top, LEVELS)];

	for (size_t dy = 0; dy < CELL; dy++) {
		for (size_t dx = 0; dx < CELL; dx++) {
			struct rgb got = pixel(image, x + dx, y + dy);

			if (g->masked[at])
				assert_true(same(got, theme_default()->masked) ||
					    same(got, theme_default()->masked_line));
			else
				assert_true(same(got, want));
		}
	}
}

/* Every pixel of every cell: row 0 on top, keys to the right, or transposed. */
static void test_cells(void **state)
{
	static const size_t shapes[][2] = {{1, 1}, {2, 3}, {7, 4}, {20, 20}, {1, 60}, {60, 1}};
	struct heatmap_painter *painter = painter_or_skip();

	(void)state;
	for (size_t i = 0; i < 6 * 2 * 2 * colormap_count(); i++) {
		struct grid g = make_grid(shapes[i % 6][0], shapes[i % 6][1], i / 6 % 2);
		struct heatmap_panel panel = {&g, "head 0"};
		struct heatmap_figure figure = {.panels = &panel, .panel_count = 1, .title = "layer 0"};
		struct rgb table[LEVELS];
		struct image image;
		size_t x0, y0, rows, cols;
		bool transpose = i / 12 % 2;

		figure.options.cell = CELL;
		figure.options.transpose = transpose;
		figure.options.scale_max = i % 5 == 4 ? 0.5 : 0.0;
		figure.options.colormap = colormap_find(colormap_name(i / 24));
		colormap_fill(figure.options.colormap, BACKGROUND_LIGHT, table, LEVELS);
		rows = transpose ? g.cols : g.rows;
		cols = transpose ? g.rows : g.cols;
		image = draw(painter, &figure);
		find_panel(&image, cols * CELL, rows * CELL, 0, &x0, &y0);
		for (size_t r = 0; r < rows; r++) {
			for (size_t c = 0; c < cols; c++) {
				size_t at = transpose ? c * g.cols + r : r * g.cols + c;
				float top = 0.0f;

				for (size_t k = 0; k < g.rows * g.cols; k++)
					top = g.values[k] > top ? g.values[k] : top;
				check_cell(&image, table, &g, at, x0 + c * CELL, y0 + r * CELL,
					   figure.options.scale_max > 0 ? 0.5 : (double)top);
			}
		}
		image_release(&image);
		free_grid(&g);
	}
	heatmap_painter_free(painter);
}

/* Panels share one scale, in reading order. */
static void test_panels(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct heatmap_panel panels[7];
	struct grid grids[7];
	struct heatmap_figure figure = {.panels = panels, .panel_count = 7};
	struct rgb table[LEVELS];
	struct image image;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		grids[i] = make_grid(6, 5, i == 2);
		for (size_t k = 0; k < 30; k++)
			grids[i].values[k] *= (float)(i + 1) / 7.0f;
		panels[i] = (struct heatmap_panel){&grids[i], "head"};
	}
	figure.options.cell = CELL;
	colormap_fill(NULL, BACKGROUND_LIGHT, table, LEVELS);
	image = draw(painter, &figure);
	for (size_t i = 0; i < 7; i++) {
		size_t x0, y0;

		find_panel(&image, 5 * CELL, 6 * CELL, (int)i, &x0, &y0);
		for (size_t k = 0; k < 30; k++)
			check_cell(&image, table, &grids[i], k, x0 + k % 5 * CELL, y0 + k / 5 * CELL, 1.0);
		free_grid(&grids[i]);
	}
	image_release(&image);
	heatmap_painter_free(painter);
}

/* Ink keeps a margin from every edge, whatever the labels are. */
static void test_margins(void **state)
{
	static const char *const labels[] = {"a",
					     "",
					     "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
					     "\n\t",
					     "an-uncommonly-long-label-without-an-end-to-it-or-so",
					     "\u4e2d\u6587"};
	static const size_t shapes[][2] = {{1, 1}, {3, 30}, {30, 3}, {90, 90}, {1, 400}, {300, 1}};
	struct heatmap_painter *painter = painter_or_skip();
	struct string_list list = {NULL, 0, 0};

	(void)state;
	for (size_t i = 0; i < 400; i++)
		assert_true(string_list_add(&list, labels[i % 6]));
	for (size_t i = 0; i < 6 * 3; i++) {
		struct grid g = make_grid(shapes[i % 6][0], shapes[i % 6][1], i % 2);
		struct heatmap_panel panels[5];
		struct heatmap_figure figure = {.panels = panels,
						.panel_count = i < 6 ? 1 : 5,
						.query_labels = &list,
						.key_labels = &list,
						.title = "a title of some length, with several words in it",
						.note = "one more note"};
		struct image image;

		for (size_t k = 0; k < 5; k++)
			panels[k] = (struct heatmap_panel){&g, "layer 3, head 12"};
		figure.options.dpi = i % 3 ? 96 : 150;
		figure.options.size = i < 12 ? 0 : 1500;
		image = draw(painter, &figure);
		if (figure.options.size)
			assert_int_equal(image.width > image.height ? image.width : image.height,
					 (size_t)(1500 * figure.options.dpi / 96 + 0.5));
		for (size_t y = 0; y < image.height; y++)
			for (size_t x = 0; x < image.width; x++)
				if (x < 8 || y < 8 || x + 8 >= image.width || y + 8 >= image.height)
					assert_true(same(pixel(&image, x, y), (struct rgb){255, 255, 255}));
		image_release(&image);
		free_grid(&g);
	}
	string_list_release(&list);
	heatmap_painter_free(painter);
}

static void test_cell_number(void **state)
{
	static const struct {
		float value;
		const char *want;
	} cases[] = {{0, ".00"},           {0.004f, ".00"}, {0.95f, ".95"},  {0.994f, ".99"},
		     {0.996f, "1.00"},     {1, "1.00"},     {9.99f, "9.99"}, {9.996f, "10"},
		     {-0.5f, "\u2212.50"}, {999, "999"},    {1e5f, "1e+05"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[CELL_NUMBER_SIZE];

		cell_number(cases[i].value, text);
		assert_string_equal(text, cases[i].want);
	}
}

/* Numbers come with all cells or none, and are asked for in vain where they
 * cannot be. */
static void test_numbers(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(4, 4, false);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct attn_error err;
	struct image with, without;

	(void)state;
	figure.options.cell = 40;
	with = draw(painter, &figure);
	figure.options.numbers = HEATMAP_NUMBERS_OFF;
	without = draw(painter, &figure);
	assert_int_equal(with.width, without.width);
	assert_true(memcmp(with.pixels, without.pixels, with.width * with.height * 3) != 0);
	image_release(&with);
	image_release(&without);
	figure.options.numbers = HEATMAP_NUMBERS_ON;
	figure.options.cell = 5;
	assert_int_equal(draw_pixels(painter, &figure, &with, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "--cell"));
	figure.options.cell = 0;
	with = draw(painter, &figure);
	image_release(&with);
	free_grid(&g);
	heatmap_painter_free(painter);
}

static void test_all_masked(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(3, 3, false);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct image image;
	struct rgb table[LEVELS];
	size_t x0, y0;

	(void)state;
	colormap_fill(NULL, BACKGROUND_LIGHT, table, LEVELS);
	memset(g.values, 0, 9 * sizeof(float));
	memset(g.masked, 1, 9);
	g.any_masked = true;
	g.maximum = 0;
	figure.options.cell = CELL;
	image = draw(painter, &figure);
	find_panel(&image, 3 * CELL, 3 * CELL, 0, &x0, &y0);
	check_cell(&image, table, &g, 4, x0 + CELL, y0 + CELL, 1.0);
	image_release(&image);
	free_grid(&g);
	heatmap_painter_free(painter);
}

/* What heatmap_limits allows can be drawn, within the asked size. */
static void test_limits(void **state)
{
	static const size_t lengths[] = {1, 7, 100, 3000, 131072};
	static const size_t panels[] = {1, 4, 12, 144, 600};
	static const size_t sizes[] = {0, 400, 1200, 4000};

	(void)state;
	for (size_t i = 0; i < 5 * 5 * 5 * 4; i++) {
		struct heatmap_options options = {.size = sizes[i / 125], .transpose = i % 2};
		size_t rows = 0, cols = 0, n = lengths[i % 5], m = lengths[i / 5 % 5];

		assert_int_equal(heatmap_limits(n, m, panels[i / 25 % 5], &options, &rows, &cols, NULL),
				 ATTN_OK);
		assert_true(rows >= 1 && cols >= 1 && rows <= 32000 && cols <= 32000);
	}
}

static void test_refusals(void **state)
{
	struct heatmap_options options = {.cell = 100};
	struct attn_error err;
	size_t rows, cols;

	(void)state;
	assert_int_equal(heatmap_limits(2000, 10, 1, &options, &rows, &cols, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "--cell"));
	options = (struct heatmap_options){.size = 40000};
	assert_int_equal(heatmap_limits(10, 10, 1, &options, &rows, &cols, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "--size"));
	options = (struct heatmap_options){.dpi = 1e6};
	assert_int_equal(heatmap_limits(10, 10, 1, &options, &rows, &cols, &err), ATTN_USAGE);
	assert_non_null(strstr(err.message, "--dpi"));
	options = (struct heatmap_options){.scale_max = -1};
	assert_int_equal(heatmap_limits(10, 10, 1, &options, &rows, &cols, &err), ATTN_USAGE);
}

/* Draw heads x queries x keys weights as a command does; returns what --size a
 * refusal advises, or 0 when they are drawn. */
static size_t try_size(struct heatmap_painter *painter, const size_t *shape,
		       const struct heatmap_options *options)
{
	struct heatmap_panel panels[16];
	const struct heatmap_figure figure = {.panels = panels,
					      .panel_count = shape[0],
					      .title = "layer 1, batch 2, several heads of it",
					      .options = *options};
	struct attn_error err = {0};
	struct image image;
	size_t rows, cols, advised = 0;

	assert_int_equal(heatmap_limits(shape[1], shape[2], shape[0], options, &rows, &cols, NULL), ATTN_OK);
	size_t row_factor = grid_factor(shape[1], rows), col_factor = grid_factor(shape[2], cols);
	struct grid g =
	    make_grid(grid_factor(shape[1], row_factor), grid_factor(shape[2], col_factor), false);
	g.queries = shape[1];
	g.keys = shape[2];
	g.row_factor = row_factor;
	g.col_factor = col_factor;
	for (size_t i = 0; i < 16; i++)
		panels[i] = (struct heatmap_panel){&g, "head 1"};
	if (draw_pixels(painter, &figure, &image, &err) != ATTN_OK) {
		assert_non_null(strstr(err.message, "give --size "));
		advised = strtoul(strstr(err.message, "give --size ") + 12, NULL, 10);
		assert_true(advised > options->size);
	}
	image_release(&image);
	free_grid(&g);
	return advised;
}

/* A refused --size comes with the smallest that would do, or nearly: as cells come
 * to share weights a larger one may not. */
static void test_size_advice(void **state)
{
	static const size_t shapes[][3] = {{1, 14, 14},   {4, 14, 14},    {2, 1, 10},
					   {8, 3, 40},    {12, 128, 128}, {1, 60, 900},
					   {4, 500, 500}, {16, 2000, 20}, {5, 1, 1}};
	static const double dpis[] = {24, 96, 300};
	struct heatmap_painter *painter = painter_or_skip();

	(void)state;
	for (size_t i = 0; i < 9 * 3 * 2; i++) {
		struct heatmap_options options = {.size = 32, .dpi = dpis[i / 9 % 3], .cell = i < 27 ? 0 : 3};
		size_t advised = try_size(painter, shapes[i % 9], &options);

		assert_true(advised > 32);
		options.size = advised;
		assert_int_equal(try_size(painter, shapes[i % 9], &options), 0);
		for (size_t less = advised / 25 + 1; less < advised - 32; less += less / 3 + 1) {
			options.size = advised - less;
			assert_int_not_equal(try_size(painter, shapes[i % 9], &options), 0);
		}
	}
	heatmap_painter_free(painter);
}

/* What is said under a picture. */
static void expect_notes(const struct drawing *d, const struct heatmap_layout *l, const char *want)
{
	struct buffer notes = BUFFER_INIT;

	heatmap_notes(&notes, d, l);
	buffer_add(&notes, "", 0);
	assert_string_equal(notes.data, want);
	buffer_release(&notes);
}

static void test_notes(void **state)
{
	struct grid g = {.row_factor = 1, .col_factor = 1};
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct drawing d = {.figure = &figure,
			    .row_factor = 1,
			    .col_factor = 1,
			    .scale = {.colours = {.high = 0.5}, .highest = 0.5}};
	struct heatmap_layout l = {.row = {.direction = LABELS_HORIZONTAL, .step = 1},
				   .col = {.direction = LABELS_UPWARDS, .step = 1}};

	(void)state;
	expect_notes(&d, &l, "");
	d.scale.colours.high = 0.2;
	expect_notes(&d, &l, "weights above 0.2 (up to 0.5) have the colour of 0.2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cells),       cmocka_unit_test(test_panels),
	    cmocka_unit_test(test_margins),     cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_all_masked),  cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_refusals),    cmocka_unit_test(test_notes),
	    cmocka_unit_test(test_cell_number), cmocka_unit_test(test_size_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
