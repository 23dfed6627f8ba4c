/* Texts as pixels: rasterised by Cairo once, painted by copying. */
#include <stdlib.h>
#include <string.h>

#include "draw/text/text_internal.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	MAX_RASTER = 16384 /* pixels a side of one text: more is cut */
};

/* Keep the surface's pixels: as coverage, unless some glyph has colours. */
static bool keep_pixels(struct entry *e, const unsigned char *data, size_t stride, size_t width,
			size_t height)
{
	bool coloured = false;
	e->width = width;
	e->height = height;
	e->coverage = array_alloc(width, height);
	e->colours = array_alloc(width * height, sizeof *e->colours);
	if (!e->coverage || !e->colours)
		return false;
	for (size_t y = 0; y < height; y++) {
		memcpy(e->colours + y * width, data + y * stride, width * sizeof *e->colours);
		for (size_t x = 0; x < width; x++) {
			uint32_t pixel = e->colours[y * width + x];
			coloured |= (pixel & 0xffffff) != 0;
			e->coverage[y * width + x] = (unsigned char)(pixel >> 24);
		}
	}
	if (!coloured) {
		free(e->colours);
		e->colours = NULL;
	}
	return true;
}

static bool rasterise(struct text_engine *t, struct entry *e)
{
	const struct pango_functions *p = t->pango;
	int width = int_min(e->box.width, MAX_RASTER) + 2 * BLEED;
	int height = int_min(e->box.above + e->box.below, MAX_RASTER) + 2 * BLEED;
	if (e->coverage || e->box.width == 0 || e->box.above + e->box.below == 0)
		return true;
	if (!text_lay_out(t, e))
		return false;
	cairo_surface_t *surface = p->cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
	cairo_t *cr = p->cairo_create(surface);
	p->cairo_translate(cr, e->x + BLEED, e->y + BLEED);
	p->cairo_scale(cr, text_scale(t, e), text_scale(t, e));
	p->pango_cairo_show_layout(cr, t->layout);
	p->cairo_surface_flush(surface);
	bool good =
	    p->cairo_status(cr) == CAIRO_STATUS_SUCCESS &&
	    keep_pixels(e, p->cairo_image_surface_get_data(surface),
			(size_t)p->cairo_image_surface_get_stride(surface), (size_t)width, (size_t)height);
	p->cairo_destroy(cr);
	p->cairo_surface_destroy(surface);
	t->bytes += (size_t)width * (size_t)height;
	return good;
}

/* Greys on a theme's background keep to 16 levels: no eye tells them apart, and a picture
 * then has few enough colours for a palette. */
static unsigned char blend(unsigned char under, unsigned int over, unsigned int alpha, bool snap)
{
	unsigned int value = (under * (255 - alpha) + over * alpha + 127) / 255;
	return (unsigned char)(snap ? (value + 8) / 17 * 17 : value);
}

/* Over what may be transparent: the "over" operator of Porter and Duff (SIGGRAPH 1984), in
 * which colours weigh as much as they show. */
static void paint_over(unsigned char *pixel, unsigned char *under, const struct entry *e, size_t at,
		       struct rgb colour)
{
	unsigned int alpha = e->coverage[at], rest = *under * (255 - alpha), all = alpha * 255 + rest;
	unsigned int over[3] = {colour.r * alpha, colour.g * alpha, colour.b * alpha};
	for (int i = 0; alpha > 0 && i < 3; i++) {
		if (e->colours)
			over[i] = (e->colours[at] >> (16 - 8 * i) & 0xff) * 255;
		pixel[i] = (unsigned char)((over[i] * 255 + pixel[i] * rest + all / 2) / all);
	}
	if (alpha > 0)
		*under = (unsigned char)((all + 127) / 255);
}

static void paint_pixel(unsigned char *pixel, const struct entry *e, size_t at, struct rgb colour)
{
	unsigned int alpha = e->coverage[at];
	/* The backgrounds of the two themes. */
	bool background = (pixel[0] == 0xff && pixel[1] == 0xff && pixel[2] == 0xff) ||
			  (pixel[0] == 0x11 && pixel[1] == 0x11 && pixel[2] == 0x11);
	if (alpha == 0)
		return;
	if (e->colours) { /* premultiplied: alpha has been applied */
		uint32_t over = e->colours[at];

		pixel[0] = (unsigned char)(pixel[0] * (255 - alpha) / 255 + (over >> 16 & 0xff));
		pixel[1] = (unsigned char)(pixel[1] * (255 - alpha) / 255 + (over >> 8 & 0xff));
		pixel[2] = (unsigned char)(pixel[2] * (255 - alpha) / 255 + (over & 0xff));
		return;
	}
	pixel[0] = blend(pixel[0], colour.r, alpha, background);
	pixel[1] = blend(pixel[1], colour.g, alpha, background);
	pixel[2] = blend(pixel[2], colour.b, alpha, background);
}

void text_paint(struct text_engine *t, struct image *image, const char *text, struct text_style style, int x,
		int y, enum text_direction direction, struct rgb colour)
{
	struct entry *e = text_lookup(t, text, style);
	size_t at = 0;
	bool up = direction == TEXT_UPWARDS;
	if (!e)
		return;
	if (!rasterise(t, e)) {
		attn_fail_memory(&t->error);
		return;
	}
	if (!e->coverage)
		return;
	for (int row = -BLEED; row < (int)e->height - BLEED; row++) {
		for (int col = -BLEED; col < (int)e->width - BLEED; col++, at++) {
			int px = up ? x + row - e->box.above : x + col;
			int py = up ? y - 1 - col : y + row - e->box.above;
			if (px < 0 || py < 0 || (size_t)px >= image->width || (size_t)py >= image->height)
				continue;
			size_t pixel = (size_t)py * image->width + (size_t)px;
			if (image->alpha && image->alpha[pixel] < 255)
				paint_over(image->pixels + 3 * pixel, image->alpha + pixel, e, at, colour);
			else
				paint_pixel(image->pixels + 3 * pixel, e, at, colour);
		}
	}
}
