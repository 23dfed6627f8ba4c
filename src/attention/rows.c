#include "attention/rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

static size_t head_blocks(const struct rows_shape *shape)
{
	return shape->queries / ROWS_BLOCK + (shape->queries % ROWS_BLOCK != 0);
}

bool rows_block_count(const struct rows_shape *shape, size_t *count)
{
	return size_mul(shape->layers, shape->batch, count) && size_mul(*count, shape->heads, count) &&
	       size_mul(*count, head_blocks(shape), count);
}

size_t rows_number(const struct rows_shape *shape, size_t layer, size_t batch, size_t head, size_t query)
{
	return ((layer * shape->batch + batch) * shape->heads + head) * shape->queries + query;
}

size_t rows_before_block(const struct rows_shape *shape, size_t block)
{
	size_t blocks = head_blocks(shape);
	return block / blocks * shape->queries + block % blocks * ROWS_BLOCK;
}

/* Runs of selected queries, each at most a block. */
struct runs {
	struct run {
		size_t query, count;
	} * items;
	size_t count;
};

static bool find_runs(const struct rows_shape *shape, const bool *selected, struct runs *runs)
{
	runs->items = array_alloc(shape->queries, sizeof *runs->items);
	if (!runs->items)
		return false;
	for (size_t query = 0; query < shape->queries; query++) {
		if (!rows_chosen(selected, query))
			continue;
		struct run *last = runs->count ? &runs->items[runs->count - 1] : NULL;
		if (last && last->query + last->count == query && last->count < ROWS_BLOCK)
			last->count++;
		else
			runs->items[runs->count++] = (struct run){query, 1};
	}
	return true;
}

/* A stream in progress: blocks are read in any order and delivered in theirs. */
struct stream {
	struct row_source *source;
	struct row_consumer *const *consumers;
	size_t consumer_count;
	struct runs runs;
	size_t longest; /* rows of the longest run */
	size_t *heads;  /* the selected (layer, batch, head), as one number each */
	bool ordered;   /* deliver one block after the other */
	size_t first;   /* the block that is task 0 */

	pthread_mutex_t lock;
	pthread_cond_t turn_changed;
	size_t turn;         /* the task that is delivered next */
	atomic_bool stopped; /* tasks that begin now do nothing */
	enum attn_status status;
	struct attn_error error;
};

static struct row_block block_of_task(const struct stream *s, size_t task)
{
	const struct rows_shape *shape = &s->source->shape;
	size_t number = s->first + task, head = s->heads[number / s->runs.count];
	const struct run *run = &s->runs.items[number % s->runs.count];
	struct row_block block = {
	    .layer = head / shape->heads / shape->batch,
	    .batch = head / shape->heads % shape->batch,
	    .head = head % shape->heads,
	    .query = run->query,
	    .count = run->count,
	    .keys = shape->keys,
	};
	block.no_context = block.no_weights = block.spans_only = true;
	for (size_t i = 0; i < s->consumer_count; i++) {
		block.no_context &= s->consumers[i]->no_context || s->consumers[i]->passive;
		block.no_weights &= s->consumers[i]->no_weights || s->consumers[i]->passive;
		block.spans_only &= s->consumers[i]->spans_only || s->consumers[i]->passive;
		if (s->consumers[i]->place)
			s->consumers[i]->place(s->consumers[i], &block);
	}
	return block;
}

