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
		return NAN;
	for (size_t i = 0; i < count; i++) {
		double p = (double)a[i] / a_sum, q = (double)b[i] / b_sum, mean = (p + q) / 2;
		divergence += (term(p, mean) + term(q, mean)) / 2;
	}
	return sqrt(fmax(divergence, 0));
}

static void add_row(const struct difference_consumer *d, struct head_difference *h, size_t query,
		    const float *a, const float *b)
{
	size_t keys = d->shape.keys;
	for (size_t k = 0; k < keys; k++) {
		double off = fabs((double)a[k] - (double)b[k]);
		h->sum += off;
		h->beyond += !(off <= d->absolute + d->relative * fabs((double)b[k]));
		if (!(off > h->largest))
			continue;
		h->largest = off;
		h->query = query;
		h->key = k;
	}
	h->cells += keys;
	double distance = jensen_shannon(a, b, keys);
	if (isnan(distance))
		return;
	h->rows++;
	h->js_sum += distance;
	if (!(distance > h->js_largest))
		return;
	h->js_largest = distance;
	h->js_query = query;
}

/* Blocks come in order, so that sums do not depend on the number of threads, and the other source is
 * read by one of them at a time. */
static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct difference_consumer *d = (struct difference_consumer *)consumer;
	struct row_block other = {.batch = block->batch,
				  .layer = block->layer,
				  .head = block->head,
				  .query = block->query,
				  .count = block->count,
				  .keys = block->keys,
				  .no_context = true};
	size_t head = (block->layer * d->shape.batch + block->batch) * d->shape.heads + block->head;
	TRY(d->other->read(d->other, 0, &other, err));
	for (size_t r = 0; r < block->count; r++)
		add_row(d, &d->heads[head], block->query + r, block->weights + r * block->keys,
			other.weights + r * block->keys);
	return ATTN_OK;
}

enum attn_status difference_init(struct difference_consumer *d, struct row_source *other, double absolute,
				 double relative, struct attn_error *err)
{
	const struct rows_shape *shape = &other->shape;
	*d = (struct difference_consumer){.consumer = {.consume = consume, .no_context = true},
					  .other = other,
					  .shape = *shape,
					  .absolute = absolute,
					  .relative = relative};
	d->heads = array_alloc(shape->layers * shape->batch, shape->heads * sizeof *d->heads);
	return d->heads ? ATTN_OK : attn_fail_memory(err);
}

void difference_release(struct difference_consumer *d)
{
	free(d->heads);
	*d = (struct difference_consumer){0};
}
