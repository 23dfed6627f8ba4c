/* Biases by distance: ALiBi's and T5's. */
#include <stdio.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

/* The settings beside relative_bias, checked against its T rows. */
static enum attn_status bind_buckets(struct relative_rules *rules, const struct bundle *b,
				     const struct tensor *bias, const struct masking *m,
				     struct attn_error *err)
{
	const struct setting *max = given_setting(b, ROLE_RELATIVE_MAX_DISTANCE);
	char expected[200];
	rules->buckets = bias->rank == 2 ? bias->shape[0] : 0;
	rules->max_distance = 128;
	rules->bidirectional = !m->causal;
	TRY(setting_count(b, ROLE_RELATIVE_MAX_DISTANCE, 1, &rules->max_distance, err));
	TRY(setting_bool(b, ROLE_RELATIVE_BIDIRECTIONAL, &rules->bidirectional, err));
	if (bias->rank != 2 || bias->shape[1] != m->heads)
		return bind_fail_shape(bias, err, "buckets x %zu, a column for each head", m->heads);
	if (rules->bidirectional && (rules->buckets < 4 || rules->buckets % 2 != 0))
		return bind_fail_shape(bias, err,
				       "an even number of buckets from 4, half of them for each direction");
	if (rules->buckets < 2)
		return bind_fail_shape(bias, err, "at least 2 buckets");
	size_t exact = relative_exact_distances(rules);
	if (rules->max_distance > exact)
		return ATTN_OK;
	snprintf(expected, sizeof expected, "more than the %zu distances that have a bucket of their own",
		 exact);
	if (max)
		return setting_fail(max, expected, err);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': relative_max_distance is 128 by default, expected %s",
			 origin_name(bias->origin), expected);
}

static enum attn_status bind_bias(struct problem *p, const struct bundle *b, struct relative_rules *rules,
				  struct attn_error *err)
{
	struct tensor *bias = use_tensor(b, ROLE_RELATIVE_BIAS);
	if (!bias)
		return ATTN_OK;
	TRY(bind_buckets(rules, b, bias, &p->attention.masking, err));
	return bind_f32(&p->floats, bias, &rules->bias, err);
}

enum attn_status bind_relative(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct relative_rules rules = {0};
	rules.alibi = given(b, ROLE_ALIBI_SLOPES);
	TRY(setting_bool(b, ROLE_ALIBI, &rules.alibi, err));
	if (rules.alibi)
		TRY(bind_per_head(p, b, ROLE_ALIBI_SLOPES, &rules.slopes, err));
	TRY(bind_bias(p, b, &rules, err));
	return relative_init(&p->attention.relative, &rules, &p->attention.masking, err);
}
