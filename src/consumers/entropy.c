/* Entropy of the rows of each head. */
#include "consumers/entropy.h"

#include <math.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"

/* With S = sum |w|:  -sum (|w| / S) ln (|w| / S)  =  ln S - sum |w| ln |w| / S. */
double row_entropy(const float *weights, const unsigned char *cells, size_t keys)
{
	double total = 0, sum = 0;
	for (size_t k = 0; k < keys; k++) {
		double w = fabs((double)weights[k]);
		if (!cell_has_weight(cells[k]) || w == 0)
			continue;
		total += w;
		sum += w * log(w);
	}
	return total > 0 ? fmax(log(total) - sum / total, 0) : 0;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct entropy_consumer *s = (struct entropy_consumer *)consumer;
	struct entropy_sum *sum =
	    &s->sums[(block->batch * s->layers + block->layer) * s->heads + block->head];
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		const float *weights = block->weights + r * block->keys;
		const unsigned char *cells = block->cells + r * block->keys;
		size_t k = 0;
		while (k < block->keys && (!cell_has_weight(cells[k]) || weights[k] == 0))
			k++;
		if (k == block->keys)
			continue;
		sum->queries++;
		sum->sum += row_entropy(weights, cells, block->keys);
	}
	return ATTN_OK;
}

enum attn_status entropy_consumer_init(struct entropy_consumer *s, const struct rows_shape *shape,
				       struct attn_error *err)
{
	size_t count;
	/* In order: the sums are then the same with any number of threads. */
	*s = (struct entropy_consumer){
	    .consumer = {.consume = consume}, .layers = shape->layers, .heads = shape->heads};
	if (size_mul(shape->batch, shape->layers, &count) && size_mul(count, shape->heads, &count))
		s->sums = array_alloc(count, sizeof *s->sums);
	return s->sums ? ATTN_OK : attn_fail_memory(err);
}

void entropy_consumer_release(struct entropy_consumer *s)
{
	free(s->sums);
	*s = (struct entropy_consumer){0};
}

double entropy_of(const struct entropy_consumer *s, size_t batch, size_t layer, size_t head)
{
	const struct entropy_sum *sum = &s->sums[(batch * s->layers + layer) * s->heads + head];
	return sum->queries ? sum->sum / (double)sum->queries : 0;
}
