/* How scores become weights, and sinks. */
#include "input/bind.h"
#include "input/settings.h"

static enum attn_status bind_kind(struct normalization *n, const struct bundle *b, struct attn_error *err)
{
	const struct setting *kind = bundle_setting(b, "normalizer");
	*n = (struct normalization){.normalizer = &normalizer_softmax};
	if (!kind)
		return ATTN_OK;
	n->normalizer = normalizer_named(kind->value);
	return n->normalizer ? ATTN_OK
			     : setting_fail(kind, "'softmax', 'sparsemax', 'entmax15' or 'linear'", err);
}

/* Only softmax has sinks, one way or the other, and linear attention no highest scores. */
static enum attn_status check(const struct normalization *n, const struct bundle *b, bool has_sinks,
			      bool zero_sink, struct attn_error *err)
{
	const struct setting *kind = bundle_setting(b, "normalizer");
	if (has_sinks && zero_sink)
		return setting_fail(bundle_setting(b, "zero_sink"), "false where there are sinks", err);
	if (has_sinks && !n->normalizer->takes_sinks)
		return setting_fail(kind, "'softmax' where there are sinks", err);
	if (zero_sink && !n->normalizer->takes_sinks)
		return setting_fail(kind, "'softmax' with zero_sink", err);
	if (n->top_k > 0 && !n->normalizer->takes_top_k)
		return setting_fail(kind, "'softmax', 'sparsemax' or 'entmax15' with top_k", err);
	return ATTN_OK;
}

enum attn_status bind_normalizer(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct normalization *n = &p->attention.normalization;
	const float *sinks;
	bool zero_sink = false;
	enum attn_status status = bind_per_head(p, b, "sinks", &sinks, err);
	if (status == ATTN_OK)
		status = bind_kind(n, b, err);
	if (status == ATTN_OK)
		status = setting_count(b, "top_k", 1, &n->top_k, err);
	if (status == ATTN_OK)
		status = setting_bool(b, "zero_sink", &zero_sink, err);
	if (status == ATTN_OK)
		status = check(n, b, sinks != NULL, zero_sink, err);
	if (status != ATTN_OK)
		return status;
	n->sinks = sinks;
	if (!zero_sink)
		return ATTN_OK;
	n->sinks = bind_floats(p, p->attention.heads); /* of zeros */
	return n->sinks ? ATTN_OK : attn_fail_memory(err);
}
