/* What a figure is painted on: pixels, or a vector format.
 *
 * Lengths are those of the layout, from the upper left corner.  Painting cannot
 * fail at once: the first error is kept in `error`, and the rest is left out.
 */
#ifndef ATTN_DRAW_CANVAS_CANVAS_H
#define ATTN_DRAW_CANVAS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/canvas/length.h"
#include "draw/image/image.h"
#include "draw/text/text.h"
#include "util/buffer.h"
#include "util/error.h"

/* Diagonal lines on a background, which go on over neighbours. */
struct canvas_hatch {
	struct rgb background, lines;
	int line; /* how thick: there is one every 6 times that */
};

enum {
	CANVAS_COLOURS = 255,
	CANVAS_MASKED = 255 /* the index of a hatched cell */
};

/* A block of square cells without lines between them. */
struct canvas_cells {
	int x, y;                  /* its upper left corner */
	int cell;                  /* side of a cell */
	size_t rows, cols;         /* at least 1 */
	size_t blocks;             /* as many as the figure has: vector formats draw many cells as an image */
	const struct rgb *colours; /* at most CANVAS_COLOURS */
	struct canvas_hatch hatch;
	/* Write the colours' indices of one row into indices[cols]. */
	void (*row)(void *context, size_t row, unsigned char *indices);
	void *context;
};

/* Which point of a text stays in place where another font makes it wider. */
enum canvas_anchor {
	CANVAS_START,
	CANVAS_MIDDLE,
	CANVAS_END
};

struct canvas_text {
	const char *text; /* UTF-8, shown as text_visible has it */
	struct text_style style;
	int x, y; /* left end of its first baseline, as it is measured here */
	enum text_direction direction;
	enum canvas_anchor anchor;
	struct rgb colour;
};

struct canvas_point {
	double x, y;
};

/* A line through points, with round corners and ends; one point makes a disc. */
struct canvas_stroke {
	const struct canvas_point *points;
	size_t count; /* at least 1 */
	double width;
	struct rgb colour;
};

struct canvas;
struct pango_functions;

struct canvas_class {
	void (*fill)(struct canvas *canvas, struct rect r, struct rgb colour);
	void (*hatch)(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch);
	void (*cells)(struct canvas *canvas, const struct canvas_cells *cells);
	/* All colours of a scale, the first at the left, or at the bottom of a
	 * vertical one. */
	void (*ramp)(struct canvas *canvas, struct rect r, bool vertical, const struct rgb *colours,
		     size_t count);
	void (*text)(struct canvas *canvas, const struct canvas_text *text);
	void (*stroke)(struct canvas *canvas, const struct canvas_stroke *stroke);
};

struct canvas {
	const struct canvas_class *class;
	struct text_engine *text;
	struct attn_error error;
};

/* On pixels; both must outlive it. */
struct canvas_pixels {
	struct canvas canvas;
	struct image *image;
};

void canvas_pixels_init(struct canvas_pixels *c, struct image *image, struct text_engine *text);

/* The stroke of such a canvas: canvas_stroke.c. */
void canvas_pixels_stroke(struct canvas *canvas, const struct canvas_stroke *stroke);

enum {
	CANVAS_UNITS = 100 /* lengths of the vector canvases, a pixel at 96 dpi */
};

/* The sheet that a vector format draws on. */
struct canvas_sheet {
	int width, height;            /* in CANVAS_UNITS */
	const char *title;            /* of the document; NULL: none */
	const struct rgb *background; /* NULL: transparent */
	struct length asked;          /* the width that was asked for, and the unit of both; {0}: pixels */
};

/* SVG 1.1, with texts as texts, and no file beside it.  It is complete in *out,
 * which must outlive the canvas, after canvas_svg_end. */
struct canvas_svg {
	struct canvas canvas;
	struct buffer *out;
	size_t clips;
	const char *family; /* of the text around a span */
	const struct canvas_text *current;
};

void canvas_svg_begin(struct canvas_svg *c, struct buffer *out, struct text_engine *text,
		      const struct canvas_sheet *sheet);
void canvas_svg_end(struct canvas_svg *c);

/* PDF by Cairo, with texts as texts and fonts embedded.  It is complete in *out, which
 * must outlive the canvas, after canvas_pdf_end. */
struct canvas_pdf {
	struct canvas canvas;
	struct buffer *out;
	const struct pango_functions *cairo;
	struct _cairo_surface *surface;
	struct _cairo *context;
};

void canvas_pdf_begin(struct canvas_pdf *c, struct buffer *out, struct text_engine *text,
		      const struct canvas_sheet *sheet);
void canvas_pdf_end(struct canvas_pdf *c);

#endif
