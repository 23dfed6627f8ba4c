#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/heatmap/layout.h"
#include "draw/heatmap/ticks.h"

/* Texts of made-up widths: a label's depends on its number, up to `widest`
 * ems. */
struct texts {
	double widest;
	int panel_title, title, notes; /* characters */
};

static struct text_box box_of(double ems, int size, int limit)
{
	int width = (int)(ems * size) + 1;
	struct text_box box = {limit > 0 && width > limit ? limit : width, size * 9 / 10, size / 4 + 1};

	return box;
}

static double label_ems(const struct texts *t, size_t i)
{
	return t->widest * (double)((i * 37 + 11) % 50) / 50.0 + 0.4;
}

static struct text_box label(void *context, enum layout_axis axis, size_t i, int size, int limit)
{
	(void)axis;
	return box_of(label_ems(context, i), size, limit);
}

static struct text_box text(void *context, enum layout_text which, const struct heatmap_layout *l, int limit)
{
	const struct texts *t = context;
	struct text_box box = {0, 0, 0};
	int characters = which == LAYOUT_TITLE ? t->title : t->notes, size = l->small_size, lines;

	switch (which) {
	case LAYOUT_TITLE:
	case LAYOUT_NOTES:
		if (characters == 0)
			return box;
		lines = characters * size / 2 / limit + 1;
		box = box_of(characters / 2.0, size, limit);
		box.below += (lines - 1) * size * 5 / 4;
		return box;
	case LAYOUT_PANEL_TITLE:
		return t->panel_title ? box_of(t->panel_title / 2.0, size, limit) : box;
	case LAYOUT_BAR_TICK:
		return box_of(2.5, size, 0);
	default:
		return box_of(3.0, size, limit);
	}
}

static bool inside(const struct heatmap_layout *l, struct rect r)
{
	return r.x >= 0 && r.y >= 0 && r.x + r.width <= l->width && r.y + r.height <= l->height;
}

static bool apart(struct rect a, struct rect b)
{
	return a.width == 0 || b.width == 0 || a.x + a.width <= b.x || b.x + b.width <= a.x ||
	       a.y + a.height <= b.y || b.y + b.height <= a.y;
}

/* Where the painter puts a panel's title and its labels. */
static struct rect panel_title(const struct heatmap_layout *l, const struct texts *t, int panel)
{
	struct text_box b = text((void *)(uintptr_t)t, LAYOUT_PANEL_TITLE, l, l->panel_title_limit);
	int x = l->first_x + panel % l->panel_columns * l->pitch_x + (l->panel_width - b.width) / 2;
	int y = l->first_y + panel / l->panel_columns * l->pitch_y - l->panel_title_above;

	return (struct rect){x, y - b.above, b.width, b.above + b.below};
}

static struct rect row_label(const struct heatmap_layout *l, const struct texts *t, int panel, size_t i)
{
	struct text_box b = label((void *)(uintptr_t)t, LAYOUT_ROWS, i, l->row.size, l->row.limit);
	int y = l->first_y + panel / l->panel_columns * l->pitch_y + (int)i * l->cell + l->cell / 2 +
		l->label_shift;
	int x = l->first_x + panel % l->panel_columns * l->pitch_x + l->row_label_right - b.width;

	return (struct rect){x, y - b.above, b.width, b.above + b.below};
}

static struct rect col_label(const struct heatmap_layout *l, const struct texts *t, int panel, size_t i)
{
	struct text_box b = label((void *)(uintptr_t)t, LAYOUT_COLS, i, l->col.size, l->col.limit);
	int x = l->first_x + panel % l->panel_columns * l->pitch_x + (int)i * l->cell + l->cell / 2;
	int y = l->first_y + panel / l->panel_columns * l->pitch_y + l->panel_height + l->col_label_top;

