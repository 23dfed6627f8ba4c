/* Grids of cells for pictures, filled as blocks of rows arrive. */
#include "consumers/grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

size_t grid_factor(size_t count, size_t limit)
{
	if (limit == 0)
		limit = 1;
	return count / limit + (count % limit != 0);
}

/* Note which cells of a row have weights that do not count for the scale. */
static enum attn_status note_uncounted(struct grid *g, const unsigned char *cells, size_t row,
				       struct attn_error *err)
{
	const unsigned char *end = cells + g->keys;
	for (const unsigned char *at = cells; at < end; at++) {
		at = memchr(at, CELL_UNSCALED, (size_t)(end - at));
		if (!at)
			break;
		if (!g->uncounted)
			g->uncounted = array_alloc(g->rows * g->cols, 1);
		if (!g->uncounted)
			return attn_fail_memory(err);
		g->uncounted[row * g->cols + (size_t)(at - cells) / g->col_factor] = 1;
	}
	return ATTN_OK;
}

/* The largest magnitude that counts. */
static void note_maximum(struct grid *g, float weight, unsigned char cell)
{
	float magnitude = fabsf(weight);
	if (magnitude > g->maximum && cell != CELL_UNSCALED)
		g->maximum = magnitude;
}

/* A row's part of a cell: keys [first, end). */
struct part {
	const float *weights;
	const unsigned char *cells; /* NULL: all are CELL_ATTENDED */
	size_t first, end;
	float highest, lowest; /* from 0 on */
	bool any, counted;
	double sum; /* only for a mean */
};

/* Weights from 0 on, all of which count. */
static void look_at_plain(const struct grid_consumer *s, struct grid *g, struct part *p)
{
	const float *weights = p->weights + p->first;
	size_t count = p->end - p->first;
	float highest;
	p->any = p->counted = true;
	if (g->reduction == GRID_MAXIMUM)
		highest = s->kernels->largest(weights, count);
	else
		p->sum = s->kernels->magnitudes(weights, count, &highest);
	p->highest = fmaxf(p->highest, highest);
	g->maximum = fmaxf(g->maximum, highest);
}

static void look_at_each(struct grid *g, struct part *p)
{
	for (size_t k = p->first; k < p->end; k++) {
		float w = p->weights[k];
		unsigned char cell = p->cells ? p->cells[k] : CELL_ATTENDED;
		p->any |= cell_has_weight(cell);
		p->counted |= cell == CELL_ATTENDED;
		p->highest = w > p->highest ? w : p->highest;
		p->lowest = w < p->lowest ? w : p->lowest;
		note_maximum(g, w, cell);
		p->sum += (double)w;
	}
}

/* Reduce row `r` of the block into the grid row `row`.  Sums of a mean run in float64 inside a block, so
 * that one over many blocks stays exact to float. */
static void reduce_row(struct grid_consumer *s, struct grid *g, const struct row_block *block, size_t r,
		       size_t row)
{
	struct key_span span = row_span(block, r);
	struct part p = {.weights = block->weights + r * block->keys, .cells = row_cells(block, r)};
	bool plain = !p.cells && !s->signed_weights && s->kernels;
	for (size_t first = span.first, end; first < span.end; first = end) {
		size_t col = first / g->col_factor;
		float *value = &g->values[row * g->cols + col];
		end = size_min((col + 1) * g->col_factor, span.end);
		p = (struct part){.weights = p.weights, .cells = p.cells, .first = first, .end = end};
		p.highest = *value > 0 ? *value : 0;
		p.lowest = *value < 0 ? *value : 0;
		if (plain)
			look_at_plain(s, g, &p);
		else
			look_at_each(g, &p);
		if (p.any)
			g->masked[row * g->cols + col] = 0;
		g->counted[col] |= p.counted;
		if (g->reduction == GRID_MAXIMUM)
			*value = p.highest >= -p.lowest ? p.highest : p.lowest;
		else
			s->sums[col] += p.sum;
	}
}

