#include "consumers/head_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	OFFSETS = 2 * OFFSETS_MOST + 1,
	CHUNK = 256 /* keys that are looked at one by one if one of them is the largest */
};

/* A sum over queries, and how many. */
struct part {
	double sum;
	size_t count;
};

/* Of the queries of a block. */
struct head_sums {
	struct part entropy, largest, even_entropy;
	struct part diagonal, previous, next, first, separator, near, induction;
	struct part distance, squares, even_distance;
	bool has_pair;
	size_t query, key;
	float weight;
};

/* One row while it is looked at. */
struct look {
	const float *weights;
	const unsigned char *cells; /* NULL: all keys inside have a weight to count */
	size_t query;
	size_t begin, end; /* keys outside have no weight to count */
	size_t attended;   /* that many inside have one */
	double total;      /* of the magnitudes */
};

static void add(struct part *p, double value)
{
	p->sum += value;
	p->count++;
}

static void add_part(struct part *to, const struct part *p)
{
	to->sum += p->sum;
	to->count += p->count;
}

static double mean(const struct part *p)
{
	return p->count ? p->sum / (double)p->count : NAN;
}

/* How many of eight cells have a weight: each becomes 1 where it is CELL_ATTENDED or
 * CELL_UNSCALED, and a product adds the bytes up. */
static size_t count_eight(const unsigned char *cells)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t eight;
	memcpy(&eight, cells, sizeof eight);
	return ((eight + ones) >> 1 & ones) * ones >> 56;
}

/* Where the keys with a weight to count begin and end, and how many there are, by the cells. */
static void find_attended(struct look *row)
{
	size_t k = 0;
	row->attended = 0;
	while (row->begin < row->end && !cell_has_weight(row->cells[row->begin]))
		row->begin++;
	while (row->end > row->begin && !cell_has_weight(row->cells[row->end - 1]))
		row->end--;
	for (k = row->begin; k + 8 <= row->end; k += 8)
		row->attended += count_eight(row->cells + k);
	for (; k < row->end; k++)
		row->attended += cell_has_weight(row->cells[k]);
}

/* The magnitude at a key, wherever it is. */
static double magnitude_at(const struct look *row, size_t key)
{
	return key >= row->begin && key < row->end ? fabs((double)row->weights[key]) : 0;
}

/* The share of a key; SIZE_MAX, which is no key, adds nothing. */
static void add_key(struct part *p, const struct look *row, size_t key)
{
	if (key != SIZE_MAX)
		add(p, magnitude_at(row, key) / row->total);
}

static void add_keys(struct part *p, const struct look *row, const size_t *keys, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += magnitude_at(row, keys[i]);
	if (count > 0)
		add(p, sum / row->total);
}

static void add_near(const struct head_places *places, struct part *p, const struct look *row)
{
	double sum = 0;
	for (ptrdiff_t step = -NEAR_TOKENS; step <= NEAR_TOKENS; step++) {
		size_t key = key_beside(places, row->query, step);
		sum += magnitude_at(row, key);
	}
	add(p, sum / row->total);
}

/* 0 + 1 + ... + n */
static double triangle(double n)
{
	return n * (n + 1) / 2;
}

/* The mean distance of the keys that have a place and a weight to count, whatever that is. */
static void add_even_distance(const struct head_places *places, struct part *p, const struct look *row,
			      size_t end)
{
	double own = (double)places->own[row->query], sum = 0;
	size_t count = 0;
	if (row->begin >= end)
		return;
	double a = places->at[row->begin] - own, b = places->at[end - 1] - own;
	if (places->even && row->attended == row->end - row->begin) {
		count = end - row->begin;
		sum = a > 0   ? triangle(b) - triangle(a - 1)
		      : b < 0 ? triangle(-a) - triangle(-b - 1)
			      : triangle(-a) + triangle(b);
	} else {
		for (size_t k = row->begin; k < end; k++) {
			bool counts = !row->cells || cell_has_weight(row->cells[k]);
			count += counts;
			sum += counts ? fabs(places->at[k] - own) : 0;
		}
	}
	if (count > 0)
		add(p, sum / (double)count);
}

static void weigh(const struct head_consumer *s, struct weight_sums *sums, const float *weights,
		  const double *at, double from, size_t count)
{
	if (s->kernels)
		s->kernels->weigh(sums, weights, at, from, count);
	else
		weight_sums_add(sums, &s->logs, weights, at, from, count);
}

/* In self-attention: sums of keys that have a place, and of appended ones. */
static void add_distances(struct head_consumer *s, struct head_sums *sums, const struct look *row,
			  struct weight_sums *all)
{
	const struct head_places *places = s->places;
	size_t end = size_max(size_min(row->end, places->placed), row->begin);
	weigh(s, all, row->weights + row->begin, places->at + row->begin, (double)places->own[row->query],
	      end - row->begin);
	if (all->total > 0) {
		add(&sums->distance, all->distance / all->total);
		add(&sums->squares, all->squares / all->total);
		add_even_distance(places, &sums->even_distance, row, end);
	}
	if (end < row->end)
		weigh(s, all, row->weights + end, NULL, 0, row->end - end);
}

