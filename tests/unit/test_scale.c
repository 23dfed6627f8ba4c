#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/heatmap/heatmap_scale.h"
#include "draw/heatmap/ticks.h"

static void close_to(double found, double want)
{
	if (!(fabs(found - want) <= 1e-12 * fmax(1, fabs(want))))
		fail_msg("%.17g, expected %.17g", found, want);
}

static struct scale make(double high, double smallest, enum scale_transform transform, bool diverging)
{
	return diverging ? scale_make_diverging(high, transform) : scale_make(high, smallest, transform);
}

/* Shares worked by hand. */
static void test_shares(void **state)
{
	const struct {
		struct scale scale;
		double value, share;
	} cases[] = {
	    {{0, 0.5, SCALE_LINEAR, false}, 0.125, 0.25}, {{0, 0.5, SCALE_LINEAR, false}, 0.5, 1},
	    {{0, 0.5, SCALE_SQRT, false}, 0.125, 0.5},    {{0, 0.5, SCALE_SQRT, false}, 0.02, 0.2},
	    {{1e-4, 1, SCALE_LOG, false}, 1e-4, 0},       {{1e-4, 1, SCALE_LOG, false}, 0.01, 0.5},
	    {{1e-4, 1, SCALE_LOG, false}, 0.1, 0.75},     {{-2, 2, SCALE_LINEAR, true}, 0, 0.5},
	    {{-2, 2, SCALE_LINEAR, true}, -1, 0.25},      {{-2, 2, SCALE_LINEAR, true}, 2, 1},
	    {{-2, 2, SCALE_SQRT, true}, 0.5, 0.75},       {{-2, 2, SCALE_SQRT, true}, -0.5, 0.25},
	    {{-1, 1, SCALE_LOG, true}, 0.01, 0.75},       {{-1, 1, SCALE_LOG, true}, -0.1, 0.125},
	    {{-1, 1, SCALE_LOG, true}, 1e-5, 0.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		close_to(scale_share(&cases[i].scale, cases[i].value), cases[i].share);
}

/* Beyond the ends: the ends; NaN as 0. */
static void test_clamped(void **state)
{
	(void)state;
	for (int transform = SCALE_LINEAR; transform <= SCALE_LOG; transform++) {
		for (int diverging = 0; diverging < 2; diverging++) {
			struct scale s = make(0.25, 1e-3, (enum scale_transform)transform, diverging);
			double zero = diverging ? 0.5 : 0;

			assert_true(scale_share(&s, (double)INFINITY) == 1 && scale_share(&s, 0.26) == 1);
			assert_true(scale_share(&s, -(double)INFINITY) == 0);
			assert_true(scale_share(&s, -0.26) == 0);
			assert_true(scale_share(&s, (double)NAN) == zero && scale_share(&s, 0) == zero);
		}
	}
}

static void test_inverse(void **state)
{
	(void)state;
	for (int transform = SCALE_LINEAR; transform <= SCALE_LOG; transform++) {
		for (int diverging = 0; diverging < 2; diverging++) {
			struct scale s = make(0.7, 2e-3, (enum scale_transform)transform, diverging);
			double before = -(double)INFINITY;

			for (int i = 0; i <= 100; i++) {
				double value = scale_value(&s, i / 100.0);

				assert_true(fabs(scale_share(&s, value) - i / 100.0) < 1e-12);
				assert_true(value > before);
				before = value;
			}
			assert_true(scale_value(&s, 0) == s.low && scale_value(&s, 1) == 0.7);
		}
	}
}

/* Where a logarithmic scale begins. */
static void test_make(void **state)
{
	(void)state;
	close_to(scale_make(0.5, 0.02, SCALE_LOG).low, 0.02);
	close_to(scale_make(0.5, 1e-9, SCALE_LOG).low, 5e-5);
	close_to(scale_make(0.5, 0, SCALE_LOG).low, 5e-5);
	close_to(scale_make(0.5, 0.5, SCALE_LOG).low, 0.25);
	assert_true(scale_make(0.5, 0.1, SCALE_LINEAR).low == 0);
	assert_true(scale_make_diverging(0.5, SCALE_SQRT).low == -0.5);
}

static void check_ticks(struct scale scale, int length, int least, const char *const *want, size_t count)
{
	struct tick ticks[TICKS_MAX];
	size_t found = ticks_make(&scale, length, least, ticks);

	for (size_t i = 0; i < found && i < count; i++)
		assert_string_equal(ticks[i].text, want[i]);
	assert_int_equal(found, count);
}

#define CHECK_TICKS(scale, length, least, ...)                                                               \
	check_ticks(scale, length, least, (const char *const[]){__VA_ARGS__},                                \
		    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_ticks(void **state)
{
	(void)state;
	CHECK_TICKS(scale_make(1, 0, SCALE_LINEAR), 102, 20, "0", "0.2", "0.4", "0.6", "0.8", "1");
	CHECK_TICKS(scale_make_diverging(1, SCALE_LINEAR), 84, 20, "\u22121", "\u22120.5", "0", "0.5", "1");
	/* Decades where there are several, 5 and 2 times these where there is room. */
	CHECK_TICKS(scale_make(1, 1e-9, SCALE_LOG), 400, 80, "0.0001", "0.001", "0.01", "0.1", "1");
	CHECK_TICKS(scale_make(0.4, 0.01, SCALE_LOG), 400, 30, "0.01", "0.02", "0.05", "0.1", "0.2", "0.4");
	CHECK_TICKS(scale_make(1, 0, SCALE_SQRT), 100, 20, "0", "0.1", "0.5", "1");
	CHECK_TICKS(scale_make_diverging(1, SCALE_LOG), 400, 90, "\u22121", "\u22120.01", "0", "0.01", "1");
	CHECK_TICKS(scale_make(3e-7, 0, SCALE_LINEAR), 10, 20, "0", "3e-7");
}

/* On every scale: upwards, apart, at their shares, within the bar, ends included. */
static void test_tick_places(void **state)
{
	static const double tops[] = {1, 0.93, 0.0712, 3e-8, 412, 6e9};

	(void)state;
	for (size_t i = 0; i < 6 * 6 * 20; i++) {
		struct tick ticks[TICKS_MAX];
		int length = 1 + 53 * (int)(i / 36);
		struct scale s =
		    make(tops[i % 6], tops[i % 6] / 700, (enum scale_transform)(i / 6 % 3), i / 18 % 2);
		size_t count = ticks_make(&s, length, 18, ticks);

		assert_in_range(count, 2, TICKS_MAX);
		assert_true(ticks[0].value == s.low && ticks[count - 1].value == s.high);
		for (size_t k = 0; k < count; k++) {
			close_to(ticks[k].share, scale_share(&s, ticks[k].value));
			assert_true(k == 0 || ticks[k].value > ticks[k - 1].value);
			assert_true(count <= (s.diverging ? 3 : 2) || k == 0 ||
				    (ticks[k].share - ticks[k - 1].share) * length > 17.4);
		}
	}
}

/* The nearest rank: of 20 cells, 4 masked and 1 that does not count, 15 are left. */
static void test_percentile(void **state)
{
	static size_t bins[65536];
	float values[20];
	unsigned char masked[20] = {0}, uncounted[20] = {0};
	struct grid g = {.rows = 4, .cols = 5, .values = values, .masked = masked, .uncounted = uncounted};
	struct heatmap_panel panel = {&g, NULL};

	(void)state;
	for (size_t i = 0; i < 20; i++) { /* 1 to 15, out of order and with signs */
		size_t rank = i * 7 % 15 + 1;

		values[i] = i < 15 ? (float)rank * (i % 2 ? -0.01f : 0.01f) : 0.9f;
		masked[i] = i >= 16;
		uncounted[i] = i == 15;
	}
	assert_true(heatmap_percentile(&panel, 1, 100, bins) == (double)(15 * 0.01f));
	assert_true(heatmap_percentile(&panel, 1, 99, bins) == (double)(15 * 0.01f));
	assert_true(heatmap_percentile(&panel, 1, 80, bins) == (double)(12 * 0.01f)); /* 12 of 15 */
	assert_true(heatmap_percentile(&panel, 1, 80.1, bins) == (double)(13 * 0.01f));
	assert_true(heatmap_percentile(&panel, 1, 50, bins) == (double)(8 * 0.01f));
	memset(masked, 1, sizeof masked);
	assert_true(heatmap_percentile(&panel, 1, 50, bins) == 0);
}

static void check_scale(struct heatmap_figure *figure, double top, double highest, const char *notes)
{
	struct heatmap_scale s;
	struct buffer text = BUFFER_INIT;

	assert_int_equal(heatmap_scale_init(&s, figure, NULL), ATTN_OK);
	close_to(s.colours.high, top);
	close_to(s.highest, highest);
	heatmap_scale_notes(&text, &s, figure);
	assert_string_equal(text.length ? text.data : "", notes);
	buffer_release(&text);
	heatmap_scale_release(&s);
}

/* Where the scale of two panels of four cells ends, and what is said of it. */
static void test_ranges(void **state)
{
	float first[4] = {0.5f, 0.25f, 0.125f, 0.125f}, second[4] = {0, 0.03125f, 0.0625f, 0.0625f};
	unsigned char masked[4] = {0}, uncounted[4] = {1, 0, 0, 0};
	struct grid grids[2] = {{.rows = 2, .cols = 2, .values = first, .masked = masked, .top = 0.25f},
				{.rows = 2, .cols = 2, .values = second, .masked = masked}};
	struct heatmap_panel panels[2] = {{&grids[0], "a"}, {&grids[1], "b"}};
	struct heatmap_figure f = {.panels = panels, .panel_count = 2};
	struct heatmap_scale s;

	(void)state;
	check_scale(&f, 0.5, 0.5, "");
	f.options.scale_max = 0.1;
	check_scale(&f, 0.1, 0.5, "weights above 0.1 (up to 0.5) have the colour of 0.1");
	f.options.scale_max = 0;
	f.options.clip = 75; /* the 6th of 8 */
	check_scale(&f, 0.125, 0.5, "scale ends at the 75th percentile, 0.125; largest 0.5");
	f.options.clip = 0;
	f.options.range = HEATMAP_RANGE_FIXED;
	check_scale(&f, 1, 0.5, "colour scale fixed from 0 to 1");
	f.options.range = HEATMAP_RANGE_HEAD;
	f.options.transform = SCALE_SQRT;
	check_scale(&f, 1, 0.5, "each head has its own scale; colour scale: square root");
	assert_int_equal(heatmap_scale_init(&s, &f, NULL), ATTN_OK);
	close_to(s.tops[0], 0.5);
	close_to(s.tops[1], 0.0625);
	/* 0.125 of 0.5 and 0.015625 of 0.0625 are both a quarter: half the bar. */
	assert_int_equal(heatmap_scale_level(&s, 0, 0.125f), heatmap_scale_level(&s, 1, 0.015625f));
	assert_int_equal(heatmap_scale_level(&s, 0, 0.125f), colour_entry(0.5, HEAT_LEVELS));
	heatmap_scale_release(&s);
	f.options = (struct heatmap_options){.transform = SCALE_LOG};
	check_scale(&f, 0.5, 0.5,
		    "colour scale: logarithm; weights below 0.031 have its first colour, as 0 has");
	/* A cell that does not count is drawn, but does not stretch the scale. */
	grids[0].uncounted = uncounted;
	f.options = (struct heatmap_options){0};
	check_scale(&f, 0.25, 0.5, "weights above 0.25 (up to 0.5) have the colour of 0.25");
}

/* Values with a sign: around 0, whose colour is exactly the middle of the map. */
static void test_signed(void **state)
{
	float values[4] = {0.25f, -0.5f, 0, 0.125f};
	unsigned char masked[4] = {0};
	struct grid g = {.rows = 2, .cols = 2, .values = values, .masked = masked};
	struct heatmap_panel panel = {&g, NULL};
	struct heatmap_figure f = {.panels = &panel, .panel_count = 1, .signed_values = true};
	struct heatmap_scale s;
	struct rgb table[HEAT_LEVELS];

	(void)state;
	check_scale(&f, 0.5, 0.5, "");
	assert_int_equal(heatmap_scale_init(&s, &f, NULL), ATTN_OK);
	assert_true(s.colours.diverging && s.colours.low == -0.5 && s.lowest == -0.5);
	assert_int_equal(heatmap_scale_level(&s, 0, -0.5f), 0);
	assert_int_equal(heatmap_scale_level(&s, 0, 0.5f), s.levels - 1);
	colormap_fill_diverging(NULL, BACKGROUND_LIGHT, table, s.levels);
	assert_int_equal(table[heatmap_scale_level(&s, 0, 0)].r, 255);
	assert_int_equal(table[heatmap_scale_level(&s, 0, 0)].b, 255);
	f.options.clip = 50;
	check_scale(&f, 0.125, 0.5, "scale ends at the 50th percentile, \u00b10.125; largest \u00b10.5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_shares),     cmocka_unit_test(test_clamped),
	    cmocka_unit_test(test_inverse),    cmocka_unit_test(test_make),
	    cmocka_unit_test(test_ticks),      cmocka_unit_test(test_tick_places),
	    cmocka_unit_test(test_percentile), cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
