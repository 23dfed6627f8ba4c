#include "attention/engine_mask.h"

#include <math.h>
#include <string.h>

#include "util/minmax.h"

/* A float mask matters only up to a constant for each row: added in float64 and
 * taken relative to its highest visible number, even a row of -1e9 keeps its scores'
 * digits. */
static void find_bias(struct tile_mask *h, size_t r, unsigned char *visible)
{
	const struct masking *v = h->masking;
	h->bias[r] = masking_bias_row(v, h->batch, h->head, h->query + r, &h->bias_step);
	h->offsets[r] = -INFINITY;
	if (!h->bias[r])
		return;
	masking_row(v, h->batch, h->head, h->query + r, visible);
	for (size_t j = 0; j < v->plain_keys; j++)
		if (visible[j])
			h->offsets[r] = fmaxf(h->offsets[r], h->bias[r][j * h->bias_step]);
	/* Appended keys have no bias: they count as 0. */
	if (v->appended_keys > 0 || h->offsets[r] == -INFINITY)
		h->offsets[r] = fmaxf(h->offsets[r], 0);
}

void tile_mask_start(struct tile_mask *h, const struct masking *v, const struct row_block *block,
		     size_t query, size_t queries, unsigned char *step_visible, unsigned char *row_visible)
{
	h->masking = v;
	h->batch = block->batch;
	h->head = block->head;
	h->query = query;
	h->queries = queries;
	h->interval = masking_is_interval(v);
	h->step_visible = step_visible;
	h->first = v->plain_keys;
	h->end = 0;
	bool shared = masking_is_shared(v);
	for (size_t r = 0; r < queries; r++) {
		if (r > 0 && shared) {
			h->starts[r] = h->starts[0];
			h->ends[r] = h->ends[0];
		} else {
			masking_interval(v, h->batch, query + r, &h->starts[r], &h->ends[r]);
		}
		if (h->starts[r] < h->ends[r]) {
			h->first = size_min(h->first, h->starts[r]);
			h->end = size_max(h->end, h->ends[r]);
		}
		h->seen[r] = false;
		h->bias[r] = NULL;
		if (v->bias)
			find_bias(h, r, row_visible);
	}
	if (v->appended_keys > 0)
		h->end = v->plain_keys + v->appended_keys;
}

enum attended tile_mask_extent(const struct tile_mask *h, size_t first, size_t count)
{
	if (!h->interval)
		return masking_extent(h->masking, h->batch, h->head, h->query, h->queries, first, count);
	bool all = true, any = false;
	for (size_t q = 0; q < h->queries; q++) {
		all &= h->starts[q] <= first && first + count <= h->ends[q];
		any |= size_max(h->starts[q], first) < size_min(h->ends[q], first + count);
	}
	return all ? ATTENDED_ALL : any ? ATTENDED_SOME : ATTENDED_NONE;
}

static void mask_interval(struct tile_mask *h, size_t first, size_t count, float *scores, float hidden)
{
	for (size_t q = 0; q < h->queries; q++) {
		size_t start = size_min(h->starts[q] > first ? h->starts[q] - first : 0, count);
		size_t end = size_min(h->ends[q] > first ? h->ends[q] - first : 0, count);
		if (start >= end)
			start = end = 0;
		h->seen[q] |= start < end;
		for (size_t j = 0; j < start; j++)
			scores[j * TILE + q] = hidden;
		for (size_t j = end; j < count; j++)
			scores[j * TILE + q] = hidden;
	}
}

/* One query's scores: what is hidden, and what a float mask adds to the rest. */
static void mask_row(struct tile_mask *h, size_t q, const unsigned char *visible, size_t first, size_t count,
		     float *scores, float hidden)
{
	size_t plain = h->masking->plain_keys;
	const float *bias = h->bias[q] ? h->bias[q] + first * h->bias_step : NULL;
	for (size_t j = 0; j < count; j++) {
		float *score = &scores[j * TILE + q];
		/* The mask may end before the keys do. */
		double added = bias && visible[j] && first + j < plain ? (double)bias[j * h->bias_step] : 0;
		if (!visible[j])
			*score = hidden;
		else if (bias)
			*score = (float)(((double)*score + added) - (double)h->offsets[q]);
	}
}

void tile_mask_apply(struct tile_mask *h, enum attended extent, size_t first, size_t count, float *scores,
		     float hidden)
{
	const struct masking *v = h->masking;
	if (extent == ATTENDED_ALL && !v->bias) {
		memset(h->seen, true, sizeof h->seen);
		return;
	}
	if (h->interval) {
		mask_interval(h, first, count, scores, hidden);
		return;
	}
	for (size_t q = 0; q < h->queries; q++) {
		unsigned char *visible = h->step_visible + q * KEY_BLOCK;
		masking_keys(v, h->batch, h->head, h->query + q, first, count, visible);
		h->seen[q] |= memchr(visible, 1, count) != NULL;
		if (h->bias[q] || memchr(visible, 0, count))
			mask_row(h, q, visible, first, count, scores, hidden);
	}
}