/* The first key with the row's largest magnitude. */
static size_t find_largest(const struct head_consumer *s, const struct look *row, float largest)
{
	size_t k = row->begin;
	while (s->kernels && s->kernels->largest(row->weights + k, size_min(row->end - k, CHUNK)) < largest)
		k += CHUNK;
	while (fabsf(row->weights[k]) < largest)
		k++;
	return k;
}

static void add_places(const struct head_places *places, struct head_sums *sums, const struct look *row)
{
	add_key(&sums->first, row, places->first);
	add_keys(&sums->separator, row, places->separators, places->separator_count);
	if (!places->self)
		return;
	add_key(&sums->diagonal, row, key_beside(places, row->query, 0));
	add_key(&sums->previous, row, key_beside(places, row->query, -1));
	add_key(&sums->next, row, key_beside(places, row->query, 1));
	add_near(places, &sums->near, row);
	if (places->after)
		add_key(&sums->induction, row, places->after[row->query]);
}

static void count_offset(const struct head_places *places, _Atomic uint32_t *offsets, size_t query,
			 size_t key)
{
	if (key >= places->placed)
		return;
	double offset = places->at[key] - (double)places->own[query];
	if (fabs(offset) <= OFFSETS_MOST)
		atomic_fetch_add_explicit(&offsets[(size_t)(offset + OFFSETS_MOST)], 1, memory_order_relaxed);
}

static void add_row(struct head_consumer *s, struct head_sums *sums, struct look *row, size_t number)
{
	struct weight_sums all = {0};
	if (row->cells)
		find_attended(row);
	if (s->places->self)
		add_distances(s, sums, row, &all);
	else
		weigh(s, &all, row->weights + row->begin, NULL, 0, row->end - row->begin);
	row->total = all.total;
	if (!(all.total > 0))
		return;
	/* -sum p log2 p with p = |w| / total. */
	add(&sums->entropy, fmax(log2(all.total) - all.logs / all.total, 0));
	add(&sums->largest, (double)all.largest / all.total);
	add(&sums->even_entropy, log2((double)row->attended));
	add_places(s->places, sums, row);
	size_t key = find_largest(s, row, all.largest);
	if (s->offsets)
		count_offset(s->places, s->offsets + number * OFFSETS, row->query, key);
	if (row->attended > 1 && (!sums->has_pair || all.largest > fabsf(sums->weight))) {
		sums->has_pair = true;
		sums->query = row->query;
		sums->key = key;
		sums->weight = row->weights[key];
	}
}

static size_t head_number_of(const struct head_consumer *s, size_t batch, size_t layer, size_t head)
{
	return (layer * s->shape.batch + batch) * s->shape.heads + head;
}

/* What the keys get of the block's queries: `shares` is zeroed memory for them. */
static void add_coverage(struct head_consumer *s, const struct row_block *block, const double *totals,
			 double *shares)
{
	size_t number = head_number_of(s, block->batch, block->layer, block->head);
	_Atomic uint64_t *coverage = s->coverage + number * s->shape.keys;
	for (size_t r = 0; r < block->count; r++) {
		const float *weights = block->weights + r * block->keys;
		struct key_span span = row_span(block, r);
		for (size_t k = span.first; k < span.end && totals[r] > 0; k++)
			shares[k] += fabs((double)weights[k]) / totals[r];
	}
	for (size_t k = 0; k < block->keys; k++)
		atomic_fetch_add_explicit(&coverage[k], (uint64_t)(shares[k] / s->coverage_unit + 0.5),
					  memory_order_relaxed);
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct head_consumer *s = (struct head_consumer *)consumer;
	size_t number = head_number_of(s, block->batch, block->layer, block->head);
	struct head_sums *sums = &s->sums[number * s->blocks + block->query / ROWS_BLOCK];
	double totals[ROWS_BLOCK];
	for (size_t r = 0; r < block->count; r++) {
		struct key_span span = row_span(block, r);
		struct look row = {.weights = block->weights + r * block->keys,
				   .cells = row_cells(block, r),
				   .query = block->query + r,
				   .begin = span.first,
				   .end = span.end,
				   .attended = span.end - span.first};
		add_row(s, sums, &row, number);
		totals[r] = row.total;
	}
	if (!s->coverage)
		return ATTN_OK;
	double *shares = array_alloc(block->keys, sizeof *shares);
	if (!shares)
		return attn_fail_memory(err);
	add_coverage(s, block, totals, shares);
	free(shares);
	return ATTN_OK;
}

