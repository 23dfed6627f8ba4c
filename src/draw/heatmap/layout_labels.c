/* Which labels a layout shows beside cells, in what size, and in which direction. */
#include <stdint.h>

#include "draw/heatmap/layout_internal.h"

size_t layout_step(size_t least)
{
	static const size_t factors[] = {1, 2, 5};
	for (size_t power = 1;; power *= 10)
		for (size_t i = 0; i < 3; i++)
			if (factors[i] * power >= least || power > SIZE_MAX / 100)
				return factors[i] * power;
}

/* The size that holds the labels 0, step, 2 step, ... of an axis. */
static struct text_box label_extent(const struct layout_measure *m, enum layout_axis axis, size_t count,
				    size_t step, int size, int limit)
{
	struct text_box all = {0, 0, 0};
	for (size_t i = 0; i < count; i += step)
		all = text_box_max(all, m->label(m->context, axis, i, size, limit));
	return all;
}

/* What labels take along their axis, with the least space between two: horizontal ones of
 * columns, and all others. */
static int width_along(const struct layout_axis_labels *labels)
{
	return labels->box.width + (labels->size * 6 + 9) / 10;
}

static int height_along(const struct layout_axis_labels *labels)
{
	return labels->box.above + labels->box.below;
}

/* Thin labels until neighbours do not touch. */
static void thin(const struct layout_measure *m, enum layout_axis axis, size_t count, int cell, bool numbers,
		 struct layout_axis_labels *labels)
{
	/* Numbers say what lies between them, so they may stand further apart. */
	int least = numbers ? 5 * labels->size / 2 : labels->size + labels->size / 5;

	labels->step = layout_step(((size_t)least + (size_t)cell - 1) / (size_t)cell);
	for (;;) {
		labels->box = label_extent(m, axis, count, labels->step, labels->size, labels->limit);
		bool level = axis == LAYOUT_COLS && labels->direction == LABELS_HORIZONTAL;
		int along = level ? width_along(labels) : height_along(labels);
		if (labels->step >= count || (size_t)along + 1 <= labels->step * (size_t)cell)
			return;
		labels->step = layout_step(labels->step + 1);
	}
}

enum {
	SIZES = 4
};

/* Label one axis in the largest font from sizes[*first] down that lets every
 * cell have its label, or else with thinned labels; *first is then the font
 * taken. */
static void choose_axis_labels(const struct layout_measure *m, enum layout_axis axis, size_t count,
			       bool numbers, int cell, int limit, const int *sizes, int *first,
			       struct layout_axis_labels *labels)
{
	bool columns = axis == LAYOUT_COLS;
	labels->limit = limit;
	labels->direction = columns ? LABELS_UPWARDS : LABELS_HORIZONTAL;
	for (int i = *first; i < SIZES; i++) {
		if (cell * 100 < sizes[i] * 105)
			continue;
		labels->size = sizes[i];
		labels->step = 1;
		labels->box = label_extent(m, axis, count, 1, sizes[i], limit);
		*first = i;
		if (columns && width_along(labels) <= cell) {
			labels->direction = LABELS_HORIZONTAL;
			return;
		}
		if (!(columns && numbers) && height_along(labels) <= cell)
			return;
	}
	if (*first < 2)
		*first = 2;
	labels->size = sizes[*first];
	if (columns && numbers)
		labels->direction = LABELS_HORIZONTAL;
	thin(m, axis, count, cell, numbers, labels);
}

void layout_choose_labels(const struct layout_request *request, const struct layout_measure *m, int cell,
			  int limit, struct heatmap_layout *out)
{
	int row_first = 0, col_first = 0;
	out->row.direction = out->col.direction = LABELS_NONE;
	if (limit <= 0)
		return;
	int sizes[SIZES];
	for (int i = 0; i < SIZES; i++)
		sizes[i] = scaled(request, 12 - i);
	choose_axis_labels(m, LAYOUT_ROWS, request->rows, request->row_numbers, cell, limit, sizes,
			   &row_first, &out->row);
	choose_axis_labels(m, LAYOUT_COLS, request->cols, request->col_numbers, cell, limit, sizes,
			   &col_first, &out->col);
	/* One font for both axes: the smaller. */
	if (row_first < col_first)
		choose_axis_labels(m, LAYOUT_ROWS, request->rows, request->row_numbers, cell, limit, sizes,
				   &col_first, &out->row);
	else if (col_first < row_first)
		choose_axis_labels(m, LAYOUT_COLS, request->cols, request->col_numbers, cell, limit, sizes,
				   &row_first, &out->col);
	out->label_shift = (out->row.size * 35 + 50) / 100;
}

int layout_widen_cell(const struct layout_request *request, const struct layout_measure *m, int cell,
		      int limit)
{
	struct layout_axis_labels labels = {LABELS_HORIZONTAL, 1, scaled(request, 12), {0, 0, 0}, limit};
	size_t longer = request->rows > request->cols ? request->rows : request->cols;
	if (request->panels > 1 || request->col_numbers || longer > 24)
		return cell;
	labels.box = label_extent(m, LAYOUT_COLS, request->cols, 1, labels.size, limit);
	int need = width_along(&labels);
	if (need > cell && need <= scaled(request, 80) && need * (int)longer <= scaled(request, 1000))
		return need;
	return cell;
}
