/* Cells in vector formats: runs of equal ones, images, and diagonals over masked ones. */
#include "draw/canvas/canvas_vector.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/minmax.h"

enum {
	MOST_CELLS = 16384, /* rectangles: beyond, files are large and viewers slow */
	MOST_RUNS = 20000   /* of masked cells in a path */
};

/* Whether a figure has too many cells for a rectangle each. */
static bool has_many(const struct canvas_cells *cells)
{
	size_t count;
	return !size_mul(cells->rows, cells->cols, &count) || !size_mul(count, cells->blocks, &count) ||
	       count > MOST_CELLS;
}

/* Call `run` for the runs of equal cells, row by row, with their rectangle and
 * index.  False without memory. */
static bool each_run(const struct canvas_cells *cells, void (*run)(void *context, struct rect r, int index),
		     void *context)
{
	int cell = cells->cell;
	unsigned char *indices = malloc(cells->cols);
	if (!indices)
		return false;
	for (size_t row = 0; row < cells->rows; row++) {
		cells->row(cells->context, row, indices);
		for (size_t col = 0, end; col < cells->cols; col = end) {
			for (end = col + 1; end < cells->cols && indices[end] == indices[col];)
				end++;
			run(context,
			    (struct rect){cells->x + (int)col * cell, cells->y + (int)row * cell,
					  (int)(end - col) * cell, cell},
			    indices[col]);
		}
	}
	free(indices);
	return true;
}

static void count_masked(void *context, struct rect r, int index)
{
	size_t *count = context;
	(void)r;
	*count += index == CANVAS_MASKED;
}

/* How many runs of masked cells there are; SIZE_MAX when more than a path of
 * rectangles should have, or without memory. */
static size_t count_masked_runs(const struct canvas_cells *cells)
{
	size_t count = 0;
	return each_run(cells, count_masked, &count) && count <= MOST_RUNS ? count : SIZE_MAX;
}

enum attn_status vector_image(const struct canvas_cells *cells, bool hatched, struct image *out,
			      struct attn_error *err)
{
	/* Lines as far apart as elsewhere, but no finer than cells can show. */
	size_t period = size_max((size_t)(6 * cells->hatch.line / cells->cell), 4);
	size_t thick = size_max((size_t)(cells->hatch.line / cells->cell), 1);
	enum attn_status status = image_init(out, cells->cols, cells->rows, err);
	unsigned char *indices = status == ATTN_OK ? malloc(cells->cols) : NULL;
	if (status == ATTN_OK && !indices) {
		image_release(out);
		status = attn_fail_memory(err);
	}
	for (size_t row = 0; status == ATTN_OK && row < cells->rows; row++) {
		unsigned char *pixel = out->pixels + row * cells->cols * 3;
		cells->row(cells->context, row, indices);
		for (size_t col = 0; col < cells->cols; col++, pixel += 3) {
			struct rgb colour = cells->hatch.background;
			if (indices[col] != CANVAS_MASKED)
				colour = cells->colours[indices[col]];
			else if (hatched && (row + col) % period < thick)
				colour = cells->hatch.lines;
			pixel_set(pixel, colour);
		}
	}
	free(indices);
	return status;
}

struct vector_diagonals vector_diagonals(struct rect r, const struct canvas_hatch *hatch)
{
	int period = 6 * hatch->line, sum = r.x + r.y;
	return (struct vector_diagonals){
	    .first = sum - sum % period + hatch->line / 2,
	    .step = period,
	    .last = sum + r.width + r.height + hatch->line,
	    .width = hatch->line * sqrt(0.5),
	};
}

/* A rectangle of cells, reaching a little under its right and lower neighbours,
 * which are painted after it, so that no gap shines through where viewers smooth
 * edges. */
static struct rect overlap(const struct canvas_cells *cells, struct rect r)
{
	int right = cells->x + (int)cells->cols * cells->cell,
	    bottom = cells->y + (int)cells->rows * cells->cell;
	r.width = int_min(r.width + cells->cell / 2, right - r.x);
	r.height = int_min(r.height + cells->cell / 2, bottom - r.y);
	return r;
}

static const struct vector_class *class_of(const struct canvas *canvas)
{
	return (const struct vector_class *)canvas->class;
}

struct cells_painter {
	struct canvas *canvas;
	const struct canvas_cells *cells;
};

static void fill_run(void *context, struct rect r, int index)
{
	const struct cells_painter *p = context;
	p->canvas->class->fill(p->canvas, overlap(p->cells, r),
			       index == CANVAS_MASKED ? p->cells->hatch.background
						      : p->cells->colours[index]);
}

static void clip_run(void *context, struct rect r, int index)
{
	const struct cells_painter *p = context;
	if (index == CANVAS_MASKED)
		class_of(p->canvas)->clip_add(p->canvas, r);
}

static bool paint_rectangles(struct cells_painter *p)
{
	const struct vector_class *class = class_of(p->canvas);
	if (class->cells_begin)
		class->cells_begin(p->canvas);
	bool good = each_run(p->cells, fill_run, p);
	if (class->cells_end)
		class->cells_end(p->canvas);
	return good;
}

static void begin_clip(struct canvas *canvas)
{
	if (class_of(canvas)->clip_begin)
		class_of(canvas)->clip_begin(canvas);
}

void vector_cells(struct canvas *canvas, const struct canvas_cells *cells)
{
	struct cells_painter p = {canvas, cells};
	size_t masked = count_masked_runs(cells);
	bool good = true;
	if (has_many(cells))
		class_of(canvas)->image(canvas, cells, masked == SIZE_MAX);
	else
		good = paint_rectangles(&p);
	if (masked > 0 && masked != SIZE_MAX && good) {
		struct rect all = {cells->x, cells->y, (int)cells->cols * cells->cell,
				   (int)cells->rows * cells->cell};
		begin_clip(canvas);
		good = each_run(cells, clip_run, &p);
		class_of(canvas)->clip_hatch(canvas, all, &cells->hatch);
	}
	if (!good)
		attn_fail_memory(&canvas->error);
}

void vector_hatch(struct canvas *canvas, struct rect r, const struct canvas_hatch *hatch)
{
	canvas->class->fill(canvas, r, hatch->background);
	begin_clip(canvas);
	class_of(canvas)->clip_add(canvas, r);
	class_of(canvas)->clip_hatch(canvas, r, hatch);
}
