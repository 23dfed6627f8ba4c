#include "attention/masking.h"

#include <stdlib.h>
#include <string.h>

#include "attention/masking_internal.h"
#include "util/memory.h"
#include "util/minmax.h"

struct masking masking_of_all(const struct rows_shape *shape)
{
	return (struct masking){
	    .batch = shape->batch,
	    .heads = shape->heads,
	    .queries = shape->queries,
	    .plain_keys = shape->keys - shape->appended_keys,
	    .appended_keys = shape->appended_keys,
	    .past_keys = shape->past_keys,
	};
}

struct segment_range *segment_ranges(const int64_t *segments, size_t batch, size_t count)
{
	size_t runs = segment_runs(count);
	struct segment_range *ranges = array_alloc(batch * runs, sizeof *ranges);
	for (size_t i = 0; i < batch * count && ranges; i++) {
		struct segment_range *range = ranges + i / count * runs + i % count / SEGMENT_RUN;
		bool begins = i % count % SEGMENT_RUN == 0;
		range->least = begins || segments[i] < range->least ? segments[i] : range->least;
		range->most = begins || segments[i] > range->most ? segments[i] : range->most;
	}
	return ranges;
}

void masking_release(struct masking *m)
{
	free(m->lengths);
	free(m->mask);
	free(m->bias);
	free(m->padding);
	free(m->query_segments);
	free(m->key_segments);
	free(m->query_ranges);
	free(m->key_ranges);
	blocks_release(m->blocks);
	*m = (struct masking){0};
}

ptrdiff_t masking_offset(const struct masking *m, size_t batch)
{
	return m->lengths ? (ptrdiff_t)m->lengths[batch] - (ptrdiff_t)m->queries : (ptrdiff_t)m->past_keys;
}

/* --- causal, window, dilation, prefix, lengths ---------------------------------- */

/* Causal and window as one: they leave keys at distances p - j of [nearest, farthest]. */
struct distances {
	ptrdiff_t nearest, farthest;
};

static struct distances window_of(const struct masking *m)
{
	return (struct distances){
	    .nearest = m->causal ? 0 : -(ptrdiff_t)(m->right_bound ? m->right : MASKING_DISTANCE_MAX),
	    .farthest = (ptrdiff_t)(m->left_bound ? m->left : MASKING_DISTANCE_MAX),
	};
}

/* Keys from here on are masked for all queries of the batch item. */
static size_t key_limit(const struct masking *m, size_t batch)
{
	size_t limit = m->plain_keys;
	if (m->lengths)
		limit = size_min(limit, m->lengths[batch]);
	if (m->mask && m->mask_shape[3] != 1)
		limit = size_min(limit, m->mask_shape[3]);
	return limit;
}

static size_t clamp(ptrdiff_t key, size_t limit)
{
	return key < 0 ? 0 : size_min((size_t)key, limit);
}

/* What a query attends to as far as this section goes: [0, prefix) and, every step-th from
 * first on, [first, end), which begins behind it. */
struct span {
	size_t prefix, first, end, step;
};

static struct span span_of(const struct masking *m, size_t batch, size_t query)
{
	struct distances d = window_of(m);
	ptrdiff_t p = (ptrdiff_t)query + masking_offset(m, batch);
	size_t limit = key_limit(m, batch);
	struct span span = {
	    .prefix = size_min(m->prefix, limit),
	    .end = clamp(p - d.nearest + 1, limit),
	    .step = m->dilation > 1 ? m->dilation : 1,
	};
	span.first = size_max(clamp(p - d.farthest, limit), span.prefix);
	if (span.step > 1) {
		/* Up to the next key that is a multiple of steps from p. */
		ptrdiff_t behind = (p - (ptrdiff_t)span.first) % (ptrdiff_t)span.step;
		span.first += (size_t)(behind < 0 ? behind + (ptrdiff_t)span.step : behind);
	}
	span.end = size_max(span.end, span.first);
	return span;
}

static size_t span_count(const struct span *s)
{
	return s->prefix + (s->end - s->first + s->step - 1) / s->step;
}

static void span_hull(const struct span *s, size_t *first, size_t *end)
{
	bool behind = s->first < s->end;
	*first = s->prefix || !behind ? 0 : s->first;
	*end = behind ? s->end : s->prefix;
}

void masking_interval(const struct masking *m, size_t batch, size_t query, size_t *first, size_t *end)
{
	struct span s = span_of(m, batch, query);
	span_hull(&s, first, end);
}

bool masking_is_interval(const struct masking *m)
{
	return !m->mask && !m->padding && !m->query_segments && !m->blocks && m->dilation <= 1 &&
	       m->appended_keys == 0 && !(m->prefix > 0 && m->left_bound);
}

