/* How panels are arranged and how large a cell is, so that the picture gets the size asked
 * for, or a good one. */
#include <math.h>

#include "draw/heatmap/layout_internal.h"
#include "util/minmax.h"

enum {
	LARGEST_SIDE = 28000, /* pixels of automatic cells: what else a picture has still fits */
	TALLEST = 3           /* times an asked width: then cells are narrower than they could be */
};

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

static size_t clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Pixels of an automatic cell, for the longer and shorter side of all panels together, in
 * cells, which take no more than `largest_side` pixels. */
static int automatic_cell(size_t longer, size_t shorter, size_t panels, double scale, size_t largest_side)
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

/* The side that was asked for: the width, or the longer one. */
static int asked_side(const struct layout_request *request, const struct heatmap_layout *l)
{
	return request->width ? int_max(l->width, l->height / TALLEST) : int_max(l->width, l->height);
}

/* Bring the side that was asked for to exactly `size` by even margins. */
static void pad(const struct layout_request *request, struct heatmap_layout *l, int size)
{
	int dx = 0, dy = 0;
	if (request->width || l->width >= l->height) {
		dx = (size - l->width) / 2;
		l->width = size;
	} else {
		dy = (size - l->height) / 2;
		l->height = size;
	}
	layout_move(l, dx, dy);
	l->notes.x += dx;
	l->notes.y += dy;
}

/* The largest cells, and the widest labels, that keep the side asked for to its
 * size; false when there are none. */
static bool fit_size(const struct layout_request *request, const struct layout_measure *measure, int columns,
		     int label_limit, struct heatmap_layout *out)
{
	int size = width_limit(request), best_cell = 0;
	int rows = (int)((request->panels + (size_t)columns - 1) / (size_t)columns);
	int across = (int)request->cols * columns, down = (int)request->rows * rows;
	int cells = request->width ? int_max(across, down / TALLEST) : int_max(across, down);
	cells = int_max(cells, 1);
	for (int limit = label_limit;; limit = limit > scaled(request, 20) ? limit / 2 : 0) {
		int cell = request->cell ? (int)request->cell : size / cells;
		struct heatmap_layout tried;
		while (cell > 0) {
			layout_place(request, measure, columns, cell, limit, &tried);
			int side = asked_side(request, &tried);
			if (side <= size)
				break;
			int next = request->cell ? 0 : (size - (side - cell * cells)) / cells;
			cell = int_min(next, cell - 1);
		}
		if (cell > best_cell) {
			best_cell = cell;
			*out = tried;
		}
		/* Good enough when the cells have their share of the picture. */
		if (limit == 0 || best_cell * cells * 10 >= size * 4 || (request->cell && best_cell > 0))
			break;
	}
	if (best_cell > 0)
		pad(request, out, size);
	return best_cell > 0;
}

/* Large pictures are looked at from further away, or shrunk to a page: their
 * text grows, up to 2.5 times. */
static double grown_scale(double scale, double longer)
{
	double factor = longer / (1200.0 * scale);
	return scale * (factor < 1.0 ? 1.0 : factor > 2.5 ? 2.5 : factor);
}

static int label_limit(const struct layout_request *r)
{
	return scaled(r, r->panels > 1 ? 100 : 160);
}

/* Narrow figures give the room beside the panels to larger cells, and have their
 * colour bar below. */
static bool fit_width(struct layout_request *r, const struct layout_measure *measure,
		      struct heatmap_layout *out)
{
	struct heatmap_layout below;
	bool fits = fit_size(r, measure, (int)r->panel_columns, label_limit(r), out);
	r->horizontal_bar = true;
	if (fit_size(r, measure, (int)r->panel_columns, label_limit(r), &below) &&
	    (!fits || below.cell * 4 >= out->cell * 5 || below.row.step < out->row.step)) {
		*out = below;
		return true;
	}
	r->horizontal_bar = false;
	return fits;
}

/* Large text first, then plain. */
static bool make_sized(struct layout_request *r, const struct layout_measure *measure,
		       struct heatmap_layout *out)
{
	double plain = r->scale;
	if (!r->keep_text)
		r->scale = grown_scale(plain, (double)r->size * 0.9);
	if (fit_size(r, measure, (int)r->panel_columns, label_limit(r), out))
		return true;
	r->scale = plain;
	return fit_size(r, measure, (int)r->panel_columns, label_limit(r), out);
}

/* Let text grow to `scale`, as far as this costs no label that is there without. */
static void grow_text(struct layout_request *r, const struct layout_measure *measure, int cell, double scale)
{
	double plain = r->scale;
	if (scale <= plain || r->keep_text)
		return;
	struct heatmap_layout least;
	layout_choose_labels(r, measure, cell, label_limit(r), &least);
	struct heatmap_layout grown;
	for (r->scale = scale; r->scale > plain; r->scale = fmax(plain, r->scale * 0.9)) {
		layout_choose_labels(r, measure, cell, label_limit(r), &grown);
		if ((r->row_numbers || grown.row.step == 1 || least.row.step > 1) &&
		    (r->col_numbers || grown.col.step == 1 || least.col.step > 1))
			break;
	}
}

bool layout_make(const struct layout_request *request, const struct layout_measure *measure,
		 struct heatmap_layout *out)
{
	struct layout_request r = *request; /* with text scale and columns decided */
	double side = (double)int_max((int)r.rows, (int)r.cols);
	size_t wide, tall, longer;
	int cell = (int)r.cell;

	if (r.panel_columns == 0)
		r.panel_columns =
		    layout_columns(r.panels, (double)r.cols + 0.1 * side, (double)r.rows + 0.2 * side);
	if (r.panel_columns > r.panels)
		r.panel_columns = r.panels;
	r.cell_scale = r.cell_scale > 0 ? r.cell_scale : r.scale;
	r.line = r.line > 0 ? r.line : r.cell_scale;
	if (r.width)
		return fit_width(&r, measure, out);
	if (r.size)
		return make_sized(&r, measure, out);
	wide = r.cols * r.panel_columns;
	tall = r.rows * ((r.panels + r.panel_columns - 1) / r.panel_columns);
	longer = wide > tall ? wide : tall;
	if (cell == 0) {
		cell = automatic_cell(longer, wide > tall ? tall : wide, r.panels, r.cell_scale,
				      r.largest ? r.largest : LARGEST_SIDE);
		/* Larger text: a label still fits beside every cell. */
		if (cell >= (int)lround(LEGIBLE_CELL * r.cell_scale))
			cell = int_max(cell, (int)lround(LEGIBLE_CELL * r.scale));
		cell = layout_widen_cell(&r, measure, int_max(cell, r.least_cell), label_limit(&r));
	}
	grow_text(&r, measure, cell, grown_scale(r.scale, (double)longer * cell));
	layout_place(&r, measure, (int)r.panel_columns, cell, label_limit(&r), out);
	return true;
}
