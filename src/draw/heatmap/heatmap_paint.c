/* Painting a heatmap: from a layout to a canvas. */
#include <string.h>

#include "draw/heatmap/heatmap_internal.h"

static float panel_value(const struct drawing *d, const struct grid *g, size_t row, size_t col)
{
	return d->figure->options.transpose ? g->values[col * g->cols + row] : g->values[row * g->cols + col];
}

static bool panel_masked(const struct drawing *d, const struct grid *g, size_t row, size_t col)
{
	size_t at = d->figure->options.transpose ? col * g->cols + row : row * g->cols + col;
	return g->masked[at] != 0;
}

struct cell_painter {
	const struct drawing *d;
	struct canvas *canvas;
	const struct theme *theme;
	struct rgb table[HEAT_LEVELS];
	int line_width;          /* of lines between cells; 0: none */
	const struct grid *grid; /* of the current panel */
	size_t panel;
};

static void fill_rect(struct canvas *canvas, struct rect r, struct rgb colour)
{
	canvas->class->fill(canvas, r, colour);
}

/* A frame around the rectangle: outside it, `line` pixels thick. */
static void frame_rect(const struct cell_painter *p, struct rect r, int line)
{
	struct rgb colour = p->theme->frame;
	fill_rect(p->canvas, (struct rect){r.x - line, r.y - line, r.width + 2 * line, line}, colour);
	fill_rect(p->canvas, (struct rect){r.x - line, r.y + r.height, r.width + 2 * line, line}, colour);
	fill_rect(p->canvas, (struct rect){r.x - line, r.y, line, r.height}, colour);
	fill_rect(p->canvas, (struct rect){r.x + r.width, r.y, line, r.height}, colour);
}

static void paint_text(const struct cell_painter *p, struct canvas_text text)
{
	p->canvas->class->text(p->canvas, &text);
}

static struct canvas_hatch masked_hatch(const struct cell_painter *p)
{
	return (struct canvas_hatch){p->theme->masked, p->theme->masked_line, p->d->layout.line};
}

static void cell_levels(void *context, size_t row, unsigned char *indices)
{
	const struct cell_painter *p = context;
	const struct drawing *d = p->d;
	for (size_t col = 0; col < d->cols; col++)
		indices[col] = panel_masked(d, p->grid, row, col)
				   ? CANVAS_MASKED
				   : (unsigned char)heatmap_scale_level(&d->scale, p->panel,
									panel_value(d, p->grid, row, col));
}

static void paint_cells(struct cell_painter *p, int x0, int y0)
{
	struct canvas_cells cells = {
	    .x = x0,
	    .y = y0,
	    .cell = p->d->layout.cell,
	    .rows = p->d->rows,
	    .cols = p->d->cols,
	    .blocks = p->d->figure->panel_count,
	    .colours = p->table,
	    .hatch = masked_hatch(p),
	    .row = cell_levels,
	    .context = p,
	};
	p->canvas->class->cells(p->canvas, &cells);
}

static void paint_grid_lines(const struct cell_painter *p, int x0, int y0)
{
	const struct heatmap_layout *l = &p->d->layout;
	int width = p->line_width;
	if (width == 0)
		return;
	for (size_t col = 1; col < p->d->cols; col++)
		fill_rect(p->canvas,
			  (struct rect){x0 + (int)col * l->cell - width, y0, width, l->panel_height},
			  p->theme->line);
	for (size_t row = 1; row < p->d->rows; row++)
		fill_rect(p->canvas,
			  (struct rect){x0, y0 + (int)row * l->cell - width, l->panel_width, width},
			  p->theme->line);
}

/* A line after each token at which a sentence ends: none where there are so many that they
 * would cover the cells. */
