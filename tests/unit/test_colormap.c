#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "draw/heatmap/colormap.h"
#include "draw/heatmap/theme.h"

/* Entries of the published tables of 256, as matplotlib 3.6 has them (viridis,
 * magma, inferno, plasma: CC0; cividis: Nunez et al. 2018), times 255. */
struct published {
	const char *name;
	struct {
		int index, rgb[3];
	} entries[10];
};

/* clang-format off */
static const struct published published[] = {
    {"viridis", {{0, {68, 1, 84}}, {1, {68, 2, 86}}, {13, {72, 20, 103}}, {47, {66, 63, 133}}, {99, {43, 117, 142}}, {128, {33, 145, 140}}, {161, {41, 175, 127}}, {203, {119, 209, 83}}, {242, {221, 227, 24}}, {255, {253, 231, 37}}}},
    {"magma", {{0, {0, 0, 4}}, {1, {1, 0, 5}}, {13, {7, 6, 28}}, {47, {52, 16, 105}}, {99, {136, 39, 129}}, {128, {183, 55, 121}}, {161, {232, 83, 98}}, {203, {254, 157, 108}}, {242, {253, 229, 167}}, {255, {252, 253, 191}}}},
    {"cividis", {{0, {0, 34, 78}}, {1, {0, 35, 79}}, {13, {0, 44, 100}}, {47, {49, 67, 109}}, {99, {100, 103, 112}}, {128, {125, 124, 120}}, {161, {156, 149, 118}}, {203, {199, 183, 103}}, {242, {242, 218, 68}}, {255, {254, 232, 56}}}},
    {"inferno", {{0, {0, 0, 4}}, {1, {1, 0, 5}}, {13, {8, 5, 29}}, {47, {59, 9, 100}}, {99, {143, 36, 105}}, {128, {188, 55, 84}}, {161, {229, 92, 48}}, {203, {252, 163, 9}}, {242, {241, 237, 113}}, {255, {252, 255, 164}}}},
    {"plasma", {{0, {13, 8, 135}}, {1, {16, 7, 136}}, {13, {44, 5, 148}}, {47, {100, 0, 167}}, {99, {173, 39, 147}}, {128, {204, 71, 120}}, {161, {231, 110, 91}}, {203, {252, 165, 55}}, {242, {247, 226, 37}}, {255, {240, 249, 33}}}},
};
/* clang-format on */

static void test_published(void **state)
{
	struct rgb table[256];

	(void)state;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
		assert_non_null(colormap_find(published[i].name));
		colormap_fill(colormap_find(published[i].name), BACKGROUND_LIGHT, table, 256);
		for (size_t k = 0; k < 10; k++) {
			struct rgb c = table[published[i].entries[k].index];
			const int *want = published[i].entries[k].rgb;

			assert_in_range(c.r + 2 - want[0], 0, 4);
			assert_in_range(c.g + 2 - want[1], 0, 4);
			assert_in_range(c.b + 2 - want[2], 0, 4);
		}
	}
}

static void test_names(void **state)
{
	char all[200] = "";

	(void)state;
	assert_null(colormap_find("jet"));
	assert_null(colormap_find(""));
	assert_null(colormap_name(colormap_count()));
	assert_null(colormap_summary(colormap_count()));
	for (size_t i = 0; i < colormap_count(); i++) {
		assert_non_null(colormap_find(colormap_name(i)));
		assert_non_null(colormap_summary(i));
		strcat(strcat(all, i ? ", " : ""), colormap_name(i));
	}
	assert_string_equal(all, colormap_names());
	assert_ptr_equal(colormap_find(colormap_name(0)), colormap_default());
}

static double lightness(struct rgb c)
{
	const struct rgb black = {0, 0, 0};

	return cbrt((colour_contrast(c, black) - 1.0) * 0.05);
}

/* Lightness goes one way only, and the default from white to dark. */
static void test_monotonic(void **state)
{
	const struct rgb white = {255, 255, 255};
	struct rgb table[256];

	(void)state;
	for (size_t i = 0; i < colormap_count(); i++) {
		double sign;

		colormap_fill(colormap_find(colormap_name(i)), BACKGROUND_LIGHT, table, 256);
		sign = lightness(table[255]) > lightness(table[0]) ? 1.0 : -1.0;
		for (size_t k = 4; k < 256; k++)
			assert_true(sign * (lightness(table[k]) - lightness(table[k - 4])) > -0.004);
	}
	colormap_fill(NULL, BACKGROUND_LIGHT, table, 256);
	assert_memory_equal(&table[0], &white, sizeof white);
	assert_true(colour_contrast(table[255], white) > 15.0);
}

