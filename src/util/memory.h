/* Memory for arrays. */
#ifndef ATTN_UTIL_MEMORY_H
#define ATTN_UTIL_MEMORY_H

#include <stddef.h>

/* calloc(1, a * b), or NULL with nothing allocated when the product wraps.
 * Zero bytes give a pointer that can be freed, so NULL always means failure. */
void *array_alloc(size_t a, size_t b);

/* `count` floats, not set, aligned to 64 bytes; freed by free().  Large ones are
 * aligned to 2 MiB and asked to be huge pages, since touching fresh 4 KiB pages can
 * take as long as computing what goes there.  NULL: no memory, or count * 4 wraps. */
float *floats_alloc(size_t count);

/* The same for a product of up to four sizes. */
float *floats_alloc4(size_t a, size_t b, size_t c, size_t d);

/* Arrays of floats that are freed together. */
struct float_pool {
	float **arrays;
	size_t count;
};

/* `count` zeros, freed with the pool; NULL: no memory left. */
float *float_pool_take(struct float_pool *pool, size_t count);
void float_pool_release(struct float_pool *pool); /* safe on a zeroed one */

/* Have freed memory kept for the next request rather than given back, which costs
 * its pages again: for the start of a program. */
void memory_keep(void);

#endif
