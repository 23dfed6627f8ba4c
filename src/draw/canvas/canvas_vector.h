/* What the vector canvases share: cells as rectangles, or as an image where they
 * are many, and the lines over masked ones. */
#ifndef ATTN_DRAW_CANVAS_CANVAS_VECTOR_H
#define ATTN_DRAW_CANVAS_CANVAS_VECTOR_H

#include "draw/canvas/canvas.h"

/* Whether a figure has too many cells for a rectangle each. */
bool vector_cells_many(const struct canvas_cells *cells);

/* Call `run` for the runs of equal cells, row by row, with their rectangle and
 * index.  False without memory. */
bool vector_runs(const struct canvas_cells *cells, void (*run)(void *context, struct rect r, int index),
		 void *context);

/* How many runs of masked cells there are; SIZE_MAX when more than a path of
 * rectangles should have, or without memory. */
size_t vector_masked_runs(const struct canvas_cells *cells);

/* A picture of a pixel a cell, *out (released by the caller), with diagonals over
 * masked cells when `hatched`. */
enum attn_status vector_image(const struct canvas_cells *cells, bool hatched, struct image *out,
			      struct attn_error *err);

/* A rectangle of cells, reaching a little under its right and lower neighbours,
 * which are painted after it, so that no gap shines through where viewers smooth
 * edges. */
struct rect vector_overlap(const struct canvas_cells *cells, struct rect r);

/* Diagonals x + y = first, first + step, ... up to `last` cover a rectangle; they
 * are `width` thick. */
struct vector_diagonals {
	int first, step, last;
	double width;
};

struct vector_diagonals vector_diagonals(struct rect r, const struct canvas_hatch *hatch);

#endif
