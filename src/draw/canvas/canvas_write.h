/* A page painted on the canvas of its format, and written. */
#ifndef ATTN_DRAW_CANVAS_CANVAS_WRITE_H
#define ATTN_DRAW_CANVAS_CANVAS_WRITE_H

#include <stdio.h>

#include "draw/canvas/canvas.h"

enum canvas_format {
	CANVAS_PNG,
	CANVAS_SVG,
	CANVAS_PDF
};

/* Lengths of a layout a pixel at 96 dpi; `dpi` is of PNG alone, and 0: 96. */
double canvas_units(enum canvas_format format, double dpi);

struct canvas_page {
	enum canvas_format format;
	double dpi;                /* of PNG; 0: 96 */
	struct canvas_sheet sheet; /* of PNG, lengths are pixels */
	struct text_engine *text;
	void (*paint)(void *context, struct canvas *canvas);
	void *context;
};

/* To `stream`, which is neither flushed nor closed, and gets nothing when painting fails.  ATTN_USAGE for
 * a page too large for an image, ATTN_FAILED without memory.  A failed write is the stream's to tell. */
enum attn_status canvas_write(const struct canvas_page *page, FILE *stream, struct attn_error *err);

#endif
