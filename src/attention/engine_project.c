/* Projections: x W + b for all tokens, laid out head by head. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "kernels/reference.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

enum {
	ROW_CHUNK = 512, /* rows of a task at most: each task reads its columns of W once */
	FEW_ROWS = 48,   /* fewer than these do not pay for packing W */
};

struct projection {
	const struct kernels *kernels; /* NULL: the reference */
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct heads_place *out;
	size_t panels;             /* of TILE columns */
	size_t chunks, chunk_rows; /* of rows */
	float **scratch;           /* one a worker: a panel of W, then a tile of results */
	double **sums;             /* the reference's, (TILE) a worker */
	atomic_size_t overflow;    /* 1 + batch * rows + row of a number beyond float32; 0: none */
};

/* Where a task works: columns [col, col + cols) of rows [row, row + rows). */
struct part {
	size_t batch, row, rows, col, cols;
};

/* Store a row's columns into the heads that they belong to. */
static void place_row(const struct projection *p, const struct part *part, size_t r, const float *row)
{
	const struct heads_place *out = p->out;
	for (size_t c = 0; c < part->cols;) {
		size_t head = (part->col + c) / out->size, within = (part->col + c) % out->size;
		size_t count = size_min(part->cols - c, out->size - within);
		memcpy(out->data + part->batch * out->batch_stride + head * out->head_stride +
			   (out->first_token + part->row + r) * out->size + within,
		       row + c, count * sizeof *row);
		c += count;
	}
}

/* Copy rows [first, first + count) of the part's columns of W into a panel (count, TILE). */
static void pack_panel(const struct matrix *w, const struct part *part, size_t first, size_t count,
		       float *panel)
{
	for (size_t r = 0; r < count; r++) {
		memcpy(panel + r * TILE, w->data + (first + r) * w->stride + part->col,
		       part->cols * sizeof *panel);
		memset(panel + r * TILE + part->cols, 0, (TILE - part->cols) * sizeof *panel);
	}
}

/* result (rows, TILE) = x W + b, by blocks of W's rows. */
static void project_part(const struct projection *p, const struct part *part, const float *x, float *panel,
			 float *result)
{
	size_t inner = p->w->rows;
	for (size_t r = 0; r < part->rows; r++) {
		memset(result + r * TILE, 0, TILE * sizeof *result);
		if (p->bias)
			memcpy(result + r * TILE, p->bias + part->col, part->cols * sizeof *result);
	}
	for (size_t first = 0; first < inner; first += GEMM_BLOCK) {
		size_t count = size_min(inner - first, GEMM_BLOCK);
		const float *columns = p->w->data + first * p->w->stride + part->col;
		bool direct = part->rows < FEW_ROWS && part->cols == TILE;
		if (!direct)
			pack_panel(p->w, part, first, count, panel);
		struct gemm product = {
		    .c = result,
		    .c_stride = TILE,
		    .a = x + first,
		    .a_row = p->x->cols,
		    .a_col = 1,
		    .b = direct ? columns : panel,
		    .b_stride = direct ? p->w->stride : TILE,
		    .rows = part->rows,
		    .inner = count,
		    .cols = part->cols,
		    .accumulate = true,
		};
		p->kernels->gemm(&product);
	}
}

/* The first row with a number that is not finite, or `rows`. */
static size_t find_overflow(const struct part *part, const float *result)
{
	for (size_t r = 0; r < part->rows; r++)
		for (size_t c = 0; c < part->cols; c++)
			if (!isfinite(result[r * TILE + c]))
				return r;
	return part->rows;
}

static void project_task(void *context, size_t task, size_t worker)
{
	struct projection *p = context;
	size_t panel = task % p->panels, chunk = task / p->panels % p->chunks;
	struct part part = {
	    .batch = task / p->panels / p->chunks,
	    .row = chunk * p->chunk_rows,
	    .rows = size_min(p->x->rows - chunk * p->chunk_rows, p->chunk_rows),
	    .col = panel * TILE,
	    .cols = size_min(p->w->cols - panel * TILE, TILE),
	};
	const float *x = p->x->data + part.batch * p->x->batch_stride + part.row * p->x->cols;
	float *weights = p->scratch[worker], *result = weights + GEMM_BLOCK * TILE;
	if (p->kernels)
		project_part(p, &part, x, weights, result);
	else
		reference_matmul(result, TILE, x, p->x->cols, p->w->data + part.col, p->w->stride,
				 p->bias ? p->bias + part.col : NULL, part.rows, p->w->rows, part.cols,
				 p->sums[worker]);
	if (!p->kernels || !p->kernels->all_finite(result, part.rows, part.cols)) {
		size_t row = find_overflow(&part, result);
		if (row < part.rows)
			atomic_store(&p->overflow, 1 + part.batch * p->x->rows + part.row + row);
	}
	for (size_t r = 0; r < part.rows; r++)
		place_row(p, &part, r, result + r * TILE);
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
		p->scratch[i] = floats_alloc4(GEMM_BLOCK + p->chunk_rows, TILE, 1, 1);
		p->sums[i] = array_alloc(TILE, sizeof **p->sums);
		if (!p->scratch[i] || !p->sums[i])
			return false;
	}
	return true;
}

/* Rows of a task: all, unless that leaves threads without work. */
static size_t chunk_rows(size_t rows, size_t panels, size_t workers)
{
	size_t chunks = panels < 4 * workers ? (4 * workers + panels - 1) / panels : 1;
	size_t count = (rows + chunks - 1) / chunks;
	return count < ROW_CHUNK ? count : ROW_CHUNK;
}

/* Multiply-adds of a projection, or SIZE_MAX. */
static size_t projection_work(const struct sequence *x, size_t batch, const struct matrix *w)
{
	size_t work;
	if (size_mul(batch, x->rows, &work) && size_mul(work, w->rows, &work) &&
	    size_mul(work, w->cols, &work))
		return work;
	return SIZE_MAX;
}

enum attn_status engine_project(const struct kernels *kernels, const struct sequence *x, size_t batch,
				const struct matrix *w, const float *bias, const char *what,
				const struct heads_place *out, struct attn_error *err)
{
	struct projection p = {.kernels = kernels, .x = x, .w = w, .bias = bias, .out = out};
	size_t workers = threads_count();
	enum attn_status status = ATTN_OK;
	p.panels = (w->cols + TILE - 1) / TILE;
	p.chunk_rows = chunk_rows(x->rows, batch * p.panels, workers);
	p.chunks = (x->rows + p.chunk_rows - 1) / p.chunk_rows;
	if (allocate(&p, workers))
		parallel_for_work(batch * p.chunks * p.panels, projection_work(x, batch, w), project_task,
				  &p);
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

enum attn_status output_layer_project(const struct output_layer *layer, const float *context, size_t rows,
				      float *output, struct attn_error *err)
{
	struct sequence x = {context, rows, layer->context_size, 0};
	struct heads_place place = {output, 0, 0, layer->wo.cols, 0};
	return engine_project(kernels_best(), &x, 1, &layer->wo, layer->bo, "output", &place, err);
}