static void wait_for_turn(struct stream *s, size_t task)
{
	pthread_mutex_lock(&s->lock);
	while (s->turn != task)
		pthread_cond_wait(&s->turn_changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void pass_turn(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->turn++;
	pthread_cond_broadcast(&s->turn_changed);
	pthread_mutex_unlock(&s->lock);
}

/* Keep the first failure; later tasks then do nothing. */
static void fail_stream(struct stream *s, enum attn_status status, const struct attn_error *err)
{
	pthread_mutex_lock(&s->lock);
	if (s->status == ATTN_OK) {
		s->status = status;
		s->error = *err;
	}
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->stopped, true);
}

/* Whether nobody waits for another block. */
static bool all_done(const struct stream *s)
{
	bool any = false;
	for (size_t i = 0; i < s->consumer_count; i++) {
		struct row_consumer *consumer = s->consumers[i];
		if (consumer->done && consumer->done(consumer))
			any = true;
		else if (!consumer->passive)
			return false;
	}
	return any;
}

static void stream_block(void *context, size_t task, size_t worker)
{
	struct stream *s = context;
	struct attn_error err = {ATTN_OK, ""};
	enum attn_status status = ATTN_OK;
	struct row_block block;
	bool read = !atomic_load(&s->stopped);
	if (read) {
		block = block_of_task(s, task);
		status = s->source->read(s->source, worker, &block, &err);
	}
	if (s->ordered)
		wait_for_turn(s, task);
	read &= !atomic_load(&s->stopped);
	for (size_t i = 0; i < s->consumer_count && read && status == ATTN_OK; i++)
		status = s->consumers[i]->consume(s->consumers[i], &block, &err);
	if (status != ATTN_OK)
		fail_stream(s, status, &err);
	else if (read && all_done(s))
		atomic_store(&s->stopped, true);
	if (s->ordered)
		pass_turn(s);
}

static void stream_blocks(struct stream *s, size_t tasks)
{
	size_t cost;
	bool small = size_mul(tasks, s->source->row_cost, &cost) && size_mul(cost, s->longest, &cost) &&
		     cost < THREADS_WORTH;
	for (size_t i = 0; i < s->consumer_count && !small; i++)
		s->ordered |= !s->consumers[i]->any_order;
	if (!small) {
		parallel_for(tasks, stream_block, s);
		return;
	}
	for (size_t task = 0; task < tasks; task++)
		stream_block(s, task, 0);
}

static size_t layer_of_block(const struct stream *s, size_t block)
{
	const struct rows_shape *shape = &s->source->shape;
	return s->heads[block / s->runs.count] / shape->heads / shape->batch;
}

/* Blocks [first, end), layer by layer where the source wants that. */
static void stream_range(struct stream *s, size_t first, size_t end)
{
	for (size_t next; first < end && !atomic_load(&s->stopped); first = next) {
		size_t layer = layer_of_block(s, first);
		next = s->source->begin_layer ? first : end;
		while (next < end && layer_of_block(s, next) == layer)
			next++;
		s->first = first;
		s->turn = 0;
		if (s->source->begin_layer)
			s->status = s->source->begin_layer(s->source, layer, &s->error);
		if (s->status != ATTN_OK)
			return;
		stream_blocks(s, next - first);
	}
}

/* The selected (layer, batch, head) in their order. */
static bool find_heads(const struct rows_shape *shape, const struct rows_selection *selection, size_t **heads,
		       size_t *count)
{
	size_t all = shape->layers * shape->batch * shape->heads;
	*heads = array_alloc(all, sizeof **heads);
	*count = 0;
	if (!*heads)
		return false;
	for (size_t i = 0; i < all; i++)
		if (rows_chosen(selection->layers, i / shape->heads / shape->batch) &&
		    rows_chosen(selection->batch, i / shape->heads % shape->batch) &&
		    rows_chosen(selection->heads, i % shape->heads))
			(*heads)[(*count)++] = i;
	return true;
}

enum attn_status rows_stream(struct row_source *source, const struct rows_selection *selection,
			     struct row_consumer *const *consumers, size_t consumer_count,
			     struct attn_error *err)
{
	static const struct rows_selection all = {0};
	struct stream s = {
	    .source = source,
	    .consumers = consumers,
	    .consumer_count = consumer_count,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .turn_changed = PTHREAD_COND_INITIALIZER,
	};
	size_t heads, tasks = 0;
	if (!selection)
		selection = &all;
	if (!find_heads(&source->shape, selection, &s.heads, &heads) ||
	    !find_runs(&source->shape, selection->queries, &s.runs) || !size_mul(heads, s.runs.count, &tasks))
		s.status = attn_fail_memory(&s.error);
	for (size_t i = 0; i < s.runs.count; i++)
		s.longest = size_max(s.longest, s.runs.items[i].count);
	if (s.status == ATTN_OK && source->start)
		s.status = source->start(source, &s.error);
	if (s.status == ATTN_OK)
		stream_range(&s, selection->first_block,
			     selection->last_block > 0 ? selection->last_block : tasks);
	if (s.status != ATTN_OK && err)
		*err = s.error;
	free(s.heads);
	free(s.runs.items);
	return s.status;
}
