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
	struct row_consumer consumer;
	const struct command *self;
	const struct row_source *source;
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

static size_t query_work(const struct row_source *source, size_t batch, size_t query)
{
	return source->query_work ? source->query_work(source, batch, query) : 1;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct progress *p = (struct progress *)consumer;
	size_t work = 0;
	(void)err;
	for (size_t r = 0; r < block->count; r++)
		work += query_work(p->source, block->batch, block->query + r);
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
	const struct rows_shape *shape = &source->shape;
	size_t rows = shape->layers * shape->batch * shape->heads * shape->queries, first = 0;
	double total = 0;
	if (s && s->last_block > 0) {
		first = rows_before_block(shape, s->first_block);
		rows = rows_before_block(shape, s->last_block);
	}
	for (size_t row = first; row < rows; row++) {
		size_t query = row % shape->queries, head = row / shape->queries % shape->heads;
		size_t batch = row / shape->queries / shape->heads % shape->batch;
		size_t layer = row / shape->queries / shape->heads / shape->batch;
		if (!s || (rows_chosen(s->queries, query) && rows_chosen(s->heads, head) &&
			   rows_chosen(s->batch, batch) && rows_chosen(s->layers, layer)))
			total += (double)query_work(source, batch, query);
	}
	return total;
}

static enum attn_status stream(const struct command *self, struct row_source *source,
			       const struct rows_selection *selection, struct row_consumer *const *consumers,
			       size_t consumer_count, struct attn_error *err)
{
	struct row_consumer *all[PROGRESS_CONSUMERS + 1];
	assert(consumer_count <= PROGRESS_CONSUMERS);
	if (!isatty(STDERR_FILENO) || report_is_quiet())
		return rows_stream(source, selection, consumers, consumer_count, err);
	struct progress p = {
	    .consumer = {.consume = consume, .any_order = true, .passive = true},
	    .self = self,
	    .source = source,
	    .total = total_work(source, selection),
	    .start = now(),
	};
	memcpy(all, consumers, consumer_count * sizeof *consumers);
	all[consumer_count] = &p.consumer;
	enum attn_status status = rows_stream(source, selection, all, consumer_count + 1, err);
	progress_erase();
	return status;
}

enum attn_status progress_stream(const struct command *self, struct row_source *source,
				 const struct rows_selection *selection,
				 struct row_consumer *const *consumers, size_t consumer_count,
				 struct attn_error *err)
{
	char remark[400];
	TRY(stream(self, source, selection, consumers, consumer_count, err));
	if (source->remark && source->remark(source, remark, sizeof remark))
		report_note(self, "%s", remark);
	return ATTN_OK;
}
