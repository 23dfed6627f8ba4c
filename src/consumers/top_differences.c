#include "consumers/top_differences.h"

#include <stdint.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/minmax.h"

enum {
	SPARE = 1024 /* cells beyond those that are kept, before the least are dropped */
};

static int compare_places(const struct cell_difference *x, const struct cell_difference *y)
{
	const size_t a[] = {x->layer, x->batch, x->head, x->query, x->column};
	const size_t b[] = {y->layer, y->batch, y->head, y->query, y->column};
	for (size_t i = 0; i < sizeof a / sizeof *a; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int compare_cells(const void *x, const void *y)
{
	const struct cell_difference *a = x, *b = y;
	double first = difference_of(a->a, a->b), second = difference_of(b->a, b->b);
	if (first != second)
		return first > second ? -1 : 1;
	return compare_places(a, b);
}

void top_differences_sort(struct top_differences *t)
{
	if (t->count > 0)
		qsort(t->cells, t->count, sizeof *t->cells, compare_cells);
	if (t->count == 0 || t->count < t->most)
		return;
	t->count = t->most;
	t->least = difference_of(t->cells[t->count - 1].a, t->cells[t->count - 1].b);
}

/* Room for one more: the least are dropped, or the array grows. */
static enum attn_status make_room(struct top_differences *t, struct attn_error *err)
{
	size_t bytes;
	if (t->count < t->room)
		return ATTN_OK;
	if (t->count > t->most && t->count - t->most > size_min(t->most, SIZE_MAX / 4) + SPARE) {
		top_differences_sort(t);
		return ATTN_OK;
	}
	size_t room = t->room + t->room / 2 + SPARE;
	struct cell_difference *cells =
	    size_mul(room, sizeof *cells, &bytes) ? realloc(t->cells, bytes) : NULL;
	if (!cells)
		return attn_fail_memory(err);
	t->cells = cells;
	t->room = room;
	return ATTN_OK;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct top_differences *t = (struct top_differences *)consumer;
	struct difference_rows rows = difference_rows(block, t->kind, t->stage, t->context_size);
	for (size_t r = 0; r < block->count; r++) {
		const float *a = rows.a + r * rows.a_stride, *b = rows.b + r * rows.b_stride;
		for (size_t c = 0; c < rows.columns; c++) {
			if (difference_of(a[c], b[c]) <= t->least)
				continue;
			TRY(make_room(t, err));
			t->cells[t->count++] = (struct cell_difference){
			    block->layer, block->batch, block->head, block->query + r, c, a[c], b[c]};
		}
	}
	return ATTN_OK;
}

void top_differences_init(struct top_differences *t, size_t most, enum difference_kind kind,
			  enum score_stage stage, size_t context_size)
{
	*t = (struct top_differences){.consumer = {.consume = consume},
				      .most = most,
				      .kind = kind,
				      .stage = stage,
				      .context_size = context_size};
}

void top_differences_release(struct top_differences *t)
{
	free(t->cells);
	*t = (struct top_differences){0};
}
