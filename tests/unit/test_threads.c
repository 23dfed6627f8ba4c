/* Threads that share out tasks, and how many there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cgroup.h"
#include "util/threads.h"

/* --- tasks -------------------------------------------------------------------- */

enum {
	MANY = 3000
};

/* Assertions belong to the caller's thread: tasks count what is wrong. */
struct counts {
	atomic_int runs[MANY];           /* of a task */
	atomic_int busy[THREADS_MAX];    /* whether a worker's number is in use */
	size_t plain[MANY];              /* written without a lock, read after */
	atomic_size_t wrong, last, used; /* used: a bit for each of the first workers */
};

static void count_task(void *context, size_t task, size_t worker)
{
	struct counts *c = context;
	if (worker >= threads_count() || atomic_fetch_add(&c->busy[worker], 1) != 0) {
		atomic_fetch_add(&c->wrong, 1);
		return;
	}
	atomic_fetch_add(&c->runs[task], 1);
	atomic_fetch_or(&c->used, (size_t)1 << worker);
	c->plain[task] = task + 1;
	for (volatile int i = 0; i < 50; i++)
		;
	atomic_fetch_sub(&c->busy[worker], 1);
}

static void check_tasks(size_t threads, size_t tasks)
{
	static struct counts c;
	memset(&c, 0, sizeof c);
	threads_set(threads);
	assert_int_equal(threads_count(), threads);
	parallel_for(tasks, count_task, &c);
	assert_int_equal(c.wrong, 0);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(c.runs[i], i < tasks ? 1 : 0);
		assert_int_equal(c.plain[i], i < tasks ? i + 1 : 0);
	}
	assert_true(c.used < (size_t)1 << threads);
}

/* More and fewer threads than before, and more than there are processors. */
static void test_every_task_runs_once(void **state)
{
	static const size_t tasks[] = {0, 1, 2, 3, 7, 100, MANY};
	(void)state;
	for (size_t round = 0; round < 3; round++)
		for (size_t t = 0; t < 9; t++)
			for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
				check_tasks(t < 5 ? t + 1 : 9 - t, tasks[i]);
}

/* Tasks that wait for each other: as many run at the same time as there are threads. */
static void meet(void *context, size_t task, size_t worker)
{
	struct counts *c = context;
	(void)task;
	atomic_fetch_or(&c->used, (size_t)1 << worker);
	atomic_fetch_add(&c->last, 1);
	while (atomic_load(&c->last) < threads_count())
		sched_yield();
}

static void test_all_threads_work(void **state)
{
	(void)state;
	for (size_t threads = 2; threads <= 5; threads++) {
		static struct counts c;
		memset(&c, 0, sizeof c);
		threads_set(threads);
		parallel_for(threads, meet, &c);
		assert_int_equal(c.used, ((size_t)1 << threads) - 1);
	}
}

/* Tasks begin in ascending order: a consumer that takes blocks in order relies on it. */
static void take_in_order(void *context, size_t task, size_t worker)
{
	struct counts *c = context;
	(void)worker;
	while (atomic_load(&c->last) != task) /* never comes, if a later task could be first */
		sched_yield();
	c->plain[0] += task;
	atomic_store(&c->last, task + 1);
}

static void test_tasks_ascend(void **state)
{
	(void)state;
	for (size_t threads = 1; threads <= 5; threads++) {
		static struct counts c;
		memset(&c, 0, sizeof c);
		threads_set(threads);
		parallel_for(500, take_in_order, &c);
		assert_int_equal(c.last, 500);
		assert_int_equal(c.plain[0], 500 * 499 / 2);
	}
}

static void add_one(void *context, size_t task, size_t worker)
{
	size_t *sums = context;
	(void)worker;
	sums[task]++;
}

/* Jobs that follow each other at once, or after the threads went to sleep. */
static void test_many_small_jobs(void **state)
{
	size_t sums[6] = {0};
	(void)state;
	for (size_t job = 0; job < 10000; job++) {
		threads_set(1 + job / 100 % 5);
		parallel_for(1 + job % 6, add_one, sums);
		if (job % 1000 == 0)
			usleep(2000);
	}
	size_t total = 0;
	for (size_t i = 0; i < 6; i++)
		total += sums[i];
	assert_int_equal(total, 10000 / 6 * 21 + 1 + 2 + 3 + 4);
}

