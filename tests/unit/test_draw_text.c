#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/text/pango.h"
#include "draw/text/text.h"

static void expect_visible(const char *text, const char *want)
{
	struct buffer out = BUFFER_INIT;

	text_visible(&out, text);
	assert_string_equal(out.data, want);
	buffer_release(&out);
}

static void test_visible(void **state)
{
	(void)state;
	expect_visible("it", "it");
	expect_visible("", "\"\"");
	expect_visible(" ", "\u2423");
	expect_visible("   ", "\u2423\u2423\u2423");
	expect_visible(" the", " the");
	expect_visible("\n", "\u21b5");
	expect_visible("a\tb", "a\u21e5b");
	expect_visible("\x1b[1m\x7f", "\\x1b[1m\\x7f");
	expect_visible("\xff-", "\\xff-");
	expect_visible("\xe2\x82", "\\xe2\\x82");
	expect_visible("\u0645\u0631\u062d\u0628\u0627", "\u0645\u0631\u062d\u0628\u0627");
	expect_visible("\u200b", "<U+200B>");
	expect_visible("a\u200db", "a\u200db"); /* joiners are part of words and emoji */
	expect_visible("\u202eabc", "<U+202E>abc");
	expect_visible("\u2028", "<U+2028>");
	expect_visible("\u00a0", "<U+00A0>");
	expect_visible("a\uffff\ufdd0", "a<U+FFFF><U+FDD0>");
}

static struct text_engine *engine_or_skip(void)
{
	const struct pango_functions *p;
	struct text_engine *engine;

	if (pango_load(&p, NULL) != ATTN_OK)
		skip();
	assert_int_equal(text_engine_new(&engine, NULL), ATTN_OK);
	return engine;
}

static size_t inked(const struct image *image, size_t x0, size_t y0, size_t width, size_t height)
{
	size_t count = 0;

	for (size_t y = y0; y < y0 + height; y++)
		for (size_t x = x0; x < x0 + width; x++)
			count += image->pixels[(y * image->width + x) * 3] < 200;
	return count;
}

/* Ink stays inside the measured box, horizontal and upwards, and is the same ink. */
static void test_box(void **state)
{
	static const char *const texts[] = {
	    "animal", "i",        "\u0645\u0631\u062d\u0628\u0627", "gjpqy|", "\u00c5\u0302", "",
	    " ",      "it\ndoes", "abc \u05e9\u05dc\u05d5\u05dd"};
	const struct rgb black = {0, 0, 0};
	struct text_engine *engine = engine_or_skip();

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		for (int size = 9; size < 40; size += 6) {
			struct text_style style = {.size = size};
			struct text_box box = text_measure(engine, texts[i], style);
			size_t width = (size_t)box.width, height = (size_t)(box.above + box.below);
			struct image horizontal, upwards;

			assert_true(width > 0 && height > 0);
			assert_int_equal(image_init(&horizontal, width + 40, height + 40, NULL), ATTN_OK);
			assert_int_equal(image_init(&upwards, height + 40, width + 40, NULL), ATTN_OK);
			text_paint(engine, &horizontal, texts[i], style, 20, 20 + box.above, TEXT_HORIZONTAL,
				   black);
			text_paint(engine, &upwards, texts[i], style, 20 + box.above, 20 + box.width,
				   TEXT_UPWARDS, black);
			assert_true(inked(&horizontal, 20, 20, width, height) > 0);
			assert_int_equal(inked(&horizontal, 20, 20, width, height),
					 inked(&horizontal, 0, 0, horizontal.width, horizontal.height));
			assert_int_equal(inked(&upwards, 20, 20, height, width),
					 inked(&upwards, 0, 0, upwards.width, upwards.height));
			/* A quarter turn counter-clockwise: up from the lower end. */
			for (size_t y = 0; y < horizontal.height; y++)
				for (size_t x = 0; x < horizontal.width; x++)
					assert_memory_equal(
					    horizontal.pixels + (y * horizontal.width + x) * 3,
					    upwards.pixels +
						((upwards.height - 1 - x) * upwards.width + y) * 3,
					    3);
			image_release(&horizontal);
			image_release(&upwards);
		}
	}
	assert_int_equal(text_engine_status(engine, NULL), ATTN_OK);
	text_engine_free(engine);
}

static void test_shortening(void **state)
{
	const char *longest = "supercalifragilisticexpialidocious";
	struct text_style style = {.size = 12, .max_width = 60};
	struct text_engine *engine = engine_or_skip();
	struct text_box box, full;

	(void)state;
	full = text_measure(engine, longest, (struct text_style){.size = 12});
	box = text_measure(engine, longest, style);
	assert_in_range(box.width, 30, 62);
	assert_true(full.width > 150);
	style.wrap = true;
	box = text_measure(engine, "several words that take two lines or more", style);
	assert_in_range(box.width, 30, 62);
	assert_true(box.above + box.below > 40);
	text_engine_free(engine);
}

/* Pictures keep out what lies beyond them. */
static void test_clipping(void **state)
{
	const struct rgb black = {0, 0, 0};
	struct text_style style = {.size = 20};
	struct text_engine *engine = engine_or_skip();
	struct image image;

	(void)state;
	assert_int_equal(image_init(&image, 30, 30, NULL), ATTN_OK);
	for (int at = -60; at <= 60; at += 15) {
		text_paint(engine, &image, "clipped", style, at, at, TEXT_HORIZONTAL, black);
		text_paint(engine, &image, "clipped", style, at, at, TEXT_UPWARDS, black);
	}
	image_release(&image);
	text_engine_free(engine);
}

