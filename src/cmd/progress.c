#include "cmd/progress.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double FIRST_SECONDS = 2, NEXT_SECONDS = 0.1;

/* The line that is shown: one a process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shown; /* its columns */

struct progress {
	struct row_consumer sink;
	const struct command *self;
	const struct masking *masking;
	atomic_size_t done; /* pairs of a query and a key, as far as their number is known */
	double total;
	double start, last; /* seconds; `last` under the lock */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Plain characters only: any terminal can do this. */
static void write_line(const char *text)
{
	int length = (int)strlen(text);
	fprintf(stderr, "\r%s%*s", text, shown > length ? shown - length : 0, "");
	if (length == 0)
		fputc('\r', stderr);
	fflush(stderr);
	shown = length;
}

void progress_erase(void)
{
	pthread_mutex_lock(&lock);
	if (shown)
		write_line("");
	pthread_mutex_unlock(&lock);
}

static void show(const struct progress *p, double elapsed)
{
	char text[120];
	double done = (double)atomic_load(&p->done) / p->total, left;
	if (done <= 0)
		return;
	done = done > 1 ? 1 : done;
	left = elapsed / done - elapsed;
	if (left < 100)
		snprintf(text, sizeof text, "%s: %.0f %%, about %.0f s left", p->self->title, done * 100,
			 left);
	else
		snprintf(text, sizeof text, "%s: %.0f %%, about %.0f min left", p->self->title, done * 100,
			 left / 60);
	write_line(text);
}

/* What a query costs is about the keys that it may see. */
static size_t query_work(const struct masking *v, size_t batch, size_t query)
{
	return masking_count(v, batch, query) + v->appended_keys + 1;
}

static enum attn_status consume(struct row_consumer *sink, const struct row_block *block,
				struct attn_error *err)
{
	struct progress *p = (struct progress *)sink;
	size_t work = 0;
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		work += query_work(p->masking, block->batch, block->query + r);
	atomic_fetch_add(&p->done, work);
	double time = now();
	if (time - p->start < FIRST_SECONDS || pthread_mutex_trylock(&lock) != 0)
		return ATTN_OK;
	if (time - p->last >= NEXT_SECONDS) {
		p->last = time;
		show(p, time - p->start);
	}
	pthread_mutex_unlock(&lock);
	return ATTN_OK;
}

static double total_work(const struct row_source *source, const struct rows_selection *s)
{
	const struct rows_info *info = source->info;
	size_t rows = info->layers * info->batch * info->heads * info->queries, first = 0;
	double total = 0;
	if (s && s->last_block > 0) {
		first = rows_before_block(info, s->first_block);
		rows = rows_before_block(info, s->last_block);
	}
	for (size_t row = first; row < rows; row++) {
		size_t query = row % info->queries, head = row / info->queries % info->heads;
		size_t batch = row / info->queries / info->heads % info->batch;
		size_t layer = row / info->queries / info->heads / info->batch;
		if (!s || (rows_chosen(s->queries, query) && rows_chosen(s->heads, head) &&
			   rows_chosen(s->batch, batch) && rows_chosen(s->layers, layer)))
			total += (double)query_work(source->masking, batch, query);
	}
	return total;
}

enum attn_status progress_stream(const struct command *self, struct row_source *source,
				 const struct rows_selection *selection, struct row_consumer *const *sinks,
				 size_t consumer_count, struct attn_error *err)
{
	struct row_consumer *all[PROGRESS_CONSUMERS + 1];
	assert(consumer_count <= PROGRESS_CONSUMERS);
	if (!isatty(STDERR_FILENO))
		return rows_stream(source, selection, sinks, consumer_count, err);
	struct progress p = {
	    .sink = {.consume = consume, .any_order = true, .passive = true},
	    .self = self,
	    .masking = source->masking,
	    .total = total_work(source, selection),
	    .start = now(),
	};
	memcpy(all, sinks, consumer_count * sizeof *sinks);
	all[consumer_count] = &p.sink;
	enum attn_status status = rows_stream(source, selection, all, consumer_count + 1, err);
	progress_erase();
	return status;
}
