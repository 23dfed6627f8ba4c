/* From a layout to pixels. */
#include <stdlib.h>
#include <string.h>

#include "draw/heatmap_internal.h"

static const struct rgb ink = {0x11, 0x11, 0x11};
static const struct rgb soft_ink = {0x55, 0x55, 0x55};
static const struct rgb frame_grey = {0x66, 0x66, 0x66};
static const struct rgb line_grey = {0xdd, 0xdd, 0xdd};

float panel_value(const struct drawing *d, const struct grid *g, size_t row, size_t col)
{
	return d->figure->options.transpose ? g->values[col * g->cols + row] : g->values[row * g->cols + col];
}

bool panel_masked(const struct drawing *d, const struct grid *g, size_t row, size_t col)
{
	size_t at = d->figure->options.transpose ? col * g->cols + row : row * g->cols + col;
	return g->masked[at] != 0;
}

static unsigned char *pixel_at(const struct image *image, int x, int y)
{
	return image->pixels + ((size_t)y * image->width + (size_t)x) * 3;
}

static void set_pixel(unsigned char *pixel, struct rgb colour)
{
	pixel[0] = colour.r;
	pixel[1] = colour.g;
	pixel[2] = colour.b;
}

/* Fill what of the rectangle lies inside the picture. */
static void fill_rect(struct image *image, struct rect r, struct rgb colour)
{
	int right = r.x + r.width, bottom = r.y + r.height;
	right = right < (int)image->width ? right : (int)image->width;
	bottom = bottom < (int)image->height ? bottom : (int)image->height;
	for (int y = r.y < 0 ? 0 : r.y; y < bottom; y++)
		for (int x = r.x < 0 ? 0 : r.x; x < right; x++)
			set_pixel(pixel_at(image, x, y), colour);
}

/* A frame around the rectangle: outside it, `line` pixels thick. */
static void frame_rect(struct image *image, struct rect r, int line)
{
	fill_rect(image, (struct rect){r.x - line, r.y - line, r.width + 2 * line, line}, frame_grey);
	fill_rect(image, (struct rect){r.x - line, r.y + r.height, r.width + 2 * line, line}, frame_grey);
	fill_rect(image, (struct rect){r.x - line, r.y, line, r.height}, frame_grey);
	fill_rect(image, (struct rect){r.x + r.width, r.y, line, r.height}, frame_grey);
}

/* Diagonal lines, continuous over neighbouring masked cells. */
static void paint_masked(struct image *image, struct rect r, int line)
{
	int period = 6 * line;
	fill_rect(image, r, colour_masked());
	for (int y = r.y; y < r.y + r.height; y++) {
		/* The first line at or before r.x, then one a period. */
		for (int x = r.x - (r.x + y) % period; x < r.x + r.width; x += period)
			for (int i = x < r.x ? r.x : x; i < x + line && i < r.x + r.width; i++)
				set_pixel(pixel_at(image, i, y), colour_masked_line());
	}
}

struct cell_painter {
	const struct drawing *d;
	struct image *image;
	struct rgb table[HEAT_LEVELS];
	int line_width; /* of lines between cells; 0: none */
};

static struct rgb cell_colour(const struct cell_painter *p, float value)
{
	return p->table[colormap_entry((double)value / p->d->top, HEAT_LEVELS)];
}

/* One row of cells: its first row of pixels, copied down, then masked cells
 * and the lines between cells. */
static void paint_cell_row(const struct cell_painter *p, const struct grid *g, size_t row, int x0, int y0)
{
	const struct drawing *d = p->d;
	int cell = d->layout.cell;
	size_t bytes = d->cols * (size_t)cell * 3;
	unsigned char *first = pixel_at(p->image, x0, y0), *out = first;
	for (size_t col = 0; col < d->cols; col++) {
		struct rgb colour = cell_colour(p, panel_value(d, g, row, col));
		for (int i = 0; i < cell; i++, out += 3)
			set_pixel(out, colour);
	}
	for (int i = 1; i < cell; i++)
		memcpy(first + (size_t)i * p->image->width * 3, first, bytes);
	for (size_t col = 0; g->any_masked && col < d->cols; col++) {
		size_t end = col;
		while (end < d->cols && panel_masked(d, g, row, end))
			end++;
		if (end == col)
			continue;
		paint_masked(p->image, (struct rect){x0 + (int)col * cell, y0, (int)(end - col) * cell, cell},
			     d->layout.line);
		col = end;
	}
}