enum attn_status head_consumer_init(struct head_consumer *s, const struct rows_shape *shape,
				    const struct head_places *places, struct attn_error *err)
{
	size_t heads;
	*s = (struct head_consumer){
	    .consumer = {.consume = consume, .any_order = true, .no_context = true, .spans_only = true},
	    .places = places,
	    .kernels = kernels_best(),
	    .shape = *shape,
	    .blocks = (shape->queries - 1) / ROWS_BLOCK + 1,
	    .coverage_unit = ldexp(1, ilogb((double)shape->queries) - 61)};
	log_table_init(&s->logs);
	bool ok = size_mul(shape->layers, shape->batch, &heads) && size_mul(heads, shape->heads, &heads);
	size_t blocks, numbers;
	ok = ok && size_mul(heads, s->blocks, &blocks) &&
	     size_mul(heads, places->self ? OFFSETS : shape->keys, &numbers);
	if (ok) {
		s->sums = array_alloc(blocks, sizeof *s->sums);
		if (places->self)
			s->offsets = array_alloc(numbers, sizeof *s->offsets);
		else
			s->coverage = array_alloc(numbers, sizeof *s->coverage);
	}
	if (s->sums && (s->offsets || s->coverage))
		return ATTN_OK;
	head_consumer_release(s);
	return attn_fail_memory(err);
}

void head_consumer_release(struct head_consumer *s)
{
	free(s->sums);
	free(s->offsets);
	free(s->coverage);
	*s = (struct head_consumer){0};
}

/* Add up the blocks of a head in their order. */
static void join_blocks(const struct head_sums *blocks, size_t count, struct head_sums *all)
{
	for (size_t i = 0; i < count; i++) {
		const struct head_sums *b = &blocks[i];
		add_part(&all->entropy, &b->entropy);
		add_part(&all->largest, &b->largest);
		add_part(&all->even_entropy, &b->even_entropy);
		add_part(&all->diagonal, &b->diagonal);
		add_part(&all->previous, &b->previous);
		add_part(&all->next, &b->next);
		add_part(&all->first, &b->first);
		add_part(&all->separator, &b->separator);
		add_part(&all->near, &b->near);
		add_part(&all->induction, &b->induction);
		add_part(&all->distance, &b->distance);
		add_part(&all->squares, &b->squares);
		add_part(&all->even_distance, &b->even_distance);
		if (b->has_pair && (!all->has_pair || fabsf(b->weight) > fabsf(all->weight))) {
			all->has_pair = true;
			all->query = b->query;
			all->key = b->key;
			all->weight = b->weight;
		}
	}
}

/* The most frequent offset: from 0 on outwards, the one before first. */
static void find_offset(const struct head_consumer *s, size_t number, struct head_statistics *out)
{
	const _Atomic uint32_t *offsets = s->offsets + number * OFFSETS;
	uint32_t most = 0;
	for (size_t i = 0; i < OFFSETS; i++) {
		int offset = (int)(i + 1) / 2 * (i % 2 ? -1 : 1);
		uint32_t count = atomic_load_explicit(&offsets[OFFSETS_MOST + offset], memory_order_relaxed);
		if (count > most) {
			most = count;
			out->offset = offset;
		}
	}
	if (most > 0)
		out->offset_share = most / (double)out->queries;
}

static double coverage_of(const struct head_consumer *s, size_t number)
{
	const _Atomic uint64_t *coverage = s->coverage + number * s->shape.keys;
	double sum = 0;
	for (size_t k = 0; k < s->shape.keys; k++)
		sum += fmin(
		    (double)atomic_load_explicit(&coverage[k], memory_order_relaxed) * s->coverage_unit, 1);
	return sum / (double)s->shape.keys;
}

struct head_statistics head_statistics_of(const struct head_consumer *s, size_t batch, size_t layer,
					  size_t head)
{
	size_t number = head_number_of(s, batch, layer, head);
	struct head_sums all = {0};
	join_blocks(s->sums + number * s->blocks, s->blocks, &all);
	struct head_statistics out = {
	    .queries = all.entropy.count,
	    .entropy = mean(&all.entropy),
	    .effective_keys = exp2(mean(&all.entropy)),
	    .largest = mean(&all.largest),
	    .diagonal = mean(&all.diagonal),
	    .previous = mean(&all.previous),
	    .next = mean(&all.next),
	    .first = mean(&all.first),
	    .separator = mean(&all.separator),
	    .within5 = mean(&all.near),
	    .distance = mean(&all.distance),
	    .offset = NAN,
	    .offset_share = NAN,
	    .repeats = s->places->after ? (double)all.induction.count : NAN,
	    .induction = mean(&all.induction),
	    .coverage = NAN,
	    .has_pair = all.has_pair,
	    .query = all.query,
	    .key = all.key,
	    .weight = all.weight,
	    .even_entropy = mean(&all.even_entropy),
	    .even_distance = mean(&all.even_distance),
	};
	/* What rounding leaves of a difference is no spread; NAN stays. */
	double squares = mean(&all.squares), variance = squares - out.distance * out.distance;
	out.distance_spread = sqrt(variance < 1e-12 * squares ? 0 : variance);
	if (s->offsets)
		find_offset(s, number, &out);
	if (s->coverage && out.queries > 0)
		out.coverage = coverage_of(s, number);
	return out;
}
