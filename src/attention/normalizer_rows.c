/* Rows of scores become rows of weights, in float64 and in float32. */
#include <string.h>

#include "attention/normalizer_internal.h"
#include "util/checked.h"
#include "util/minmax.h"

/* --- the highest scores ---------------------------------------------------------- */

/* Reorder so that the first k are the highest: quickselect, by pivots that no input can
 * know, in three parts so that equal numbers do not slow it down. */
static void select_highest(double *values, size_t count, size_t k)
{
	uint64_t draw = 0x9e3779b97f4a7c15;
	for (size_t low = 0, high = count; high - low > 1;) {
		draw = draw * 6364136223846793005 + 1442695040888963407;
		double pivot = values[low + (size_t)(draw >> 32) % (high - low)];
		size_t above = low, at = low, below = high; /* [low, above) > pivot, [below, high) < pivot */
		while (at < below) {
			double value = values[at];
			if (value > pivot) {
				values[at++] = values[above];
				values[above++] = value;
			} else if (value < pivot) {
				values[at] = values[--below];
				values[below] = value;
			} else {
				at++;
			}
		}
		if (k < above)
			high = above;
		else if (k > below)
			low = below;
		else
			return;
	}
}

void rule_keep_highest(struct rule *rule, double *values, size_t count, size_t k)
{
	select_highest(values, count, k);
	rule->least = INFINITY;
	rule->ties = 0;
	for (size_t i = 0; i < k; i++) {
		if (values[i] < rule->least) {
			rule->least = values[i];
			rule->ties = 0;
		}
		rule->ties += values[i] == rule->least;
	}
	for (size_t i = k; i < count; i++)
		rule->next = values[i] > rule->next ? values[i] : rule->next;
}

void keep_top(double *scores, size_t keys, size_t k, double *scratch)
{
	struct rule rule = rule_start(0);
	size_t count = 0;
	for (size_t j = 0; j < keys; j++)
		if (scores[j] > -INFINITY)
			scratch[count++] = scores[j];
	if (count <= k)
		return;
	rule_keep_highest(&rule, scratch, count, k);
	for (size_t j = 0; j < keys; j++)
		if (!rule_keeps(&rule, scores[j]))
			scores[j] = -INFINITY;
}

/* --- float64 ---------------------------------------------------------------------- */

void normalize_row(const struct normalization *n, double sink, double *scores, size_t keys, float *weights,
		   double *scratch)
{
	const struct normalizer *normalizer = n->normalizer;
	double top = -INFINITY;
	size_t count = 0;
	if (n->top_k > 0)
		keep_top(scores, keys, n->top_k, scratch);
	if (normalizer->plain_row && sink == -INFINITY) {
		normalizer->plain_row(weights, scores, keys);
		return;
	}
	for (size_t j = 0; j < keys; j++)
		top = fmax(top, scores[j]);
	if (top == -INFINITY) {
		memset(weights, 0, keys * sizeof *weights);
		return;
	}
	double least = normalizer_least(normalizer, top);
	for (size_t j = 0; j < keys; j++)
		if (scores[j] >= least)
			scratch[count++] = scores[j];
	struct rule rule = rule_start(top);
	normalizer->find_rule(&rule, sink, scratch, count, SIZE_MAX);
	for (size_t j = 0; j < keys; j++)
		weights[j] = scores[j] == -INFINITY ? 0 : (float)normalizer->weight(&rule, scores[j]);
}

/* --- float32 ---------------------------------------------------------------------- */

/* Scores of float32 that lie this near to each other, relative to them or to 1, may be in
 * another order in float64. */
#define NEAR 3e-7

enum {
	FEWEST_SHORTENED = 64 /* a list of candidates shorter than this stays */
};

bool row_top(const float *row, size_t keys, float *top)
{
	float highest[RUN];
	unsigned bad[RUN] = {0}, any = 0;
	size_t at = 0;
	for (size_t i = 0; i < RUN; i++)
		highest[i] = -INFINITY;
	for (; at + RUN <= keys; at += RUN)
		for (size_t i = 0; i < RUN; i++) {
			float score = row[at + i];
			highest[i] = score > highest[i] ? score : highest[i];
			bad[i] |= !(score <= FLT_MAX);
		}
	for (; at < keys; at++) {
		highest[0] = row[at] > highest[0] ? row[at] : highest[0];
		any |= !(row[at] <= FLT_MAX);
	}
	*top = -INFINITY;
	for (size_t i = 0; i < RUN; i++) {
		*top = highest[i] > *top ? highest[i] : *top;
		any |= bad[i];
	}
	return !any;
}

