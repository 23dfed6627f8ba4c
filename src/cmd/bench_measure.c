/* Timing for attn bench. */
#include "cmd/bench_measure.h"

#include <stdlib.h>
#include <time.h>

#include "kernels/kernels.h"
#include "util/threads.h"

enum {
	MIN_SAMPLES = 5
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct spin {
	const struct kernels *kernels;
	size_t rounds;
};

static void spin_task(void *context, size_t task, size_t worker)
{
	const struct spin *s = context;
	_Alignas(64) float out[TILE] = {0};
	(void)task;
	(void)worker;
	s->kernels->spin(s->rounds, out);
}

/* All threads multiply and add for about 5 ms; GFLOP/s of all together. */
static double measure_peak(const struct kernels *kernels)
{
	struct spin s = {kernels, 200000};
	size_t threads = threads_count();
	double start = now();
	parallel_for(threads, spin_task, &s);
	double seconds = now() - start;
	return (double)s.rounds * (double)kernels->spin_operations * (double)threads / seconds * 1e-9;
}

/* Runs that take microseconds are timed many at once. */
static enum attn_status time_runs(const struct bench_item *item, size_t runs, double *seconds,
				  struct attn_error *err)
{
	double start = now();
	for (size_t i = 0; i < runs; i++)
		TRY(item->run(item->work, err));
	*seconds = (now() - start) / (double)runs;
	return ATTN_OK;
}

enum attn_status bench_measure(struct bench_meter *m, const struct bench_item *item,
			       struct bench_result *result, struct attn_error *err)
{
	const struct kernels *kernels = kernels_best();
	double times[BENCH_SAMPLES], peaks[BENCH_SAMPLES], once = 0;
	size_t count = 0;
	TRY(time_runs(item, 1, &once, err)); /* warm up */
	TRY(time_runs(item, 1, &once, err));
	size_t runs = once > 0 && once < 2e-3 ? (size_t)(2e-3 / once) + 1 : 1;
	double end = now() + m->seconds;
	while (count < BENCH_SAMPLES && (count < MIN_SAMPLES || now() < end)) {
		peaks[count] = kernels ? measure_peak(kernels) : 0;
		TRY(time_runs(item, runs, &times[count], err));
		if (kernels && m->peak_count < BENCH_SAMPLES)
			m->peaks[m->peak_count++] = peaks[count];
		count++;
	}
	double seconds = median(times, count);
	*result =
	    (struct bench_result){seconds * 1e3, item->operations / seconds * 1e-9, median(peaks, count)};
	return ATTN_OK;
}

double bench_peak(struct bench_meter *m)
{
	return m->peak_count ? median(m->peaks, m->peak_count) : 0;
}
