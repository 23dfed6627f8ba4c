#include "consumers/head_similarity.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

/* What is known of a row of shares p. */
struct kept_row {
	double total, logs; /* sum p and sum p log2 p, as p was rounded */
	size_t begin, end;  /* keys outside have none */
};

static const size_t most_numbers = (size_t)1 << 26; /* that are kept: 256 MiB */
static const size_t most_logs = (size_t)1 << 31;    /* some 5 s of one thread */

static void keep_row(struct head_similarity *s, const struct row_block *block, size_t r, size_t number)
{
	const float *weights = block->weights + r * block->keys;
	struct kept_row *row = &s->kept[number];
	float *shares = s->shares + number * block->keys;
	struct weight_sums sums = {0}, rounded = {0};
	weight_sums_add(&sums, &s->logs, weights, NULL, 0, block->keys);
	if (!(sums.total > 0))
		return;
	row->begin = block->keys;
	for (size_t k = 0; k < block->keys; k++) {
		shares[k] = (float)(fabs((double)weights[k]) / sums.total);
		if (shares[k] > 0) {
			row->begin = size_min(row->begin, k);
			row->end = k + 1;
		}
	}
	weight_sums_add(&rounded, &s->logs, shares, NULL, 0, block->keys);
	row->total = rounded.total;
	row->logs = rounded.logs;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct head_similarity *s = (struct head_similarity *)consumer;
	size_t head = s->heads[block->layer * s->shape.heads + block->head], item = s->items[block->batch];
	(void)err;
	for (size_t r = 0; r < block->count && head != SIZE_MAX && item != SIZE_MAX; r++) {
		size_t slot = s->slots[block->query + r];
		if (slot != SIZE_MAX)
			keep_row(s, block, r, head * s->rows + item * s->queries + slot);
	}
	return ATTN_OK;
}

/* Number the entries that are chosen; how many there are. */
static size_t number_chosen(size_t *numbers, const bool *chosen, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		numbers[i] = rows_chosen(chosen, i) ? found++ : SIZE_MAX;
	return found;
}

static void number_heads(struct head_similarity *s, const struct rows_selection *selection)
{
	for (size_t i = 0; i < s->shape.layers * s->shape.heads; i++) {
		bool chosen = rows_chosen(selection->layers, i / s->shape.heads) &&
			      rows_chosen(selection->heads, i % s->shape.heads);
		s->heads[i] = chosen ? s->head_count++ : SIZE_MAX;
	}
}

/* How many queries of an item are looked at, at least one. */
static size_t affordable(const struct head_similarity *s, size_t items)
{
	size_t per_query = s->shape.keys * items; /* both counted in memory that there is */
	size_t pairs = s->head_count * (s->head_count - 1) / 2;
	size_t most = size_min(SIMILAR_QUERIES / items, most_numbers / s->head_count / per_query);
	most = size_min(most, most_logs / size_max(pairs, 1) / per_query);
	return size_min(size_max(most, 1), s->shape.queries);
}

enum attn_status similarity_init(struct head_similarity *s, const struct rows_shape *shape,
				 const struct rows_selection *selection, struct attn_error *err)
{
	size_t rows, numbers, per_query;
	*s = (struct head_similarity){.consumer = {.consume = consume, .any_order = true, .no_context = true},
				      .shape = *shape};
	log_table_init(&s->logs);
	s->heads = array_alloc(shape->layers * shape->heads, sizeof *s->heads);
	s->items = array_alloc(shape->batch, sizeof *s->items);
	s->slots = array_alloc(shape->queries, sizeof *s->slots);
	if (!s->heads || !s->items || !s->slots || !size_mul(shape->batch, shape->keys, &per_query))
		return attn_fail_memory(err);
	size_t items = number_chosen(s->items, selection->batch, shape->batch);
	number_heads(s, selection);
	s->queries = affordable(s, items);
	for (size_t q = 0; q < shape->queries; q++)
		s->slots[q] = SIZE_MAX;
	for (size_t i = 0; i < s->queries; i++) /* in the middle of equal parts */
		s->slots[(2 * i + 1) * shape->queries / (2 * s->queries)] = i;
	s->rows = items * s->queries;
	if (size_mul(s->head_count, s->rows, &rows) && size_mul(rows, shape->keys, &numbers)) {
		s->shares = array_alloc(numbers, sizeof *s->shares);
		s->kept = array_alloc(rows, sizeof *s->kept);
	}
	return s->shares && s->kept ? ATTN_OK : attn_fail_memory(err);
}

void similarity_release(struct head_similarity *s)
{
	free(s->heads);
	free(s->items);
	free(s->slots);
	free(s->shares);
	free(s->kept);
	*s = (struct head_similarity){0};
}

/* With P = sum p and Q = sum q, twice what is below the root is
 *   sum p log2 (2 p / (p + q)) + sum q log2 (2 q / (p + q))
 *     = sum p log2 p + sum q log2 q - sum (p + q) log2 (p + q) + P + Q,
 * exactly 0 for equal rows, whatever P is after rounding. */
static double row_distance(const struct head_similarity *s, size_t a, size_t b)
{
	const struct kept_row *x = &s->kept[a], *y = &s->kept[b];
	size_t begin = size_min(x->begin, y->begin), end = size_max(x->end, y->end);
	double both = pair_logs(&s->logs, s->shares + a * s->shape.keys + begin,
				s->shares + b * s->shape.keys + begin, end - begin);
	double divergence = (x->logs + y->logs - both + x->total + y->total) / 2;
	return divergence < 1e-12 ? 0 : sqrt(fmin(divergence, 1));
}

struct comparison {
	const struct head_similarity *s;
	double *distances;
};

/* One head with those after it. */
static void compare_head(void *context, size_t a, size_t worker)
{
	const struct comparison *c = context;
	const struct head_similarity *s = c->s;
	(void)worker;
	c->distances[a * s->head_count + a] = 0;
	for (size_t b = a + 1; b < s->head_count; b++) {
		double sum = 0;
		size_t rows = 0;
		for (size_t r = 0; r < s->rows; r++) {
			size_t x = a * s->rows + r, y = b * s->rows + r;
			if (s->kept[x].end == 0 || s->kept[y].end == 0)
				continue;
			sum += row_distance(s, x, y);
			rows++;
		}
		double distance = rows ? sum / (double)rows : 1;
		c->distances[a * s->head_count + b] = c->distances[b * s->head_count + a] = distance;
	}
}

void similarity_distances(const struct head_similarity *s, double *distances)
{
	struct comparison c = {s, distances};
	size_t work;
	if (!size_mul(s->head_count * s->head_count, s->rows, &work) ||
	    !size_mul(work, 4 * s->shape.keys, &work))
		work = SIZE_MAX;
	parallel_for_work(s->head_count, work, compare_head, &c);
}
