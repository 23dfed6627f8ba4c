/* Marks on the cells of a heatmap. */
#include "draw/heatmap/heatmap_internal.h"

enum {
	LEAST_CELL = 8, /* of lines, so that a square within a frame is one */
	DASHES = 3      /* a side, with as long gaps between them */
};

struct pen {
	struct canvas *canvas;
	struct rgb colour, halo; /* the halo sets the mark off from a cell of its own colour */
	int line;
};

static void fill(const struct pen *pen, struct rect r, struct rgb colour)
{
	if (r.width > 0 && r.height > 0)
		pen->canvas->class->fill(pen->canvas, r, colour);
}

/* What is left of r without `by` on all sides. */
static struct rect inset(struct rect r, int by)
{
	return (struct rect){r.x + by, r.y + by, r.width - 2 * by, r.height - 2 * by};
}

static void paint_square(const struct pen *pen, struct rect cell, bool corner)
{
	int side = corner ? cell.width / 5 : cell.width / 3;
	struct rect square = {cell.x + (cell.width - side) / 2, cell.y + (cell.height - side) / 2, side,
			      side};
	if (corner) {
		square.x = cell.x + cell.width - side - 3 * pen->line;
		square.y = cell.y + 3 * pen->line;
	}
	fill(pen, inset(square, -pen->line), pen->halo);
	fill(pen, square, pen->colour);
}

/* The four sides of a frame inside r, `thick`. */
static void paint_sides(const struct pen *pen, struct rect r, int thick, struct rgb colour)
{
	fill(pen, (struct rect){r.x, r.y, r.width, thick}, colour);
	fill(pen, (struct rect){r.x, r.y + r.height - thick, r.width, thick}, colour);
	fill(pen, (struct rect){r.x, r.y + thick, thick, r.height - 2 * thick}, colour);
	fill(pen, (struct rect){r.x + r.width - thick, r.y + thick, thick, r.height - 2 * thick}, colour);
}

static void paint_dashes(const struct pen *pen, struct rect r, int thick)
{
	for (int i = 0; i < DASHES; i++) {
		int from = r.width * 2 * i / (2 * DASHES - 1), to = r.width * (2 * i + 1) / (2 * DASHES - 1);
		fill(pen, (struct rect){r.x + from, r.y, to - from, thick}, pen->colour);
		fill(pen, (struct rect){r.x + from, r.y + r.height - thick, to - from, thick}, pen->colour);
		fill(pen, (struct rect){r.x, r.y + from, thick, to - from}, pen->colour);
		fill(pen, (struct rect){r.x + r.width - thick, r.y + from, thick, to - from}, pen->colour);
	}
}

static void paint_mark(const struct pen *pen, struct rect cell, enum heatmap_mark_kind kind, bool numbers)
{
	int thick = cell.width / 14 > pen->line ? cell.width / 14 : pen->line;
	if (kind == HEATMAP_SQUARE) {
		paint_square(pen, cell, numbers);
		return;
	}
	paint_sides(pen, inset(cell, thick), pen->line, pen->halo);
	if (kind == HEATMAP_FRAME)
		paint_sides(pen, cell, thick, pen->colour);
	else {
		paint_sides(pen, cell, thick, pen->halo);
		paint_dashes(pen, cell, thick);
	}
}

bool marks_fit(const struct heatmap_layout *layout)
{
	return layout->cell >= LEAST_CELL * layout->line;
}

void paint_marks(const struct drawing *d, struct canvas *canvas, int x0, int y0, int gap)
{
	const struct heatmap_layout *l = &d->layout;
	const struct theme *theme = d->theme;
	const struct pen pen = {canvas, d->scale.colours.diverging ? theme->ink : theme->accent,
				theme->background, l->line};
	for (size_t i = 0; i < d->figure->mark_count && marks_fit(l); i++) {
		const struct heatmap_mark *m = &d->figure->marks[i];
		bool transpose = d->figure->options.transpose;
		size_t row = (transpose ? m->key : m->query) / d->row_factor;
		size_t col = (transpose ? m->query : m->key) / d->col_factor;
		struct rect cell = {x0 + (int)col * l->cell, y0 + (int)row * l->cell, l->cell - gap,
				    l->cell - gap};
		paint_mark(&pen, cell, m->kind, d->number_size > 0);
	}
}
