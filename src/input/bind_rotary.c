/* Rotary positions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/number.h"

static bool is_rotary(const struct bundle *b)
{
	const struct setting *rope = given_setting(b, ROLE_ROPE);
	return rope && strcmp(rope->value, "none") != 0;
}

/* How many dimensions are rotated, and which is the first. */
static enum attn_status bind_dims(struct rotary *r, const struct bundle *b, size_t size, size_t latent_dims,
				  struct attn_error *err)
{
	const struct setting *s = given_setting(b, ROLE_ROPE_DIM);
	char expected[200];
	size_t dims = latent_dims > 0 ? latent_dims : size;
	TRY(setting_count(b, ROLE_ROPE_DIM, 1, &dims, err));
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
	const struct setting *s = use_setting(b, ROLE_ROPE_SCALING);
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
	enum {
		HALF,
		INTERLEAVED
	};
	const struct setting *rope = use_setting(b, ROLE_ROPE);
	size_t style = HALF;
	*r = (struct rotary){.divisor = 1};
	if (!is_rotary(b)) /* but latent attention may need rope_dim to cut its fused matrices */
		return latent_dims > 0 ? bind_dims(&(struct rotary){0}, b, size, latent_dims, err) : ATTN_OK;
	TRY(bind_dims(r, b, size, latent_dims, err));
	if (!parse_number(rope->value, &r->base) || r->base <= 1)
		return setting_fail(rope, "a base above 1, such as 10000, or none", err);
	TRY(setting_choice(b, ROLE_ROPE_STYLE, &style, err));
	r->interleaved = style == INTERLEAVED;
	if (r->dims % 2 != 0) {
		char expected[200];
		snprintf(expected, sizeof expected, "an even number of dimensions to rotate, found %zu%s",
			 r->dims, latent_dims > 0 ? "" : " (give an even rope_dim)");
		return setting_fail(rope, expected, err);
	}
	return bind_scaling(r, b, err);
}

enum attn_status bind_rotary(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	if (a->latent.down_kv.data && a->latent.rotary_size == 0 && is_rotary(b))
		return setting_fail(given_setting(b, ROLE_ROPE),
				    "none, or rotary dimensions of latent attention: give 'wqr' and 'wkr', "
				    "or rope_dim where 'wuq' and 'wdkv' hold them",
				    err);
	return bind_settings(&a->rotary, b, a->head_size, a->latent.rotary_size, err);
}