static void test_counts(void **state)
{
	(void)state;
	size_t available = threads_available();
	assert_in_range(available, 1, THREADS_MAX);
	threads_set(0);
	assert_int_equal(threads_count(), 1);
	threads_set(THREADS_MAX + 1);
	assert_int_equal(threads_count(), THREADS_MAX);
	cpu_set_t all, one;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(threads_available(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	assert_int_equal(threads_available(), available);
}

/* --- control groups ------------------------------------------------------------ */

static void test_quota(void **state)
{
	(void)state;
	assert_int_equal(cgroup_quota("200000 100000\n"), 2);
	assert_int_equal(cgroup_quota("150000 100000"), 2);
	assert_int_equal(cgroup_quota("1000 100000"), 1);
	assert_int_equal(cgroup_quota("300001 100000"), 4);
	assert_int_equal(cgroup_quota("400000\n50000\n"), 8);
	assert_int_equal(cgroup_quota("9223372036854775807 1"), INT64_MAX);
	assert_int_equal(cgroup_quota("max 100000"), 0);
	assert_int_equal(cgroup_quota("-1\n100000\n"), 0);
	assert_int_equal(cgroup_quota("0 100000"), 0);
	assert_int_equal(cgroup_quota("100000 0"), 0);
	assert_int_equal(cgroup_quota("100000 -5"), 0);
	assert_int_equal(cgroup_quota("100000"), 0);
	assert_int_equal(cgroup_quota(""), 0);
	assert_int_equal(cgroup_quota("many 1"), 0);
}

static void test_path(void **state)
{
	static const char text[] = "12:pids:/p\n5:cpuset:/set\n4:cpu,cpuacct:/docker/1f\n3:name=x:/:a:b\n"
				   "0::/user.slice/a b\n";
	char path[20];
	(void)state;
	assert_true(cgroup_path(text, "", path, sizeof path));
	assert_string_equal(path, "/user.slice/a b");
	assert_true(cgroup_path(text, "cpu", path, sizeof path));
	assert_string_equal(path, "/docker/1f");
	assert_true(cgroup_path(text, "cpuacct", path, sizeof path));
	assert_string_equal(path, "/docker/1f");
	assert_true(cgroup_path(text, "cpuset", path, sizeof path));
	assert_string_equal(path, "/set");
	assert_true(cgroup_path(text, "name=x", path, sizeof path));
	assert_string_equal(path, "/:a:b");
	assert_false(cgroup_path(text, "memory", path, sizeof path));
	assert_false(cgroup_path(text, "cpu", path, 10));
	assert_true(cgroup_path(text, "cpu", path, 11));
	assert_false(cgroup_path("", "", path, sizeof path));
	assert_false(cgroup_path("\n\n4:cpu\n4\n:\n", "cpu", path, sizeof path));
	assert_true(cgroup_path("4:cpu:", "cpu", path, sizeof path));
	assert_string_equal(path, "");
}

static char root[] = "/tmp/attn-test-XXXXXX";

/* Write a file below the root, and the directories that it is in. */
static void put(const char *name, const char *text)
{
	char path[300];
	snprintf(path, sizeof path, "%s%s", root, name);
	for (char *slash = strchr(path + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/attn-test-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -r '%s'", root);
	return system(command);
}

static void test_version_2(void **state)
{
	(void)state;
	assert_int_equal(cgroup_processors(root), 0);
	put("/proc/self/cgroup", "0::/a/b\n");
	assert_int_equal(cgroup_processors(root), 0);
	put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	assert_int_equal(cgroup_processors(root), 0);
	put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n"); /* the group above limits too */
	assert_int_equal(cgroup_processors(root), 3);
	put("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
	assert_int_equal(cgroup_processors(root), 2);
	put("/sys/fs/cgroup/cpu.max", "50000 100000\n"); /* a container's own root */
	assert_int_equal(cgroup_processors(root), 1);
	put("/proc/self/cgroup", "0::/not/here\n");
	assert_int_equal(cgroup_processors(root), 1);
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(cgroup_processors(root), 1);
}

static void test_version_1(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/1f\n5:memory:/m\n0::/\n");
	put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(cgroup_processors(root), 0);
	put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cgroup_processors(root), 0);
	put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "250000\n");
	assert_int_equal(cgroup_processors(root), 3);
	put("/proc/self/cgroup", "4:cpu,cpuacct:/elsewhere\n");
	assert_int_equal(cgroup_processors(root), 0);
	put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"); /* in a container */
	put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cgroup_processors(root), 2);
	put("/sys/fs/cgroup/unified/cpu.max", "100000 100000\n"); /* both versions mounted */
	assert_int_equal(cgroup_processors(root), 2);
	put("/proc/self/cgroup", "4:cpu:/\n0::/\n");
	assert_int_equal(cgroup_processors(root), 1);
}

static void test_long_path(void **state)
{
	char text[8000] = "0::/";
	(void)state;
	memset(text + 4, 'x', sizeof text - 5);
	put("/proc/self/cgroup", text);
	put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(cgroup_processors(root), 0);
	strcpy(text + 2000, "\n");
	put("/proc/self/cgroup", text);
	assert_int_equal(cgroup_processors(root), 1);
	assert_int_equal(cgroup_processors(text), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_task_runs_once),
	    cmocka_unit_test(test_all_threads_work),
	    cmocka_unit_test(test_tasks_ascend),
	    cmocka_unit_test(test_many_small_jobs),
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_quota),
	    cmocka_unit_test(test_path),
	    cmocka_unit_test_setup_teardown(test_version_2, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(test_version_1, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(test_long_path, make_root, remove_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
