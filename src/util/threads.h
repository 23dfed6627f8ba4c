/* Threads that share out numbered tasks.
 *
 * A pool of threads is started on first use, each on a processor of its own, and
 * kept until the process ends.
 */
#ifndef ATTN_UTIL_THREADS_H
#define ATTN_UTIL_THREADS_H

#include <stddef.h>

enum {
	THREADS_MAX = 256
};

/* How many processors this process may use: its affinity mask and the limits of its
 * control group; at least 1. */
size_t threads_available(void);

/* Set how many threads parallel_for uses (1 to THREADS_MAX); threads_available()
 * until it is called.  Not while parallel_for runs. */
void threads_set(size_t count);
size_t threads_count(void);

/* Call run(context, task, worker) for every task in [0, tasks), by several threads;
 * tasks are taken in ascending order as threads become free.  `worker`, below
 * threads_count(), tells calls apart that may run at the same time.  Returns when
 * all are done.  The caller works too; where no thread can be started it does all
 * the work.  Not from within a task, nor from two threads at a time. */
void parallel_for(size_t tasks, void (*run)(void *context, size_t task, size_t worker), void *context);

/* Fewer multiply-adds than these are not worth starting or waking threads, which takes
 * some 0.1 ms, and milliseconds the first time. */
#define THREADS_WORTH ((size_t)4 << 20)

/* The same, but the caller does all tasks itself where `work`, about how many
 * multiply-adds they take together, is below THREADS_WORTH. */
void parallel_for_work(size_t tasks, size_t work, void (*run)(void *context, size_t task, size_t worker),
		       void *context);

#endif