static void paint_ends(const struct cell_painter *p, enum layout_axis axis, int x0, int y0)
{
	const struct drawing *d = p->d;
	const struct heatmap_layout *l = &d->layout;
	bool rows = axis == LAYOUT_ROWS;
	const bool *ends = drawing_ends(d, axis);
	if (!ends || !ends_fit(d, axis))
		return;
	size_t tokens = rows == d->figure->options.transpose ? p->grid->keys : p->grid->queries;
	double token = (double)l->cell / (double)(rows ? d->row_factor : d->col_factor);
	for (size_t i = 0; i + 1 < tokens; i++) {
		int at = (int)((double)(i + 1) * token + 0.5) - (l->line + 1) / 2;
		if (!ends[i])
			continue;
		fill_rect(p->canvas,
			  rows ? (struct rect){x0, y0 + at, l->panel_width, l->line}
			       : (struct rect){x0 + at, y0, l->line, l->panel_height},
			  d->scale.colours.diverging ? p->theme->ink : p->theme->accent);
	}
}

/* Black or white: whichever reads better on the cell. */
static void paint_numbers(const struct cell_painter *p, int x0, int y0)
{
	const struct drawing *d = p->d;
	struct text_style style = plain_style(d->number_size, 0);
	int cell = d->layout.cell;
	if (d->number_size == 0)
		return;
	for (size_t row = 0; row < d->rows; row++) {
		for (size_t col = 0; col < d->cols; col++) {
			float value = panel_value(d, p->grid, row, col);
			if (panel_masked(d, p->grid, row, col))
				continue;
			char text[CELL_NUMBER_SIZE];
			cell_number(value, text);
			struct text_box box = text_measure(d->text, text, style);
			int x = x0 + (int)col * cell + (cell - p->line_width - box.width) / 2;
			int y = y0 + (int)row * cell + (cell - p->line_width + box.above) / 2;
			paint_text(p, (struct canvas_text){
					  text, style, x, y, TEXT_HORIZONTAL, CANVAS_MIDDLE,
					  colour_text_on(
					      p->table[heatmap_scale_level(&d->scale, p->panel, value)])});
		}
	}
}

/* `title` in the middle over a panel, `above` from its top to the baseline. */
static void paint_panel_title(const struct cell_painter *p, const char *title, int above, int x0, int y0)
{
	const struct heatmap_layout *l = &p->d->layout;
	struct text_style style = plain_style(l->small_size, l->panel_title_limit);
	if (p->d->figure->panel_count == 1 || !title || !*title)
		return;
	int x = x0 + (l->panel_width - text_measure(p->d->text, title, style).width) / 2;
	paint_text(p, (struct canvas_text){title, style, x, y0 - above, TEXT_HORIZONTAL, CANVAS_MIDDLE,
					   p->theme->ink});
}

/* The titles of a row and of a column of panels, at their first panels. */
static void paint_outer_titles(const struct cell_painter *p, size_t index, int x0, int y0)
{
	const struct drawing *d = p->d;
	const struct heatmap_layout *l = &d->layout;
	size_t row = index / (size_t)l->panel_columns, column = index % (size_t)l->panel_columns;
	struct text_style style = plain_style(l->small_size, l->panel_title_limit);
	if (row == 0)
		paint_panel_title(p, outer_title(d, LAYOUT_COLS, column, style), l->top_title_above, x0, y0);
	if (column > 0)
		return;
	style = plain_style(l->small_size, l->side_title_limit);
	const char *title = outer_title(d, LAYOUT_ROWS, row, style);
	struct text_box box = text_measure(d->text, title, style);
	paint_text(p, (struct canvas_text){title, style, l->side_title_x + box.above,
					   y0 + (l->panel_height + box.width) / 2, TEXT_UPWARDS,
					   CANVAS_MIDDLE, p->theme->ink});
}

static void paint_row_labels(const struct cell_painter *p, int x0, int y0)
{
	const struct heatmap_layout *l = &p->d->layout;
	struct text_style style = label_style(&l->row);
	char number[24];
	for (size_t i = 0; i < p->d->rows; i += l->row.step) {
		const char *label = drawing_label(p->d, LAYOUT_ROWS, i, number);
		int x = x0 + l->row_label_right - text_measure(p->d->text, label, style).width;
		int y = y0 + (int)i * l->cell + l->cell / 2 + l->label_shift;
		paint_text(
		    p, (struct canvas_text){label, style, x, y, TEXT_HORIZONTAL, CANVAS_END, p->theme->ink});
	}
}

