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

bool vector_cells_many(const struct canvas_cells *cells)
{
	size_t count;
	return !size_mul(cells->rows, cells->cols, &count) || !size_mul(count, cells->blocks, &count) ||
	       count > MOST_CELLS;
}

bool vector_runs(const struct canvas_cells *cells, void (*run)(void *context, struct rect r, int index),
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

size_t vector_masked_runs(const struct canvas_cells *cells)
{
	size_t count = 0;
	return vector_runs(cells, count_masked, &count) && count <= MOST_RUNS ? count : SIZE_MAX;
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
			struct rgb colour = cells->hatch.ground;
			if (indices[col] != CANVAS_MASKED)
				colour = cells->colours[indices[col]];
			else if (hatched && (row + col) % period < thick)
				colour = cells->hatch.lines;
			pixel[0] = colour.r;
			pixel[1] = colour.g;
			pixel[2] = colour.b;
		}
	}
	free(indices);
	return status;
}

struct rect vector_overlap(const struct canvas_cells *cells, struct rect r)
{
	int right = cells->x + (int)cells->cols * cells->cell,
	    bottom = cells->y + (int)cells->rows * cells->cell;
	r.width = int_min(r.width + cells->cell / 2, right - r.x);
	r.height = int_min(r.height + cells->cell / 2, bottom - r.y);
	return r;
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
