#include "consumers/head_groups.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/memory.h"

/* Groups in the making, each called by its first member. */
struct linkage {
	double *distances; /* (count, count): between groups */
	size_t count;
	size_t *chain, length; /* each is the nearest group of the one before */
	bool *gone;            /* joined to another */
};

/* The nearest group to `a`: of equal ones the one before it in the chain, else the first. */
static size_t nearest(const struct linkage *l, size_t a, size_t before)
{
	const double *row = l->distances + a * l->count;
	size_t best = before;
	for (size_t b = 0; b < l->count; b++)
		if (b != a && !l->gone[b] && (best == SIZE_MAX || row[b] < row[best]))
			best = b;
	return best;
}

/* What was near to b is now as near to a as the farther of the two. */
static void join(struct linkage *l, size_t a, size_t b)
{
	l->gone[b] = true;
	for (size_t k = 0; k < l->count; k++) {
		double farther = fmax(l->distances[a * l->count + k], l->distances[b * l->count + k]);
		l->distances[a * l->count + k] = l->distances[k * l->count + a] = farther;
	}
}

/* By chains of nearest neighbours (Murtagh 1983), which finds the same groups as always joining the
 * nearest two, in the square of `count`.  A join beyond the limit is only gone through: whatever the
 * two are joined to later is farther still. */
static void link_all(struct linkage *l, double limit, size_t *groups)
{
	for (size_t joins = 0; joins + 1 < l->count;) {
		if (l->length == 0) {
			size_t first = 0;
			while (l->gone[first])
				first++;
			l->chain[l->length++] = first;
		}
		size_t a = l->chain[l->length - 1];
		size_t before = l->length > 1 ? l->chain[l->length - 2] : SIZE_MAX;
		size_t b = nearest(l, a, before);
		if (b != before) {
			l->chain[l->length++] = b;
			continue;
		}
		size_t low = a < b ? a : b, high = a < b ? b : a;
		if (l->distances[low * l->count + high] <= limit)
			groups[high] = low;
		join(l, low, high);
		l->length -= 2;
		joins++;
	}
}

enum attn_status find_groups(const double *distances, size_t count, double limit, size_t *groups,
			     struct attn_error *err)
{
	struct linkage l = {.count = count};
	size_t cells;
	if (size_mul(count, count, &cells))
		l.distances = array_alloc(cells, sizeof *l.distances);
	l.chain = array_alloc(count, sizeof *l.chain);
	l.gone = array_alloc(count, sizeof *l.gone);
	bool ok = l.distances && l.chain && l.gone;
	for (size_t i = 0; i < count; i++)
		groups[i] = i;
	if (ok) {
		memcpy(l.distances, distances, cells * sizeof *distances);
		link_all(&l, limit, groups);
	}
	for (size_t i = 0; i < count; i++) /* ascending: what an entry names is final */
		groups[i] = groups[groups[i]];
	free(l.distances);
	free(l.chain);
	free(l.gone);
	return ok ? ATTN_OK : attn_fail_memory(err);
}
