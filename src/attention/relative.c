#include "attention/relative.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/bind.h"
#include "input/settings.h"
#include "util/checked.h"

/* What T5's buckets are made of. */
struct buckets {
	bool bidirectional;
	size_t each;  /* buckets of a direction: all, or half of them */
	size_t exact; /* the first of these, each of one distance */
	size_t max;   /* distances from here on share the last one */
	float *bias;  /* owned, (T, heads) */
};

void relative_release(struct relative *r)
{
	free(r->table);
	*r = (struct relative){0};
}

double relative_bias_at(const struct relative *r, size_t head, ptrdiff_t distance)
{
	return r->table ? (double)r->table[head * r->span + (size_t)(distance - r->least)] : 0;
}

/* Room for all distances, filled with zeros. */
static enum attn_status make_table(struct relative *r, const struct masking *v, struct attn_error *err)
{
	ptrdiff_t lowest = masking_offset(v, 0), highest = lowest;
	size_t count;
	for (size_t b = 1; b < v->batch; b++) {
		ptrdiff_t offset = masking_offset(v, b);
		lowest = offset < lowest ? offset : lowest;
		highest = offset > highest ? offset : highest;
	}
	r->heads = v->heads;
	r->least = lowest - (ptrdiff_t)(v->plain_keys - 1);
	r->span = (size_t)(highest + (ptrdiff_t)(v->queries - 1) - r->least) + 1;
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
 * Beyond `exact` it takes the floor of a logarithm, which is a whole number at some
 * distances (16, 32, 64 for 16 buckets up to 128): a bucket begins there, and no rounding
 * of the logarithm, which T5 computes in float32, may put that distance one lower.  So
 * what is less than 1e-9 below a whole number counts as that number. */
static size_t bucket_of(const struct buckets *t, ptrdiff_t distance)
{
	size_t before = distance > 0 ? (size_t)distance : 0;
	size_t after = distance < 0 ? -(size_t)distance : 0;
	size_t first = t->bidirectional && after > 0 ? t->each : 0;
	size_t away = t->bidirectional ? before + after : before;
	if (away < t->exact)
		return first + away;
	double exact = (double)t->exact;
	double steps = log((double)away / exact) / log((double)t->max / exact) * (double)(t->each - t->exact);
	return first + (size_t)fmin((double)(t->each - 1), exact + floor(steps + 1e-9));
}

/* The settings beside relative_bias, checked against its T rows. */
static enum attn_status bind_buckets(struct buckets *t, const struct bundle *b, const struct tensor *bias,
				     const struct masking *v, struct attn_error *err)
{
	const struct setting *max = bundle_setting(b, "relative_max_distance");
	char expected[200];
	size_t rows = bias->rank == 2 ? bias->shape[0] : 0;
	t->max = 128;
	t->bidirectional = !v->causal;
	enum attn_status status = setting_count(b, "relative_max_distance", 1, &t->max, err);
	if (status == ATTN_OK)
		status = setting_bool(b, "relative_bidirectional", &t->bidirectional, err);
	if (status != ATTN_OK)
		return status;
	if (bias->rank != 2 || bias->shape[1] != v->heads)
		return bind_fail_shape(bias, err, "buckets x %zu, a column for each head", v->heads);
	if (t->bidirectional && (rows < 4 || rows % 2 != 0))
		return bind_fail_shape(bias, err,
				       "an even number of buckets from 4, half of them for each direction");
	if (rows < 2)
		return bind_fail_shape(bias, err, "at least 2 buckets");
	t->each = t->bidirectional ? rows / 2 : rows;
	t->exact = t->each / 2;
	if (t->max > t->exact)
		return ATTN_OK;
	snprintf(expected, sizeof expected, "more than the %zu distances that have a bucket of their own",
		 t->exact);
	if (max)
		return setting_fail(max, expected, err);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': relative_max_distance is 128 by default, expected %s",
			 origin_name(bias->origin), expected);
}

static enum attn_status bind_bias(struct buckets *t, const struct bundle *b, const struct masking *v,
				  struct attn_error *err)
{
	static const char *const beside[] = {"relative_max_distance", "relative_bidirectional"};
	struct tensor *bias = bundle_tensor(b, "relative_bias");
	for (size_t i = 0; i < 2 && !bias; i++)
		if (bundle_setting(b, beside[i]))
			return setting_fail(bundle_setting(b, beside[i]), "'relative_bias' beside it", err);
	if (!bias)
		return ATTN_OK;
	enum attn_status status = bind_buckets(t, b, bias, v, err);
	if (status == ATTN_OK)
		status = tensor_load(bias, err);
	if (status != ATTN_OK)
		return status;
	t->bias = array_alloc(bias->count, sizeof *t->bias);
	return t->bias ? tensor_to_f32(bias, t->bias, err) : attn_fail_memory(err);
}

enum attn_status relative_bind(struct relative *r, const struct bundle *b, const struct masking *v,
			       const float *slopes, struct attn_error *err)
{
	struct buckets buckets = {0};
	bool alibi = slopes != NULL;
	*r = (struct relative){0};
	enum attn_status status = setting_bool(b, "alibi", &alibi, err);
	if (status == ATTN_OK)
		status = bind_bias(&buckets, b, v, err);
	if (status == ATTN_OK && (alibi || buckets.bias))
		status = make_table(r, v, err);
	for (size_t i = 0; i < r->span && status == ATTN_OK; i++) {
		ptrdiff_t distance = r->least + (ptrdiff_t)i;
		const float *bias =
		    buckets.bias ? buckets.bias + bucket_of(&buckets, distance) * r->heads : NULL;
		for (size_t h = 0; h < r->heads && status == ATTN_OK; h++) {
			double slope = !alibi ? 0 : slopes ? (double)slopes[h] : standard_slope(h, r->heads);
			double sum = (bias ? (double)bias[h] : 0) - slope * fabs((double)distance);
			r->table[h * r->span + i] = (float)sum;
			if (!isfinite(r->table[h * r->span + i]))
				status = attn_fail(
				    err, ATTN_BAD_INPUT,
				    "the bias by '%s' of head %zu at distance %td is %g, expected float32's "
				    "range",
				    alibi ? "alibi_slopes" : "relative_bias", h, distance, sum);
		}
	}
	free(buckets.bias);
	if (status != ATTN_OK)
		relative_release(r);
	return status;
}
