/* Projections: x W + b for all tokens, laid out head by head or row by row. */
#include "attention/project.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/engine_internal.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

enum {
	ROW_CHUNK = 512, /* rows of a task at most: each task reads its columns of W once */
	FEW_ROWS = 48,   /* fewer than these do not pay for packing W */
	GROUP = 2,       /* panels of a task at most: they share each block of x's columns */
};

struct projection {
	const struct kernels *kernels; /* NULL: the reference */
	const struct sequence *x;
	const struct matrix *w;
	const float *bias;
	const struct projection_end *end; /* or NULL */
	const struct heads_place *out;
	size_t x_stride, out_stride; /* from token to token */
	size_t panels;               /* of TILE columns */
	size_t group, groups;        /* panels of a task, and so many tasks for each chunk */
	size_t chunks, chunk_rows;   /* of rows */
	float **scratch;             /* one a worker: see allocate */
	double **sums;               /* the reference's, (TILE) a worker */
	atomic_size_t overflow;      /* 1 + batch * rows + row of a number beyond float32; 0: none */
};

/* Where a task, or one of its panels, works: columns [col, col + cols) of rows [row, row + rows). */
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
	       (out->first_token + part->row + r) * p->out_stride + within;
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
	float *panel;   /* (GEMM_BLOCK, TILE) of W */
	float *wide;    /* (TILE, GEMM_BLOCK): numbers of W that are not used where they are */
	float *results; /* (group, chunk_rows, TILE) */
	float *gates;   /* likewise, where there are any */
};

static struct memory memory_of(const struct projection *p, size_t worker)
{
	float *at = p->scratch[worker];
	return (struct memory){at, at + GEMM_BLOCK * TILE, at + 2 * GEMM_BLOCK * TILE,
			       at + (2 * GEMM_BLOCK + p->group * p->chunk_rows) * TILE};
}

static size_t panels_of(const struct part *part)
{
	return (part->cols + TILE - 1) / TILE;
}

static struct part panel_of(const struct part *part, size_t i)
{
	struct part panel = *part;
	panel.col += i * TILE;
	panel.cols = size_min(part->cols - i * TILE, TILE);
	return panel;
}

/* Memory for the tile of a task's panel `i`. */
static struct tile own_tile(const struct projection *p, float *memory, size_t i)
{
	return (struct tile){memory + i * p->chunk_rows * TILE, TILE, false};
}

/* A whole tile of one head is computed where it goes. */
static bool goes_in_place(const struct projection *p, const struct part *panel)
{
	return p->kernels && panel->cols == TILE && panel->col % p->out->size + TILE <= p->out->size;
}

/* row (count) = more + bias, either of which may be NULL. */
static inline void begin_row(float *row, const float *more, const float *bias, size_t count)
{
	if (more && bias)
		for (size_t c = 0; c < count; c++)
			row[c] = more[c] + bias[c];
	else if (row != more)
		for (size_t c = 0; c < count; c++)
			row[c] = more ? more[c] : bias ? bias[c] : 0;
}

/* What a product is added to: the bias, and `add` (rows; add_stride). */
static void begin_tile(const struct part *part, const struct tile *t, const float *bias, const float *add,
		       size_t add_stride)
{
	const float *columns = bias ? bias + part->col : NULL;
	for (size_t r = 0; r < part->rows; r++) {
		float *row = t->data + r * t->stride;
		const float *more = add ? add + r * add_stride : NULL;
		if (part->cols == TILE) { /* of a constant length */
			begin_row(row, more, columns, TILE);
			continue;
		}
		begin_row(row, more, columns, part->cols);
		memset(row + part->cols, 0, (TILE - part->cols) * sizeof *row);
	}
}

/* The tile += columns [first, first + count) of x times these rows of W. */
static void multiply_block(const struct projection *p, const struct part *panel, const struct matrix *w,
			   const float *x, size_t first, size_t count, const struct memory *m,
			   const struct tile *t)
{
	bool direct = panel->rows < FEW_ROWS && panel->cols == TILE && !w->by_column && matrix_is_in_place(w);
	const float *columns = w->data;
	if (!direct)
		matrix_pack(p->kernels, w, first, count, panel->col, panel->cols, m->panel, m->wide);
	struct gemm product = {
	    .c = t->data,
	    .c_stride = t->stride,
	    .a = x + first,
	    .a_row = p->x_stride,
	    .a_col = 1,
	    .b = direct ? columns + first * w->stride + panel->col : m->panel,
	    .b_stride = direct ? w->stride : TILE,
	    .rows = panel->rows,
	    .inner = count,
	    .cols = panel->cols,
	    .accumulate = true,
	};
	p->kernels->gemm(&product);
}

