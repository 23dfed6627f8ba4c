/* Tiles: scores lie as (keys, queries), so every pass goes down the keys once for a strip
 * of queries, and only what may have weight is looked at query by query. */
#include <math.h>
#include <string.h>

#include "attention/normalizer_internal.h"
#include "kernels/kernels.h"
#include "util/checked.h"
#include "util/minmax.h"

/* Scores of float32 that lie this near to each other, relative to them or to 1, may be in
 * another order in float64. */
#define NEAR 3e-7

/* Columns of a strip: a cache line of scores. */
enum {
	STRIP = 16,
	FEWEST_SHORTENED = 64, /* a list of values shorter than this stays */
};

#define INLINE static inline __attribute__((always_inline))

struct strip {
	float *scores; /* (keys, TILE), from the strip's first column on */
	size_t keys;
	float *values[STRIP]; /* of each column, those that may have weight */
	size_t counts[STRIP];
	double next[STRIP]; /* the highest value that has left the list */
	struct rule rules[STRIP];
};

/* The highest score of each column.  False when a score is NaN or +inf. */
INLINE bool find_tops(const float *scores, size_t keys, float *tops, const size_t cols)
{
	float highest[STRIP];
	unsigned bad[STRIP] = {0}, any = 0;
	for (size_t q = 0; q < cols; q++)
		highest[q] = -INFINITY;
	for (size_t j = 0; j < keys; j++)
		for (size_t q = 0; q < cols; q++) {
			float score = scores[j * TILE + q];
			highest[q] = score > highest[q] ? score : highest[q];
			bad[q] |= !(score <= FLT_MAX);
		}
	for (size_t q = 0; q < cols; q++) {
		tops[q] = highest[q];
		any |= bad[q];
	}
	return !any;
}

/* Whether any column of a key has a score of at least its limit. */
INLINE bool any_from(const float *scores, const float *limits, const size_t cols)
{
	unsigned any = 0;
	for (size_t q = 0; q < cols; q++)
		any |= scores[q] >= limits[q];
	return any;
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

/* The column's list of values is full: only its k highest can be among those of the whole
 * column, and nothing well below them any more. */
static void shorten(struct strip *s, size_t q, size_t k, float *limit, double *values)
{
	struct rule rule = rule_start(0);
	size_t count = s->counts[q];
	for (size_t i = 0; i < count; i++)
		values[i] = (double)s->values[q][i];
	const double *kept = normalizer_highest(values, count, k, &rule);
	for (size_t i = 0; i < k; i++)
		s->values[q][i] = (float)kept[i];
	s->counts[q] = k;
	s->next[q] = fmax(s->next[q], rule.next);
	*limit = float_below(near_below(rule.least));
}

/* The scores that may have weight, column by column; raises limits.  `scratch` is keys
 * doubles. */
INLINE void collect(struct strip *s, size_t top_k, float *limits, double *scratch, const size_t cols)
{
	/* Twice the k, and so many that most of a column comes after limits are raised. */
	size_t full = top_k > 0 && top_k < s->keys / 4 ? size_max(2 * top_k, FEWEST_SHORTENED) : SIZE_MAX;
	for (size_t j = 0; j < s->keys; j++) {
		const float *scores = s->scores + j * TILE;
		if (!any_from(scores, limits, cols))
			continue;
		for (size_t q = 0; q < cols; q++) {
			/* Written even if it is not to stay, so that nothing waits for a guess. */
			s->values[q][s->counts[q]] = scores[q];
			s->counts[q] += scores[q] >= limits[q];
			if (s->counts[q] >= full)
				shorten(s, q, top_k, &limits[q], scratch);
		}
	}
}

/* Scores of the columns become weights; none below its limit has one. */
INLINE void write_weights(struct strip *s, enum normalizer kind, const float *limits, const size_t cols)
{
	for (size_t j = 0; j < s->keys; j++) {
		float *scores = s->scores + j * TILE;
		if (!any_from(scores, limits, cols)) {
			memset(scores, 0, cols * sizeof *scores);
			continue;
		}
		for (size_t q = 0; q < cols; q++) {
			double score = (double)scores[q];
			bool kept = scores[q] >= limits[q] && keeps(&s->rules[q], score);
			scores[q] = kept ? (float)normalizer_weight(kind, &s->rules[q], score) : 0;
		}
	}
}

/* False: what top_k keeps of some column hangs on less than float32 tells. */
INLINE bool strip_weights(struct strip *s, const struct normalization *n, double sink, const float *tops,
			  double *values, const size_t cols)
{
	float limits[STRIP];
	bool sure = true;
	for (size_t q = 0; q < cols; q++)
		limits[q] = float_below(normalizer_least(n->kind, (double)tops[q]));
	collect(s, n->top_k, limits, values, cols);
	for (size_t q = 0; q < cols; q++) {
		struct rule *rule = &s->rules[q];
		if (tops[q] == -INFINITY)
			continue;
		for (size_t i = 0; i < s->counts[q]; i++)
			values[i] = (double)s->values[q][i];
		*rule = normalizer_rule(n, sink, (double)tops[q], values, s->counts[q]);
		limits[q] = fmaxf(limits[q], float_below(rule->least));
		bool cut = n->top_k > 0 && rule->least > -DBL_MAX && rule->ties < SIZE_MAX;
		sure &= !(cut && fmax(rule->next, s->next[q]) >= near_below(rule->least));
	}
	if (sure)
		write_weights(s, n->kind, limits, cols);
	return sure;
}

bool normalize_tile(const struct normalization *n, double sink, float *scores, size_t keys, size_t cols,
		    float *highest, void *scratch)
{
	double *values = scratch;
	float *columns = (float *)(values + keys);
	bool fine = true;
	for (size_t c = 0; c < cols; c += STRIP)
		fine &= cols - c >= STRIP ? find_tops(scores + c, keys, highest + c, STRIP)
					  : find_tops(scores + c, keys, highest + c, cols - c);
	if (!fine)
		return false;
	for (size_t c = 0; c < cols && fine; c += STRIP) {
		struct strip s = {.scores = scores + c, .keys = keys};
		for (size_t q = 0; q < STRIP; q++) {
			s.values[q] = columns + q * keys;
			s.next[q] = -INFINITY;
		}
		fine = cols - c >= STRIP ? strip_weights(&s, n, sink, highest + c, values, STRIP)
					 : strip_weights(&s, n, sink, highest + c, values, cols - c);
	}
	return fine;
}

/* A column of doubles and a strip of float32. */
size_t normalize_scratch(size_t keys)
{
	size_t bytes;
	return size_mul(keys, sizeof(double) + STRIP * sizeof(float), &bytes) ? bytes : SIZE_MAX;
}