	if (l->col.direction == LABELS_UPWARDS)
		return (struct rect){x + l->label_shift - b.above, y, b.above + b.below, b.width};
	return (struct rect){x - b.width / 2, y + l->col.box.above - b.above, b.width, b.above + b.below};
}

static struct rect panel_rect(const struct heatmap_layout *l, int panel)
{
	return (struct rect){l->first_x + panel % l->panel_columns * l->pitch_x - l->line,
			     l->first_y + panel / l->panel_columns * l->pitch_y - l->line,
			     l->panel_width + 2 * l->line, l->panel_height + 2 * l->line};
}

static void check_labels(const struct layout_request *r, const struct texts *t,
			 const struct heatmap_layout *l)
{
	struct rect before = {0, 0, 0, 0};
	int last = (int)r->panels - 1;

	if (l->row.direction != LABELS_NONE) {
		for (size_t i = 0; i < r->rows; i += l->row.step) {
			struct rect at = row_label(l, t, 0, i);

			assert_true(inside(l, at) && apart(at, before) && apart(at, l->title));
			assert_true(apart(at, l->row_title) && apart(at, panel_rect(l, 0)));
			before = at;
		}
	}
	before.width = 0;
	if (l->col.direction == LABELS_NONE)
		return;
	for (int panel = last; panel >= 0 && panel > last - 2; panel--) {
		for (size_t i = 0; i < r->cols; i += l->col.step) {
			struct rect at = col_label(l, t, panel, i);

			assert_true(inside(l, at) && apart(at, before) && apart(at, l->notes));
			assert_true(apart(at, l->col_title) && apart(at, panel_rect(l, panel)));
			assert_true(apart(at, l->bar) && apart(at, l->row_title));
			before = at;
		}
		before = (struct rect){0, 0, 0, 0};
		if (l->panel_columns > 1 && panel == last && panel > 0 && last % l->panel_columns > 0)
			assert_true(
			    apart(col_label(l, t, panel, 0),
				  col_label(l, t, panel - 1, (r->cols - 1) / l->col.step * l->col.step)));
	}
}

static void check_panel_titles(const struct layout_request *r, const struct texts *t,
			       const struct heatmap_layout *l)
{
	if (!t->panel_title || r->panels == 1)
		return;
	for (int panel = 0; panel < (int)r->panels; panel++) {
		struct rect at = panel_title(l, t, panel);

		assert_true(inside(l, at) && apart(at, panel_rect(l, panel)));
		assert_true(apart(at, l->title) && apart(at, l->row_title) && apart(at, l->bar));
		if (panel > 0)
			assert_true(apart(at, panel_title(l, t, panel - 1)));
		if (panel >= l->panel_columns)
			assert_true(apart(at, panel_rect(l, panel - l->panel_columns)));
	}
}

static void check_layout(const struct layout_request *r, const struct texts *t,
			 const struct heatmap_layout *l)
{
	const struct rect parts[] = {l->bar,   l->bar_title, l->masked_swatch, l->masked_text,
				     l->title, l->notes,     l->row_title,     l->col_title};

	assert_true(l->cell >= 1);
	assert_int_equal(l->panel_width, l->cell * (int)r->cols);
	assert_int_equal(l->panel_height, l->cell * (int)r->rows);
	assert_true((size_t)l->panel_columns * (size_t)l->panel_rows >= r->panels);
	for (size_t i = 0; i < 8; i++) {
		assert_true(inside(l, parts[i]));
		for (size_t k = 0; k < i; k++)
			assert_true(apart(parts[i], parts[k]));
		for (int panel = 0; panel < (int)r->panels; panel++)
			assert_true(apart(parts[i], panel_rect(l, panel)));
	}
	for (int panel = 0; panel < (int)r->panels; panel++)
		assert_true(inside(l, panel_rect(l, panel)));
	assert_int_equal(l->masked_swatch.width > 0, r->masked);
	assert_true(l->bar.width > 0 && l->bar.height > 0);
	check_labels(r, t, l);
	check_panel_titles(r, t, l);
}