bool masking_is_shared(const struct masking *m)
{
	return masking_is_interval(m) && !m->causal && !m->left_bound && !m->right_bound;
}

size_t masking_count(const struct masking *m, size_t batch, size_t query)
{
	struct span s = span_of(m, batch, query);
	size_t count = span_count(&s), first, end;
	if (!m->blocks || count == 0)
		return count;
	span_hull(&s, &first, &end);
	return size_min(count,
			blocks_count(m->blocks, (ptrdiff_t)query + masking_offset(m, batch), first, end));
}

/* How much of the keys [key, end) of [0, key_limit) queries at positions [first, last] attend
 * to. */
static enum attended window_extent(const struct masking *m, ptrdiff_t first, ptrdiff_t last, size_t key,
				   size_t end)
{
	struct distances d = window_of(m);
	ptrdiff_t step = m->dilation > 1 ? (ptrdiff_t)m->dilation : 1;
	if (key < m->prefix && end <= m->prefix)
		return ATTENDED_ALL;
	enum attended prefix = key < m->prefix ? ATTENDED_SOME : ATTENDED_NONE;
	/* All distances of the rectangle lie together, and each is that of some pair. */
	ptrdiff_t least = first - (ptrdiff_t)(end - 1), most = last - (ptrdiff_t)size_max(key, m->prefix);
	ptrdiff_t low = least > d.nearest ? least : d.nearest, high = most < d.farthest ? most : d.farthest;
	if (low > high || (low > 0 ? (high / step) * step < low : high < 0 && (low / step) * step > high))
		return prefix;
	if (low == least && high == most && (step == 1 || (least == most && least % step == 0)))
		return ATTENDED_ALL;
	return ATTENDED_SOME;
}

/* --- segments --------------------------------------------------------------------- */

/* Least and highest segment of [first, end) of one batch item. */
static struct segment_range range_of(const int64_t *segments, const struct segment_range *runs, size_t first,
				     size_t end)
{
	struct segment_range range = {INT64_MAX, INT64_MIN};
	while (first < end) {
		bool whole = first % SEGMENT_RUN == 0 && end - first >= SEGMENT_RUN;
		struct segment_range next = whole ? runs[first / SEGMENT_RUN]
						  : (struct segment_range){segments[first], segments[first]};
		range.least = next.least < range.least ? next.least : range.least;
		range.most = next.most > range.most ? next.most : range.most;
		first += whole ? SEGMENT_RUN : 1;
	}
	return range;
}

static enum attended segments_extent(const struct masking *m, size_t batch, size_t query, size_t queries,
				     size_t key, size_t end)
{
	size_t qb = m->query_segment_batch == 1 ? 0 : batch, kb = m->key_segment_batch == 1 ? 0 : batch;
	struct segment_range q =
	    range_of(m->query_segments + qb * m->queries, m->query_ranges + qb * segment_runs(m->queries),
		     query, query + queries);
	struct segment_range k = range_of(m->key_segments + kb * m->plain_keys,
					  m->key_ranges + kb * segment_runs(m->plain_keys), key, end);
	if (q.most < k.least || k.most < q.least)
		return ATTENDED_NONE;
	return q.least == q.most && k.least == k.most ? ATTENDED_ALL : ATTENDED_SOME;
}

/* --- all together ------------------------------------------------------------------- */

/* Flat index into the mask of key 0 of a row; a dimension of 1 repeats. */
static size_t mask_row(const struct masking *m, size_t batch, size_t head, size_t query)
{
	const size_t *shape = m->mask_shape;
	size_t row = shape[0] == 1 ? 0 : batch;
	row = row * shape[1] + (shape[1] == 1 ? 0 : head);
	row = row * shape[2] + (shape[2] == 1 ? 0 : query);
	return row * shape[3];
}

/* row[count] becomes 1 for the keys of the span among [first, first + count). */
static void span_row(const struct span *s, size_t first, size_t count, unsigned char *row)
{
	memset(row, 0, count);
	if (s->prefix > first)
		memset(row, 1, size_min(s->prefix - first, count));
	size_t from = s->first, end = size_min(s->end, first + count);
	if (from < first) /* the next one of the span */
		from = first + (s->step - 1 - (first - from + s->step - 1) % s->step);
	if (s->step == 1 && from < end)
		memset(row + (from - first), 1, end - from);
	for (size_t j = from; s->step > 1 && j < end; j += s->step)
		row[j - first] = 1;
}

/* row[j - first] &= for the plain keys [first, first + count), which are no more than
 * the mask is wide. */
