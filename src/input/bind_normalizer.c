/* How scores become weights, and sinks. */
#include <stdio.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

static enum attn_status bind_kind(struct normalization *n, const struct bundle *b, struct attn_error *err)
{
	const struct setting *kind = use_setting(b, ROLE_NORMALIZER);
	*n = (struct normalization){.normalizer = kind ? normalizer_named(kind->value) : &normalizer_softmax};
	return n->normalizer ? ATTN_OK : setting_fail(kind, roles[ROLE_NORMALIZER].form, err);
}

/* "expected 'softmax', 'sparsemax' or 'entmax15' with top_k" */
static enum attn_status fail_top_k(const struct setting *kind, struct attn_error *err)
{
	char names[200] = "";
	size_t left = 0, used = 0;
	for (size_t i = 0; normalizer_table[i]; i++)
		left += normalizer_table[i]->takes_top_k;
	for (size_t i = 0; normalizer_table[i]; i++)
		if (normalizer_table[i]->takes_top_k && used < sizeof names) {
			left--;
			used += (size_t)snprintf(names + used, sizeof names - used, "'%s'%s",
						 normalizer_table[i]->name,
						 left > 1    ? ", "
						 : left == 1 ? " or "
							     : " with top_k");
		}
	return setting_fail(kind, names, err);
}

/* Only softmax has sinks, one way or the other, and linear attention no highest scores. */
static enum attn_status check(const struct normalization *n, const struct bundle *b, bool has_sinks,
			      bool zero_sink, struct attn_error *err)
{
	const struct setting *kind = given_setting(b, ROLE_NORMALIZER);
	if (has_sinks && zero_sink)
		return setting_fail(given_setting(b, ROLE_ZERO_SINK), "false where there are sinks", err);
	if (has_sinks && !n->normalizer->takes_sinks)
		return setting_fail(kind, "'softmax' where there are sinks", err);
	if (zero_sink && !n->normalizer->takes_sinks)
		return setting_fail(kind, "'softmax' with zero_sink", err);
	if (n->top_k > 0 && !n->normalizer->takes_top_k)
		return fail_top_k(kind, err);
	return ATTN_OK;
}

enum attn_status bind_normalizer(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct normalization *n = &p->attention.normalization;
	const float *sinks;
	bool zero_sink = false;
	TRY(bind_per_head(p, b, ROLE_SINKS, &sinks, err));
	TRY(bind_kind(n, b, err));
	TRY(setting_count(b, ROLE_TOP_K, 1, &n->top_k, err));
	TRY(setting_bool(b, ROLE_ZERO_SINK, &zero_sink, err));
	TRY(check(n, b, sinks != NULL, zero_sink, err));
	n->sinks = sinks;
	if (!zero_sink)
		return ATTN_OK;
	n->sinks = float_pool_take(&p->floats, p->attention.heads); /* of zeros */
	return n->sinks ? ATTN_OK : attn_fail_memory(err);
}