static void paint_col_labels(const struct cell_painter *p, int x0, int y0)
{
	const struct heatmap_layout *l = &p->d->layout;
	struct text_style style = label_style(&l->col);
	int top = y0 + l->panel_height + l->col_label_top;
	char number[24];
	for (size_t i = 0; i < p->d->cols; i += l->col.step) {
		const char *label = drawing_label(p->d, LAYOUT_COLS, i, number);
		int width = text_measure(p->d->text, label, style).width;
		int x = x0 + (int)i * l->cell + l->cell / 2;
		struct canvas_text text = {
		    label,           style,         x - width / 2, top + l->col.box.above,
		    TEXT_HORIZONTAL, CANVAS_MIDDLE, p->theme->ink};
		if (l->col.direction == LABELS_UPWARDS)
			text = (struct canvas_text){label,        style,      x + l->label_shift, top + width,
						    TEXT_UPWARDS, CANVAS_END, p->theme->ink};
		paint_text(p, text);
	}
}

static void paint_panel(struct cell_painter *p, size_t index)
{
	const struct drawing *d = p->d;
	const struct heatmap_layout *l = &d->layout;
	const struct heatmap_panel *panel = &d->figure->panels[index];
	int column = (int)index % l->panel_columns;
	int x0 = l->first_x + column * l->pitch_x;
	int y0 = l->first_y + (int)index / l->panel_columns * l->pitch_y;
	char title[PANEL_TITLE_SIZE];
	p->grid = panel->grid;
	p->panel = index;
	paint_cells(p, x0, y0);
	paint_grid_lines(p, x0, y0);
	paint_ends(p, LAYOUT_ROWS, x0, y0);
	paint_ends(p, LAYOUT_COLS, x0, y0);
	frame_rect(p, (struct rect){x0, y0, l->panel_width, l->panel_height}, l->line);
	paint_numbers(p, x0, y0);
	paint_marks(d, p->canvas, x0, y0, p->line_width);
	paint_panel_title(p, panel_title(d, index, title), l->panel_title_above, x0, y0);
	if (d->figure->row_titles)
		paint_outer_titles(p, index, x0, y0);
	if (l->row.direction != LABELS_NONE && column == 0)
		paint_row_labels(p, x0, y0);
	if (l->col.direction != LABELS_NONE && index + (size_t)l->panel_columns >= d->figure->panel_count)
		paint_col_labels(p, x0, y0);
}

/* Where a share of the scale lies on the bar, from its zero end. */
static int bar_position(int length, double share)
{
	return (int)(share * (double)(length - 1) + 0.5);
}

static void paint_bar_ticks(const struct cell_painter *p)
{
	const struct drawing *d = p->d;
	const struct heatmap_layout *l = &d->layout;
	struct text_style style = plain_style(l->small_size, 0);
	int length = l->bar_vertical ? l->bar.height : l->bar.width;
	struct tick ticks[TICKS_MAX];
	size_t count = drawing_ticks(d, l, length, ticks);
	int gap = (int)(4.0 * l->scale + 0.5), tick = (int)(4.0 * l->scale + 0.5);
	for (size_t i = 0; i < count; i++) {
		int at = bar_position(length, ticks[i].share);
		struct text_box box = text_measure(d->text, ticks[i].text, style);
		struct canvas_text text = {ticks[i].text, style,        0, 0, TEXT_HORIZONTAL,
					   CANVAS_START,  p->theme->ink};
		if (l->bar_vertical) {
			int x = l->bar.x + l->bar.width + l->line, y = l->bar.y + length - 1 - at;
			fill_rect(p->canvas, (struct rect){x, y - l->line / 2, tick, l->line},
				  p->theme->frame);
			text.x = x + tick + gap;
			text.y = y + (box.above + 1) / 2;
		} else {
			int x = l->bar.x + at, y = l->bar.y + l->bar.height + l->line;
			fill_rect(p->canvas, (struct rect){x - l->line / 2, y, l->line, tick},
				  p->theme->frame);
			text.x = x - box.width / 2;
			text.y = y + tick + (int)(3.0 * l->scale + 0.5) + box.above;
			text.anchor = CANVAS_MIDDLE;
		}
		paint_text(p, text);
	}
}

