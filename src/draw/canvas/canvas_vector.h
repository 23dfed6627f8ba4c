/* What the vector canvases share: cells as rectangles, or as one image where there are
 * many, and the lines over masked ones. */
#ifndef ATTN_DRAW_CANVAS_CANVAS_VECTOR_H
#define ATTN_DRAW_CANVAS_CANVAS_VECTOR_H

#include "draw/canvas/canvas.h"

/* The class of a vector canvas, whose `hatch` and `cells` are the functions below. */
struct vector_class {
	struct canvas_class canvas;
	/* Around rectangles of cells; NULL: nothing. */
	void (*cells_begin)(struct canvas *canvas);
	void (*cells_end)(struct canvas *canvas);
	/* All cells as one image of a pixel a cell, which viewers are told not to smooth;
	 * vector_image makes it. */
	void (*image)(struct canvas *canvas, const struct canvas_cells *cells, bool hatched);
	/* A clip made of rectangles, and the diagonals of a hatch over `r` drawn within it;
	 * clip_begin may be NULL. */
	void (*clip_begin)(struct canvas *canvas);
	void (*clip_add)(struct canvas *canvas, struct rect r);
	void (*clip_hatch)(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch);
};

void vector_hatch(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch);
void vector_cells(struct canvas *canvas, const struct canvas_cells *cells);

/* A picture of a pixel a cell, *out (released by the caller), with diagonals over
 * masked cells when `hatched`. */
enum attn_status vector_image(const struct canvas_cells *cells, bool hatched, struct image *out,
			      struct attn_error *err);

/* Diagonals x + y = first, first + step, ... up to `last` cover a rectangle; they
 * are `width` thick. */
struct vector_diagonals {
	int first, step, last;
	double width;
};

struct vector_diagonals vector_diagonals(struct rect r, const struct canvas_hatch *hatch);

#endif