static void test_properties(void **state)
{
	static const size_t sides[] = {1, 2, 3, 7, 14, 34, 60, 128, 500, 2000};
	static const double widths[] = {0.5, 4, 30};
	static const size_t panels[] = {1, 2, 12, 144};
	static const double scales[] = {1, 2, 3.125};
	unsigned int tried = 0;

	(void)state;
	for (size_t i = 0; i < 10 * 10 * 3 * 4; i++) {
		struct texts t = {widths[i / 100 % 3], i % 3 ? 7 : 0, (int)(i % 7) * 12, (int)(i % 5) * 20};
		struct layout_request r = {
		    .rows = sides[i % 10],
		    .cols = sides[i / 10 % 10],
		    .panels = panels[i / 300],
		    .scale = scales[i % 3],
		    .row_numbers = i % 4 == 1,
		    .col_numbers = i % 4 > 1,
		    .masked = i % 2,
		};
		struct layout_measure measure = {&t, label, text};
		struct heatmap_layout l;

		if (r.panels > 1 && (r.rows > 200 || r.cols > 200))
			continue; /* grids are reduced before they get here */
		assert_true(layout_make(&r, &measure, &l));
		check_layout(&r, &t, &l);
		tried++;
	}
	assert_true(tried > 600);
}

/* A picture of an asked size has exactly that longer side, or is refused. */
static void test_size(void **state)
{
	static const size_t sides[] = {1, 5, 14, 34, 128};
	static const size_t sizes[] = {120, 260, 500, 800, 1600, 5000};

	(void)state;
	for (size_t i = 0; i < 5 * 5 * 6 * 2; i++) {
		struct texts t = {6, 7, 15, 30};
		struct layout_request r = {.rows = sides[i % 5],
					   .cols = sides[i / 5 % 5],
					   .size = sizes[i / 25 % 6],
					   .panels = i < 150 ? 1 : 6,
					   .scale = 1,
					   .masked = i % 2};
		struct layout_measure measure = {&t, label, text};
		struct heatmap_layout l;

		if (!layout_make(&r, &measure, &l)) {
			assert_true(r.size < 500 || r.panels * 128 > r.size);
			continue;
		}
		assert_int_equal(l.width > l.height ? l.width : l.height, (int)r.size);
		check_layout(&r, &t, &l);
	}
}

/* Where nobody asks for a size there is room for labels on both axes, and for
 * all of them where they are few. */
static void test_labels(void **state)
{
	struct texts t = {4, 6, 20, 0};
	struct layout_measure measure = {&t, label, text};

	(void)state;
	for (size_t panels = 1; panels <= 16; panels++) {
		for (size_t i = 0; i < 64 * 12; i++) {
			size_t few = i / 64 % 6 < 5 ? i / 64 % 6 + 1 : i % 64 + 1, many = i % 64 + 1;
			bool tall = i / 64 > 5;
			struct layout_request r = {.rows = tall ? many : few,
						   .cols = tall ? few : many,
						   .panels = panels,
						   .scale = i % 5 == 4 ? 3.125 : 1,
						   .row_numbers = i % 3 == 1,
						   .col_numbers = i % 3 > 0,
						   .masked = i % 2};
			struct heatmap_layout l;

			assert_true(layout_make(&r, &measure, &l));
			assert_true(l.row.direction != LABELS_NONE && l.col.direction != LABELS_NONE);
			if (panels <= 12 && r.rows < 6 && !r.row_numbers)
				assert_int_equal(l.row.step, 1);
			if (panels <= 12 && r.cols < 6 && !r.col_numbers)
				assert_int_equal(l.col.step, 1);
			check_layout(&r, &t, &l);
		}
	}
}

