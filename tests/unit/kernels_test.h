/* What the tests of kernels share: random numbers, guarded memory, and the sets to try.
 * Include after cmocka's headers.
 *
 * Outputs are filled with a pattern before, and lie between guards of it; an input
 * ends where a page that cannot be read begins. */
#ifndef ATTN_TESTS_KERNELS_TEST_H
#define ATTN_TESTS_KERNELS_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/kernels.h"

/* --- numbers ------------------------------------------------------------------ */

static unsigned long long first_seed = 1;
static uint64_t state64;

static inline void seed(void)
{
	state64 = first_seed * UINT64_C(0x9e3779b97f4a7c15);
}

/* ATTN_TEST_SEED chooses the numbers. */
static inline void choose_seed(void)
{
	const char *chosen = getenv("ATTN_TEST_SEED");
	if (chosen)
		first_seed = strtoull(chosen, NULL, 10);
	seed();
}

static inline uint32_t random_bits(void)
{
	state64 = state64 * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state64 >> 32);
}

static inline size_t below(size_t limit)
{
	return random_bits() % limit;
}

static inline float between(double low, double high)
{
	return (float)(low + (high - low) * random_bits() * 0x1p-32);
}

#define CHECK(condition, ...)                                                                                \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			print_error("ATTN_TEST_SEED=%llu: ", first_seed);                                    \
			print_error(__VA_ARGS__);                                                            \
			print_error("\n");                                                                   \
			assert_true(condition);                                                              \
		}                                                                                            \
	} while (0)

/* --- memory ------------------------------------------------------------------- */

enum {
	GUARD = 64,           /* float32 before and after an output */
	PATTERN = 0x7fbadbad, /* a NaN that no kernel makes */
};

struct area {
	float *data;
	size_t count;
	void *pages;
	size_t size;
};

static inline void fill(float *at, size_t count)
{
	const uint32_t pattern = PATTERN;
	for (size_t i = 0; i < count; i++)
		memcpy(at + i, &pattern, sizeof pattern);
}

static inline bool untouched(const float *at)
{
	const uint32_t pattern = PATTERN;
	return memcmp(at, &pattern, sizeof pattern) == 0;
}

/* Zeros that end where memory does. */
static inline struct area input_new(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (count * sizeof(float) + page - 1) / page * page;
	struct area a = {.count = count, .size = used + page};
	a.pages = mmap(NULL, a.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(a.pages != MAP_FAILED);
	assert_int_equal(mprotect((char *)a.pages + used, page, PROT_NONE), 0);
	a.data = (float *)((char *)a.pages + used) - count;
	return a;
}

/* The pattern between guards, `offset` float32 after an aligned place. */
static inline struct area output_new(size_t count, size_t offset)
{
	struct area a = {.count = count};
	size_t size = (2 * GUARD + offset + count + 15) / 16 * 16 * sizeof(float);
	a.pages = aligned_alloc(64, size);
	assert_non_null(a.pages);
	fill(a.pages, size / sizeof(float));
	a.data = (float *)a.pages + GUARD + offset;
	return a;
}

static inline void area_free(struct area *a)
{
	if (a->size)
		munmap(a->pages, a->size);
	else
		free(a->pages);
}

static inline void check_guards(const struct area *a, const char *what)
{
	for (size_t i = 1; i <= GUARD; i++)
		CHECK(untouched(a->data - i) && untouched(a->data + a->count + i - 1),
		      "%s wrote beyond its output", what);
}

/* An aligned tile (rows, TILE) of random numbers in the columns that a kernel may
 * touch; the rest keeps the pattern, so that what is read there shows. */
static inline struct area tile_new(size_t rows, size_t padded, double low, double high)
{
	struct area a = output_new(rows * TILE, 0);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < TILE; c++) {
			float number = between(low, high); /* whatever the lanes, the same draws */
			if (c < padded)
				a.data[r * TILE + c] = number;
		}
	return a;
}

static inline void check_tile(const struct area *a, size_t padded, const char *what)
{
	check_guards(a, what);
	for (size_t i = 0; i < a->count; i++)
		CHECK(i % TILE < padded || untouched(a->data + i), "%s wrote column %zu, allowed %zu", what,
		      i % TILE, padded);
}

static inline size_t padded_to(const struct kernels *k, size_t cols)
{
	return (cols + k->lanes - 1) / k->lanes * k->lanes;
}

static inline bool same_bits(const float *a, const float *b, size_t count)
{
	return memcmp(a, b, count * sizeof *a) == 0;
}

/* How far exp(x) may be from its value, relative to it, as kernels.h says. */
static inline double exponential_bound(double x)
{
	return 1e-7 + 3e-9 * fabs(x);
}

/* --- the sets to try ------------------------------------------------------------ */

enum {
	MOST_SETS = 8
};

struct set_list {
	const struct kernels *sets[MOST_SETS];
	size_t count;
};

static inline void set_list_add(struct set_list *list, const struct kernels *k)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->sets[i] == k)
			return;
	assert_true(list->count < MOST_SETS);
	list->sets[list->count++] = k;
}

/* kernels_best(), which ATTN_KERNEL caps, and the runnable sets after it. */
static inline struct set_list sets_to_try(void)
{
	struct set_list list = {.count = 0};
	bool capped = true;
	for (size_t i = 0; kernels_runnable(i); i++) {
		capped &= kernels_runnable(i) != kernels_best();
		if (!capped)
			set_list_add(&list, kernels_runnable(i));
	}
	return list;
}

/* The name of the set that had to be tried and was not; NULL: none.  Where there is no
 * best set the reference computes, and no set has to be tried. */
static inline const char *untried(const struct kernels *best, const struct set_list *tried)
{
	for (size_t i = 0; best && i < tried->count; i++)
		if (tried->sets[i] == best)
			return NULL;
	return best ? best->name : NULL;
}

static struct set_list all_tried; /* by any test */

/* --- every set, a hash of its results ------------------------------------------ */

static uint64_t digest;

static inline void digest_add(const float *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;
		memcpy(&bits, numbers + i, sizeof bits);
		digest = (digest ^ bits) * UINT64_C(0x100000001b3);
	}
}

/* Run `test` with the same numbers for every set to try.  All must give the same bits. */
static inline void with_every_set(const char *what, void (*test)(const struct kernels *k))
{
	struct set_list list = sets_to_try(), tried = {.count = 0};
	uint64_t first = 0;
	for (size_t i = 0; i < list.count; i++) {
		const struct kernels *k = list.sets[i];
		seed();
		digest = UINT64_C(0xcbf29ce484222325);
		test(k);
		set_list_add(&tried, k);
		set_list_add(&all_tried, k);
		if (i == 0)
			first = digest;
		CHECK(digest == first, "%s: %s and %s give different bits", what, list.sets[0]->name,
		      k->name);
		print_message("%s: %s %016llx\n", what, k->name, (unsigned long long)digest);
	}
	const char *missing = untried(kernels_best(), &tried);
	CHECK(!missing, "%s: the set '%s' was not tried", what, missing ? missing : "");
}

#endif