static void test_missing(void **state)
{
	struct text_style style = {.size = 12};
	struct text_engine *engine = engine_or_skip();

	(void)state;
	text_measure(engine, "plain", style);
	assert_null(text_missing_glyphs(engine, NULL));
	text_measure(engine, "\U0010fffd", style); /* private: in no font */
	uint32_t code = 0;
	assert_string_equal(text_missing_glyphs(engine, &code), "\U0010fffd");
	assert_int_equal(code, 0x10fffd);
	text_engine_free(engine);
}

/* Many texts, so that the cache grows and is dropped. */
static void test_many(void **state)
{
	struct text_style style = {.size = 10};
	struct text_engine *engine = engine_or_skip();
	struct text_box first = text_measure(engine, "token 0", style);

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 9000; i += round ? 400 : 1) {
			char text[30];

			snprintf(text, sizeof text, "token %d", i);
			text_measure(engine, text, style);
		}
		text_engine_trim(engine);
		assert_int_equal(text_measure(engine, "token 0", style).width, first.width);
	}
	text_engine_free(engine);
}

/* What text_lines tells. */
struct told {
	struct buffer text; /* lines, each ended by '|' */
	int lines, right_to_left, last_y, widest;
};

static void tell(void *context, const struct text_line *line)
{
	struct told *told = context;

	for (size_t i = 0; i < line->count; i++)
		buffer_add(&told->text, line->spans[i].text, line->spans[i].length);
	buffer_add_char(&told->text, '|');
	told->lines++;
	told->right_to_left += line->right_to_left;
	assert_true(told->lines == 1 ? line->y == 0 : line->y > told->last_y);
	told->last_y = line->y;
	told->widest = line->width > told->widest ? line->width : told->widest;
}

static void test_lines(void **state)
{
	static const struct {
		const char *text, *want;
		int max_width, right_to_left; /* ems; lines */
		bool wrap;
	} cases[] = {
	    {"two words", "two words|", 0, 0, false},
	    {"\u0645\u0631\u062d\u0628\u0627 abc", "\u0645\u0631\u062d\u0628\u0627 abc|", 0, 1, false},
	    {"abc \u05d0\u05d1", "abc \u05d0\u05d1|", 0, 0, false},
	    {"one two three", "one|two|three|", 3, 0, true},
	    {"a\nb", "a\u21b5b|", 0, 0, false},
	    {" it ", " it |", 0, 0, false},
	};
	struct text_engine *engine = engine_or_skip();

	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct told told = {.text = BUFFER_INIT};
		struct text_style style = {12, cases[i / 2].max_width * 12, cases[i / 2].wrap};

		if (i % 2) { /* a hundredth of a pixel */
			style.size *= 100;
			style.max_width *= 100;
		}
		assert_int_equal(text_engine_set(engine, NULL, i % 2 ? TEXT_VECTOR : TEXT_PIXELS, NULL),
				 ATTN_OK);
		text_lines(engine, cases[i / 2].text, style, tell, &told);
		assert_string_equal(told.text.data, cases[i / 2].want);
		assert_int_equal(told.right_to_left, cases[i / 2].right_to_left);
		assert_true(told.widest <= text_measure(engine, cases[i / 2].text, style).width + 1);
		buffer_release(&told.text);
	}
	text_engine_free(engine);
}

/* A shortened text is told as it is shown. */
static void test_shortened_lines(void **state)
{
	struct text_engine *engine = engine_or_skip();
	struct told told = {.text = BUFFER_INIT};
	const char *text = "incomprehensibilities";

	(void)state;
	text_lines(engine, text, (struct text_style){.size = 10, .max_width = 60}, tell, &told);
	const char *end = strstr(told.text.data, "\u2026|");
	assert_non_null(end);
	assert_true(end > told.text.data + 2);
	assert_memory_equal(told.text.data, text, (size_t)(end - told.text.data));
	assert_true(told.widest <= 60);
	buffer_release(&told.text);
	text_engine_free(engine);
}

/* Over what is half transparent: seen on white, the same as text on the colour that
 * was seen there before. */
static void test_half_transparent(void **state)
{
	struct text_style style = {.size = 14};
	struct text_engine *engine = engine_or_skip();
	const struct rgb ink = {40, 90, 160};
	struct image clear, half;

	(void)state;
	assert_int_equal(image_init(&clear, 60, 30, NULL), ATTN_OK);
	assert_int_equal(image_init(&half, 60, 30, NULL), ATTN_OK);
	assert_int_equal(image_clear(&clear, NULL), ATTN_OK);
	assert_int_equal(image_clear(&half, NULL), ATTN_OK);
	memset(half.pixels, 200, 60 * 30 * 3);
	memset(half.alpha, 128, 60 * 30);
	text_paint(engine, &clear, "text", style, 5, 20, TEXT_HORIZONTAL,
		   ink); /* its alpha is what text covers */
	text_paint(engine, &half, "text", style, 5, 20, TEXT_HORIZONTAL, ink);
	for (size_t i = 0; i < 60 * 30; i++) {
		const int inks[] = {ink.r, ink.g, ink.b};
		double covered = clear.alpha[i] / 255.0, seen = half.alpha[i] / 255.0;

		for (size_t k = 0; k < 3; k++) {
			double before = 200 * (128 / 255.0) + 255 * (127 / 255.0);
			double want = inks[k] * covered + before * (1 - covered);
			double got = half.pixels[3 * i + k] * seen + 255 * (1 - seen);

			assert_true(got > want - 1.5 && got < want + 1.5);
		}
	}
	image_release(&clear);
	image_release(&half);
	text_engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_visible),          cmocka_unit_test(test_box),
	    cmocka_unit_test(test_shortening),       cmocka_unit_test(test_clipping),
	    cmocka_unit_test(test_missing),          cmocka_unit_test(test_many),
	    cmocka_unit_test(test_half_transparent), cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_shortened_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
