/* Vector pictures: structure of SVG and PDF, themes, widths, transparency. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/canvas/canvas.h"
#include "draw/heatmap/heatmap.h"
#include "draw/text/fonts.h"
#include "draw/text/pango.h"
#include "drawn_test.h"

static struct heatmap_painter *painter_or_skip(void)
{
	const struct pango_functions *p;
	struct heatmap_painter *painter;

	if (pango_load(&p, NULL) != ATTN_OK)
		skip();
	assert_int_equal(heatmap_painter_new(&painter, NULL), ATTN_OK);
	return painter;
}

static struct text_engine *engine_or_skip(void)
{
	const struct pango_functions *p;
	struct text_engine *engine;

	if (pango_load(&p, NULL) != ATTN_OK)
		skip();
	assert_int_equal(text_engine_new(&engine, NULL), ATTN_OK);
	assert_int_equal(text_engine_set(engine, NULL, TEXT_VECTOR, NULL), ATTN_OK);
	return engine;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		count++;
	return count;
}

/* --- a reader of XML that accepts what it should ------------------------------ */

/* The reference at *at ("&lt;"), or the character; 0 at what XML does not have. */
static const char *skip_character(const char *at)
{
	static const char *const references[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
	unsigned char c = (unsigned char)*at;

	if (c == '&') {
		for (size_t i = 0; i < 4; i++)
			if (strncmp(at, references[i], strlen(references[i])) == 0)
				return at + strlen(references[i]);
		fail_msg("unknown reference: %.20s", at);
	}
	if ((c < 0x20 && c != '\n' && c != '\t') || c == '<')
		fail_msg("character %d in a text", c);
	if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0)
		fail_msg("not a character");
	return at + 1;
}

static const char *skip_attributes(const char *at)
{
	while (*at == ' ') {
		at += 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-0123456789");
		if (strncmp(at, "=\"", 2) != 0)
			fail_msg("no value: %.20s", at);
		for (at += 2; *at != '"';)
			at = skip_character(at);
		at++;
	}
	return at;
}

