/* Rows of weights in few bits. */
#include "consumers/page_code.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"

enum attn_status page_coding_choose(struct page_coding *coding, const struct rows_shape *shape, size_t heads,
				    struct attn_error *err)
{
	size_t rows, cells, kept;
	*coding = (struct page_coding){.bits = 8, .signed_weights = shape->signed_weights};
	if (!size_mul(heads, shape->queries, &rows) || !size_mul(rows, shape->keys, &cells))
		cells = rows = SIZE_MAX;
	if (shape->keys <= PAGE_WHOLE_KEYS && cells <= PAGE_MOST_CELLS) {
		coding->bits = cells <= PAGE_FINE_CELLS ? 16 : 8;
		return ATTN_OK;
	}
	coding->top = PAGE_TOP_KEYS;
	while (coding->top >= PAGE_LEAST_KEYS &&
	       (!size_mul(rows, coding->top, &kept) || kept > PAGE_MOST_KEPT))
		coding->top /= 2;
	if (coding->top >= PAGE_LEAST_KEYS)
		return ATTN_OK;
	return attn_fail(err, ATTN_USAGE,
			 "%zu heads of %zu x %zu weights are too much for a page: choose some with --layer, "
			 "--head or --batch",
			 heads, shape->queries, shape->keys);
}

size_t page_levels(const struct page_coding *coding)
{
	return coding->signed_weights ? ((size_t)1 << (coding->bits - 1)) - 1
				      : ((size_t)1 << coding->bits) - 2;
}

size_t page_code(const struct page_coding *coding, float weight, float largest)
{
	size_t levels = page_levels(coding), level = 0;
	double magnitude = fabs((double)weight);
	if (magnitude > 0) {
		double square = magnitude / (double)largest * (double)levels * (double)levels;
		double low = floor(sqrt(square));
		level = (size_t)low + (square > low * low + low + 0.5); /* the middle of two squares */
		level = level < 1 ? 1 : level > levels ? levels : level;
	}
	if (!coding->signed_weights)
		return 1 + level;
	return weight < 0 ? levels + 1 - level : levels + 1 + level;
}

double page_error(const struct page_coding *coding)
{
	double levels = (double)page_levels(coding);
	return (2 * levels - 1) / (2 * levels * levels);
}

static void add_u32(struct buffer *bytes, uint32_t value)
{
	unsigned char four[4] = {(unsigned char)value, (unsigned char)(value >> 8),
				 (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
	buffer_add(bytes, four, sizeof four);
}

static void add_float(struct buffer *bytes, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	add_u32(bytes, bits);
}

static void add_code(struct buffer *bytes, const struct page_coding *coding, size_t code)
{
	unsigned char two[2] = {(unsigned char)code, (unsigned char)(code >> 8)};
	buffer_add(bytes, two, coding->bits / 8);
}

/* A key and the magnitude of its weight. */
struct kept {
	float magnitude;
	uint32_t key;
};

/* Whether a is left out before b: the smaller one, and of equal ones the later key. */
static bool weaker(struct kept a, struct kept b)
{
	return a.magnitude < b.magnitude || (a.magnitude == b.magnitude && a.key > b.key);
}

/* Let heap[at] sink to its place in a heap whose weakest is heap[0]. */
static void sift_down(struct kept *heap, size_t count, size_t at)
{
	for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && weaker(heap[child + 1], heap[child]))
			child++;
		if (!weaker(heap[child], heap[at]))
			return;
		struct kept moved = heap[at];
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* The `top` keys with the largest magnitudes, in their order, into heap[top]. */
static size_t find_top(struct kept *heap, size_t top, const float *weights, const unsigned char *cells,
		       size_t keys)
{
	size_t count = 0;
	for (size_t k = 0; k < keys; k++) {
		struct kept item = {fabsf(weights[k]), (uint32_t)k};
		if (!cell_has_weight(cells[k]) || item.magnitude == 0)
			continue;
		if (count < top) {
			heap[count++] = item;
			for (size_t i = count / 2; count == top && i-- > 0;)
				sift_down(heap, count, i);
		} else if (weaker(heap[0], item)) {
			heap[0] = item;
			sift_down(heap, count, 0);
		}
	}
	qsort(heap, count, sizeof *heap, by_key);
	return count;
}

static void add_top(struct buffer *bytes, const struct page_coding *coding, const float *weights,
		    const unsigned char *cells, size_t keys, float largest)
{
	struct kept kept[PAGE_TOP_KEYS];
	size_t attended = 0, first = 0, end = 0;
	for (size_t k = 0; k < keys; k++) {
		if (!cell_has_weight(cells[k]))
			continue;
		if (attended++ == 0)
			first = k;
		end = k + 1;
	}
	size_t count = find_top(kept, coding->top, weights, cells, keys);
	add_u32(bytes, (uint32_t)first);
	add_u32(bytes, (uint32_t)end);
	add_u32(bytes, (uint32_t)attended);
	add_u32(bytes, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		add_u32(bytes, kept[i].key);
	for (size_t i = 0; i < count; i++)
		add_code(bytes, coding, page_code(coding, weights[kept[i].key], largest));
}

void page_add_row(struct buffer *bytes, const struct page_coding *coding, const float *weights,
		  const unsigned char *cells, size_t keys)
{
	float largest = 0;
	for (size_t k = 0; k < keys; k++)
		if (cell_has_weight(cells[k]) && fabsf(weights[k]) > largest)
			largest = fabsf(weights[k]);
	add_float(bytes, largest);
	if (coding->top > 0) {
		add_top(bytes, coding, weights, cells, keys, largest);
		return;
	}
	for (size_t k = 0; k < keys; k++)
		add_code(bytes, coding,
			 cell_has_weight(cells[k]) ? page_code(coding, weights[k], largest) : 0);
}
