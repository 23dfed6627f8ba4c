/* Block-sparse attention: which blocks of keys a block of queries attends to, as in BigBird (Zaheer et al.
 * 2020).
 *
 * Queries and keys are cut into blocks by their positions.  A block of queries attends
 * to the global blocks, those around its own and some drawn at random; global blocks attend to
 * all.
 * The random ones follow from a hash of (seed, head, query block, key block), so they are
 * the same on every machine and for every batch item.
 */
#include <stdlib.h>
#include <string.h>

#include "attention/masking_internal.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/threads.h"

struct masking_blocks {
	size_t size, global, random, seed;
	size_t near; /* blocks of the window on either side, its own counted: 0 for none */
	size_t key_blocks;
	size_t first_block, query_blocks; /* of all queries' positions */
	size_t *picks; /* (heads, query_blocks, random), ascending, with NO_BLOCK where fewer are left */
};

static const size_t NO_BLOCK = SIZE_MAX;

/* Limits: seconds for the blocks to draw from, and 1 GiB for those drawn. */
#define PAIRS_MAX ((size_t)1 << 34)
#define PICKS_MAX ((size_t)1 << 27)

/* --- what a block of queries attends to ------------------------------------------ */

static size_t block_of(const struct masking_blocks *blocks, ptrdiff_t position)
{
	return position < 0 ? 0 : (size_t)position / blocks->size;
}

/* Key blocks [0, global) and [first, end), which lies behind, and those of picks[count]. */
struct attended_blocks {
	size_t global, first, end;
	const size_t *picks;
	size_t count;
};

static struct attended_blocks attended_by_rule(const struct masking_blocks *blocks, size_t query_block)
{
	struct attended_blocks attended = {.global = size_min(blocks->global, blocks->key_blocks)};
	if (query_block < blocks->global)
		attended.global = blocks->key_blocks;
	attended.first = attended.end = attended.global;
	if (blocks->near > 0) {
		if (query_block >= blocks->near)
			attended.first = size_max(query_block - blocks->near + 1, attended.global);
		attended.end =
		    size_max(size_min(query_block + blocks->near, blocks->key_blocks), attended.first);
	}
	return attended;
}

/* NULL where none are drawn. */
static size_t *picks_of(const struct masking_blocks *blocks, size_t head, size_t query_block)
{
	if (!blocks->picks)
		return NULL;
	return blocks->picks +
	       (head * blocks->query_blocks + query_block - blocks->first_block) * blocks->random;
}

static struct attended_blocks attended_by(const struct masking_blocks *blocks, size_t head,
					  size_t query_block)
{
	struct attended_blocks attended = attended_by_rule(blocks, query_block);
	attended.picks = picks_of(blocks, head, query_block);
	attended.count = attended.picks ? blocks->random : 0;
	return attended;
}

