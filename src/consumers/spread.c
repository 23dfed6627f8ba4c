/* How spread out attention is. */
#include "consumers/spread.h"

#include <math.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"

static double plogp(double p)
{
	return p > 0 ? p * log(p) : 0;
}

static void add_row(const struct spread_consumer *s, struct spread_sums *sums, const float *scores,
		    const float *weights, const unsigned char *cells, size_t keys)
{
	double entropy = 0, largest = 0, total = 0;
	size_t before = sums->pairs;
	for (size_t j = 0; j < keys; j++) {
		if (!cell_has_weight(cells[j]))
			continue;
		double weight = (double)weights[j], score = (double)scores[j];
		double step = score - sums->mean;
		sums->pairs++;
		sums->mean += step / (double)sums->pairs;
		sums->squares += step * (score - sums->mean);
		sums->gradient += weight * (1 - weight);
		entropy -= plogp(weight);
		largest = fmax(largest, weight);
		total += weight;
	}
	if (sums->pairs == before)
		return;
	sums->queries++;
	sums->entropy += entropy - (s->rest ? plogp(1 - total) : 0);
	sums->largest += largest;
}

static struct spread_sums *sums_at(const struct spread_consumer *s, size_t batch, size_t layer, size_t head)
{
	return &s->sums[(batch * s->layers + layer) * s->heads + head];
}

static enum attn_status add_block(struct row_consumer *consumer, const struct row_block *block,
				  struct attn_error *err)
{
	struct spread_consumer *s = (struct spread_consumer *)consumer;
	(void)err;
	const float *weights = s->stage == SCORES_PRODUCT ? block->unscaled_weights : block->weights;
	for (size_t r = 0; r < block->count; r++)
		add_row(s, sums_at(s, block->batch, block->layer, block->head),
			block->scores[s->stage] + r * block->keys, weights + r * block->keys,
			block->cells + r * block->keys, block->keys);
	return ATTN_OK;
}

enum attn_status spread_consumer_init(struct spread_consumer *s, const struct rows_shape *shape,
				      enum score_stage stage, bool rest, struct attn_error *err)
{
	size_t count;
	/* In order: the sums are then the same with any number of threads. */
	*s = (struct spread_consumer){.consumer = {.consume = add_block, .no_context = true},
				      .layers = shape->layers,
				      .heads = shape->heads,
				      .stage = stage,
				      .rest = rest};
	if (size_mul(shape->batch, shape->layers, &count) && size_mul(count, shape->heads, &count))
		s->sums = array_alloc(count, sizeof *s->sums);
	return s->sums ? ATTN_OK : attn_fail_memory(err);
}

void spread_consumer_release(struct spread_consumer *s)
{
	free(s->sums);
	*s = (struct spread_consumer){0};
}

struct spread spread_of(const struct spread_consumer *s, size_t batch, size_t layer, size_t head)
{
	const struct spread_sums *sums = sums_at(s, batch, layer, head);
	double queries = fmax((double)sums->queries, 1), pairs = fmax((double)sums->pairs, 1);
	return (struct spread){.queries = sums->queries,
			       .pairs = sums->pairs,
			       .variance = sums->squares / pairs,
			       .entropy = sums->entropy / queries,
			       .largest = sums->largest / queries,
			       .gradient = sums->gradient / pairs,
			       .jacobian = sums->gradient / queries};
}
