/* The score function, with temperature and softcap. */
#include <math.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

/* In the order of the words of the setting. */
static const enum score_kind kinds[] = {SCORE_SCALED_DOT, SCORE_DOT, SCORE_GENERAL, SCORE_ADDITIVE,
					SCORE_COSINE};

static enum attn_status bind_kind(const struct bundle *b, enum score_kind *out, struct attn_error *err)
{
	size_t kind = 0;
	enum attn_status status = setting_choice(b, ROLE_SCORE, &kind, err);
	*out = kinds[kind];
	return status;
}

bool score_needs_one_size(const struct bundle *b)
{
	enum score_kind kind;
	return bind_kind(b, &kind, NULL) != ATTN_OK || (kind != SCORE_GENERAL && kind != SCORE_ADDITIVE);
}

/* What a score function cannot do without. */
static enum attn_status check_present(const struct bundle *b, enum score_kind kind, struct attn_error *err)
{
	static const enum role_id needed[] = {ROLE_SCORE_W, ROLE_SCORE_U, ROLE_SCORE_V};
	const size_t count = kind == SCORE_GENERAL ? 1 : kind == SCORE_ADDITIVE ? 3 : 0;
	for (size_t i = 0; i < count; i++)
		if (!given_tensor(b, needed[i]))
			return bind_fail_missing(b, err, needed[i], "with score '%s'",
						 given_setting(b, ROLE_SCORE)->value);
	return ATTN_OK;
}

static enum attn_status bind_general(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->inner = a->key_size;
	return bind_head_matrix(p, b, ROLE_SCORE_W, a->heads * a->maps, a->head_size, a->key_size, false,
				&s->w, err);
}

static enum attn_status bind_additive(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	const struct tensor *v = given_tensor(b, ROLE_SCORE_V);
	size_t heads = a->heads * a->maps;
	if (v->rank < 1 || v->count == 0)
		return bind_fail_shape(v, err, "numbers, or heads x numbers");
	s->inner = v->shape[v->rank - 1];
	enum attn_status status = bind_head_matrix(p, b, ROLE_SCORE_V, heads, 0, s->inner, false, &s->v, err);
	if (status == ATTN_OK)
		status = bind_head_matrix(p, b, ROLE_SCORE_B, heads, 0, s->inner, false, &s->b, err);
	if (status == ATTN_OK)
		status =
		    bind_head_matrix(p, b, ROLE_SCORE_W, heads, a->head_size, s->inner, true, &s->w, err);
	if (status == ATTN_OK)
		status = bind_head_matrix(p, b, ROLE_SCORE_U, heads, a->key_size, s->inner, true, &s->u, err);
	return status;
}

static enum attn_status bind_temperature(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	enum attn_status status = bind_per_head(p, b, ROLE_TEMPERATURE, &a->score.temperature, err);
	const struct setting *s = given_setting(b, ROLE_TEMPERATURE);
	const struct tensor *t = given_tensor(b, ROLE_TEMPERATURE);
	for (size_t h = 0; h < a->heads && a->score.temperature && status == ATTN_OK; h++)
		if (!(a->score.temperature[h] > 0) || !isfinite(score_scale(&a->score, h)))
			status = attn_fail(err, ATTN_BAD_INPUT,
					   "'%s': 'temperature' of head %zu is %g, expected a number above 0",
					   origin_name(s ? s->origin : t->origin), h,
					   (double)a->score.temperature[h]);
	return status;
}

static enum attn_status bind_factors(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->scale = s->kind == SCORE_SCALED_DOT ? 1 / sqrt((double)a->head_size) : 1;
	enum attn_status status = setting_number(b, ROLE_SCALE, &s->scale, err);
	if (status == ATTN_OK)
		status = setting_number(b, ROLE_SOFTCAP, &s->softcap, err);
	if (status == ATTN_OK && s->softcap < 0)
		status = setting_fail(given_setting(b, ROLE_SOFTCAP), "a number from 0 (none) up", err);
	if (status == ATTN_OK && !(fabs(s->scale) <= 0x1.fffffep127))
		status = setting_fail(given_setting(b, ROLE_SCALE), "a number in the range of float32", err);
	return status == ATTN_OK ? bind_temperature(p, b, err) : status;
}

enum attn_status bind_score(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	enum attn_status status = bind_kind(b, &s->kind, err);
	if (status == ATTN_OK)
		status = check_present(b, s->kind, err);
	s->inner = a->head_size;
	if (status == ATTN_OK && s->kind == SCORE_GENERAL)
		status = bind_general(p, b, err);
	if (status == ATTN_OK && s->kind == SCORE_ADDITIVE)
		status = bind_additive(p, b, err);
	return status == ATTN_OK ? bind_factors(p, b, err) : status;
}
