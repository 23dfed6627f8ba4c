/* Which kernels this processor runs.  Compiled with plain flags, so that asking is
 * safe everywhere. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sets.h"

#if defined(__x86_64__)
/* The compiler's own check asks the processor, and whether the system saves the
 * wide registers (XGETBV). */
static bool runs_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool runs_avx512(void)
{
	return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
static bool runs_neon(void)
{
	return true; /* part of every 64-bit Arm */
}
#endif

/* The sets of this build, best first. */
static const struct {
	const struct kernels *set;
	bool (*runs)(void);
} built[] = {
#if defined(__x86_64__)
    {&kernels_avx512, runs_avx512},
    {&kernels_avx2, runs_avx2},
#elif defined(__aarch64__)
    {&kernels_neon, runs_neon},
#endif
    {NULL, NULL},
};

enum {
	BUILT = sizeof built / sizeof *built, /* with the end */
	MAX_SETS = 2
};

_Static_assert(BUILT - 1 <= MAX_SETS, "all sets may be runnable");

static const struct kernels *runnable[MAX_SETS + 1]; /* best first, ends with NULL */
static const struct kernels *best;
static const char *bad_cap;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_runnable(void)
{
	size_t count = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
#endif
	for (size_t i = 0; built[i].set; i++)
		if (built[i].runs())
			runnable[count++] = built[i].set;
	runnable[count] = NULL;
}

static bool find(const char *name, const struct kernels **set)
{
	for (size_t i = 0; runnable[i]; i++) {
		if (strcmp(name, runnable[i]->name) == 0) {
			*set = runnable[i];
			return true;
		}
	}
	if (strcmp(name, "scalar") != 0)
		return false;
	*set = NULL;
	return true;
}

static void choose(void)
{
	const char *cap = getenv("ATTN_KERNEL");
	find_runnable();
	best = runnable[0];
	if (!cap || !cap[0])
		return;
	if (!find(cap, &best))
		bad_cap = cap;
}

const struct kernels *kernels_best(void)
{
	pthread_once(&once, choose);
	return best;
}

static enum attn_status fail_name(const char *origin, const char *name, struct attn_error *err)
{
	char names[100] = "";
	for (size_t i = 0; runnable[i]; i++) {
		strcat(names, runnable[i]->name);
		strcat(names, runnable[i + 1] ? ", " : " or ");
	}
	return attn_fail(err, ATTN_USAGE, "'%s' is '%s', expected %sscalar on this processor", origin, name,
			 names);
}

enum attn_status kernels_check(struct attn_error *err)
{
	pthread_once(&once, choose);
	return bad_cap ? fail_name("ATTN_KERNEL", bad_cap, err) : ATTN_OK;
}

enum attn_status kernels_find(const char *origin, const char *name, const struct kernels **set,
			      struct attn_error *err)
{
	pthread_once(&once, choose);
	return find(name, set) ? ATTN_OK : fail_name(origin, name, err);
}

const struct kernels *kernels_swap(const struct kernels *set)
{
	const struct kernels *before = kernels_best();
	best = set;
	return before;
}

const struct kernels *kernels_runnable(size_t i)
{
	pthread_once(&once, choose);
	return i < MAX_SETS ? runnable[i] : NULL;
}

const struct kernels *kernels_built(size_t i)
{
	return i < BUILT ? built[i].set : NULL;
}