static void mask_singly(const struct masking *m, size_t batch, size_t head, size_t query, size_t first,
			size_t count, unsigned char *row)
{
	if (m->blocks)
		blocks_mask(m->blocks, head, (ptrdiff_t)query + masking_offset(m, batch), first, count, row);
	if (m->query_segments) {
		size_t qb = m->query_segment_batch == 1 ? 0 : batch,
		       kb = m->key_segment_batch == 1 ? 0 : batch;
		int64_t own = m->query_segments[qb * m->queries + query];
		const int64_t *segments = m->key_segments + kb * m->plain_keys + first;
		for (size_t j = 0; j < count; j++)
			row[j] &= segments[j] == own;
	}
	if (m->mask) {
		size_t step = m->mask_shape[3] != 1;
		const unsigned char *mask = m->mask + mask_row(m, batch, head, query) + first * step;
		for (size_t j = 0; j < count; j++)
			row[j] &= mask[j * step];
	}
	if (m->padding) {
		const unsigned char *padding =
		    m->padding + (m->padding_batch == 1 ? 0 : batch) * m->plain_keys + first;
		for (size_t j = 0; j < count; j++)
			row[j] &= padding[j];
	}
}

void masking_keys(const struct masking *m, size_t batch, size_t head, size_t query, size_t first,
		  size_t count, unsigned char *row)
{
	size_t plain = first < m->plain_keys ? size_min(count, m->plain_keys - first) : 0;
	memset(row + plain, 1, count - plain);
	if (plain == 0)
		return;
	struct span s = span_of(m, batch, query);
	size_t from, end;
	span_row(&s, first, plain, row);
	span_hull(&s, &from, &end);
	from = size_max(from, first);
	end = size_min(end, first + plain);
	if (from < end)
		mask_singly(m, batch, head, query, from, end - from, row + (from - first));
}

void masking_row(const struct masking *m, size_t batch, size_t head, size_t query, unsigned char *row)
{
	masking_keys(m, batch, head, query, 0, m->plain_keys + m->appended_keys, row);
}

/* Of the plain keys [key, end). */
static enum attended plain_extent(const struct masking *m, size_t batch, size_t head, size_t query,
				  size_t queries, size_t key, size_t end)
{
	size_t limit = key_limit(m, batch);
	enum attended extent = m->mask || m->padding || end > limit ? ATTENDED_SOME : ATTENDED_ALL;
	end = size_min(end, limit);
	if (key >= end)
		return ATTENDED_NONE;
	ptrdiff_t first = (ptrdiff_t)query + masking_offset(m, batch),
		  last = first + (ptrdiff_t)(queries - 1);
	extent = extent_and(extent, window_extent(m, first, last, key, end));
	if (m->blocks && extent != ATTENDED_NONE)
		extent = extent_and(extent, blocks_extent(m->blocks, head, first, last, key, end - key));
	if (m->query_segments && extent != ATTENDED_NONE)
		extent = extent_and(extent, segments_extent(m, batch, query, queries, key, end));
	return extent;
}

enum attended masking_extent(const struct masking *m, size_t batch, size_t head, size_t query, size_t queries,
			     size_t key, size_t keys)
{
	size_t end = key + keys;
	if (queries == 0 || keys == 0)
		return ATTENDED_NONE;
	if (key >= m->plain_keys)
		return ATTENDED_ALL;
	enum attended extent =
	    plain_extent(m, batch, head, query, queries, key, size_min(end, m->plain_keys));
	return end > m->plain_keys && extent == ATTENDED_NONE ? ATTENDED_SOME : extent;
}

const float *masking_bias_row(const struct masking *m, size_t batch, size_t head, size_t query, size_t *step)
{
	*step = m->mask_shape[3] != 1;
	return m->bias ? m->bias + mask_row(m, batch, head, query) : NULL;
}

float masking_bias(const struct masking *m, size_t batch, size_t head, size_t query, size_t key)
{
	size_t step;
	const float *row = masking_bias_row(m, batch, head, query, &step);
	return row && key < m->plain_keys ? row[key * step] : 0;
}

size_t masking_bytes(const struct masking *m)
{
	size_t bytes = m->blocks ? blocks_bytes(m->blocks, m->heads) : 0;
	if (m->mask)
		bytes += m->mask_shape[0] * m->mask_shape[1] * m->mask_shape[2] * m->mask_shape[3] *
			 (m->bias ? 1 + sizeof *m->bias : 1);
	if (m->padding)
		bytes += m->padding_batch * m->plain_keys;
	if (m->query_segments)
		bytes += (m->query_segment_batch * m->queries + m->key_segment_batch * m->plain_keys) *
			 sizeof *m->query_segments;
	return bytes;
}
