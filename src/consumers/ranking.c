/* Ranking with bounded lists: only the top k are kept. */
#include "consumers/ranking.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	CHUNK = 256 /* keys that are looked at one by one if one of them is heavy enough */
};

/* Put (index, weight) into a list of at most `kept`, heaviest first.  Indices
 * come in ascending order, so an equal weight goes behind. */
static void insert(struct ranked *list, size_t *count, size_t kept, size_t index, float weight)
{
	if (*count == kept && weight <= list[kept - 1].weight)
		return;
	size_t low = 0, high = *count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list[middle].weight >= weight)
			low = middle + 1;
		else
			high = middle;
	}
	size_t last = *count < kept ? (*count)++ : kept - 1;
	memmove(&list[low + 1], &list[low], (last - low) * sizeof *list);
	list[low] = (struct ranked){index, weight};
}

/* Number of the list of (batch, layer, head, slot). */
static size_t list_number(const struct ranking *s, size_t batch, size_t layer, size_t head, size_t slot)
{
	return ((batch * s->shape->layers + layer) * s->rows + head) * s->slot_count + slot;
}

/* One attended pair of a subject and what it is ranked with. */
static void add_pair(struct ranking *s, const struct row_block *block, size_t slot, size_t other,
		     float weight)
{
	size_t number = list_number(s, block->batch, block->layer, block->head, slot);
	insert(s->entries + number * s->kept, &s->counts[number], s->kept, other, weight);
	if (s->options.mean) {
		size_t cell = ((block->batch * s->shape->layers + block->layer) * s->slot_count + slot) *
				  s->other_count +
			      other;
		s->sums[cell] += (double)weight;
		s->attended[cell] = 1;
	}
}

/* Whether a pair is listed at all. */
static bool is_listed(const struct ranking *s, size_t query, size_t key, const unsigned char *cells)
{
	size_t distance = s->options.min_distance;
	return (!cells || cell_has_weight(cells[key])) &&
	       (distance == 0 || !rows_are_near(s->options.info, query, key, distance));
}

/* Where the next weight above the list's last may be, from `key` on: most of a long row are below, which
 * one comparison tells of a chunk. */
static size_t skip_light(const struct ranking *s, const float *weights, size_t key, size_t end, float last)
{
	while (s->kernels && key < end &&
	       s->kernels->largest(weights + key, size_min(end - key, CHUNK)) <= last)
		key += CHUNK;
	return size_min(key, end);
}

/* Rank the keys of one query. */
static void rank_keys(struct ranking *s, const struct row_block *block, size_t r)
{
	size_t slot = s->slots[block->query + r];
	const float *weights = block->weights + r * block->keys;
	const unsigned char *cells = row_cells(block, r);
	struct key_span span = row_span(block, r);
	size_t number = list_number(s, block->batch, block->layer, block->head, slot);
	const struct ranked *last = &s->entries[number * s->kept + s->kept - 1];
	for (size_t key = span.first, next = key; key < span.end; key++) {
		bool full = !s->options.mean && s->counts[number] == s->kept;
		if (full && key >= next) {
			key = skip_light(s, weights, key, span.end, last->weight);
			next = key + CHUNK;
			if (key == span.end)
				break;
		}
		if (full && weights[key] <= last->weight)
			continue;
		if (is_listed(s, block->query + r, key, cells))
			add_pair(s, block, slot, key, weights[key]);
	}
}

/* Rank one query for each key. */
static void rank_query(struct ranking *s, const struct row_block *block, size_t r)
{
	const float *weights = block->weights + r * block->keys;
	const unsigned char *cells = row_cells(block, r);
	struct key_span span = row_span(block, r);
	for (size_t key = span.first; key < span.end; key++)
		if (s->slots[key] != SIZE_MAX && is_listed(s, block->query + r, key, cells))
			add_pair(s, block, s->slots[key], block->query + r, weights[key]);
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct ranking *s = (struct ranking *)consumer;
	(void)err;
	if (s->options.mean)
		s->heads_done[block->head] = true;
	for (size_t r = 0; r < block->count; r++) {
		if (s->options.to)
			rank_query(s, block, r);
		else if (s->slots[block->query + r] != SIZE_MAX)
			rank_keys(s, block, r);
	}
	return ATTN_OK;
}

static void rank_means(struct ranking *s)
{
	size_t heads = 0, lists = s->shape->batch * s->shape->layers;
	for (size_t h = 0; h < s->shape->heads; h++)
		heads += s->heads_done[h];
	for (size_t item = 0; item < lists * s->slot_count; item++) {
		size_t number =
		    list_number(s, 0, item / s->slot_count, ranking_mean(s), item % s->slot_count);
		for (size_t other = 0; other < s->other_count; other++) {
			size_t cell = item * s->other_count + other;
			if (s->attended[cell])
				insert(s->entries + number * s->kept, &s->counts[number], s->kept, other,
				       (float)(s->sums[cell] / (double)heads));
		}
	}
}

const struct ranked *ranking_list(struct ranking *s, size_t batch, size_t layer, size_t head, size_t subject,
				  size_t *count)
{
	if (s->options.mean && !s->finished) {
		rank_means(s);
		s->finished = true;
	}
	*count = 0;
	if (s->slots[subject] == SIZE_MAX)
		return NULL;
	size_t number = list_number(s, batch, layer, head, s->slots[subject]);
	*count = s->counts[number];
	return s->entries + number * s->kept;
}

static enum attn_status allocate(struct ranking *s, struct attn_error *err)
{
	size_t lists, cells;
	if (!size_mul(s->shape->batch, s->shape->layers, &lists) || !size_mul(lists, s->slot_count, &lists) ||
	    !size_mul(lists, s->other_count, &cells) || !size_mul(lists, s->rows, &lists))
		return attn_fail_memory(err);
	s->entries = array_alloc(lists, s->kept * sizeof *s->entries);
	s->counts = array_alloc(lists, sizeof *s->counts);
	s->heads_done = array_alloc(s->shape->heads, sizeof *s->heads_done);
	if (s->options.mean) {
		s->sums = array_alloc(cells, sizeof *s->sums);
		s->attended = array_alloc(cells, 1);
	}
	bool ok = s->entries && s->counts && s->heads_done && (!s->options.mean || (s->sums && s->attended));
	return ok ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status ranking_init(struct ranking *s, const struct rows_shape *shape,
			      const struct ranking_options *options, struct attn_error *err)
{
	/* Lists of queries are of one block each. */
	bool apart = !options->to && !options->mean;
	*s = (struct ranking){.consumer = {.consume = consume, .spans_only = true, .any_order = apart},
			      .kernels = kernels_best(),
			      .shape = shape,
			      .options = *options};
	s->subject_count = options->to ? shape->keys : shape->queries;
	s->other_count = options->to ? shape->queries : shape->keys;
	s->kept = options->top < s->other_count ? options->top : s->other_count;
	s->rows = shape->heads + options->mean;
	s->slots = array_alloc(s->subject_count, sizeof *s->slots);
	if (!s->slots)
		return attn_fail_memory(err);
	for (size_t i = 0; i < s->subject_count; i++)
		s->slots[i] = !options->subjects || options->subjects[i] ? s->slot_count++ : SIZE_MAX;
	s->options.subjects = NULL; /* the caller's array is no longer needed */
	enum attn_status status = allocate(s, err);
	if (status != ATTN_OK)
		ranking_release(s);
	return status;
}

void ranking_release(struct ranking *s)
{
	free(s->slots);
	free(s->entries);
	free(s->counts);
	free(s->sums);
	free(s->attended);
	free(s->heads_done);
	*s = (struct ranking){0};
}