static double linear(unsigned char channel)
{
	double c = channel / 255.0;

	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* OKLab: Ottosson 2020. */
static void oklab(struct rgb c, double lab[3])
{
	double r = linear(c.r), g = linear(c.g), b = linear(c.b);
	double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
	double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
	double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);

	lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
	lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
	lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* The default falls evenly, and is paler below the middle than in it. */
static void test_ink(void **state)
{
	struct rgb table[256];
	double first[3], last[3], lab[3], middle;

	(void)state;
	colormap_fill(NULL, BACKGROUND_LIGHT, table, 256);
	oklab(table[0], first);
	oklab(table[255], last);
	oklab(table[140], lab);
	middle = hypot(lab[1], lab[2]);
	for (size_t i = 0; i < 256; i++) {
		oklab(table[i], lab);
		assert_true(fabs(lab[0] - (first[0] + (last[0] - first[0]) * (double)i / 255.0)) < 0.006);
		assert_true(i > 80 || hypot(lab[1], lab[2]) < 0.7 * middle);
	}
}

/* Both sides of a diverging map: white or near-black in the middle, lightness by even
 * steps, the same at the same distance; their hues are far apart for readers who
 * lack one kind of cone, too. */
static void test_diverging(void **state)
{
	struct rgb table[201], half[101];
	size_t found = 0;

	(void)state;
	assert_false(colormap_diverging(NULL));
	assert_true(colormap_diverging(colormap_default_diverging()));
	assert_false(colormap_diverging(colormap_default()));
	for (size_t i = 0; i < 2 * colormap_count(); i++) {
		const struct colormap *map = colormap_find(colormap_name(i / 2));
		bool dark = i % 2;
		double low[3], high[3], middle[3], end[3];

		if (!colormap_diverging(map))
			continue;
		found++;
		assert_non_null(strstr(colormap_diverging_names(), colormap_name(i / 2)));
		colormap_fill_diverging(map, dark ? BACKGROUND_DARK : BACKGROUND_LIGHT, table, 201);
		assert_true(table[100].r == (dark ? 0x12 : 0xff) && table[100].g == table[100].r &&
			    table[100].b == table[100].r);
		oklab(table[100], middle);
		oklab(table[200], end);
		for (size_t k = 0; k <= 100; k++) {
			double want = middle[0] + (end[0] - middle[0]) * (double)k / 100;

			oklab(table[100 - k], low);
			oklab(table[100 + k], high);
			assert_true(fabs(low[0] - want) < 0.01 && fabs(high[0] - want) < 0.01);
			/* Apart in hue: all along yellow-blue, or green-red. */
			assert_true(k < 20 || hypot(low[1] - high[1], low[2] - high[2]) > 0.06);
			assert_true(k < 20 || fabs(low[2] - high[2]) > 0.04);
			for (size_t side = 0; side < 2; side++) {
				struct rgb c = table[side ? 100 + k : 100 - k];

				assert_true(colour_contrast(c, colour_text_on(c)) >= 4.5);
			}
		}
		colormap_fill(map, BACKGROUND_LIGHT, half, 101);
		assert_true(dark || memcmp(half, table + 100, sizeof half) == 0);
	}
	assert_int_equal(found, 4);
}

static void test_entries(void **state)
{
	(void)state;
	assert_int_equal(colour_entry(0.0, 256), 0);
	assert_int_equal(colour_entry(-3.0, 256), 0);
	assert_int_equal(colour_entry((double)NAN, 256), 0);
	assert_int_equal(colour_entry(1.0, 256), 255);
	assert_int_equal(colour_entry((double)INFINITY, 256), 255);
	assert_int_equal(colour_entry(0.5, 11), 5);
	assert_int_equal(colour_entry(0.999, 2), 1);
}

/* Text is readable on every colour of every map, and on masked cells. */
static void test_contrast(void **state)
{
	struct rgb table[256];

	(void)state;
	for (size_t i = 0; i < colormap_count(); i++) {
		colormap_fill(colormap_find(colormap_name(i)), BACKGROUND_LIGHT, table, 256);
		for (size_t k = 0; k < 256; k++)
			assert_true(colour_contrast(table[k], colour_text_on(table[k])) >= 4.5);
		assert_true(memcmp(&table[0], &(struct rgb){0xdd, 0xdd, 0xdd}, sizeof table[0]) != 0);
	}
	for (int dark = 0; dark < 2; dark++) {
		struct rgb masked = theme_find(dark ? "dark" : "light")->masked;
		assert_true(colour_contrast(masked, colour_text_on(masked)) >= 4.5);
	}
	assert_true(fabs(colour_contrast((struct rgb){0, 0, 0}, (struct rgb){255, 255, 255}) - 21.0) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_published), cmocka_unit_test(test_names),
	    cmocka_unit_test(test_monotonic), cmocka_unit_test(test_ink),
	    cmocka_unit_test(test_diverging), cmocka_unit_test(test_entries),
	    cmocka_unit_test(test_contrast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