/* How many picks are below a block. */
static size_t picks_below(const struct attended_blocks *attended, size_t block)
{
	size_t low = 0, high = attended->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (attended->picks[middle] < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many numbers of [a, b) are in [first, end). */
static size_t overlap(size_t a, size_t b, size_t first, size_t end)
{
	size_t low = size_max(a, first), high = size_min(b, end);
	return high > low ? high - low : 0;
}

void blocks_mask(const struct masking_blocks *blocks, size_t head, ptrdiff_t position, size_t first,
		 size_t count, unsigned char *row)
{
	struct attended_blocks attended = attended_by(blocks, head, block_of(blocks, position));
	size_t pick = picks_below(&attended, first / blocks->size), end = first + count;
	for (size_t key = first; key < end;) {
		size_t block = key / blocks->size, next = size_min((block + 1) * blocks->size, end);
		while (pick < attended.count && attended.picks[pick] < block)
			pick++;
		if (block >= attended.global && (block < attended.first || block >= attended.end) &&
		    (pick == attended.count || attended.picks[pick] != block))
			memset(row + (key - first), 0, next - key);
		key = next;
	}
}

enum attended blocks_extent(const struct masking_blocks *blocks, size_t head, ptrdiff_t first, ptrdiff_t last,
			    size_t key, size_t keys)
{
	size_t from = key / blocks->size, end = (key + keys - 1) / blocks->size + 1;
	bool any = false, all = true;
	for (size_t q = block_of(blocks, first); q <= block_of(blocks, last); q++) {
		struct attended_blocks attended = attended_by(blocks, head, q);
		size_t count =
		    overlap(0, attended.global, from, end) + overlap(attended.first, attended.end, from, end);
		count += picks_below(&attended, end) - picks_below(&attended, from);
		any |= count > 0;
		all &= count == end - from;
		if (any && !all)
			return ATTENDED_SOME;
	}
	return any ? ATTENDED_ALL : ATTENDED_NONE;
}

size_t blocks_count(const struct masking_blocks *blocks, ptrdiff_t position, size_t first, size_t end)
{
	/* How many are picked is the same for all heads. */
	struct attended_blocks attended = attended_by(blocks, 0, block_of(blocks, position));
	size_t size = blocks->size, picks = picks_below(&attended, NO_BLOCK);
	return overlap(0, attended.global * size, first, end) +
	       overlap(attended.first * size, attended.end * size, first, end) +
	       (picks <= end / size ? picks * size : end);
}

/* --- the random blocks ---------------------------------------------------------------- */

/* SplitMix64 (Steele et al. 2014): one step from x. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

struct candidate {
	uint64_t hash;
	size_t block;
};

static bool comes_before(struct candidate a, struct candidate b)
{
	return a.hash != b.hash ? a.hash < b.hash : a.block < b.block;
}

/* On top of a heap is its last candidate.  Put `c` in its place or, where the heap grows,
 * behind all count others. */
static void heap_put(struct candidate *heap, size_t count, bool grow, struct candidate c)
{
	size_t at = grow ? count : 0;
	while (grow && at > 0 && comes_before(heap[(at - 1) / 2], c)) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	while (!grow) {
		size_t child = 2 * at + 1;
		if (child + 1 < count && comes_before(heap[child], heap[child + 1]))
			child++;
		if (child >= count || !comes_before(c, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = c;
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

struct draw {
	struct masking_blocks *blocks;
	bool causal;
	struct candidate *heaps; /* a worker's (random) */
};

/* Draw for one head and block of queries: without replacement, from what the other
 * rules and causal leave. */
static void draw(void *context, size_t task, size_t worker)
{
	const struct draw *d = context;
	const struct masking_blocks *blocks = d->blocks;
	size_t head = task / blocks->query_blocks,
	       query_block = blocks->first_block + task % blocks->query_blocks, kept = 0;
	size_t *picks = picks_of(blocks, head, query_block);
	struct candidate *heap = d->heaps + worker * blocks->random;
	struct attended_blocks attended = attended_by_rule(blocks, query_block);
	uint64_t hash = mix(mix(mix(blocks->seed) ^ head) ^ query_block);
	size_t end = d->causal ? size_min(blocks->key_blocks, query_block + 1) : blocks->key_blocks;
	for (size_t block = attended.global; block < end; block++) {
		if (block >= attended.first && block < attended.end)
			continue;
		struct candidate c = {mix(hash ^ block), block};
		if (kept < blocks->random)
			heap_put(heap, kept++, true, c);
		else if (comes_before(c, heap[0]))
			heap_put(heap, kept, false, c);
	}
	for (size_t i = 0; i < blocks->random; i++)
		picks[i] = i < kept ? heap[i].block : NO_BLOCK;
	qsort(picks, kept, sizeof *picks, by_size);
}

static enum attn_status draw_all(const struct masking *m, struct attn_error *err)
{
	struct masking_blocks *blocks = m->blocks;
	struct draw d = {.blocks = blocks, .causal = m->causal};
	size_t tasks, pairs, count;
	if (blocks->random == 0)
		return ATTN_OK;
	if (!size_mul(m->heads, blocks->query_blocks, &tasks) ||
	    !size_mul(tasks, blocks->key_blocks, &pairs) || pairs > PAIRS_MAX ||
	    !size_mul(tasks, blocks->random, &count) || count > PICKS_MAX)
		return attn_fail(err, ATTN_BAD_INPUT, "there are too many pairs of blocks");
	blocks->picks = array_alloc(count, sizeof *blocks->picks);
	d.heaps = array_alloc(threads_count(), blocks->random * sizeof *d.heaps);
	if (blocks->picks && d.heaps)
		parallel_for_work(tasks, pairs, draw, &d);
	free(d.heaps);
	return blocks->picks && d.heaps ? ATTN_OK : attn_fail_memory(err);
}

/* Count blocks, and cut the numbers down to them, so that no sum or product wraps. */
static void settle(struct masking_blocks *blocks, const struct masking *m, size_t window)
{
	ptrdiff_t least = PTRDIFF_MAX, most = 0;
	for (size_t batch = 0; batch < m->batch; batch++) {
		ptrdiff_t first = masking_offset(m, batch), last = first + (ptrdiff_t)m->queries - 1;
		least = first < least ? first : least;
		most = last > most ? last : most;
	}
	blocks->size = size_min(blocks->size, size_max((size_t)most + 1, m->plain_keys));
	blocks->key_blocks = (m->plain_keys - 1) / blocks->size + 1;
	blocks->first_block = block_of(blocks, least);
	blocks->query_blocks = block_of(blocks, most) - blocks->first_block + 1;
	blocks->random = size_min(blocks->random, blocks->key_blocks);
	blocks->near = size_min(window > 0 ? window / 2 + 1 : 0,
				blocks->key_blocks + blocks->first_block + blocks->query_blocks);
}

enum attn_status masking_set_blocks(struct masking *m, const struct block_pattern *pattern,
				    struct attn_error *err)
{
	struct masking_blocks *blocks = m->blocks = calloc(1, sizeof *m->blocks);
	if (!blocks)
		return attn_fail_memory(err);
	*blocks = (struct masking_blocks){.size = pattern->size,
					  .global = pattern->global,
					  .random = pattern->random,
					  .seed = pattern->seed};
	settle(blocks, m, pattern->window);
	return draw_all(m, err);
}

void blocks_release(struct masking_blocks *blocks)
{
	if (blocks)
		free(blocks->picks);
	free(blocks);
}

size_t blocks_bytes(const struct masking_blocks *blocks, size_t heads)
{
	return blocks->picks ? heads * blocks->query_blocks * blocks->random * sizeof *blocks->picks : 0;
}
