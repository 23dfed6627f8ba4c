/* Projections: x W + b for all tokens, laid out head by head. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine_internal.h"
#include "kernels/reference.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/threads.h"

enum {
	ROW_CHUNK = 192
}; /* rows of a task: enough to make packing a panel of W cheap */

struct projection {
	const struct kernels *kernels; /* NULL: the reference */
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct heads_place *out;
	size_t chunks, panels;  /* of rows, of TILE columns */
	float **scratch;        /* one a worker: a panel of W, then a tile of results */
	double **sums;          /* the reference's, (TILE) a worker */
	atomic_size_t overflow; /* 1 + batch * rows + row of a number beyond float32; 0: none */
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Store one row of a panel, columns [col, col + cols), plus the bias, into the
 * heads that the columns belong to.  False: not finite. */
static bool place_row(const struct projection *p, const float *row, size_t batch, size_t token, size_t col,
		      size_t cols)
{
	const struct heads_place *out = p->out;
	bool finite = true;
	for (size_t c = 0; c < cols;) {
		size_t head = (col + c) / out->size, within = (col + c) % out->size;
		size_t count = smaller(cols - c, out->size - within);
		float *to = out->data + batch * out->batch_stride + head * out->head_stride +
			    (out->first_token + token) * out->size + within;
		for (size_t i = 0; i < count; i++) {
			to[i] = p->bias ? row[c + i] + p->bias[col + c + i] : row[c + i];
			finite &= isfinite(to[i]) != 0;
		}
		c += count;
	}
	return finite;
}

/* Copy columns [col, col + cols) of W into a panel (rows, TILE). */
static void pack_panel(const struct matrix *w, size_t col, size_t cols, float *panel)
{
	for (size_t r = 0; r < w->rows; r++) {
		memcpy(panel + r * TILE, w->data + r * w->stride + col, cols * sizeof *panel);
		memset(panel + r * TILE + cols, 0, (TILE - cols) * sizeof *panel);
	}
}

static void project_task(void *context, size_t task, size_t worker)
{
	struct projection *p = context;
	size_t panel = task % p->panels, chunk = task / p->panels % p->chunks,
	       batch = task / p->panels / p->chunks;
	size_t col = panel * TILE, cols = smaller(p->w->cols - col, TILE);
	size_t row = chunk * ROW_CHUNK, rows = smaller(p->x->rows - row, ROW_CHUNK);
	const float *x = p->x->data + batch * p->x->batch_stride + row * p->x->cols;
	float *weights = p->scratch[worker], *result = weights + p->w->rows * TILE;
	if (p->kernels) {
		pack_panel(p->w, col, cols, weights);
		struct gemm product = {
		    .c = result,
		    .c_stride = TILE,
		    .a = x,
		    .a_row = p->x->cols,
		    .a_col = 1,
		    .b = weights,
		    .b_stride = TILE,
		    .rows = rows,
		    .inner = p->w->rows,
		    .cols = cols,
		};
		p->kernels->gemm(&product);
	} else {
		reference_matmul(result, TILE, x, p->x->cols, p->w->data + col, p->w->stride, NULL, rows,
				 p->w->rows, cols, p->sums[worker]);
	}
	for (size_t r = 0; r < rows; r++)
		if (!place_row(p, result + r * TILE, batch, row + r, col, cols))
			atomic_store(&p->overflow, 1 + batch * p->x->rows + row + r);
}

static void release(struct projection *p, size_t workers)
{
	for (size_t i = 0; i < workers; i++) {
		free(p->scratch ? p->scratch[i] : NULL);
		free(p->sums ? p->sums[i] : NULL);
	}
	free(p->scratch);
	free(p->sums);
}

static bool allocate(struct projection *p, size_t workers)
{
	p->scratch = array_alloc(workers, sizeof *p->scratch);
	p->sums = array_alloc(workers, sizeof *p->sums);
	if (!p->scratch || !p->sums)
		return false;
	for (size_t i = 0; i < workers; i++) {
		p->scratch[i] = floats_alloc4(p->w->rows + ROW_CHUNK, TILE, 1, 1);
		p->sums[i] = array_alloc(TILE, sizeof **p->sums);
		if (!p->scratch[i] || !p->sums[i])
			return false;
	}
	return true;
}

enum attn_status engine_project(const struct kernels *kernels, const struct sequence *x, size_t batch,
				const struct matrix *w, const float *bias, const char *what,
				const struct heads_place *out, struct attn_error *err)
{
	struct projection p = {.kernels = kernels, .x = x, .w = w, .bias = bias, .out = out};
	size_t workers = threads_count();
	enum attn_status status = ATTN_OK;
	p.chunks = (x->rows + ROW_CHUNK - 1) / ROW_CHUNK;
	p.panels = (w->cols + TILE - 1) / TILE;
	if (allocate(&p, workers))
		parallel_for(batch * p.chunks * p.panels, project_task, &p);
	else
		status = attn_fail_memory(err);
	size_t overflow = atomic_load(&p.overflow);
	if (status == ATTN_OK && overflow > 0)
		status =
		    attn_fail(err, ATTN_BAD_INPUT, "the %s of batch item %zu, token %zu overflows float32",
			      what, (overflow - 1) / x->rows, (overflow - 1) % x->rows);
	release(&p, workers);
	return status;
}
