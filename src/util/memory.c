#include "util/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "util/checked.h"

void *array_alloc(size_t a, size_t b)
{
	size_t bytes;
	if (!size_mul(a, b, &bytes))
		return NULL;
	return calloc(bytes ? bytes : 1, 1);
}

float *floats_alloc(size_t count)
{
	const size_t huge = (size_t)2 << 20;
	size_t bytes;
	if (!size_mul(count, sizeof(float), &bytes) || bytes > SIZE_MAX - huge)
		return NULL;
	size_t alignment = bytes >= 2 * huge ? huge : 64;
	bytes = (bytes + alignment) / alignment * alignment; /* never 0 */
	float *floats = aligned_alloc(alignment, bytes);
	if (floats && alignment == huge)
		madvise(floats, bytes, MADV_HUGEPAGE); /* a wish: failure is fine */
	return floats;
}

float *floats_alloc4(size_t a, size_t b, size_t c, size_t d)
{
	size_t count;
	if (!size_mul(a, b, &count) || !size_mul(count, c, &count) || !size_mul(count, d, &count))
		return NULL;
	return floats_alloc(count);
}

float *float_pool_take(struct float_pool *pool, size_t count)
{
	float **arrays = reallocarray(pool->arrays, pool->count + 1, sizeof *arrays);
	if (!arrays)
		return NULL;
	pool->arrays = arrays;
	float *floats = array_alloc(count, sizeof *floats);
	if (floats)
		pool->arrays[pool->count++] = floats;
	return floats;
}

void float_pool_release(struct float_pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		free(pool->arrays[i]);
	free(pool->arrays);
	*pool = (struct float_pool){0};
}

void memory_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
}
