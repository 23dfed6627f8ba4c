/* Rotary positions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/bind.h"
#include "input/settings.h"

/* rope_style, rope_dim or rope_scaling where nothing is turned. */
static enum attn_status refuse_without_rope(const struct bundle *b, size_t latent_dims,
					    struct attn_error *err)
{
	static const char *const names[] = {"rope_style", "rope_scaling", "rope_dim"};
	const struct setting *rope = bundle_setting(b, "rope");
	/* Latent attention may need rope_dim to cut its fused matrices. */
	for (size_t i = 0; i < (latent_dims > 0 ? 2 : 3); i++) {
		const struct setting *s = bundle_setting(b, names[i]);
		if (s && (s->from_command || !rope || !rope->from_command))
			return setting_fail(s, "'rope' beside it, such as 10000", err);
	}
	return ATTN_OK;
}

/* How many dimensions would be turned, and which is the first. */
static enum attn_status bind_dims(struct rotary *r, const struct bundle *b, size_t size, size_t latent_dims,
				  struct attn_error *err)
{
	const struct setting *s = bundle_setting(b, "rope_dim");
	char expected[200];
	size_t dims = latent_dims > 0 ? latent_dims : size;
	enum attn_status status = setting_count(b, "rope_dim", 1, &dims, err);
	if (status != ATTN_OK)
		return status;
	if (latent_dims > 0 && dims != latent_dims) {
		snprintf(expected, sizeof expected, "%zu, as many as latent attention has rotary dimensions",
			 latent_dims);
		return setting_fail(s, expected, err);
	}
	if (s && latent_dims == 0 && (dims % 2 != 0 || dims > size)) {
		snprintf(expected, sizeof expected, "an even number up to the head size, %zu", size);
		return setting_fail(s, expected, err);
	}
	r->dims = dims;
	r->first = latent_dims > 0 ? size - latent_dims : 0;
	return ATTN_OK;
}

static enum attn_status bind_scaling(struct rotary *r, const struct bundle *b, struct attn_error *err)
{
	const struct setting *s = bundle_setting(b, "rope_scaling");
	double factor;
	if (!s)
		return ATTN_OK;
	bool linear = strncmp(s->value, "linear=", 7) == 0, ntk = strncmp(s->value, "ntk=", 4) == 0;
	if ((!linear && !ntk) || !parse_number(s->value + (linear ? 7 : 4), &factor) || factor <= 0)
		return setting_fail(s, "linear=FACTOR or ntk=FACTOR, such as linear=4", err);
	if (ntk && r->dims <= 2)
		return setting_fail(s, "linear=FACTOR: ntk needs more than 2 rotary dimensions", err);
	if (linear)
		r->divisor = factor;
	else
		r->base = rotary_ntk_base(r->base, factor, r->dims);
	/* The largest angle of all must be a number. */
	if (!isnormal(r->base) || !isfinite(0x1p53 / r->divisor / fmin(r->base, 1)))
		return setting_fail(s, "a factor nearer to 1", err);
	return ATTN_OK;
}

/* rope, rope_style, rope_dim and rope_scaling. */
static enum attn_status bind_settings(struct rotary *r, const struct bundle *b, size_t size,
				      size_t latent_dims, struct attn_error *err)
{
	const struct setting *rope = bundle_setting(b, "rope"), *style = bundle_setting(b, "rope_style");
	bool none = !rope || strcmp(rope->value, "none") == 0;
	*r = (struct rotary){.divisor = 1};
	enum attn_status status = none ? refuse_without_rope(b, latent_dims, err) : ATTN_OK;
	if (status == ATTN_OK && (!none || latent_dims > 0))
		status = bind_dims(r, b, size, latent_dims, err);
	if (status != ATTN_OK || none) {
		r->dims = r->first = 0;
		return status;
	}
	if (!parse_number(rope->value, &r->base) || r->base <= 1)
		return setting_fail(rope, "a base above 1, such as 10000, or none", err);
	if (style && strcmp(style->value, "half") != 0 && strcmp(style->value, "interleaved") != 0)
		return setting_fail(style, "half, pairs (c, c + r/2), or interleaved, pairs (2c, 2c + 1)",
				    err);
	r->interleaved = style && strcmp(style->value, "interleaved") == 0;
	if (r->dims % 2 != 0) {
		char expected[200];
		snprintf(expected, sizeof expected, "an even number of dimensions to turn, found %zu%s",
			 r->dims, latent_dims > 0 ? "" : " (give an even rope_dim)");
		return setting_fail(rope, expected, err);
	}
	return bind_scaling(r, b, err);
}

enum attn_status bind_rotary(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct setting *rope = bundle_setting(b, "rope");
	if (a->latent.down_kv.data && a->latent.rotary_size == 0 && rope && strcmp(rope->value, "none") != 0)
		return setting_fail(rope,
				    "none, or latent attention's rotary dimensions beside it: 'wqr' and "
				    "'wkr', or rope_dim where 'wuq' and 'wdkv' hold them",
				    err);
	return bind_settings(&a->rotary, b, a->head_size, a->latent.rotary_size, err);
}