/* Fails unless the document is well-formed. */
static void check_xml(const char *at)
{
	static const char start[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	char open[20][20];
	size_t depth = 0, roots = 0;

	assert_memory_equal(at, start, sizeof start - 1);
	at += sizeof start - 1;
	while (*at) {
		if (*at != '<') {
			if (depth == 0 && *at != '\n')
				fail_msg("text outside the root");
			at = skip_character(at);
			continue;
		}
		bool close = at[1] == '/';
		at += close ? 2 : 1;
		size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		assert_true(length > 0 && length < sizeof *open);
		roots += depth == 0 && !close;
		if (close) {
			assert_true(depth > 0);
			depth--;
			assert_memory_equal(open[depth], at, length);
			assert_int_equal(open[depth][length], '\0');
			at += length;
		} else {
			assert_true(depth < 20);
			snprintf(open[depth++], sizeof *open, "%.*s", (int)length, at);
			at = skip_attributes(at + length);
			if (*at == '/') {
				depth--;
				at++;
			}
		}
		assert_int_equal(*at, '>');
		at++;
	}
	assert_int_equal(depth, 0);
	assert_int_equal(roots, 1);
}

/* --- the SVG canvas ----------------------------------------------------------- */

static const struct rgb colours[] = {{0xff, 0xff, 0xff}, {0x12, 0x34, 0x56}, {0xab, 0xcd, 0xef}};

/* Rows of 1 1 2, masked 0 0, ... */
static void pattern_row(void *context, size_t row, unsigned char *indices)
{
	const size_t *cols = context;

	for (size_t col = 0; col < *cols; col++)
		indices[col] = row % 2 ? (col == 0 ? CANVAS_MASKED : 0) : (col < 2 ? 1 : 2);
}

static char *paint_pattern(size_t rows, size_t cols, size_t blocks)
{
	struct text_engine *engine = engine_or_skip();
	struct buffer out = BUFFER_INIT;
	struct canvas_svg c;
	const struct canvas_sheet sheet = {.width = 100 * CANVAS_UNITS, .height = 50 * CANVAS_UNITS};
	const struct canvas_cells cells = {
	    .x = 200,
	    .y = 300,
	    .cell = 1050,
	    .rows = rows,
	    .cols = cols,
	    .blocks = blocks,
	    .colours = colours,
	    .hatch = {{0xdd, 0xdd, 0xdd}, {0xbb, 0xbb, 0xbb}, 100},
	    .row = pattern_row,
	    .context = &cols,
	};

	canvas_svg_begin(&c, &out, engine, &sheet);
	c.canvas.class->cells(&c.canvas, &cells);
	canvas_svg_end(&c);
	assert_int_equal(c.canvas.error.status, ATTN_OK);
	text_engine_free(engine);
	check_xml(out.data);
	return buffer_detach(&out);
}

/* Runs of equal cells are one rectangle, which reaches under its neighbours. */
static void test_svg_cells(void **state)
{
	char *svg = paint_pattern(2, 3, 1);

	(void)state;
	assert_non_null(strstr(svg, " width=\"100px\" height=\"50px\" viewBox=\"0 0 100 50\""));
	assert_int_equal(count_of(svg, "<rect"), 4);
	assert_non_null(
	    strstr(svg, "<rect x=\"2\" y=\"3\" width=\"26.25\" height=\"15.75\" fill=\"#123456\"/>"));
	assert_non_null(
	    strstr(svg, "<rect x=\"23\" y=\"3\" width=\"10.5\" height=\"15.75\" fill=\"#abcdef\"/>"));
	assert_non_null(
	    strstr(svg, "<rect x=\"2\" y=\"13.5\" width=\"15.75\" height=\"10.5\" fill=\"#dddddd\"/>"));
	assert_non_null(
	    strstr(svg, "<rect x=\"12.5\" y=\"13.5\" width=\"21\" height=\"10.5\" fill=\"#ffffff\"/>"));
	/* The lines over the masked cell, and only there. */
	assert_non_null(strstr(svg, "<clipPath id=\"masked1\"><path d=\"M2 13.5h10.5v10.5h-10.5z\"/>"));
	assert_int_equal(count_of(svg, "<image"), 0);
	free(svg);
}

/* Many cells are one image, unsmoothed, without anything from elsewhere. */
static void test_svg_image(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		char *few = paint_pattern(128, 128, 1);
		char *many = i ? paint_pattern(128, 129, 1) : paint_pattern(64, 64, 5);

		assert_int_equal(count_of(few, "<image"), 0);
		assert_int_equal(count_of(few, "<rect"), 64 * 2 + 64 * 2);
		assert_int_equal(count_of(many, "<image"), 1);
		assert_int_equal(count_of(many, "<rect"), 0);
		assert_non_null(strstr(many, "image-rendering:pixelated"));
		assert_non_null(strstr(many, "xlink:href=\"data:image/png;base64,iVBORw0KGgo"));
		assert_int_equal(count_of(many, "href="), 1);
		free(few);
		free(many);
	}
}

static char *paint_text(const struct canvas_text *text)
{
	struct text_engine *engine = engine_or_skip();
	struct buffer out = BUFFER_INIT;
	struct canvas_svg c;
	const struct canvas_sheet sheet = {.width = 100, .height = 100, .title = text->text};

	canvas_svg_begin(&c, &out, engine, &sheet);
	c.canvas.class->text(&c.canvas, text);
	canvas_svg_end(&c);
	text_engine_free(engine);
	check_xml(out.data);
	return buffer_detach(&out);
}

