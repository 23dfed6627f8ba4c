/* The parts of a layout that come before its geometry: how panels are arranged,
 * how large a cell is, and which labels are shown, how large and which way
 * round. */
#include <math.h>
#include <stdint.h>

#include "draw/heatmap/layout_internal.h"

size_t layout_columns(size_t panels, double width, double height)
{
	const double aspect = 1.3; /* of a page's figure, about */
	size_t best = 1;
	double best_cost = INFINITY;

	for (size_t columns = 1; columns <= panels; columns++) {
		size_t rows = (panels + columns - 1) / columns;
		size_t empty = rows * columns - panels;
		double cost = fabs(log((double)columns * width / ((double)rows * height) / aspect)) +
			      5.0 * (double)empty / (double)panels;
		if (cost < best_cost) {
			best_cost = cost;
			best = columns;
		}
	}
	return best;
}

size_t layout_step(size_t least)
{
	static const size_t factors[] = {1, 2, 5};
	for (size_t power = 1;; power *= 10)
		for (size_t i = 0; i < 3; i++)
			if (factors[i] * power >= least || power > SIZE_MAX / 100)
				return factors[i] * power;
}

static size_t clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

int layout_auto_cell(size_t longer, size_t shorter, size_t panels, double scale, size_t largest_side)
{
	size_t target = panels == 1 ? 1024 : panels <= 16 ? 1400 : 1900; /* pixels, scaled */
	size_t largest = panels == 1 ? 44 : 28;
	size_t legible = LEGIBLE_CELL;
	size_t cell = clamp(target / longer, 1, longer <= 4 && panels == 1 ? 64 : largest);

	if (cell < legible && legible * longer * 100 <= target * (panels == 1 ? 125 : 160))
		cell = legible;
	/* A strip that is few cells high would be a hairline. */
	if (shorter * cell < 48) {
		size_t wide = clamp(3000 / longer, clamp(8192 / longer, 1, 4), largest);
		cell = clamp(48 / shorter, cell, wide > cell ? wide : cell);
	}
	cell = (size_t)lround((double)cell * scale);
	return (int)clamp(cell, 1, clamp(largest_side / longer, 1, largest_side));
}

/* The size that holds all labels first, first + step, ... of an axis. */
static struct text_box label_extent(const struct layout_measure *m, enum layout_axis axis, size_t count,
				    size_t step, int size, int limit)
{
	struct text_box all = {0, 0, 0};
	for (size_t i = 0; i < count; i += step) {
		struct text_box box = m->label(m->context, axis, i, size, limit);
		all.width = box.width > all.width ? box.width : all.width;
		all.above = box.above > all.above ? box.above : all.above;
		all.below = box.below > all.below ? box.below : all.below;
	}
	return all;
}

/* What labels take along their axis, with the least space between two. */
static int extent_along(const struct layout_axis_plan *plan, bool level_columns)
{
	if (level_columns)
		return plan->box.width + (plan->size * 6 + 9) / 10;
	return plan->box.above + plan->box.below;
}

/* Thin labels until neighbours do not touch. */
static void thin(const struct layout_measure *m, enum layout_axis axis, size_t count, int cell, bool level,
		 bool numbers, struct layout_axis_plan *plan)
{
	/* Numbers say what lies between them, so they may stand further apart. */
	int least = numbers ? 5 * plan->size / 2 : plan->size + plan->size / 5;

	plan->step = layout_step(((size_t)least + (size_t)cell - 1) / (size_t)cell);
	for (;;) {
		plan->box = label_extent(m, axis, count, plan->step, plan->size, plan->limit);
		if (plan->step >= count || (size_t)extent_along(plan, level) + 1 <= plan->step * (size_t)cell)
			return;
		plan->step = layout_step(plan->step + 1);
	}
}

enum {
	SIZES = 4
};

/* Plan one axis with the largest font from sizes[*first] down that lets every
 * cell have its label, or else with thinned labels; *first is then the font
 * taken. */
static void plan_axis(const struct layout_measure *m, enum layout_axis axis, size_t count, bool numbers,
		      int cell, int limit, const int *sizes, int *first, struct layout_axis_plan *plan)
{
	bool columns = axis == LAYOUT_COLS;
	plan->limit = limit;
	plan->labels = columns ? LAYOUT_TURNED : LAYOUT_LEVEL;
	for (int i = *first; i < SIZES; i++) {
		if (cell * 100 < sizes[i] * 105)
			continue;
		plan->size = sizes[i];
		plan->step = 1;
		plan->box = label_extent(m, axis, count, 1, sizes[i], limit);
		*first = i;
		if (columns && extent_along(plan, true) <= cell) {
			plan->labels = LAYOUT_LEVEL;
			return;
		}
		if (!(columns && numbers) && extent_along(plan, false) <= cell)
			return;
	}
	if (*first < 2)
		*first = 2;
	plan->size = sizes[*first];
	if (columns && numbers)
		plan->labels = LAYOUT_LEVEL;
	thin(m, axis, count, cell, plan->labels == LAYOUT_LEVEL && columns, numbers, plan);
}

void plan_labels(const struct layout_request *request, const struct layout_measure *m, int cell, int limit,
		 struct layout *out)
{
	int row_first = 0, col_first = 0;
	out->row.labels = out->col.labels = LAYOUT_NONE;
	if (limit <= 0)
		return;
	int sizes[SIZES];
	for (int i = 0; i < SIZES; i++)
		sizes[i] = scaled(request, 12 - i);
	plan_axis(m, LAYOUT_ROWS, request->rows, request->row_numbers, cell, limit, sizes, &row_first,
		  &out->row);
	plan_axis(m, LAYOUT_COLS, request->cols, request->col_numbers, cell, limit, sizes, &col_first,
		  &out->col);
	/* One font for both axes: the smaller. */
	if (row_first < col_first)
		plan_axis(m, LAYOUT_ROWS, request->rows, request->row_numbers, cell, limit, sizes, &col_first,
			  &out->row);
	else if (col_first < row_first)
		plan_axis(m, LAYOUT_COLS, request->cols, request->col_numbers, cell, limit, sizes, &row_first,
			  &out->col);
	out->label_shift = (out->row.size * 35 + 50) / 100;
}

int widen_for_labels(const struct layout_request *request, const struct layout_measure *m, int cell,
		     int limit)
{
	struct layout_axis_plan plan = {LAYOUT_LEVEL, 1, scaled(request, 12), {0, 0, 0}, limit};
	size_t longer = request->rows > request->cols ? request->rows : request->cols;
	if (request->panels > 1 || request->col_numbers || longer > 24)
		return cell;
	plan.box = label_extent(m, LAYOUT_COLS, request->cols, 1, plan.size, limit);
	int need = extent_along(&plan, true);
	if (need > cell && need <= scaled(request, 80) && need * (int)longer <= scaled(request, 1000))
		return need;
	return cell;
}
