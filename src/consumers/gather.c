#include "consumers/gather.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"

/* --- whole rows --------------------------------------------------------------- */

static enum attn_status gather(struct row_consumer *sink, const struct row_block *block,
			       struct attn_error *err)
{
	struct gather *s = (struct gather *)sink;
	(void)err;
	for (size_t r = 0; r < block->count; r++) {
		size_t slot = s->slots[block->query + r];
		if (slot == SIZE_MAX)
			continue;
		size_t row = (block->batch * s->heads + block->head) * s->kept + slot, from = r * s->keys;
		memcpy(s->weights + row * s->keys, block->weights + from, s->keys * sizeof *s->weights);
		memcpy(s->visible + row * s->keys, block->visible + from, s->keys);
		if (block->scores)
			memcpy(s->scores[s->stage] + row * s->keys, block->scores + from,
			       s->keys * sizeof *block->scores);
		if (block->context)
			memcpy(s->context + row * s->value_size, block->context + r * block->context_stride,
			       s->value_size * sizeof *s->context);
	}
	return ATTN_OK;
}

enum attn_status gather_init(struct gather *s, const struct rows_info *info, const bool *queries,
			     size_t value_size, struct attn_error *err)
{
	size_t cells, numbers;
	*s = (struct gather){.sink = {.consume = gather, .any_order = true},
			     .keys = info->keys,
			     .value_size = value_size,
			     .heads = info->heads};
	s->slots = array_alloc(info->queries, sizeof *s->slots);
	if (!s->slots)
		return attn_fail_memory(err);
	for (size_t i = 0; i < info->queries; i++)
		s->slots[i] = queries[i] ? s->kept++ : SIZE_MAX;
	if (!size_mul(info->batch, info->heads, &s->rows) || !size_mul(s->rows, s->kept, &s->rows) ||
	    !size_mul(s->rows, s->keys, &cells) || !size_mul(s->rows, value_size, &numbers))
		return attn_fail_memory(err);
	s->weights = array_alloc(cells, sizeof *s->weights);
	s->visible = array_alloc(cells, sizeof *s->visible);
	s->context = array_alloc(numbers, sizeof *s->context);
	return s->weights && s->visible && s->context ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status gather_begin(struct gather *s, size_t stage, struct attn_error *err)
{
	s->stage = stage;
	if (!s->scores[stage])
		s->scores[stage] = array_alloc(s->rows * s->keys, sizeof *s->scores[stage]);
	return s->scores[stage] ? ATTN_OK : attn_fail_memory(err);
}

void gather_release(struct gather *s)
{
	free(s->slots);
	for (size_t i = 0; i < GATHER_STAGES; i++)
		free(s->scores[i]);
	free(s->weights);
	free(s->visible);
	free(s->context);
	*s = (struct gather){0};
}

/* --- how spread out ------------------------------------------------------------ */

static double plogp(double p)
{
	return p > 0 ? p * log(p) : 0;
}

static void add_row(const struct spread_consumer *s, struct spread_sums *sums, const float *scores,
		    const float *weights, const unsigned char *visible, size_t keys)
{
	double entropy = 0, largest = 0, total = 0;
	size_t before = sums->pairs;
	for (size_t j = 0; j < keys; j++) {
		if (!visible[j])
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

static enum attn_status add_block(struct row_consumer *sink, const struct row_block *block,
				  struct attn_error *err)
{
	struct spread_consumer *s = (struct spread_consumer *)sink;
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		add_row(s, &s->sums[block->batch * s->heads + block->head], block->scores + r * block->keys,
			block->weights + r * block->keys, block->visible + r * block->keys, block->keys);
	return ATTN_OK;
}

enum attn_status spread_consumer_init(struct spread_consumer *s, const struct rows_info *info, bool rest,
				      struct attn_error *err)
{
	size_t count;
	/* In order: the sums are then the same with any number of threads. */
	*s = (struct spread_consumer){.sink = {.consume = add_block}, .heads = info->heads, .rest = rest};
	if (size_mul(info->batch, info->heads, &count))
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
