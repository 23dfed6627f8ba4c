#include "consumers/pairs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"

/* A row of several queries, until the last of them has come. */
struct open_row {
	struct span query;
	size_t rows;             /* of its queries, that attend to a key */
	size_t first, end;       /* its pairs in `order` */
	double *sum;             /* (keys), owned */
	unsigned char *attended; /* (keys), owned */
};

/* --- one pair in its row --------------------------------------------------------- */

static struct pair_figures look_up(const struct span *key, const double *row, const unsigned char *attended,
				   size_t keys, double rows)
{
	struct pair_figures f = {.other = SIZE_MAX};
	double weight = 0, largest = 0;
	bool is_attended = false;
	for (size_t k = key->first; k < key->end; k++) {
		weight += row[k];
		is_attended |= attended[k] != 0;
	}
	size_t before = 0;
	for (size_t k = 0; k < keys; k++) {
		if (!attended[k] || (k >= key->first && k < key->end))
			continue;
		before += row[k] > weight || (row[k] == weight && k < key->first);
		if (f.other == SIZE_MAX || row[k] > largest) {
			largest = row[k];
			f.other = k;
		}
	}
	f.weight = (float)(weight / rows);
	f.margin = (float)((weight - largest) / rows);
	f.rank = is_attended ? before + 1 : 0;
	return f;
}

static void close_row(struct pairs_consumer *s, const struct row_block *block, const struct open_row *row)
{
	size_t base =
	    ((block->layer * s->shape->batch + block->batch) * s->shape->heads + block->head) * s->count;
	double rows = row->rows ? (double)row->rows : 1;
	for (size_t i = row->first; i < row->end; i++) {
		size_t pair = s->order[i];
		s->figures[base + pair] =
		    look_up(&s->pairs[pair].key, row->sum, row->attended, block->keys, rows);
	}
}

/* --- rows --------------------------------------------------------------------------- */

static void add_row(struct open_row *row, const struct row_block *block, size_t r)
{
	const float *weights = block->weights + r * block->keys;
	const unsigned char *cells = block->cells + r * block->keys;
	bool any = false;
	for (size_t k = 0; k < block->keys; k++) {
		if (!cell_has_weight(cells[k]))
			continue;
		row->sum[k] += (double)weights[k];
		row->attended[k] = 1;
		any = true;
	}
	row->rows += any;
}

static enum attn_status open_row(struct pairs_consumer *s, struct open_row *row, struct attn_error *err)
{
	size_t keys = s->shape->keys;
	if (s->open_count == s->open_room) {
		size_t room = 2 * s->open_room + 4;
		struct open_row *open = reallocarray(s->open, room, sizeof *open);
		if (!open)
			return attn_fail_memory(err);
		s->open = open;
		s->open_room = room;
	}
	row->sum = array_alloc(keys, sizeof *row->sum);
	row->attended = array_alloc(keys, 1);
	s->open[s->open_count++] = *row;
	return row->sum && row->attended ? ATTN_OK : attn_fail_memory(err);
}

static void drop_row(struct open_row *row)
{
	free(row->sum);
	free(row->attended);
}

/* Pairs whose queries begin at row r: those of one query are done with at once. */
static enum attn_status begin_rows(struct pairs_consumer *s, const struct row_block *block, size_t r,
				   struct attn_error *err)
{
	size_t query = block->query + r;
	while (s->next < s->count && s->pairs[s->order[s->next]].query.first == query) {
		struct open_row row = {.query = s->pairs[s->order[s->next]].query, .first = s->next};
		while (s->next < s->count && s->pairs[s->order[s->next]].query.first == query &&
		       s->pairs[s->order[s->next]].query.end == row.query.end)
			s->next++;
		row.end = s->next;
		if (row.query.end - row.query.first > 1) {
			TRY(open_row(s, &row, err));
			continue;
		}
		memset(s->row, 0, block->keys * sizeof *s->row);
		memset(s->attended, 0, block->keys);
		row.sum = s->row;
		row.attended = s->attended;
		add_row(&row, block, r);
		close_row(s, block, &row);
	}
	return ATTN_OK;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct pairs_consumer *s = (struct pairs_consumer *)consumer;
	/* Blocks of a head come in order; where its first ones have no pairs, they may not come. */
	if (s->next == s->count && s->open_count == 0)
		s->next = 0;
	for (size_t r = 0; r < block->count; r++) {
		TRY(begin_rows(s, block, r, err));
		for (size_t i = 0; i < s->open_count;) {
			struct open_row *row = &s->open[i];
			add_row(row, block, r);
			if (row->query.end > block->query + r + 1) {
				i++;
				continue;
			}
			close_row(s, block, row);
			drop_row(row);
			*row = s->open[--s->open_count];
		}
	}
	return ATTN_OK;
}

