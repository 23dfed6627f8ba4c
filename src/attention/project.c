/* Projections: x W + b for all tokens, laid out head by head or row by row. */
#include "attention/project.h"

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
	const struct projection_end *end; /* or NULL */
	const struct heads_place *out;
	size_t panels;             /* of TILE columns */
	size_t chunks, chunk_rows; /* of rows */
	float **scratch;           /* one a worker: see allocate */
	double **sums;             /* the reference's, (TILE) a worker */
	atomic_size_t overflow;    /* 1 + batch * rows + row of a number beyond float32; 0: none */
};

/* Where a task works: columns [col, col + cols) of rows [row, row + rows). */
struct part {
	size_t batch, row, rows, col, cols;
};

/* Rows of results, at most TILE columns wide: where they go, or memory from which they are placed. */
struct tile {
	float *data;
	size_t stride;
	bool in_place;
};

static float *place_of(const struct projection *p, const struct part *part, size_t r, size_t c)
{
	const struct heads_place *out = p->out;
	size_t head = (part->col + c) / out->size, within = (part->col + c) % out->size;
	return out->data + part->batch * out->batch_stride + head * out->head_stride +
	       (out->first_token + part->row + r) * out->size + within;
}

/* Store a row's columns into the heads that they belong to. */
static void place_row(const struct projection *p, const struct part *part, size_t r, const float *row)
{
	for (size_t c = 0; c < part->cols;) {
		size_t within = (part->col + c) % p->out->size;
		size_t count = size_min(part->cols - c, p->out->size - within);
		memcpy(place_of(p, part, r, c), row + c, count * sizeof *row);
		c += count;
	}
}

/* One worker's memory. */
struct memory {
	float *panel;  /* (GEMM_BLOCK, TILE) of W */
	float *wide;   /* (TILE, GEMM_BLOCK): numbers of W that are not used where they are */
	float *result; /* (chunk_rows, TILE) */
	float *gate;   /* (chunk_rows, TILE), where there is one */
};

static struct memory memory_of(const struct projection *p, size_t worker)
{
	float *at = p->scratch[worker];
	return (struct memory){at, at + GEMM_BLOCK * TILE, at + 2 * GEMM_BLOCK * TILE,
			       at + (2 * GEMM_BLOCK + p->chunk_rows) * TILE};
}

/* A whole tile of one head is computed where it goes. */
static struct tile result_tile(const struct projection *p, const struct part *part, size_t worker)
{
	if (p->kernels && part->cols == TILE && part->col % p->out->size + TILE <= p->out->size)
		return (struct tile){place_of(p, part, 0, 0), p->out->size, true};
	return (struct tile){memory_of(p, worker).result, TILE, false};
}

/* What a product is added to: the bias, and `add` (rows; cols of W). */
static void begin_tile(const struct part *part, const struct tile *t, const float *bias, const float *add,
		       size_t add_stride)
{
	for (size_t r = 0; r < part->rows; r++) {
		float *row = t->data + r * t->stride;
		const float *from = add ? add + r * add_stride : NULL;
		if (from && row != from)
			memcpy(row, from, part->cols * sizeof *row);
		else if (!from)
			memset(row, 0, part->cols * sizeof *row);
		if (part->cols < TILE)
			memset(row + part->cols, 0, (TILE - part->cols) * sizeof *row);
		for (size_t c = 0; c < part->cols && bias; c++)
			row[c] += bias[part->col + c];
	}
}

/* The tile += x W, by blocks of W's rows. */
static void multiply(const struct projection *p, const struct part *part, const struct matrix *w,
		     const float *x, const struct memory *m, const struct tile *t)
{
	size_t inner = w->rows;
	for (size_t first = 0; first < inner; first += GEMM_BLOCK) {
		size_t count = size_min(inner - first, GEMM_BLOCK);
		bool direct = part->rows < FEW_ROWS && part->cols == TILE && !w->by_column && matrix_is_in_place(w);
		const float *columns = w->data;
		if (!direct)
			matrix_pack(p->kernels, w, first, count, part->col, part->cols, m->panel, m->wide);
		struct gemm product = {
		    .c = t->data,
		    .c_stride = t->stride,
		    .a = x + first,
		    .a_row = p->x->cols,
		    .a_col = 1,
		    .b = direct ? columns + first * w->stride + part->col : m->panel,
		    .b_stride = direct ? w->stride : TILE,
		    .rows = part->rows,
		    .inner = count,
		    .cols = part->cols,
		    .accumulate = true,
		};
		p->kernels->gemm(&product);
	}
}

