#include "core/rows.h"

#include <pthread.h>
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

	pthread_mutex_t lock;
	pthread_cond_t turn_changed;
	size_t turn; /* the block that is delivered next */
	enum attn_status status;
	struct attn_error error;
};

static void place_block(const struct stream *s, struct row_block *block)
{
	for (size_t i = 0; i < s->sink_count && !block->destination; i++)
		if (s->sinks[i]->place)
			block->destination = s->sinks[i]->place(s->sinks[i], block);
}

/* Wait until it is the turn of `task`; false when the stream has failed. */
static bool wait_for_turn(struct stream *s, size_t task)
{
	pthread_mutex_lock(&s->lock);
	while (s->turn != task)
		pthread_cond_wait(&s->turn_changed, &s->lock);
	bool ok = s->status == ATTN_OK;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

static void pass_turn(struct stream *s, enum attn_status status, const struct attn_error *err)
{
	pthread_mutex_lock(&s->lock);
	if (status != ATTN_OK && s->status == ATTN_OK) {
		s->status = status;
		s->error = *err;
	}
	s->turn++;
	pthread_cond_broadcast(&s->turn_changed);
	pthread_mutex_unlock(&s->lock);
}

static bool has_failed(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	bool failed = s->status != ATTN_OK;
	pthread_mutex_unlock(&s->lock);
	return failed;
}

static void stream_block(void *context, size_t task, size_t worker)
{
	struct stream *s = context;
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
	struct attn_error err = {ATTN_OK, ""};
	enum attn_status status = ATTN_OK;
	if (!has_failed(s)) {
		place_block(s, &block);
		status = s->source->read(s->source, worker, &block, &err);
	}
	bool ok = wait_for_turn(s, task);
	for (size_t i = 0; i < s->sink_count && ok && status == ATTN_OK; i++)
		status = s->sinks[i]->consume(s->sinks[i], &block, &err);
	pass_turn(s, status, &err);
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
	size_t heads, tasks;
	if (!selection)
		selection = &all;
	if (!find_heads(source->info, selection, &s.heads, &heads) ||
	    !find_runs(source->info, selection->queries, &s.runs) || !size_mul(heads, s.runs.count, &tasks))
		s.status = attn_fail_memory(&s.error);
	else
		parallel_for(tasks, stream_block, &s);
	if (s.status != ATTN_OK && err)
		*err = s.error;
	free(s.heads);
	free(s.runs.items);
	return s.status;
}