static void test_cell(void **state)
{
	struct texts t = {4, 0, 0, 0};
	struct layout_measure measure = {&t, label, text};
	struct layout_request r = {.rows = 14, .cols = 14, .panels = 1, .scale = 2, .cell = 37};
	struct heatmap_layout l;

	(void)state;
	assert_true(layout_make(&r, &measure, &l));
	assert_int_equal(l.cell, 37); /* as given, whatever the resolution */
	r.cell = 0;
	r.least_cell = 200;
	assert_true(layout_make(&r, &measure, &l));
	assert_int_equal(l.cell, 200);
}

/* The bar spans the panels, unless they are a tall column; notes begin below their
 * left edge. */
static void test_bar_and_notes(void **state)
{
	struct texts t = {4, 6, 20, 30};
	struct layout_measure measure = {&t, label, text};
	struct layout_request r = {.rows = 14, .cols = 14, .panels = 4, .scale = 1};
	struct heatmap_layout l;

	(void)state;
	assert_true(layout_make(&r, &measure, &l));
	assert_int_equal(l.panel_rows, 2);
	assert_int_equal(l.bar.height, l.pitch_y + l.panel_height);
	assert_int_equal(l.notes.x, l.first_x - l.line);
	r = (struct layout_request){.rows = 1500, .cols = 1500, .panels = 1, .scale = 1};
	assert_true(layout_make(&r, &measure, &l));
	assert_int_equal(l.bar.height, l.panel_height);
	r.cols = 200;
	assert_true(layout_make(&r, &measure, &l));
	assert_in_range(l.bar.height, l.panel_height / 2, l.panel_height * 4 / 5);
	t.notes = 60; /* more than there is room for */
	r = (struct layout_request){.rows = 1, .cols = 1, .panels = 1, .scale = 1};
	assert_true(layout_make(&r, &measure, &l));
	assert_true(l.notes.x < l.first_x);
	check_layout(&r, &t, &l);
}

/* Labels stay level where they fit, and turn where they do not. */
static void test_turning(void **state)
{
	struct texts t = {1.5, 0, 0, 0};
	struct layout_measure measure = {&t, label, text};
	struct layout_request r = {.rows = 10, .cols = 10, .panels = 1, .scale = 1, .cell = 44};
	struct heatmap_layout l;

	(void)state;
	layout_make(&r, &measure, &l);
	assert_int_equal(l.col.direction, LABELS_HORIZONTAL);
	t.widest = 6;
	layout_make(&r, &measure, &l);
	assert_int_equal(l.col.direction, LABELS_UPWARDS);
	assert_int_equal(l.col.step, 1);
	r.cell = 4;
	r.rows = r.cols = 100;
	layout_make(&r, &measure, &l);
	assert_true(l.col.step == 5 && l.row.step == 5);
}

static void test_columns(void **state)
{
	(void)state;
	assert_int_equal(layout_columns(1, 1, 1), 1);
	assert_int_equal(layout_columns(4, 1.1, 1.2), 2);
	assert_int_equal(layout_columns(6, 1.1, 1.2), 3);
	assert_int_equal(layout_columns(8, 1.1, 1.2), 4);
	assert_int_equal(layout_columns(12, 1.1, 1.2), 4);
	assert_int_equal(layout_columns(16, 1.1, 1.2), 4);
	assert_int_equal(layout_columns(12, 40.0, 1.0), 1);
	assert_int_equal(layout_columns(12, 1.0, 40.0), 12);
	for (size_t panels = 1; panels < 600; panels++) {
		size_t columns = layout_columns(panels, 1.1, 1.2);

		assert_in_range(columns, 1, panels);
	}
}

static void test_step(void **state)
{
	(void)state;
	assert_int_equal(layout_step(0), 1);
	assert_int_equal(layout_step(1), 1);
	assert_int_equal(layout_step(3), 5);
	assert_int_equal(layout_step(6), 10);
	assert_int_equal(layout_step(21), 50);
	assert_true(layout_step(SIZE_MAX / 2) > 0);
}

