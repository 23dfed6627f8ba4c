/* The canvas of PDF, by Cairo. */
#include <stdint.h>
#include <stdlib.h>

#include "draw/canvas/canvas_vector.h"
#include "draw/text/pango.h"
#include "draw/text/text_show.h"

/* Points a unit: 72 points and 96 pixels are an inch. */
static const double points = 72.0 / 96.0 / CANVAS_UNITS;

static struct canvas_pdf *pdf_of(struct canvas *canvas)
{
	return (struct canvas_pdf *)canvas;
}

static void set_colour(struct canvas_pdf *c, struct rgb colour)
{
	c->cairo->cairo_set_source_rgb(c->context, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
}

static void add_rect(struct canvas_pdf *c, struct rect r)
{
	c->cairo->cairo_rectangle(c->context, r.x, r.y, r.width, r.height);
}

static void fill(struct canvas *canvas, struct rect r, struct rgb colour)
{
	struct canvas_pdf *c = pdf_of(canvas);
	set_colour(c, colour);
	add_rect(c, r);
	c->cairo->cairo_fill(c->context);
}

static void clip_add(struct canvas *canvas, struct rect r)
{
	add_rect(pdf_of(canvas), r);
}

static void clip_hatch(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch)
{
	struct canvas_pdf *c = pdf_of(canvas);
	const struct pango_functions *p = c->cairo;
	struct vector_diagonals lines = vector_diagonals(r, hatch);
	p->cairo_save(c->context);
	p->cairo_clip(c->context);
	set_colour(c, hatch->lines);
	p->cairo_set_line_width(c->context, lines.width);
	for (int sum = lines.first; sum < lines.last; sum += lines.step) {
		p->cairo_move_to(c->context, sum - r.y - r.height, r.y + r.height);
		p->cairo_line_to(c->context, sum - r.y, r.y);
	}
	p->cairo_stroke(c->context);
	p->cairo_restore(c->context);
}

/* Copy the picture's pixels to a Cairo surface. */
static void copy_pixels(const struct image *image, unsigned char *data, size_t stride)
{
	const unsigned char *pixel = image->pixels;
	for (size_t y = 0; y < image->height; y++) {
		uint32_t *row = (uint32_t *)(void *)(data + y * stride);
		for (size_t x = 0; x < image->width; x++, pixel += 3)
			row[x] = (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
	}
}

static void add_image(struct canvas *canvas, const struct canvas_cells *cells, bool hatched)
{
	struct canvas_pdf *c = pdf_of(canvas);
	const struct pango_functions *p = c->cairo;
	struct image image;
	if (vector_image(cells, hatched, &image, &canvas->error) != ATTN_OK)
		return;
	cairo_surface_t *surface =
	    p->cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)image.width, (int)image.height);
	if (p->cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
		copy_pixels(&image, p->cairo_image_surface_get_data(surface),
			    (size_t)p->cairo_image_surface_get_stride(surface));
		p->cairo_surface_mark_dirty(surface);
		p->cairo_save(c->context);
		p->cairo_translate(c->context, cells->x, cells->y);
		p->cairo_scale(c->context, cells->cell, cells->cell);
		p->cairo_set_source_surface(c->context, surface, 0, 0);
		p->cairo_pattern_set_filter(p->cairo_get_source(c->context), CAIRO_FILTER_NEAREST);
		p->cairo_paint(c->context);
		p->cairo_restore(c->context);
	} else {
		attn_fail_memory(&canvas->error);
	}
	p->cairo_surface_destroy(surface);
	image_release(&image);
}

