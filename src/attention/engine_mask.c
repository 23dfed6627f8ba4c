#include "attention/engine_mask.h"

#include <math.h>
#include <string.h>

#include "util/minmax.h"

/* A float mask matters only up to a constant for each row: added in float64 and
 * taken relative to its highest number at a key that is not masked, even a row of -1e9 keeps its scores'
 * digits. */
static void find_bias(struct tile_mask *m, size_t r, unsigned char *attended)
{
	const struct masking *masking = m->masking;
	m->bias[r] = masking_bias_row(masking, m->batch, m->head, m->query + r, &m->bias_step);
	m->offsets[r] = -INFINITY;
	if (!m->bias[r])
		return;
	masking_row(masking, m->batch, m->head, m->query + r, attended);
	for (size_t j = 0; j < masking->plain_keys; j++)
		if (attended[j])
			m->offsets[r] = fmaxf(m->offsets[r], m->bias[r][j * m->bias_step]);
	/* Appended keys have no bias: they count as 0. */
	if (masking->appended_keys > 0 || m->offsets[r] == -INFINITY)
		m->offsets[r] = fmaxf(m->offsets[r], 0);
}

void tile_mask_start(struct tile_mask *m, const struct masking *masking, const struct row_block *block,
		     size_t query, size_t queries, unsigned char *step_attended, unsigned char *row_attended)
{
	m->masking = masking;
	m->batch = block->batch;
	m->head = block->head;
	m->query = query;
	m->queries = queries;
	m->interval = masking_is_interval(masking);
	m->step_attended = step_attended;
	m->first = masking->plain_keys;
	m->end = 0;
	bool shared = masking_is_shared(masking);
	for (size_t r = 0; r < queries; r++) {
		if (r > 0 && shared) {
			m->starts[r] = m->starts[0];
			m->ends[r] = m->ends[0];
		} else {
			masking_interval(masking, m->batch, query + r, &m->starts[r], &m->ends[r]);
		}
		if (m->starts[r] < m->ends[r]) {
			m->first = size_min(m->first, m->starts[r]);
			m->end = size_max(m->end, m->ends[r]);
		}
		m->any[r] = false;
		m->bias[r] = NULL;
		if (masking->bias)
			find_bias(m, r, row_attended);
	}
	if (masking->appended_keys > 0)
		m->end = masking->plain_keys + masking->appended_keys;
}

enum attended tile_mask_extent(const struct tile_mask *m, size_t first, size_t count)
{
	if (!m->interval)
		return masking_extent(m->masking, m->batch, m->head, m->query, m->queries, first, count);
	bool all = true, any = false;
	for (size_t q = 0; q < m->queries; q++) {
		all &= m->starts[q] <= first && first + count <= m->ends[q];
		any |= size_max(m->starts[q], first) < size_min(m->ends[q], first + count);
	}
	return all ? ATTENDED_ALL : any ? ATTENDED_SOME : ATTENDED_NONE;
}

static void mask_interval(struct tile_mask *m, size_t first, size_t count, float *scores, float masked)
{
	for (size_t q = 0; q < m->queries; q++) {
		size_t start = size_min(m->starts[q] > first ? m->starts[q] - first : 0, count);
		size_t end = size_min(m->ends[q] > first ? m->ends[q] - first : 0, count);
		if (start >= end)
			start = end = 0;
		m->any[q] |= start < end;
		for (size_t j = 0; j < start; j++)
			scores[j * TILE + q] = masked;
		for (size_t j = end; j < count; j++)
			scores[j * TILE + q] = masked;
	}
}

/* One query's scores: what is masked, and what a float mask adds to the rest. */
static void mask_row(struct tile_mask *m, size_t q, const unsigned char *attended, size_t first, size_t count,
		     float *scores, float masked)
{
	size_t plain = m->masking->plain_keys;
	const float *bias = m->bias[q] ? m->bias[q] + first * m->bias_step : NULL;
	for (size_t j = 0; j < count; j++) {
		float *score = &scores[j * TILE + q];
		/* The mask may end before the keys do. */
		double added = bias && attended[j] && first + j < plain ? (double)bias[j * m->bias_step] : 0;
		if (!attended[j])
			*score = masked;
		else if (bias)
			*score = (float)(((double)*score + added) - (double)m->offsets[q]);
	}
}

void tile_mask_apply(struct tile_mask *m, enum attended extent, size_t first, size_t count, float *scores,
		     float masked)
{
	const struct masking *masking = m->masking;
	if (extent == ATTENDED_ALL && !masking->bias) {
		memset(m->any, true, sizeof m->any);
		return;
	}
	if (m->interval) {
		mask_interval(m, first, count, scores, masked);
		return;
	}
	for (size_t q = 0; q < m->queries; q++) {
		unsigned char *attended = m->step_attended + q * KEY_BLOCK;
		masking_keys(masking, m->batch, m->head, m->query + q, first, count, attended);
		m->any[q] |= memchr(attended, 1, count) != NULL;
		if (m->bias[q] || memchr(attended, 0, count))
			mask_row(m, q, attended, first, count, scores, masked);
	}
}