/* The tiles of a task += x W: a block of x's columns at a time, which stays in the cache for all. */
static void multiply(const struct projection *p, const struct part *part, const struct matrix *w,
		     const float *x, const struct memory *m, const struct tile *tiles)
{
	for (size_t first = 0; first < w->rows; first += GEMM_BLOCK) {
		size_t count = size_min(w->rows - first, GEMM_BLOCK);
		for (size_t i = 0; i < panels_of(part); i++) {
			const struct part panel = panel_of(part, i);
			multiply_block(p, &panel, w, x, first, count, m, &tiles[i]);
		}
	}
}

/* The same in float64, rounded once. */
static void multiply_exactly(const struct part *part, const struct matrix *w, const float *x, size_t x_stride,
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
				double left = (double)x[r * x_stride + first + i];
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

/* The tiles += x W, where they hold what that is added to. */
static void product(struct projection *p, const struct part *part, const struct matrix *w, const float *x,
		    size_t worker, const struct tile *tiles)
{
	const struct memory m = memory_of(p, worker);
	if (p->kernels)
		multiply(p, part, w, x, &m, tiles);
	for (size_t i = 0; i < panels_of(part); i++) {
		const struct part panel = panel_of(part, i);
		if (!p->kernels)
			multiply_exactly(&panel, w, x, p->x_stride, &m, p->sums[worker], &tiles[i]);
		note_overflow(p, &panel, &tiles[i]);
	}
}

static void activate_tile(const struct projection *p, const struct part *panel, const struct tile *t)
{
	for (size_t r = 0; r < panel->rows; r++)
		activate(p->kernels, p->end->activation, t->data + r * t->stride, panel->cols);
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

/* The activations of another product multiply the tiles. */
static void apply_gate(struct projection *p, const struct part *part, const float *x, size_t worker,
		       const struct tile *tiles)
{
	struct tile gates[GROUP] = {{0}};
	for (size_t i = 0; i < panels_of(part); i++) {
		const struct part panel = panel_of(part, i);
		gates[i] = own_tile(p, memory_of(p, worker).gates, i);
		begin_tile(&panel, &gates[i], p->end->gate_bias, NULL, 0);
	}
	product(p, part, p->end->gate, x, worker, gates);
	for (size_t i = 0; i < panels_of(part); i++) {
		const struct part panel = panel_of(part, i);
		const struct tile *t = &tiles[i];
		activate_tile(p, &panel, &gates[i]);
		for (size_t r = 0; r < panel.rows; r++)
			multiply_row(p->kernels, t->data + r * t->stride, gates[i].data + r * TILE,
				     panel.cols);
	}
}

/* The panel's part of the residual; NULL: there is none. */
static const float *residual_of(const struct projection *p, const struct part *panel)
{
	return p->end && p->end->residual ? p->end->residual + panel->row * p->w->cols + panel->col : NULL;
}

static void end_tiles(struct projection *p, const struct part *part, const float *x, size_t worker,
		      const struct tile *tiles)
{
	if (p->end->gate)
		apply_gate(p, part, x, worker, tiles);
	for (size_t i = 0; i < panels_of(part); i++) {
		const struct part panel = panel_of(part, i);
		const float *residual = residual_of(p, &panel);
		const struct tile *t = &tiles[i];
		if (!p->end->gate)
			activate_tile(p, &panel, t);
		for (size_t r = 0; r < panel.rows && residual; r++)
			add_row(p->kernels, t->data + r * t->stride, residual + r * p->w->cols, panel.cols);
		note_overflow(p, &panel, t);
	}
}

static struct part part_of_task(const struct projection *p, size_t task)
{
	size_t group = task % p->groups, chunk = task / p->groups % p->chunks;
	size_t col = group * p->group * TILE;
	return (struct part){
	    .batch = task / p->groups / p->chunks,
	    .row = chunk * p->chunk_rows,
	    .rows = size_min(p->x->rows - chunk * p->chunk_rows, p->chunk_rows),
	    .col = col,
	    .cols = size_min(p->w->cols - col, p->group * TILE),
	};
}

static void project_task(void *context, size_t task, size_t worker)
{
	struct projection *p = context;
	const struct part part = part_of_task(p, task);
	const float *x = p->x->data + part.batch * p->x->batch_stride + part.row * p->x_stride;
	/* Without an activation a residual is what the product is added to. */
	bool plain = !p->end || (p->end->activation == ACTIVATION_LINEAR && !p->end->gate);
	struct tile tiles[GROUP] = {{0}};
	for (size_t i = 0; i < panels_of(&part); i++) {
		const struct part panel = panel_of(&part, i);
		const float *residual = residual_of(p, &panel);
		bool there = goes_in_place(p, &panel) && (plain || !residual);
		tiles[i] = there ? (struct tile){place_of(p, &panel, 0, 0), p->out_stride, true}
				 : own_tile(p, memory_of(p, worker).results, i);
		begin_tile(&panel, &tiles[i], p->bias, plain ? residual : NULL, p->w->cols);
	}
	product(p, &part, p->w, x, worker, tiles);
	if (!plain)
		end_tiles(p, &part, x, worker, tiles);
	for (size_t i = 0; i < panels_of(&part); i++) {
		const struct part panel = panel_of(&part, i);
		for (size_t r = 0; r < panel.rows && !tiles[i].in_place; r++)
			place_row(p, &panel, r, tiles[i].data + r * tiles[i].stride);
	}
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
		p->scratch[i] =
		    floats_alloc4(2 * GEMM_BLOCK + (gated ? 2 : 1) * p->group * p->chunk_rows, TILE, 1, 1);
		p->sums[i] = array_alloc(p->kernels ? 1 : p->chunk_rows * TILE, sizeof **p->sums);
		if (!p->scratch[i] || !p->sums[i])
			return false;
	}
	return true;
}

/* Rows of a task: all, unless that leaves threads without work. */
static size_t chunk_rows(size_t rows, size_t panels, size_t workers)
{
	size_t chunks = panels < 2 * workers ? (2 * workers + panels - 1) / panels : 1;
	size_t count = (rows + chunks - 1) / chunks;
	return count < ROW_CHUNK ? count : ROW_CHUNK;
}

/* Panels of a task: as many as leave each thread the same number of tasks, or several. */
static size_t panel_group(size_t panels, size_t workers)
{
	for (size_t group = GROUP; group > 1; group--) {
		size_t groups = (panels + group - 1) / group;
		if (groups >= 8 * workers || (groups % workers == 0 && panels % group == 0))
			return group;
	}
	return 1;
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
	p->group = x->rows < FEW_ROWS ? 1 : panel_group(p->panels, workers);
	p->groups = (p->panels + p->group - 1) / p->group;
	p->chunk_rows = chunk_rows(x->rows, batch * p->groups, workers);
	p->chunks = (x->rows + p->chunk_rows - 1) / p->chunk_rows;
	if (allocate(p, workers))
		parallel_for_work(batch * p->chunks * p->groups, projection_work(x, batch, p->w),
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
	struct projection p = {.kernels = kernels,
			       .x = x,
			       .w = w,
			       .bias = bias,
			       .out = out,
			       .x_stride = x->cols,
			       .out_stride = out->size};
	return project(&p, batch, what, err);
}

enum attn_status project_rows(const struct kernels *kernels, const float *x, size_t x_stride, size_t rows,
			      const struct matrix *w, const float *bias, const struct projection_end *end,
			      float *out, size_t out_stride, const char *what, struct attn_error *err)
{
	struct sequence sequence = {x, rows, w->rows, 0};
	struct heads_place place = {out, 0, 0, w->cols, 0};
	struct projection p = {.kernels = kernels,
			       .x = &sequence,
			       .w = w,
			       .bias = bias,
			       .end = end,
			       .out = &place,
			       .x_stride = x_stride,
			       .out_stride = out_stride};
	return project(&p, 1, what, err);
}

enum attn_status output_layer_project(const struct output_layer *layer, const float *context, size_t rows,
				      float *output, struct attn_error *err)
{
	struct sequence x = {context, rows, layer->context_size, 0};
	struct heads_place place = {output, 0, 0, layer->wo.cols, 0};
	return engine_project(kernels_best(), &x, 1, &layer->wo, layer->bo, "output", &place, err);
}