static void test_svg_text(void **state)
{
	static const struct {
		const char *text, *want; /* `want` is also in the title */
	} cases[] = {
	    {"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'"},
	    {"</text><script>alert(1)</script>", "&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;"},
	    {"]]><!--", "]]&gt;&lt;!--"},
	    {"a\x01\x1b[0m", "a\\x01\\x1b[0m"},
	    {"\xff\xfe", "\\xff\\xfe"},
	    {"\ufffe", "&lt;U+FFFE&gt;"},
	    {"  two  ", "  two  "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct canvas_text text = {
		    .text = cases[i].text, .style = {.size = 1200}, .x = 1050, .y = 2000};
		char *svg = paint_text(&text), want[200];

		snprintf(want, sizeof want, ">%s</text>", cases[i].want);
		assert_non_null(strstr(svg, want));
		snprintf(want, sizeof want, "<title>%s</title>", cases[i].want);
		assert_non_null(strstr(svg, want));
		assert_non_null(strstr(svg, "<text x=\"10.5\" y=\"20\" font-size=\"12\" fill=\"#000000\""));
		free(svg);
	}
}

/* What is anchored at its end stays there, also from right to left, where that is
 * its start. */
static void test_svg_direction(void **state)
{
	struct canvas_text text = {.text = "\u05d0\u05d1", .style = {.size = 1200}, .anchor = CANVAS_END};
	char *svg = paint_text(&text);

	(void)state;
	assert_non_null(strstr(svg, " direction=\"rtl\""));
	assert_null(strstr(svg, "text-anchor"));
	free(svg);
	text.anchor = CANVAS_START;
	svg = paint_text(&text);
	assert_non_null(strstr(svg, "<text x=\"0\""));
	assert_non_null(strstr(svg, " text-anchor=\"end\" direction=\"rtl\""));
	free(svg);
	text.text = "ab";
	text.direction = TEXT_UPWARDS;
	text.x = 700;
	text.y = 900;
	svg = paint_text(&text);
	assert_non_null(strstr(svg, "<text x=\"0\" y=\"0\" transform=\"translate(7 9) rotate(-90)\""));
	assert_null(strstr(svg, "direction"));
	free(svg);
}

/* --- figures ------------------------------------------------------------------ */

static float values[64 * 64];
static unsigned char masked[64 * 64];

static struct grid make_grid(size_t rows, size_t cols)
{
	for (size_t i = 0; i < rows * cols; i++) {
		masked[i] = i % 5 == 4;
		values[i] = masked[i] ? 0.0f : (float)((i * 7) % (rows * cols) + 1) / (float)(rows * cols);
	}
	return (struct grid){.queries = rows,
			     .keys = cols,
			     .rows = rows,
			     .cols = cols,
			     .row_factor = 1,
			     .col_factor = 1,
			     .values = values,
			     .masked = masked,
			     .any_masked = rows * cols > 4,
			     .maximum = 1.0f};
}

static char *write_figure(struct heatmap_painter *painter, const struct heatmap_figure *figure,
			  size_t *length)
{
	struct attn_error err;
	char *file = NULL;
	FILE *stream = open_memstream(&file, length);

	if (heatmap_write(painter, figure, stream, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	fclose(stream);
	return file;
}

/* Nothing Chinese: Cairo 1.16 leaks a little with each such font in a PDF. */
static char *hostile[] = {"it",
			  "a<b",
			  "&amp;",
			  "\x01",
			  "\ufffe\uffff",
			  "\u0645\u0631\u062d\u0628\u0627 x",
			  "\u0939\u093f\u0928",
			  "\xff",
			  "\U0001f600",
			  "]]>",
			  "\"'",
			  "--"};

static const struct string_list hostile_labels = {.items = hostile, .count = 12};

/* Every label is in the file, as text, and the file is the same twice. */
static void test_svg_figure(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(12, 12);
	struct heatmap_panel panels[] = {{&g, "head 0"}, {&g, "head <1>"}};
	struct heatmap_figure figure = {.panels = panels,
					.panel_count = 2,
					.title = "heads & tails",
					.query_labels = &hostile_labels,
					.key_labels = &hostile_labels,
					.options = {.format = CANVAS_SVG}};
	size_t length, again_length;
	char *svg = write_figure(painter, &figure, &length);
	char *again = write_figure(painter, &figure, &again_length);

	(void)state;
	check_xml(svg);
	assert_string_equal(svg, again);
	assert_non_null(strstr(svg, "<title>heads &amp; tails</title>"));
	assert_int_equal(count_of(svg, ">it</text>"), 3); /* a row's, and a column's in each panel */
	assert_int_equal(count_of(svg, ">a&lt;b</text>"), 3);
	assert_int_equal(count_of(svg, ">&amp;amp;</text>"), 3);
	assert_int_equal(count_of(svg, ">\\x01</text>"), 3);
	assert_int_equal(count_of(svg, ">head &lt;1&gt;</text>"), 1);
	assert_int_equal(count_of(svg, ">masked</text>"), 1);
	assert_int_equal(count_of(svg, "<g shape-rendering"), 2);
	free(svg);
	free(again);
	heatmap_painter_free(painter);
}

static void test_pdf_figure(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(12, 12);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel,
					.panel_count = 1,
					.title = "layer 1, head 3",
					.query_labels = &hostile_labels,
					.key_labels = &hostile_labels,
					.options = {.format = CANVAS_PDF}};
	size_t length, again_length;
	char *pdf = write_figure(painter, &figure, &length);
	char *again = write_figure(painter, &figure, &again_length);

	(void)state;
	assert_memory_equal(pdf, "%PDF-1.", 7);
	assert_memory_equal(pdf + length - 6, "%%EOF\n", 6);
	assert_int_equal(length, again_length);
	assert_memory_equal(pdf, again, length);
	assert_non_null(memmem(pdf, length, "layer 1, head 3", 15));
	assert_null(memmem(pdf, length, "CreationDate", 12));
	free(pdf);
	free(again);
	heatmap_painter_free(painter);
}

/* The number after `name` in a file. */
static double number_after(const char *file, size_t length, const char *name)
{
	const char *at = memmem(file, length, name, strlen(name));

	assert_non_null(at);
	return strtod(at + strlen(name), NULL);
}

/* A figure is exactly as wide as was asked, in every format. */
static void test_widths(void **state)
{
	static const size_t shapes[][2] = {{2, 2}, {14, 14}, {64, 64}, {3, 40}, {40, 3}};
	static const struct length widths[] = {{3.3, LENGTH_IN}, {84, LENGTH_MM},  {17.4, LENGTH_CM},
					       {240, LENGTH_PT}, {500, LENGTH_PX}, {6.875, LENGTH_IN}};
	static const double inches[] = {3.3, 84 / 25.4, 17.4 / 2.54, 240 / 72.0, 500 / 96.0, 6.875};
	struct heatmap_painter *painter = painter_or_skip();

	(void)state;
	for (size_t i = 0; i < 5 * 6 * 2; i++) {
		struct grid g = make_grid(shapes[i % 5][0], shapes[i % 5][1]);
		struct heatmap_panel panels[] = {{&g, "head 0"}, {&g, "head 1"}, {&g, "head 2"}};
		struct heatmap_figure figure = {.panels = panels,
						.panel_count = i < 30 ? 1 : 3,
						.title = "heads",
						.options = {.width = widths[i / 5 % 6], .dpi = 300}};
		double inch = inches[i / 5 % 6];
		size_t length;
		struct image image;

		assert_int_equal(draw_pixels(painter, &figure, &image, NULL), ATTN_OK);
		assert_int_equal(image.width, (size_t)(inch * 300 + 0.5));
		image_release(&image);
		figure.options.format = CANVAS_SVG;
		char *file = write_figure(painter, &figure, &length);
		assert_true(fabs(number_after(file, length, " width=\"") - widths[i / 5 % 6].value) < 1e-9);
		assert_true(fabs(number_after(file, length, "viewBox=\"0 0 ") - inch * 96) < 0.0051);
		free(file);
		figure.options.format = CANVAS_PDF;
		file = write_figure(painter, &figure, &length);
		assert_true(fabs(number_after(file, length, "/MediaBox [ 0 0 ") - inch * 72) < 0.005);
		free(file);
	}
	heatmap_painter_free(painter);
}

/* The widest picture that there is, whose lengths are the largest. */
static void test_widest(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(14, 14);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {
	    .panels = &panel,
	    .panel_count = 1,
	    .title = "head 0",
	    .options = {.format = CANVAS_SVG, .width = {32000, LENGTH_PX}, .font_size = 100}};
	size_t length;
	char *svg = write_figure(painter, &figure, &length);

	(void)state;
	check_xml(svg);
	assert_non_null(strstr(svg, " width=\"32000px\""));
	assert_null(strstr(svg, "=\"-")); /* nothing wrapped */
	free(svg);
	heatmap_painter_free(painter);
}

static void test_width_refusals(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(14, 14);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	struct attn_error err;
	struct image image;

	(void)state;
	figure.options = (struct heatmap_options){.width = {3, LENGTH_IN}, .size = 200};
	assert_int_equal(draw_pixels(painter, &figure, &image, &err), ATTN_USAGE);
	assert_string_equal(err.message, "--width and --size cannot be combined");
	figure.options = (struct heatmap_options){.width = {3, LENGTH_IN}, .cell = 20};
	assert_int_equal(draw_pixels(painter, &figure, &image, &err), ATTN_USAGE);
	assert_string_equal(err.message, "--width and --cell cannot be combined");
	figure.options = (struct heatmap_options){.width = {9000, LENGTH_MM}};
	assert_int_equal(draw_pixels(painter, &figure, &image, &err), ATTN_USAGE);
	assert_string_equal(err.message, "--width 9000mm is too large, expected at most 8466mm");
	figure.options = (struct heatmap_options){.width = {0.4, LENGTH_IN}, .font_size = 30};
	assert_int_equal(draw_pixels(painter, &figure, &image, &err), ATTN_USAGE);
	const char *advice = strstr(err.message, "do not fit into --width 0.4in: give --width ");
	assert_non_null(advice);
	figure.options.width.value =
	    strtod(advice + strlen("do not fit into --width 0.4in: give --width "), NULL);
	assert_int_equal(draw_pixels(painter, &figure, &image, &err), ATTN_OK);
	image_release(&image);
	heatmap_painter_free(painter);
}

/* Over white, what is transparent looks as if it were not: but for the 16 greys
 * that text on white keeps to. */
static void test_transparency(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(12, 12);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1, .query_labels = &hostile_labels};
	struct image opaque, clear;
	size_t through = 0, between = 0;

	(void)state;
	assert_int_equal(draw_pixels(painter, &figure, &opaque, NULL), ATTN_OK);
	figure.options.transparent = true;
	assert_int_equal(draw_pixels(painter, &figure, &clear, NULL), ATTN_OK);
	assert_null(opaque.alpha);
	assert_non_null(clear.alpha);
	assert_int_equal(clear.alpha[0], 0);
	for (size_t i = 0; i < clear.width * clear.height; i++) {
		int alpha = clear.alpha[i];

		through += alpha == 0;
		between += alpha > 0 && alpha < 255;
		for (size_t k = 3 * i; k < 3 * i + 3; k++) {
			int seen = (clear.pixels[k] * alpha + 255 * (255 - alpha) + 127) / 255;

			if (abs(seen - opaque.pixels[k]) > 10)
				fail_msg("pixel %zu: %d over white, %d without", i, seen, opaque.pixels[k]);
		}
	}
	assert_true(through > clear.width * clear.height / 10);
	assert_true(between > 100); /* smooth text */
	image_release(&opaque);
	image_release(&clear);
	heatmap_painter_free(painter);
}

/* Vector formats have a background exactly where it was not left out. */
static void test_background(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(2, 2);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	size_t length;

	(void)state;
	for (int i = 0; i < 4; i++) {
		figure.options = (struct heatmap_options){.format = CANVAS_SVG,
							  .theme = theme_find(i % 2 ? "dark" : "light"),
							  .transparent = i >= 2};
		char *svg = write_figure(painter, &figure, &length);
		const char *background = strstr(svg, "<rect x=\"0\" y=\"0\"");

		assert_int_equal(background != NULL, i < 2);
		if (background)
			assert_non_null(strstr(background, i % 2 ? "fill=\"#111111\"" : "fill=\"#ffffff\""));
		free(svg);
	}
	heatmap_painter_free(painter);
}

/* --- themes, fonts, lengths --------------------------------------------------- */

static void test_themes(void **state)
{
	static const char *const names[] = {"light", "dark"};

	(void)state;
	assert_null(theme_find("Dark"));
	assert_ptr_equal(theme_default(), theme_find("light"));
	for (size_t i = 0; i < 2; i++) {
		const struct theme *t = theme_find(names[i]);

		assert_true(colour_contrast(t->ink, t->background) >= 7);
		assert_true(colour_contrast(t->soft_ink, t->background) >= 4.5);
		assert_true(colour_contrast(t->frame, t->background) >= 3);
		assert_true(colour_contrast(t->masked, t->masked_line) >= 1.2);
		assert_true(colour_contrast(t->masked, t->background) >= 1.2);
	}
}

/* On a dark background the largest weight is the brightest cell, under every map. */
static void test_dark_maps(void **state)
{
	static float two[] = {0, 1};
	static unsigned char none[2];
	struct grid g = {.queries = 1,
			 .keys = 2,
			 .rows = 1,
			 .cols = 2,
			 .row_factor = 1,
			 .col_factor = 1,
			 .values = two,
			 .masked = none,
			 .maximum = 1};
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_painter *painter = painter_or_skip();

	(void)state;
	for (size_t i = 0; i < colormap_count(); i++) {
		struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
		size_t length;

		figure.options = (struct heatmap_options){.format = CANVAS_SVG,
							  .theme = theme_find("dark"),
							  .colormap = colormap_find(colormap_name(i))};
		char *svg = write_figure(painter, &figure, &length);
		const char *cells = strstr(svg, "<g shape-rendering");
		unsigned int low, high;

		assert_int_equal(sscanf(strstr(cells, "fill="), "fill=\"#%6x", &low), 1);
		assert_int_equal(sscanf(strstr(strstr(cells, "fill=") + 1, "fill="), "fill=\"#%6x", &high),
				 1);
		struct rgb dark = {(unsigned char)(low >> 16), (unsigned char)(low >> 8), (unsigned char)low};
		struct rgb bright = {(unsigned char)(high >> 16), (unsigned char)(high >> 8),
				     (unsigned char)high};
		assert_true(colour_contrast(dark, (struct rgb){0, 0, 0}) < 2);
		assert_true(colour_contrast(bright, (struct rgb){0, 0, 0}) > 10);
		free(svg);
	}
	heatmap_painter_free(painter);
}

static void test_fonts(void **state)
{
	struct heatmap_painter *painter = painter_or_skip();
	struct grid g = make_grid(2, 2);
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure figure = {.panels = &panel, .panel_count = 1};
	static const char *const present[] = {NULL, "Sans", "serif", "No Such Font, monospace"};
	struct image image;

	(void)state;
	assert_string_equal(font_package(0x4e2d), "fonts-noto-cjk");
	assert_string_equal(font_package(0xac00), "fonts-noto-cjk");
	assert_string_equal(font_package(0x1f600), "fonts-noto-color-emoji");
	assert_string_equal(font_package(0x0915), "fonts-noto-core");
	assert_null(font_package(0xe000));
	for (size_t i = 0; i < 4; i++) {
		figure.options.font = present[i];
		assert_int_equal(draw_pixels(painter, &figure, &image, NULL), ATTN_OK);
		image_release(&image);
		assert_null(heatmap_other_font(painter));
	}
	figure.options.font = "No Such Font";
	assert_int_equal(draw_pixels(painter, &figure, &image, NULL), ATTN_OK);
	image_release(&image);
	assert_non_null(heatmap_other_font(painter));
	heatmap_painter_free(painter);
}

static void test_lengths(void **state)
{
	static const struct {
		const char *text;
		double pixels; /* 0: refused */
	} cases[] = {
	    {"3.3in", 316.8}, {"25.4mm", 96}, {"2.54cm", 96}, {"72pt", 96},  {"320px", 320},
	    {".5in", 48},     {"5.in", 480},  {"", 0},        {"in", 0},     {"3.3", 0},
	    {"0in", 0},       {"-1in", 0},    {"1e3px", 0},   {"1..2in", 0}, {" 1in", 0},
	    {"1 in", 0},      {"1inch", 0},   {"1IN", 0},     {"infpx", 0},  {"0x10px", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct length length;
		bool good = length_parse(cases[i].text, &length);

		if (good != (cases[i].pixels > 0))
			fail_msg("'%s'", cases[i].text);
		if (good)
			assert_true(fabs(length_pixels(length) - cases[i].pixels) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_svg_cells),      cmocka_unit_test(test_svg_image),
	    cmocka_unit_test(test_svg_text),       cmocka_unit_test(test_svg_direction),
	    cmocka_unit_test(test_svg_figure),     cmocka_unit_test(test_pdf_figure),
	    cmocka_unit_test(test_widths),         cmocka_unit_test(test_widest),
	    cmocka_unit_test(test_width_refusals), cmocka_unit_test(test_transparency),
	    cmocka_unit_test(test_background),     cmocka_unit_test(test_themes),
	    cmocka_unit_test(test_dark_maps),      cmocka_unit_test(test_fonts),
	    cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