/* Reduce rows [from, to) of the block, whose weights all fall into the grid row `row`. */
static void reduce_rows(struct grid_consumer *s, struct grid *g, const struct row_block *block, size_t from,
			size_t to, size_t row)
{
	size_t block_rows = size_min(g->row_factor, g->queries - row * g->row_factor);
	for (size_t r = from; r < to; r++)
		reduce_row(s, g, block, r, row);
	for (size_t col = 0; col < g->cols && g->reduction != GRID_MAXIMUM; col++) {
		size_t keys = size_min(g->col_factor, g->keys - col * g->col_factor);
		g->values[row * g->cols + col] += (float)(s->sums[col] / ((double)block_rows * (double)keys));
		s->sums[col] = 0;
	}
}

/* The common case, no reduction: one pass a row. */
static void keep_row(struct grid *g, const struct row_block *block, size_t r, size_t row)
{
	const float *weights = block->weights + r * block->keys;
	const unsigned char *cells = row_cells(block, r);
	struct key_span span = row_span(block, r);
	float *values = g->values + row * g->cols;
	unsigned char *masked = g->masked + row * g->cols;
	for (size_t k = span.first; k < span.end; k++) {
		unsigned char cell = cells ? cells[k] : CELL_ATTENDED;
		values[k] = weights[k];
		masked[k] = !cell_has_weight(cell);
		note_maximum(g, weights[k], cell);
	}
}

/* Note the masked cells of a row that is complete, and its largest one. */
static void finish_row(struct grid *g, size_t row)
{
	if (g->reduction == GRID_MAXIMUM || (g->row_factor == 1 && g->col_factor == 1)) {
		g->top = g->maximum;
	} else {
		const float *values = g->values + row * g->cols;
		for (size_t k = 0; k < g->cols; k++)
			g->top = g->counted[k] && fabsf(values[k]) > g->top ? fabsf(values[k]) : g->top;
		memset(g->counted, 0, g->cols);
	}
	if (!g->any_masked)
		g->any_masked = memchr(g->masked + row * g->cols, 1, g->cols) != NULL;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct grid_consumer *s = (struct grid_consumer *)consumer;
	size_t slot = s->slots[(block->batch * s->layers + block->layer) * s->heads + block->head];
	if (slot == SIZE_MAX)
		return ATTN_OK;
	struct grid *g = &s->grids[slot];
	for (size_t r = 0; r < block->count;) {
		size_t position = s->positions[block->query + r];
		size_t end = r + 1;
		if (position == SIZE_MAX) {
			r++;
			continue;
		}
		size_t row = position / g->row_factor;
		while (end < block->count && s->positions[block->query + end] != SIZE_MAX &&
		       s->positions[block->query + end] / g->row_factor == row)
			end++;
		if (g->row_factor == 1 && g->col_factor == 1)
			keep_row(g, block, r, row);
		else
			reduce_rows(s, g, block, r, end, row);
		for (size_t i = r; i < end && !block->spans; i++)
			if (note_uncounted(g, block->cells + i * block->keys, row, err) != ATTN_OK)
				return ATTN_FAILED;
		position = s->positions[block->query + end - 1];
		if (position + 1 == g->queries || (position + 1) % g->row_factor == 0)
			finish_row(g, row);
		r = end;
	}
	return ATTN_OK;
}

/* Number the selected ones of `count` in order: out[i] = place, or SIZE_MAX.
 * Returns how many there are. */
static size_t number_selected(const bool *selected, size_t count, size_t *out)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		out[i] = !selected || selected[i] ? n++ : SIZE_MAX;
	return n;
}