/* The same in float64, rounded once. */
static void multiply_exactly(const struct part *part, const struct matrix *w, const float *x,
			     const struct memory *m, double *sums, const struct tile *t)
{
	for (size_t r = 0; r < part->rows; r++)
		for (size_t c = 0; c < part->cols; c++)
			sums[r * TILE + c] = (double)t->data[r * t->stride + c];
	for (size_t first = 0; first < w->rows; first += GEMM_BLOCK) {
		size_t count = size_min(w->rows - first, GEMM_BLOCK);
		matrix_pack(NULL, w, first, count, part->col, part->cols, m->panel, m->wide);
		for (size_t r = 0; r < part->rows; r++)
			for (size_t i = 0; i < count; i++) {
				double left = (double)x[r * w->rows + first + i];
				for (size_t c = 0; c < part->cols; c++)
					sums[r * TILE + c] += left * (double)m->panel[i * TILE + c];
			}
	}
	for (size_t r = 0; r < part->rows; r++)
		for (size_t c = 0; c < part->cols; c++)
			t->data[r * t->stride + c] = (float)sums[r * TILE + c];
}

static bool row_is_finite(const float *row, size_t cols)
{
	for (size_t c = 0; c < cols; c++)
		if (!isfinite(row[c]))
			return false;
	return true;
}

/* Remember the first row that is beyond float32. */
static void note_overflow(struct projection *p, const struct part *part, const struct tile *t)
{
	size_t row = 0;
	if (p->kernels && p->kernels->all_finite(t->data, t->stride, part->rows, part->cols))
		return;
	while (row < part->rows && row_is_finite(t->data + row * t->stride, part->cols))
		row++;
	if (row < part->rows)
		atomic_store(&p->overflow, 1 + part->batch * p->x->rows + part->row + row);
}

/* The tile += x W, where it holds what that is added to. */
static void product(struct projection *p, const struct part *part, const struct matrix *w, const float *x,
		    size_t worker, const struct tile *t)
{
	const struct memory m = memory_of(p, worker);
	if (p->kernels)
		multiply(p, part, w, x, &m, t);
	else
		multiply_exactly(part, w, x, &m, p->sums[worker], t);
	note_overflow(p, part, t);
}

static void activate_tile(const struct projection *p, const struct part *part, const struct tile *t)
{
	for (size_t r = 0; r < part->rows; r++)
		activate(p->kernels, p->end->activation, t->data + r * t->stride, part->cols);
}

static void multiply_row(const struct kernels *kernels, float *row, const float *by, size_t count)
{
	if (kernels)
		kernels->multiply(row, by, count);
	for (size_t c = 0; c < count && !kernels; c++)
		row[c] *= by[c];
}

static void add_row(const struct kernels *kernels, float *row, const float *more, size_t count)
{
	if (kernels)
		kernels->add(row, more, count);
	for (size_t c = 0; c < count && !kernels; c++)
		row[c] += more[c];
}

/* The activation of another product multiplies the tile. */
static void apply_gate(struct projection *p, const struct part *part, const float *x, size_t worker,
		       const struct tile *t)
{
	const struct tile gate = {memory_of(p, worker).gate, TILE, false};
	begin_tile(part, &gate, p->end->gate_bias, NULL, 0);
	product(p, part, p->end->gate, x, worker, &gate);
	activate_tile(p, part, &gate);
	for (size_t r = 0; r < part->rows; r++)
		multiply_row(p->kernels, t->data + r * t->stride, gate.data + r * TILE, part->cols);
}