static void test_ticks(void **state)
{
	static const double tops[] = {1, 0.372, 0.0798, 0.25, 1e-7, 7, 123456, 3e12, 0.1};

	(void)state;
	for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
		for (int length = 1; length < 900; length += 17) {
			struct tick ticks[TICKS_MAX];
			struct scale scale = scale_make(tops[i], 0, SCALE_LINEAR);
			size_t count = ticks_make(&scale, length, 20, ticks);

			assert_in_range(count, 2, 8);
			assert_true(ticks[0].value == 0.0 && ticks[count - 1].value == tops[i]);
			assert_string_equal(ticks[0].text, "0");
			for (size_t k = 1; k < count; k++) {
				assert_true(ticks[k].value > ticks[k - 1].value);
				assert_true(fabs(strtod(ticks[k].text, NULL) - ticks[k].value) <=
					    0.005 * ticks[k].value + 1e-6 * tops[i]);
				if (count > 2)
					assert_true((ticks[k].value - ticks[k - 1].value) / tops[i] * length >
						    19.9);
			}
		}
	}
}

/* Titles of columns over the first row of panels, turned ones of rows before their
 * labels: inside the picture, apart, in front of no panel. */
static void test_outer_titles(void **state)
{
	static const size_t shapes[][3] = {{2, 2, 4}, {12, 12, 128}, {32, 32, 40}, {3, 16, 7}, {40, 2, 30}};

	(void)state;
	for (size_t i = 0; i < 5 * 3 * 2; i++) {
		size_t down = shapes[i % 5][0], across = shapes[i % 5][1], cells = shapes[i % 5][2];
		struct texts texts = {2.0, i / 5 % 3 ? 0 : 4, 20, 30};
		const struct layout_measure measure = {&texts, label, text};
		struct layout_request request = {.rows = cells,
						 .cols = cells,
						 .panels = down * across,
						 .panel_columns = across,
						 .scale = i / 5 % 3 == 2 ? 3 : 1,
						 .masked = i >= 15,
						 .outer_titles = true};
		struct heatmap_layout l;

		assert_true(layout_make(&request, &measure, &l));
		assert_int_equal(l.panel_columns, across);
		struct text_box top = text(&texts, LAYOUT_TOP_TITLE, &l, l.panel_title_limit);
		struct text_box side = text(&texts, LAYOUT_SIDE_TITLE, &l, l.side_title_limit);
		int height = top.above + top.below, y = l.first_y - l.top_title_above - top.above;
		assert_true(top.width < l.pitch_x && side.width < l.pitch_y);
		for (int c = 0; c < (int)across; c++) {
			int x = l.first_x + c * l.pitch_x + (l.panel_width - top.width) / 2;
			struct rect title = {x, y, top.width, height};

			assert_true(inside(&l, title) && apart(title, panel_rect(&l, c)) &&
				    apart(title, l.title));
			assert_true(!texts.panel_title || apart(title, panel_title(&l, &texts, c)));
		}
		for (int r = 0; r < (int)down; r++) {
			int bottom = l.first_y + r * l.pitch_y + (l.panel_height + side.width) / 2;
			struct rect title = {l.side_title_x, bottom - side.width, side.above + side.below,
					     side.width};

			assert_true(inside(&l, title) && apart(title, l.row_title));
			assert_true(apart(title, panel_rect(&l, r * (int)across)));
			for (size_t k = 0; l.row.direction != LABELS_NONE && k < cells; k += l.row.step)
				assert_true(apart(title, row_label(&l, &texts, r * (int)across, k)));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_properties),    cmocka_unit_test(test_size), cmocka_unit_test(test_labels),
	    cmocka_unit_test(test_bar_and_notes), cmocka_unit_test(test_cell), cmocka_unit_test(test_turning),
	    cmocka_unit_test(test_columns),       cmocka_unit_test(test_step), cmocka_unit_test(test_ticks),
	    cmocka_unit_test(test_outer_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