static void ramp(struct canvas *canvas, struct rect r, bool vertical, const struct rgb *colours, size_t count)
{
	enum {
		STOPS = 64
	};
	struct canvas_pdf *c = pdf_of(canvas);
	const struct pango_functions *p = c->cairo;
	cairo_pattern_t *pattern = vertical ? p->cairo_pattern_create_linear(r.x, r.y + r.height, r.x, r.y)
					    : p->cairo_pattern_create_linear(r.x, r.y, r.x + r.width, r.y);
	for (size_t i = 0; i <= STOPS; i++) {
		struct rgb colour = colours[colour_entry((double)i / STOPS, count)];
		p->cairo_pattern_add_color_stop_rgb(pattern, (double)i / STOPS, colour.r / 255.0,
						    colour.g / 255.0, colour.b / 255.0);
	}
	p->cairo_set_source(c->context, pattern);
	add_rect(c, r);
	p->cairo_fill(c->context);
	p->cairo_pattern_destroy(pattern);
}

static void text(struct canvas *canvas, const struct canvas_text *t)
{
	struct canvas_pdf *c = pdf_of(canvas);
	set_colour(c, t->colour);
	text_show(canvas->text, c->context, t->text, t->style, t->x, t->y, t->direction);
}

/* A line to where it is already has its round ends: a disc. */
static void stroke(struct canvas *canvas, const struct canvas_stroke *s)
{
	struct canvas_pdf *c = pdf_of(canvas);
	const struct pango_functions *p = c->cairo;
	set_colour(c, s->colour);
	p->cairo_set_line_width(c->context, s->width);
	p->cairo_set_line_cap(c->context, CAIRO_LINE_CAP_ROUND);
	p->cairo_set_line_join(c->context, CAIRO_LINE_JOIN_ROUND);
	p->cairo_move_to(c->context, s->points->x, s->points->y);
	for (size_t i = s->count > 1; i < s->count; i++)
		p->cairo_line_to(c->context, s->points[i].x, s->points[i].y);
	p->cairo_stroke(c->context);
}

/* A clip is the current path: it needs no beginning. */
static const struct vector_class pdf_class = {
    .canvas = {fill, vector_hatch, vector_cells, ramp, text, stroke},
    .image = add_image,
    .clip_add = clip_add,
    .clip_hatch = clip_hatch,
};

static cairo_status_t keep(void *context, const unsigned char *bytes, unsigned int length)
{
	struct buffer *out = context;
	buffer_add(out, bytes, length);
	return out->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* Set the document's metadata, without a date, so that the same figure is the same file. */
static void describe(struct canvas_pdf *c, const char *title)
{
	struct buffer shown = BUFFER_INIT;
	text_visible(&shown, title ? title : "attention weights");
	if (shown.data)
		c->cairo->cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_TITLE, shown.data);
	c->cairo->cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATOR,
						 "attn " ATTN_VERSION);
	c->cairo->cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
	buffer_release(&shown);
}

void canvas_pdf_begin(struct canvas_pdf *c, struct buffer *out, struct text_engine *engine,
		      const struct canvas_sheet *sheet)
{
	const struct pango_functions *p = text_pango(engine);
	*c = (struct canvas_pdf){
	    .canvas = {.class = &pdf_class.canvas, .text = engine}, .out = out, .cairo = p};
	c->surface =
	    p->cairo_pdf_surface_create_for_stream(keep, out, sheet->width * points, sheet->height * points);
	describe(c, sheet->title);
	c->context = p->cairo_create(c->surface);
	p->cairo_scale(c->context, points, points);
	if (sheet->background)
		fill(&c->canvas, (struct rect){0, 0, sheet->width, sheet->height}, *sheet->background);
}

void canvas_pdf_end(struct canvas_pdf *c)
{
	const struct pango_functions *p = c->cairo;
	cairo_status_t status = p->cairo_status(c->context);
	p->cairo_destroy(c->context);
	p->cairo_surface_finish(c->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = p->cairo_surface_status(c->surface);
	p->cairo_surface_destroy(c->surface);
	if (c->canvas.error.status != ATTN_OK)
		return;
	if (c->out->failed || status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_WRITE_ERROR)
		attn_fail_memory(&c->canvas.error);
	else if (status != CAIRO_STATUS_SUCCESS)
		attn_fail(&c->canvas.error, ATTN_FAILED, "could not write PDF: %s",
			  p->cairo_status_to_string(status));
}