static void end_tile(struct projection *p, const struct part *part, const float *x, const float *residual,
		     size_t worker, const struct tile *t)
{
	if (p->end->gate)
		apply_gate(p, part, x, worker, t);
	else
		activate_tile(p, part, t);
	for (size_t r = 0; r < part->rows && residual; r++)
		add_row(p->kernels, t->data + r * t->stride, residual + r * p->w->cols, part->cols);
	note_overflow(p, part, t);
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
	const float *residual =
	    p->end && p->end->residual ? p->end->residual + part.row * p->w->cols + part.col : NULL;
	/* Without an activation a residual is what the product is added to. */
	bool plain = !p->end || (p->end->activation == ACTIVATION_LINEAR && !p->end->gate);
	struct tile t = result_tile(p, &part, worker);
	if (!plain && residual && t.data == residual)
		t = (struct tile){memory_of(p, worker).result, TILE, false};
	begin_tile(&part, &t, p->bias, plain ? residual : NULL, p->w->cols);
	product(p, &part, p->w, x, worker, &t);
	if (!plain)
		end_tile(p, &part, x, residual, worker, &t);
	for (size_t r = 0; r < part.rows && !t.in_place; r++)
		place_row(p, &part, r, t.data + r * t.stride);
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
	bool gated = p->end && p->end->gate;
	p->scratch = array_alloc(workers, sizeof *p->scratch);
	p->sums = array_alloc(workers, sizeof *p->sums);
	if (!p->scratch || !p->sums)
		return false;
	for (size_t i = 0; i < workers; i++) {
		p->scratch[i] = floats_alloc4(2 * GEMM_BLOCK + (gated ? 2 : 1) * p->chunk_rows, TILE, 1, 1);
		p->sums[i] = array_alloc(p->kernels ? 1 : p->chunk_rows * TILE, sizeof **p->sums);
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

static enum attn_status project(struct projection *p, size_t batch, const char *what, struct attn_error *err)
{
	const struct sequence *x = p->x;
	size_t workers = threads_count();
	enum attn_status status = ATTN_OK;
	p->panels = (p->w->cols + TILE - 1) / TILE;
	p->chunk_rows = chunk_rows(x->rows, batch * p->panels, workers);
	p->chunks = (x->rows + p->chunk_rows - 1) / p->chunk_rows;
	if (allocate(p, workers))
		parallel_for_work(batch * p->chunks * p->panels, projection_work(x, batch, p->w),
				  project_task, p);
	else
		status = attn_fail_memory(err);
	size_t overflow = atomic_load(&p->overflow);
	if (status == ATTN_OK && overflow > 0)
		status =
		    attn_fail(err, ATTN_BAD_INPUT, "the %s of batch item %zu, token %zu overflows float32",
			      what, (overflow - 1) / x->rows, (overflow - 1) % x->rows);
	release(p, workers);
	return status;
}

enum attn_status engine_project(const struct kernels *kernels, const struct sequence *x, size_t batch,
				const struct matrix *w, const float *bias, const char *what,
				const struct heads_place *out, struct attn_error *err)
{
	struct projection p = {.kernels = kernels, .x = x, .w = w, .bias = bias, .out = out};
	return project(&p, batch, what, err);
}

enum attn_status project_rows(const struct kernels *kernels, const float *x, size_t rows,
			      const struct matrix *w, const float *bias, const struct projection_end *end,
			      float *out, const char *what, struct attn_error *err)
{
	struct sequence sequence = {x, rows, w->rows, 0};
	struct heads_place place = {out, 0, 0, w->cols, 0};
	struct projection p = {
	    .kernels = kernels, .x = &sequence, .w = w, .bias = bias, .end = end, .out = &place};
	return project(&p, 1, what, err);
}

enum attn_status output_layer_project(const struct output_layer *layer, const float *context, size_t rows,
				      float *output, struct attn_error *err)
{
	struct sequence x = {context, rows, layer->context_size, 0};
	struct heads_place place = {output, 0, 0, layer->wo.cols, 0};
	return engine_project(kernels_best(), &x, 1, &layer->wo, layer->bo, "output", &place, err);
}
