#include "attention/relative.h"

#include <math.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/memory.h"

void relative_release(struct relative *r)
{
	free(r->table);
	*r = (struct relative){0};
}

double relative_bias_at(const struct relative *r, size_t head, ptrdiff_t distance)
{
	return r->table ? (double)r->table[head * r->span + (size_t)(distance - r->least)] : 0;
}

/* Buckets of one direction: all, or half of them. */
static size_t direction_buckets(const struct relative_rules *rules)
{
	return rules->bidirectional ? rules->buckets / 2 : rules->buckets;
}

size_t relative_exact_distances(const struct relative_rules *rules)
{
	return direction_buckets(rules) / 2;
}

/* Room for all distances, filled with zeros. */
static enum attn_status make_table(struct relative *r, const struct masking *m, struct attn_error *err)
{
	ptrdiff_t lowest = masking_offset(m, 0), highest = lowest;
	size_t count;
	for (size_t b = 1; b < m->batch; b++) {
		ptrdiff_t offset = masking_offset(m, b);
		lowest = offset < lowest ? offset : lowest;
		highest = offset > highest ? offset : highest;
	}
	r->heads = m->heads;
	r->least = lowest - (ptrdiff_t)(m->plain_keys - 1);
	r->span = (size_t)(highest + (ptrdiff_t)(m->queries - 1) - r->least) + 1;
	if (size_mul(r->heads, r->span, &count) && size_add(count, RELATIVE_SPARE, &count))
		r->table = array_alloc(count, sizeof *r->table);
	return r->table ? ATTN_OK : attn_fail_memory(err);
}

/* Press et al. 2022, section 3: 2^(-8/n), 2^(-16/n), ... for n heads, a power of two.
 * Otherwise, as their code has it: those of the power of two below, then every second
 * of those of the power above. */
static double standard_slope(size_t head, size_t heads)
{
	size_t power = 1;
	while (power <= heads / 2)
		power *= 2;
	if (head < power)
		return exp2(-8.0 * (double)(head + 1) / (double)power);
	return exp2(-4.0 * (double)(2 * (head - power) + 1) / (double)power);
}

/* The bucket of a distance, as relative_position_bucket of T5's code.
 *
 * Beyond `exact` it is the floor of a logarithm, which is a whole number at some
 * distances (16, 32, 64 for 16 buckets up to 128): a bucket begins there, and no rounding
 * of the logarithm, which T5 computes in float32, may put that distance one lower.  So
 * what is less than 1e-9 below a whole number counts as that number. */
static size_t bucket_of(const struct relative_rules *rules, ptrdiff_t distance)
{
	size_t each = direction_buckets(rules), exact = relative_exact_distances(rules);
	size_t before = distance > 0 ? (size_t)distance : 0;
	size_t after = distance < 0 ? -(size_t)distance : 0;
	size_t first = rules->bidirectional && after > 0 ? each : 0;
	size_t away = rules->bidirectional ? before + after : before;
	if (away < exact)
		return first + away;
	double steps = log((double)away / (double)exact) / log((double)rules->max_distance / (double)exact) *
		       (double)(each - exact);
	return first + (size_t)fmin((double)(each - 1), (double)exact + floor(steps + 1e-9));
}

/* The biases of all heads at one distance. */
static enum attn_status fill_distance(struct relative *r, const struct relative_rules *rules, size_t i,
				      struct attn_error *err)
{
	ptrdiff_t distance = r->least + (ptrdiff_t)i;
	const float *bias = rules->bias ? rules->bias + bucket_of(rules, distance) * r->heads : NULL;
	for (size_t h = 0; h < r->heads; h++) {
		double slope = !rules->alibi   ? 0
			       : rules->slopes ? (double)rules->slopes[h]
					       : standard_slope(h, r->heads);
		double sum = (bias ? (double)bias[h] : 0) - slope * fabs((double)distance);
		r->table[h * r->span + i] = (float)sum;
		if (!isfinite(r->table[h * r->span + i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "the bias by '%s' of head %zu at distance %td is %g, expected "
					 "float32's range",
					 rules->alibi ? "alibi_slopes" : "relative_bias", h, distance, sum);
	}
	return ATTN_OK;
}

enum attn_status relative_init(struct relative *r, const struct relative_rules *rules,
			       const struct masking *m, struct attn_error *err)
{
	*r = (struct relative){0};
	if (!rules->alibi && !rules->bias)
		return ATTN_OK;
	enum attn_status status = make_table(r, m, err);
	for (size_t i = 0; i < r->span && status == ATTN_OK; i++)
		status = fill_distance(r, rules, i, err);
	if (status != ATTN_OK)
		relative_release(r);
	return status;
}