static void paint_bar(const struct cell_painter *p)
{
	const struct heatmap_layout *l = &p->d->layout;
	struct canvas_hatch hatch = masked_hatch(p);
	p->canvas->class->ramp(p->canvas, l->bar, l->bar_vertical, p->table, p->d->scale.levels);
	frame_rect(p, l->bar, l->line);
	paint_bar_ticks(p);
	if (l->masked_swatch.width > 0) {
		p->canvas->class->hatch(p->canvas, l->masked_swatch, &hatch);
		frame_rect(p, l->masked_swatch, l->line);
	}
}

/* A text in the rectangle that the layout gives it. */
static void paint_placed(const struct cell_painter *p, const char *text, struct text_style style,
			 struct rect r, enum text_direction direction, enum canvas_anchor anchor,
			 struct rgb colour)
{
	if (r.width == 0 || !text)
		return;
	struct text_box box = text_measure(p->d->text, text, style);
	bool up = direction == TEXT_UPWARDS;
	int x = up ? r.x + box.above : r.x, y = up ? r.y + r.height : r.y + box.above;
	paint_text(p, (struct canvas_text){text, style, x, y, direction, anchor, colour});
}

static void paint_words(const struct cell_painter *p)
{
	const struct drawing *d = p->d;
	const struct heatmap_layout *l = &d->layout;
	struct rgb ink = p->theme->ink;
	struct buffer notes = BUFFER_INIT;
	paint_placed(p, row_title(d), plain_style(l->text_size, l->row_title_limit), l->row_title,
		     TEXT_UPWARDS, CANVAS_MIDDLE, ink);
	paint_placed(p, col_title(d), plain_style(l->text_size, l->col_title_limit), l->col_title,
		     TEXT_HORIZONTAL, CANVAS_MIDDLE, ink);
	paint_placed(p, bar_title(d), plain_style(l->small_size, l->bar_title_limit), l->bar_title,
		     l->bar_vertical ? TEXT_UPWARDS : TEXT_HORIZONTAL,
		     l->bar_vertical ? CANVAS_MIDDLE : CANVAS_END, ink);
	paint_placed(p, hatched_name(d->figure), plain_style(l->small_size, 0), l->masked_text,
		     TEXT_HORIZONTAL, CANVAS_START, ink);
	paint_placed(p, d->figure->title, title_style(l, l->title_limit), l->title, TEXT_HORIZONTAL,
		     CANVAS_MIDDLE, ink);
	heatmap_notes(&notes, d, l);
	if (notes.length > 0)
		paint_placed(p, notes.data, notes_style(l, l->notes_limit), l->notes, TEXT_HORIZONTAL,
			     CANVAS_START, p->theme->soft_ink);
	buffer_release(&notes);
}

static void fill_table(const struct drawing *d, struct rgb *table)
{
	const struct colormap *map = d->figure->options.colormap;
	enum background_kind background = d->theme->kind;
	if (d->scale.colours.diverging) {
		colormap_fill_diverging(map, background, table, d->scale.levels);
	} else if (background == BACKGROUND_DARK && colormap_diverging(map)) {
		struct rgb both[2 * HEAT_LEVELS - 1];
		colormap_fill_diverging(map, BACKGROUND_DARK, both, 2 * d->scale.levels - 1);
		memcpy(table, both + d->scale.levels - 1, d->scale.levels * sizeof *table);
	} else {
		colormap_fill(map, background, table, d->scale.levels);
	}
}

void paint_figure(const struct drawing *d, struct canvas *canvas)
{
	struct cell_painter painter = {.d = d, .canvas = canvas, .theme = d->theme};
	fill_table(d, painter.table);
	if (d->layout.cell >= (int)(14.0 * d->layout.scale + 0.5))
		painter.line_width = d->layout.line;
	for (size_t i = 0; i < d->figure->panel_count; i++)
		paint_panel(&painter, i);
	if (!d->figure->options.no_bar)
		paint_bar(&painter);
	paint_words(&painter);
}