static void paint_grid_lines(const struct cell_painter *p, int x0, int y0)
{
	const struct layout *l = &p->d->layout;
	int width = p->line_width;
	if (width == 0)
		return;
	for (size_t col = 1; col < p->d->cols; col++)
		fill_rect(p->image,
			  (struct rect){x0 + (int)col * l->cell - width, y0, width, l->panel_height},
			  line_grey);
	for (size_t row = 1; row < p->d->rows; row++)
		fill_rect(p->image, (struct rect){x0, y0 + (int)row * l->cell - width, l->panel_width, width},
			  line_grey);
}

static void paint_numbers(const struct cell_painter *p, const struct grid *g, int x0, int y0)
{
	const struct drawing *d = p->d;
	struct text_style style = plain_style(d->number_size, 0);
	int cell = d->layout.cell;
	if (d->number_size == 0)
		return;
	for (size_t row = 0; row < d->rows; row++) {
		for (size_t col = 0; col < d->cols; col++) {
			float value = panel_value(d, g, row, col);
			if (panel_masked(d, g, row, col))
				continue;
			char text[NUMBER_SIZE];
			number_text(value, text);
			struct text_box box = text_measure(d->text, text, style);
			text_paint(d->text, p->image, text, style,
				   x0 + (int)col * cell + (cell - p->line_width - box.width) / 2,
				   y0 + (int)row * cell + (cell - p->line_width + box.above) / 2, false,
				   colour_text_on(cell_colour(p, value)));
		}
	}
}

static void paint_panel_title(const struct drawing *d, struct image *image, const char *title, int x0, int y0)
{
	const struct layout *l = &d->layout;
	struct text_style style = plain_style(l->small_size, l->panel_title_limit);
	if (d->figure->panel_count == 1 || !title || !*title)
		return;
	struct text_box box = text_measure(d->text, title, style);
	text_paint(d->text, image, title, style, x0 + (l->panel_width - box.width) / 2,
		   y0 - l->panel_title_above, false, ink);
}

static void paint_row_labels(const struct drawing *d, struct image *image, int x0, int y0)
{
	const struct layout *l = &d->layout;
	struct text_style style = label_style(&l->row);
	char number[24];
	for (size_t i = 0; i < d->rows; i += l->row.step) {
		const char *label = drawing_label(d, LAYOUT_ROWS, i, number);
		struct text_box box = text_measure(d->text, label, style);
		text_paint(d->text, image, label, style, x0 + l->row_label_right - box.width,
			   y0 + (int)i * l->cell + l->cell / 2 + l->label_shift, false, ink);
	}
}

static void paint_col_labels(const struct drawing *d, struct image *image, int x0, int y0)
{
	const struct layout *l = &d->layout;
	struct text_style style = label_style(&l->col);
	int top = y0 + l->panel_height + l->col_label_top;
	char number[24];
	for (size_t i = 0; i < d->cols; i += l->col.step) {
		const char *label = drawing_label(d, LAYOUT_COLS, i, number);
		struct text_box box = text_measure(d->text, label, style);
		int centre = x0 + (int)i * l->cell + l->cell / 2;
		if (l->col.labels == LAYOUT_TURNED)
			text_paint(d->text, image, label, style, centre + l->label_shift, top + box.width,
				   true, ink);
		else
			text_paint(d->text, image, label, style, centre - box.width / 2,
				   top + l->col.box.above, false, ink);
	}
}

static void paint_panel(const struct cell_painter *p, size_t index)
{
	const struct drawing *d = p->d;
	const struct layout *l = &d->layout;
	const struct heatmap_panel *panel = &d->figure->panels[index];
	int column = (int)index % l->panel_columns;
	int x0 = l->first_x + column * l->pitch_x;
	int y0 = l->first_y + (int)index / l->panel_columns * l->pitch_y;
	for (size_t row = 0; row < d->rows; row++)
		paint_cell_row(p, panel->grid, row, x0, y0 + (int)row * l->cell);
	paint_grid_lines(p, x0, y0);
	frame_rect(p->image, (struct rect){x0, y0, l->panel_width, l->panel_height}, l->line);
	paint_numbers(p, panel->grid, x0, y0);
	paint_panel_title(d, p->image, panel->title, x0, y0);
	if (l->row.labels != LAYOUT_NONE && column == 0)
		paint_row_labels(d, p->image, x0, y0);
	if (l->col.labels != LAYOUT_NONE && index + (size_t)l->panel_columns >= d->figure->panel_count)
		paint_col_labels(d, p->image, x0, y0);
}

