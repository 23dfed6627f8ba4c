#include "consumers/difference.h"

#include <math.h>
#include <stdlib.h>

#include "util/memory.h"

/* The sum of a row; NAN where a weight is below 0. */
static double row_sum(const float *row, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += row[i] < 0 ? (double)NAN : (double)row[i];
	return sum;
}

/* p log2(p / m), 0 for p = 0. */
static double term(double p, double m)
{
	return p > 0 ? p * log2(p / m) : 0;
}

double jensen_shannon(const float *a, const float *b, size_t count)
{
	double a_sum = row_sum(a, count), b_sum = row_sum(b, count), divergence = 0;
	if (!(a_sum > 0) || !(b_sum > 0))
		return (double)NAN;
	for (size_t i = 0; i < count; i++) {
		double p = (double)a[i] / a_sum, q = (double)b[i] / b_sum, mean = (p + q) / 2;
		divergence += (term(p, mean) + term(q, mean)) / 2;
	}
	return sqrt(fmax(divergence, 0));
}

double difference_of(float a, float b)
{
	return a == b ? 0 : fabs((double)a - (double)b); /* also of infinities */
}

static bool is_beyond(double off, float b, const struct tolerance *t)
{
	if (off == 0)
		return false;
	return isinf(off) || !(off <= t->absolute + t->relative * fabs((double)b));
}

void difference_add_row(struct difference *d, const struct tolerance *t, size_t query, const float *a,
			const float *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double off = difference_of(a[i], b[i]);
		d->sum += off;
		d->beyond += is_beyond(off, b[i], t);
		if (!(off > d->largest))
			continue;
		d->largest = off;
		d->query = query;
		d->column = i;
	}
	d->cells += count;
}

static void add_distance(struct difference *d, size_t query, double distance)
{
	if (isnan(distance))
		return;
	d->rows++;
	d->js_sum += distance;
	if (!(distance > d->js_largest))
		return;
	d->js_largest = distance;
	d->js_query = query;
}

struct difference_rows difference_rows(const struct row_block *block, enum difference_kind kind,
				       enum score_stage stage, size_t context_size)
{
	const struct row_block *a = &block->pair[0], *b = &block->pair[1];
	if (kind == DIFFERENCE_CONTEXT)
		return (struct difference_rows){a->context, b->context, a->context_stride, b->context_stride,
						context_size};
	if (kind == DIFFERENCE_SCORES)
		return (struct difference_rows){a->scores[stage], b->scores[stage], block->keys, block->keys,
						block->keys};
	return (struct difference_rows){a->weights, b->weights, block->keys, block->keys, block->keys};
}

/* Blocks come in order, so that sums do not depend on the number of threads. */
static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct difference_consumer *d = (struct difference_consumer *)consumer;
	size_t head = (block->layer * d->shape.batch + block->batch) * d->shape.heads + block->head;
	(void)err;
	for (enum difference_kind kind = DIFFERENCE_WEIGHTS; kind < DIFFERENCE_OUTPUT; kind++) {
		if (!d->heads[kind])
			continue;
		struct difference *h = &d->heads[kind][head];
		struct difference_rows rows = difference_rows(block, kind, d->stage, d->context_size);
		for (size_t r = 0; r < block->count; r++) {
			const float *a = rows.a + r * rows.a_stride, *b = rows.b + r * rows.b_stride;
			difference_add_row(h, &d->tolerance, block->query + r, a, b, rows.columns);
			if (kind == DIFFERENCE_WEIGHTS)
				add_distance(h, block->query + r, jensen_shannon(a, b, rows.columns));
		}
	}
	return ATTN_OK;
}

enum attn_status difference_init(struct difference_consumer *d, const struct rows_shape *shape,
				 unsigned kinds, enum score_stage stage, size_t context_size,
				 struct tolerance tolerance, struct attn_error *err)
{
	*d = (struct difference_consumer){.consumer = {.consume = consume},
					  .shape = *shape,
					  .tolerance = tolerance,
					  .stage = stage,
					  .context_size = context_size};
	for (size_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		d->heads[kind] = array_alloc(shape->layers * shape->batch, shape->heads * sizeof **d->heads);
		if (!d->heads[kind])
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

void difference_release(struct difference_consumer *d)
{
	for (size_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
		free(d->heads[kind]);
	*d = (struct difference_consumer){0};
}

static enum attn_status consume_side(struct row_consumer *consumer, const struct row_block *block,
				     struct attn_error *err)
{
	struct side_consumer *s = (struct side_consumer *)consumer;
	return s->inner->consume(s->inner, &block->pair[s->side], err);
}

void side_consumer_init(struct side_consumer *s, struct row_consumer *inner, size_t side)
{
	*s = (struct side_consumer){.consumer = {.consume = consume_side}, .inner = inner, .side = side};
}