/* The largest finite float32 that is not above the number, or the least one. */
static float float_below(double number)
{
	if (number <= -(double)FLT_MAX)
		return -FLT_MAX;
	float nearest = (float)number;
	return (double)nearest > number ? nextafterf(nearest, -INFINITY) : nearest;
}

static double near_below(double score)
{
	return score - NEAR * fmax(1, fabs(score));
}

/* Those scores of a row that may have weight: `limit` at least. */
struct candidates {
	double *values; /* (keys), scratch */
	float *scores;  /* (keys) */
	size_t count;
	float limit;
	double next; /* the highest that has left the list */
};

static void widen(const struct candidates *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->values[i] = (double)c->scores[i];
}

/* The list is full: only its k highest can be among those of the whole row, and nothing well
 * below them any more. */
static void shorten(struct candidates *c, size_t k)
{
	struct rule rule = rule_start(0);
	widen(c);
	rule_keep_highest(&rule, c->values, c->count, k);
	for (size_t i = 0; i < k; i++)
		c->scores[i] = (float)c->values[i];
	c->count = k;
	c->next = fmax(c->next, rule.next);
	c->limit = float_below(near_below(rule.least));
}

static void collect(struct candidates *c, const float *row, size_t keys, size_t top_k)
{
	/* Twice the k, and so many that most of a row comes after the limit is raised. */
	size_t full = top_k > 0 && top_k < keys / 4 ? size_max(2 * top_k, FEWEST_SHORTENED) : SIZE_MAX;
	for (size_t at = 0; at < keys; at += RUN) {
		size_t end = size_min(at + RUN, keys);
		if (end - at == RUN && !run_has(row + at, c->limit))
			continue;
		for (size_t j = at; j < end; j++) {
			/* Written even if it is not to stay, which avoids branch mispredictions. */
			c->scores[c->count] = row[j];
			c->count += row[j] >= c->limit;
			if (c->count >= full)
				shorten(c, top_k);
		}
	}
}

/* Scores become weights; none below the limit has one. */
static void write_weights(const struct normalizer *normalizer, struct rule *rule, float limit, float *row,
			  size_t keys)
{
	for (size_t at = 0; at < keys; at += RUN) {
		size_t end = size_min(at + RUN, keys);
		if (end - at == RUN && !run_has(row + at, limit)) {
			memset(row + at, 0, RUN * sizeof *row);
			continue;
		}
		for (size_t j = at; j < end; j++) {
			double score = (double)row[j];
			bool kept = row[j] >= limit && rule_keeps(rule, score);
			row[j] = kept ? (float)normalizer->weight(rule, score) : 0;
		}
	}
}

bool normalize_float_row(const struct normalization *n, double sink, float *row, size_t keys, float *highest,
			 void *scratch)
{
	struct candidates c = {.values = scratch, .next = -INFINITY};
	c.scores = (float *)(c.values + keys);
	if (!row_top(row, keys, highest))
		return false;
	double top = (double)*highest;
	if (top == -INFINITY) {
		memset(row, 0, keys * sizeof *row);
		return true;
	}
	c.limit = float_below(normalizer_least(n->normalizer, top));
	collect(&c, row, keys, n->top_k);
	widen(&c);
	struct rule rule = rule_start(top);
	n->normalizer->find_rule(&rule, sink, c.values, c.count, n->top_k > 0 ? n->top_k : SIZE_MAX);
	bool cut = n->top_k > 0 && rule.least > -DBL_MAX && rule.ties < SIZE_MAX;
	if (cut && fmax(rule.next, c.next) >= near_below(rule.least))
		return false;
	write_weights(n->normalizer, &rule, fmaxf(c.limit, float_below(rule.least)), row, keys);
	return true;
}

/* The values and scores of candidates. */
size_t normalize_scratch(size_t keys)
{
	size_t bytes;
	return size_mul(keys, sizeof(double) + sizeof(float), &bytes) ? bytes : SIZE_MAX;
}
