/* Timing for attn bench: work between two measurements of this machine's peak. */
#ifndef ATTN_CMD_BENCH_MEASURE_H
#define ATTN_CMD_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum {
	BENCH_SAMPLES = 1000, /* of a measurement, and peaks of a run, at most */
};

/* What is timed, and how its line begins. */
struct bench_item {
	char shape[100];
	const char *mode;
	bool causal;
	double operations; /* of a run */
	enum attn_status (*run)(void *work, struct attn_error *err);
	void *work;
};

struct bench_result {
	double milliseconds, gflops, peak; /* medians; GFLOP/s, and 0 for no peak */
};

struct bench_meter {
	double seconds; /* how long each is measured at least */
	double peaks[BENCH_SAMPLES];
	size_t peak_count;
};

/* Whatever the item's run says. */
enum attn_status bench_measure(struct bench_meter *meter, const struct bench_item *item,
			       struct bench_result *result, struct attn_error *err);

/* The peak of the machine, the median over all that was measured; 0: there is none. */
double bench_peak(struct bench_meter *meter);

#endif