static enum attn_status grid_init(struct grid *g, size_t queries, size_t keys,
				  const struct grid_options *options, struct attn_error *err)
{
	g->queries = queries;
	g->keys = keys;
	g->reduction = options->reduction;
	g->row_factor = grid_factor(queries, options->max_rows);
	g->col_factor = grid_factor(keys, options->max_cols);
	g->rows = grid_factor(queries, g->row_factor);
	g->cols = grid_factor(keys, g->col_factor);
	size_t cells;
	if (!size_mul(g->rows, g->cols, &cells))
		return attn_fail_memory(err);
	g->values = array_alloc(cells, sizeof *g->values);
	g->masked = array_alloc(cells, 1);
	g->counted = array_alloc(g->cols, 1);
	if (!g->values || !g->masked || !g->counted)
		return attn_fail_memory(err);
	memset(g->masked, 1, cells);
	return ATTN_OK;
}

/* Give each selected (batch, layer, head) its grid. */
static enum attn_status make_grids(struct grid_consumer *s, const struct rows_shape *shape,
				   const struct rows_selection *selection, size_t queries, size_t keys,
				   const struct grid_options *options, struct attn_error *err)
{
	size_t heads = 0, total = shape->batch * shape->layers * shape->heads;
	for (size_t i = 0; i < total; i++) {
		size_t head = i % shape->heads, layer = i / shape->heads % shape->layers;
		size_t batch = i / shape->heads / shape->layers;
		s->slots[i] = rows_chosen(selection->batch, batch) && rows_chosen(selection->layers, layer) &&
				      rows_chosen(selection->heads, head)
				  ? heads++
				  : SIZE_MAX;
	}
	if (heads == 0)
		return attn_fail(err, ATTN_USAGE, "no head is selected, nothing to draw");
	s->grids = array_alloc(heads, sizeof *s->grids);
	if (!s->grids)
		return attn_fail_memory(err);
	s->grid_count = heads;
	for (size_t i = 0; i < total; i++) {
		if (s->slots[i] == SIZE_MAX)
			continue;
		struct grid *g = &s->grids[s->slots[i]];
		g->head = i % shape->heads;
		g->layer = i / shape->heads % shape->layers;
		g->batch = i / shape->heads / shape->layers;
		TRY(grid_init(g, queries, keys, options, err));
	}
	return ATTN_OK;
}

enum attn_status grid_consumer_init(struct grid_consumer *consumer, const struct rows_shape *shape,
				    const struct rows_selection *selection,
				    const struct grid_options *options, struct attn_error *err)
{
	const struct rows_selection all = {0};
	*consumer = (struct grid_consumer){0};
	if (!selection)
		selection = &all;
	consumer->consumer.consume = consume;
	consumer->consumer.spans_only = true;
	consumer->kernels = kernels_best();
	consumer->signed_weights = shape->signed_weights;
	consumer->layers = shape->layers;
	consumer->heads = shape->heads;
	size_t heads;
	if (!size_mul(shape->batch, shape->layers, &heads) || !size_mul(heads, shape->heads, &heads))
		return attn_fail_memory(err);
	consumer->slots = array_alloc(heads, sizeof *consumer->slots);
	consumer->positions = array_alloc(shape->queries, sizeof *consumer->positions);
	consumer->sums = array_alloc(shape->keys, sizeof *consumer->sums);
	if (!consumer->slots || !consumer->positions || !consumer->sums) {
		grid_consumer_release(consumer);
		return attn_fail_memory(err);
	}
	size_t queries = number_selected(selection->queries, shape->queries, consumer->positions);
	enum attn_status status =
	    queries > 0 ? make_grids(consumer, shape, selection, queries, shape->keys, options, err)
			: attn_fail(err, ATTN_USAGE, "no query is selected, nothing to draw");
	if (status != ATTN_OK)
		grid_consumer_release(consumer);
	return status;
}

void grid_consumer_release(struct grid_consumer *consumer)
{
	for (size_t i = 0; i < consumer->grid_count; i++) {
		free(consumer->grids[i].values);
		free(consumer->grids[i].masked);
		free(consumer->grids[i].counted);
		free(consumer->grids[i].uncounted);
	}
	free(consumer->grids);
	free(consumer->slots);
	free(consumer->positions);
	free(consumer->sums);
	*consumer = (struct grid_consumer){0};
}
