#include "util/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/cgroup.h"

/* A job is described under the lock; tasks are then taken without it. */
static struct pool {
	pthread_mutex_t lock;
	pthread_cond_t posted, finished;
	size_t wanted;     /* threads in all; 0: not asked yet */
	size_t started;    /* threads of the pool, without the caller */
	unsigned long job; /* counts up */
	size_t working;    /* threads of the pool that have not finished the job */
	atomic_size_t next;
	size_t tasks;
	void (*run)(void *context, size_t task, size_t worker);
	void *context;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .posted = PTHREAD_COND_INITIALIZER,
	  .finished = PTHREAD_COND_INITIALIZER};

/* A copy of pool.job that idle threads may watch without the lock. */
static atomic_ulong announced;

size_t threads_available(void)
{
	cpu_set_t allowed;
	size_t count = 1;
	if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
		count = (size_t)CPU_COUNT(&allowed);
	size_t limit = cgroup_processors("");
	count = limit && limit < count ? limit : count;
	return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : count;
}

void threads_set(size_t count)
{
	pool.wanted = count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : count;
}

size_t threads_count(void)
{
	if (pool.wanted == 0)
		threads_set(threads_available());
	return pool.wanted;
}

static void work(size_t worker)
{
	size_t task;
	while ((task = atomic_fetch_add(&pool.next, 1)) < pool.tasks)
		pool.run(pool.context, task, worker);
}

/* Wait for a job after `seen`: for a moment without sleeping, since jobs often
 * follow each other closely. */
static void wait_for_job(unsigned long seen)
{
	enum {
		SPINS = 4000
	};
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&announced, memory_order_acquire) != seen)
			break;
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
}

/* The job before the first one that a thread works on. */
static unsigned long first_seen[THREADS_MAX];

static void *thread_main(void *argument)
{
	size_t worker = (size_t)argument;
	unsigned long seen = first_seen[worker];
	for (;;) {
		wait_for_job(seen);
		pthread_mutex_lock(&pool.lock);
		while (pool.job == seen)
			pthread_cond_wait(&pool.posted, &pool.lock);
		seen = pool.job;
		pthread_mutex_unlock(&pool.lock);
		if (worker < pool.wanted)
			work(worker);
		pthread_mutex_lock(&pool.lock);
		if (--pool.working == 0)
			pthread_cond_signal(&pool.finished);
		pthread_mutex_unlock(&pool.lock);
	}
	return NULL;
}

/* The `index`-th processor of `allowed` that is not `busy`, as a mask. */
static bool other_processor(const cpu_set_t *allowed, int busy, size_t index, cpu_set_t *one)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, allowed) || cpu == busy)
			continue;
		if (index-- == 0) {
			CPU_ZERO(one);
			CPU_SET(cpu, one);
			return true;
		}
	}
	return false;
}

/* A thread without an affinity starts on its parent's processor and may wait
 * milliseconds for another one. */
static bool start_thread(size_t worker)
{
	pthread_t thread;
	pthread_attr_t attributes;
	cpu_set_t allowed, one;
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
	    other_processor(&allowed, sched_getcpu(), worker - 1, &one))
		pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
	first_seen[worker] = pool.job;
	bool ok = pthread_create(&thread, &attributes, thread_main, (void *)worker) == 0;
	pthread_attr_destroy(&attributes);
	return ok;
}

static void start_threads(size_t wanted)
{
	while (pool.started + 1 < wanted && start_thread(pool.started + 1))
		pool.started++;
}

void parallel_for(size_t tasks, void (*run)(void *context, size_t task, size_t worker), void *context)
{
	if (threads_count() == 1 || tasks <= 1) {
		for (size_t task = 0; task < tasks; task++)
			run(context, task, 0);
		return;
	}
	pthread_mutex_lock(&pool.lock);
	start_threads(pool.wanted);
	atomic_store(&pool.next, 0);
	pool.tasks = tasks;
	pool.run = run;
	pool.context = context;
	pool.working = pool.started;
	pool.job++;
	atomic_store_explicit(&announced, pool.job, memory_order_release);
	pthread_cond_broadcast(&pool.posted);
	pthread_mutex_unlock(&pool.lock);
	work(0);
	pthread_mutex_lock(&pool.lock);
	while (pool.working > 0)
		pthread_cond_wait(&pool.finished, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
}

void parallel_for_work(size_t tasks, size_t work, void (*run)(void *context, size_t task, size_t worker),
		       void *context)
{
	if (work >= THREADS_WORTH) {
		parallel_for(tasks, run, context);
		return;
	}
	for (size_t task = 0; task < tasks; task++)
		run(context, task, 0);
}
