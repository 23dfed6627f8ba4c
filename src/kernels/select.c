/* Which kernels this processor runs.  Compiled with plain flags, so that asking is
 * safe everywhere. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sets.h"

enum {
	MAX_SETS = 2
};

static const struct kernels *runnable[MAX_SETS + 1]; /* best first, ends with NULL */
static const struct kernels *best;
static const char *bad_cap;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The compiler's own check asks the processor, and whether the system saves the
 * wide registers (XGETBV). */
static void find_runnable(void)
{
	size_t count = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		runnable[count++] = &kernels_avx512;
	if (fma)
		runnable[count++] = &kernels_avx2;
#elif defined(__aarch64__)
	runnable[count++] = &kernels_neon; /* part of every 64-bit Arm */
#endif
	runnable[count] = NULL;
}

static void choose(void)
{
	const char *cap = getenv("ATTN_KERNEL");
	find_runnable();
	best = runnable[0];
	if (!cap || !cap[0])
		return;
	if (strcmp(cap, "scalar") == 0) {
		best = NULL;
		return;
	}
	for (size_t i = 0; runnable[i]; i++) {
		if (strcmp(cap, runnable[i]->name) == 0) {
			best = runnable[i];
			return;
		}
	}
	bad_cap = cap;
}

const struct kernels *kernels_best(void)
{
	pthread_once(&once, choose);
	return best;
}

enum attn_status kernels_check(struct attn_error *err)
{
	char names[100] = "";
	pthread_once(&once, choose);
	if (!bad_cap)
		return ATTN_OK;
	for (size_t i = 0; runnable[i]; i++) {
		strcat(names, runnable[i]->name);
		strcat(names, runnable[i + 1] ? ", " : " or ");
	}
	return attn_fail(err, ATTN_USAGE, "'ATTN_KERNEL' is '%s', expected %sscalar on this processor",
			 bad_cap, names);
}

const struct kernels *kernels_runnable(size_t i)
{
	pthread_once(&once, choose);
	return i < MAX_SETS ? runnable[i] : NULL;
}
