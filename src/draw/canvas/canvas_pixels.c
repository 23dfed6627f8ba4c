/* The canvas of pixels, for PNG. */
#include <stdlib.h>
#include <string.h>

#include "draw/canvas/canvas.h"
#include "util/minmax.h"

static struct image *image_of(struct canvas *canvas)
{
	return ((struct canvas_pixels *)canvas)->image;
}

/* What has been painted over shows. */
static void make_opaque(const struct image *image, struct rect r)
{
	int x = int_max(r.x, 0), right = int_min(r.x + r.width, (int)image->width);
	int bottom = int_min(r.y + r.height, (int)image->height);
	for (int y = int_max(r.y, 0); image->alpha && x < right && y < bottom; y++)
		memset(image->alpha + (size_t)y * image->width + x, 0xff, (size_t)(right - x));
}

static void fill(struct canvas *canvas, struct rect r, struct rgb colour)
{
	image_fill(image_of(canvas), r, colour);
	make_opaque(image_of(canvas), r);
}

static void hatch(struct canvas *canvas, struct rect r, const struct canvas_hatch *h)
{
	struct image *image = image_of(canvas);
	int period = 6 * h->line;
	fill(canvas, r, h->background);
	for (int y = r.y; y < r.y + r.height; y++) {
		/* The first line at or before r.x, then one a period. */
		for (int x = r.x - (r.x + y) % period; x < r.x + r.width; x += period)
			for (int i = int_max(x, r.x); i < x + h->line && i < r.x + r.width; i++)
				pixel_set(image_at(image, (size_t)i, (size_t)y), h->lines);
	}
}

/* One row of cells: its first row of pixels, copied down, then masked cells. */
static void cell_row(struct canvas *canvas, const struct canvas_cells *cells, const unsigned char *indices,
		     int y)
{
	struct image *image = image_of(canvas);
	int cell = cells->cell;
	unsigned char *first = image_at(image, (size_t)cells->x, (size_t)y), *out = first;
	for (size_t col = 0; col < cells->cols; col++) {
		struct rgb colour =
		    indices[col] == CANVAS_MASKED ? cells->hatch.background : cells->colours[indices[col]];
		for (int i = 0; i < cell; i++, out += 3)
			pixel_set(out, colour);
	}
	for (int i = 1; i < cell; i++)
		memcpy(first + (size_t)i * image->width * 3, first, cells->cols * (size_t)cell * 3);
	for (size_t col = 0, end; col < cells->cols; col = end + 1) {
		for (end = col; end < cells->cols && indices[end] == CANVAS_MASKED;)
			end++;
		if (end > col)
			hatch(canvas,
			      (struct rect){cells->x + (int)col * cell, y, (int)(end - col) * cell, cell},
			      &cells->hatch);
	}
}

static void cells(struct canvas *canvas, const struct canvas_cells *c)
{
	unsigned char *indices = malloc(c->cols);
	if (!indices) {
		attn_fail_memory(&canvas->error);
		return;
	}
	for (size_t row = 0; row < c->rows; row++) {
		c->row(c->context, row, indices);
		cell_row(canvas, c, indices, c->y + (int)row * c->cell);
	}
	make_opaque(image_of(canvas),
		    (struct rect){c->x, c->y, (int)c->cols * c->cell, (int)c->rows * c->cell});
	free(indices);
}

static void ramp(struct canvas *canvas, struct rect r, bool vertical, const struct rgb *colours, size_t count)
{
	int length = vertical ? r.height : r.width;
	for (int i = 0; i < length; i++) {
		struct rgb colour = colours[colour_entry((double)i / (length > 1 ? length - 1 : 1), count)];
		struct rect stripe = {r.x, r.y + length - 1 - i, r.width, 1};
		if (!vertical)
			stripe = (struct rect){r.x + i, r.y, 1, r.height};
		fill(canvas, stripe, colour);
	}
}

static void text(struct canvas *canvas, const struct canvas_text *t)
{
	text_paint(canvas->text, image_of(canvas), t->text, t->style, t->x, t->y, t->direction, t->colour);
}

static const struct canvas_class pixels_class = {fill, hatch, cells, ramp, text, canvas_pixels_stroke};

void canvas_pixels_init(struct canvas_pixels *c, struct image *image, struct text_engine *engine)
{
	*c = (struct canvas_pixels){.canvas = {.class = &pixels_class, .text = engine}, .image = image};
}
