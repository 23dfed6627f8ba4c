#include "core/rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/threads.h"

void rows_info_release(struct rows_info *info)
{
	string_list_release(&info->query_labels);
	string_list_release(&info->key_labels);
	string_list_release(&info->head_names);
	*info = (struct rows_info){0};
}

static bool chosen(const bool *selected, size_t i)
{
	return !selected || selected[i];
}

/* Runs of selected queries, each at most a block. */
struct runs {
	struct run {
		size_t query, count;
	} * items;
	size_t count;
};

static bool find_runs(const struct rows_info *info, const bool *selected, struct runs *runs)
{
	runs->items = array_alloc(info->queries, sizeof *runs->items);
	if (!runs->items)
		return false;
	for (size_t query = 0; query < info->queries; query++) {
		if (!chosen(selected, query))
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
	struct row_sink *const *sinks;
	size_t sink_count;
	struct runs runs;
	size_t *heads; /* the selected (layer, batch, head), as one number each */
	bool ordered;  /* deliver one block after the other */

	pthread_mutex_t lock;
	pthread_cond_t turn_changed;
	size_t turn; /* the block that is delivered next */
	atomic_bool failed;
	enum attn_status status;
	struct attn_error error;
};

static struct row_block block_of_task(const struct stream *s, size_t task)
{
	const struct rows_info *info = s->source->info;
	size_t head = s->heads[task / s->runs.count];
	const struct run *run = &s->runs.items[task % s->runs.count];
	struct row_block block = {
	    .layer = head / info->heads / info->batch,
	    .batch = head / info->heads % info->batch,
	    .head = head % info->heads,
	    .query = run->query,
	    .count = run->count,
	    .keys = info->keys,
	};
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i]->place)
			s->sinks[i]->place(s->sinks[i], &block);
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
	atomic_store(&s->failed, true);
}

static void stream_block(void *context, size_t task, size_t worker)
{
	struct stream *s = context;
	struct attn_error err = {ATTN_OK, ""};
	enum attn_status status = ATTN_OK;
	struct row_block block;
	bool read = !atomic_load(&s->failed);
	if (read) {
		block = block_of_task(s, task);
		status = s->source->read(s->source, worker, &block, &err);
	}
	if (s->ordered)
		wait_for_turn(s, task);
	read &= !atomic_load(&s->failed);
	for (size_t i = 0; i < s->sink_count && read && status == ATTN_OK; i++)
		status = s->sinks[i]->consume(s->sinks[i], &block, &err);
	if (status != ATTN_OK)
		fail_stream(s, status, &err);
	if (s->ordered)
		pass_turn(s);
}

/* Below this many multiply-adds, waking threads costs more than they save. */
static const size_t SERIAL_COST = (size_t)4 << 20;

static void stream_blocks(struct stream *s, size_t heads, size_t rows)
{
	size_t tasks = heads * s->runs.count, cost;
	bool small = size_mul(heads * rows, s->source->row_cost, &cost) && cost < SERIAL_COST;
	for (size_t i = 0; i < s->sink_count && !small; i++)
		s->ordered |= !s->sinks[i]->any_order;
	if (!small) {
		parallel_for(tasks, stream_block, s);
		return;
	}
	for (size_t task = 0; task < tasks; task++)
		stream_block(s, task, 0);
}

/* The selected (layer, batch, head) in their order. */
static bool find_heads(const struct rows_info *info, const struct rows_selection *selection, size_t **heads,
		       size_t *count)
{
	size_t all = info->layers * info->batch * info->heads;
	*heads = array_alloc(all, sizeof **heads);
	*count = 0;
	if (!*heads)
		return false;
	for (size_t i = 0; i < all; i++)
		if (chosen(selection->layers, i / info->heads / info->batch) &&
		    chosen(selection->batch, i / info->heads % info->batch) &&
		    chosen(selection->heads, i % info->heads))
			(*heads)[(*count)++] = i;
	return true;
}

enum attn_status rows_stream(struct row_source *source, const struct rows_selection *selection,
			     struct row_sink *const *sinks, size_t sink_count, struct attn_error *err)
{
	static const struct rows_selection all = {0};
	struct stream s = {
	    .source = source,
	    .sinks = sinks,
	    .sink_count = sink_count,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .turn_changed = PTHREAD_COND_INITIALIZER,
	};
	size_t heads, tasks, rows = 0;
	if (!selection)
		selection = &all;
	if (!find_heads(source->info, selection, &s.heads, &heads) ||
	    !find_runs(source->info, selection->queries, &s.runs) || !size_mul(heads, s.runs.count, &tasks))
		s.status = attn_fail_memory(&s.error);
	for (size_t i = 0; i < s.runs.count; i++)
		rows += s.runs.items[i].count;
	if (s.status == ATTN_OK)
		stream_blocks(&s, heads, rows);
	if (s.status != ATTN_OK && err)
		*err = s.error;
	free(s.heads);
	free(s.runs.items);
	return s.status;
}