/* --- opening ----------------------------------------------------------------------- */

/* By query, then as they were given. */
static int compare(const void *a, const void *b, void *pairs)
{
	const struct pair *sorted = *(const struct pair *const *)pairs;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct span *p = &sorted[i].query, *q = &sorted[j].query;
	if (p->first != q->first)
		return p->first < q->first ? -1 : 1;
	if (p->end != q->end)
		return p->end < q->end ? -1 : 1;
	return i < j ? -1 : i > j;
}

enum attn_status pairs_consumer_init(struct pairs_consumer *s, const struct rows_shape *shape,
				     const struct pair *pairs, size_t count, struct attn_error *err)
{
	size_t heads;
	*s = (struct pairs_consumer){.consumer = {.consume = consume, .no_context = true},
				     .shape = shape,
				     .pairs = pairs,
				     .count = count};
	if (!size_mul(shape->layers, shape->batch, &heads) || !size_mul(heads, shape->heads, &heads) ||
	    !size_mul(heads, count, &heads))
		return attn_fail_memory(err);
	s->order = array_alloc(count, sizeof *s->order);
	s->row = array_alloc(shape->keys, sizeof *s->row);
	s->attended = array_alloc(shape->keys, 1);
	s->figures = array_alloc(heads, sizeof *s->figures);
	if (!s->order || !s->row || !s->attended || !s->figures) {
		pairs_consumer_release(s);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < count; i++)
		s->order[i] = i;
	qsort_r(s->order, count, sizeof *s->order, compare, &s->pairs);
	return ATTN_OK;
}

void pairs_consumer_release(struct pairs_consumer *s)
{
	for (size_t i = 0; i < s->open_count; i++)
		drop_row(&s->open[i]);
	free(s->open);
	free(s->order);
	free(s->row);
	free(s->attended);
	free(s->figures);
	*s = (struct pairs_consumer){0};
}

/* --- what came out -------------------------------------------------------------------- */

const struct pair_figures *pair_figures_of(const struct pairs_consumer *s, size_t layer, size_t batch,
					   size_t head, size_t i)
{
	return &s->figures[((layer * s->shape->batch + batch) * s->shape->heads + head) * s->count + i];
}

struct pair_score pair_score_of(const struct pairs_consumer *s, size_t layer, size_t batch, size_t head,
				size_t group)
{
	struct pair_score score = {.layer = layer, .batch = batch, .head = head, .group = group};
	size_t first = 0, attended = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct pair_figures *f = pair_figures_of(s, layer, batch, head, i);
		if (s->pairs[i].group != group)
			continue;
		score.count++;
		first += f->rank == 1;
		attended += f->rank > 0;
		score.rank += (double)f->rank;
		score.weight += (double)f->weight;
	}
	score.accuracy = score.count ? (double)first / (double)score.count : 0;
	score.weight = score.count ? score.weight / (double)score.count : 0;
	score.rank = attended ? score.rank / (double)attended : 0;
	return score;
}

/* By distance, then the negative first. */
static int compare_offsets(const void *a, const void *b)
{
	long long p = *(const long long *)a, q = *(const long long *)b;
	if (llabs(p) != llabs(q))
		return llabs(p) < llabs(q) ? -1 : 1;
	return p < q ? -1 : p > q;
}

bool pairs_baseline(const struct pair *pairs, size_t count, size_t group, const size_t *queries,
		    const size_t *keys, double *share, long long *offset)
{
	long long *offsets = array_alloc(count, sizeof *offsets);
	size_t found = 0, most = 0;
	if (!offsets)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t q = pairs[i].query.first, k = pairs[i].key.first;
		if (pairs[i].group == group)
			offsets[found++] =
			    (long long)(keys ? keys[k] : k) - (long long)(queries ? queries[q] : q);
	}
	qsort(offsets, found, sizeof *offsets, compare_offsets);
	*offset = 0;
	for (size_t i = 0, run = 0; i < found; i++) {
		run = i > 0 && offsets[i] == offsets[i - 1] ? run + 1 : 1;
		if (run > most) {
			most = run;
			*offset = offsets[i];
		}
	}
	*share = found ? (double)most / (double)found : 0;
	free(offsets);
	return true;
}