/* Where a share of the scale lies on the bar, from its zero end. */
static int bar_position(int length, double share)
{
	return (int)(share * (double)(length - 1) + 0.5);
}

static void paint_bar_ticks(const struct drawing *d, struct image *image)
{
	const struct layout *l = &d->layout;
	struct text_style style = plain_style(l->small_size, 0);
	int length = l->bar_upright ? l->bar.height : l->bar.width;
	struct tick ticks[TICKS_MAX];
	size_t count = drawing_ticks(d, l, length, ticks);
	int gap = (int)(4.0 * l->scale + 0.5), tick = (int)(4.0 * l->scale + 0.5);
	for (size_t i = 0; i < count; i++) {
		int at = bar_position(length, ticks[i].value / d->top);
		struct text_box box = text_measure(d->text, ticks[i].text, style);
		if (l->bar_upright) {
			int x = l->bar.x + l->bar.width + l->line, y = l->bar.y + length - 1 - at;
			fill_rect(image, (struct rect){x, y - l->line / 2, tick, l->line}, frame_grey);
			text_paint(d->text, image, ticks[i].text, style, x + tick + gap,
				   y + (box.above + 1) / 2, false, ink);
		} else {
			int x = l->bar.x + at, y = l->bar.y + l->bar.height + l->line;
			fill_rect(image, (struct rect){x - l->line / 2, y, l->line, tick}, frame_grey);
			text_paint(d->text, image, ticks[i].text, style, x - box.width / 2,
				   y + tick + (int)(3.0 * l->scale + 0.5) + box.above, false, ink);
		}
	}
}

static void paint_bar(const struct cell_painter *p)
{
	const struct drawing *d = p->d;
	const struct layout *l = &d->layout;
	int length = l->bar_upright ? l->bar.height : l->bar.width;
	for (int i = 0; i < length; i++) {
		struct rgb colour =
		    p->table[colormap_entry((double)i / (length > 1 ? length - 1 : 1), HEAT_LEVELS)];
		struct rect stripe = {l->bar.x, l->bar.y + length - 1 - i, l->bar.width, 1};
		if (!l->bar_upright)
			stripe = (struct rect){l->bar.x + i, l->bar.y, 1, l->bar.height};
		fill_rect(p->image, stripe, colour);
	}
	frame_rect(p->image, l->bar, l->line);
	paint_bar_ticks(d, p->image);
	if (l->masked_swatch.width > 0) {
		paint_masked(p->image, l->masked_swatch, l->line);
		frame_rect(p->image, l->masked_swatch, l->line);
	}
}

/* A text whose rectangle the layout gave, `turned` or not. */
static void paint_placed(const struct drawing *d, struct image *image, const char *text,
			 struct text_style style, struct rect r, bool turned, struct rgb colour)
{
	if (r.width == 0 || !text)
		return;
	struct text_box box = text_measure(d->text, text, style);
	if (turned)
		text_paint(d->text, image, text, style, r.x + box.above, r.y + r.height, true, colour);
	else
		text_paint(d->text, image, text, style, r.x, r.y + box.above, false, colour);
}

static void paint_words(const struct drawing *d, struct image *image)
{
	const struct layout *l = &d->layout;
	struct buffer notes = BUFFER_INIT;
	paint_placed(d, image, row_title(d), plain_style(l->text_size, l->row_title_limit), l->row_title,
		     true, ink);
	paint_placed(d, image, col_title(d), plain_style(l->text_size, l->col_title_limit), l->col_title,
		     false, ink);
	paint_placed(d, image, bar_title(d), plain_style(l->small_size, l->bar_title_limit), l->bar_title,
		     l->bar_upright, ink);
	paint_placed(d, image, "masked", plain_style(l->small_size, 0), l->masked_text, false, ink);
	paint_placed(d, image, d->figure->title, title_style(l, l->title_limit), l->title, false, ink);
	add_notes(&notes, d, l);
	if (notes.length > 0)
		paint_placed(d, image, notes.data, notes_style(l, l->notes_limit), l->notes, false, soft_ink);
	buffer_release(&notes);
}

void paint_figure(const struct drawing *d, struct image *image)
{
	struct cell_painter painter = {.d = d, .image = image};
	colormap_fill(d->figure->options.colormap, painter.table, HEAT_LEVELS);
	if (d->layout.cell >= (int)(14.0 * d->layout.scale + 0.5))
		painter.line_width = d->layout.line;
	for (size_t i = 0; i < d->figure->panel_count; i++)
		paint_panel(&painter, i);
	paint_bar(&painter);
	paint_words(d, image);
}
