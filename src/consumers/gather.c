/* Rows of the chosen queries, and how spread out the attention of heads is. */
#include "consumers/gather.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"

/* --- whole rows --------------------------------------------------------------- */

/* Row r of the block, if it is kept, becomes row `row`. */
static void keep_row(struct gather *s, const struct row_block *block, size_t r, size_t row)
{
	size_t from = r * s->keys, to = row * s->keys;
	memcpy(s->weights + to, block->weights + from, s->keys * sizeof *s->weights);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		if (s->scores[stage])
			memcpy(s->scores[stage] + to, block->scores[stage] + from,
			       s->keys * sizeof *s->scores[stage]);
	if (!s->shares)
		return;
	memcpy(s->shares + to, block->shares + from, s->keys * sizeof *s->shares);
	memcpy(s->context + row * s->value_size, block->context + r * block->context_stride,
	       s->value_size * sizeof *s->context);
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct gather *s = (struct gather *)consumer;
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		size_t slot = s->slots[block->query + r];
		if (slot != SIZE_MAX)
			keep_row(s, block, r, (block->batch * s->heads + block->head) * s->kept + slot);
	}
	return ATTN_OK;
}

static bool allocate(struct gather *s, size_t cells, size_t numbers, unsigned stages)
{
	for (int stage = 0; stage < SCORE_STAGES; stage++) {
		if (!(stages >> stage & 1))
			continue;
		s->scores[stage] = array_alloc(cells, sizeof *s->scores[stage]);
		if (!s->scores[stage])
			return false;
	}
	s->weights = array_alloc(cells, sizeof *s->weights);
	s->context = array_alloc(numbers, sizeof *s->context);
	if (s->value_size > 0)
		s->shares = array_alloc(cells, sizeof *s->shares);
	return s->weights && s->context && (s->shares || s->value_size == 0);
}

enum attn_status gather_init(struct gather *s, const struct rows_shape *shape, const bool *queries,
			     unsigned stages, size_t value_size, struct attn_error *err)
{
	size_t cells, numbers;
	*s = (struct gather){.consumer = {.consume = consume, .any_order = true},
			     .keys = shape->keys,
			     .value_size = value_size,
			     .heads = shape->heads};
	s->slots = array_alloc(shape->queries, sizeof *s->slots);
	if (!s->slots)
		return attn_fail_memory(err);
	for (size_t i = 0; i < shape->queries; i++)
		s->slots[i] = queries[i] ? s->kept++ : SIZE_MAX;
	if (size_mul(shape->batch, shape->heads, &s->rows) && size_mul(s->rows, s->kept, &s->rows) &&
	    size_mul(s->rows, s->keys, &cells) && size_mul(s->rows, value_size, &numbers) &&
	    allocate(s, cells, numbers, stages))
		return ATTN_OK;
	return attn_fail_memory(err);
}

void gather_release(struct gather *s)
{
	free(s->slots);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		free(s->scores[stage]);
	free(s->weights);
	free(s->context);
	free(s->shares);
	*s = (struct gather){0};
}

/* --- how spread out ------------------------------------------------------------ */

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

static enum attn_status add_block(struct row_consumer *consumer, const struct row_block *block,
				  struct attn_error *err)
{
	struct spread_consumer *s = (struct spread_consumer *)consumer;
	(void)err;
	const float *weights = s->stage == SCORES_PRODUCT ? block->unscaled_weights : block->weights;
	for (size_t r = 0; r < block->count; r++)
		add_row(s, &s->sums[block->batch * s->heads + block->head],
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
				      .heads = shape->heads,
				      .stage = stage,
				      .rest = rest};
	if (size_mul(shape->batch, shape->heads, &count))
		s->sums = array_alloc(count, sizeof *s->sums);
	return s->sums ? ATTN_OK : attn_fail_memory(err);
}

void spread_consumer_release(struct spread_consumer *s)
{
	free(s->sums);
	*s = (struct spread_consumer){0};
}

struct spread spread_of(const struct spread_consumer *s, size_t batch, size_t head)
{
	const struct spread_sums *sums = &s->sums[batch * s->heads + head];
	double queries = fmax((double)sums->queries, 1), pairs = fmax((double)sums->pairs, 1);
	return (struct spread){.queries = sums->queries,
			       .pairs = sums->pairs,
			       .variance = sums->squares / pairs,
			       .entropy = sums->entropy / queries,
			       .largest = sums->largest / queries,
			       .gradient = sums->gradient / pairs};
}
