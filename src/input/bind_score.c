/* The score function, with temperature and softcap. */
#include <math.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

static enum attn_status bind_function(const struct bundle *b, const struct score_function **out,
				      struct attn_error *err)
{
	const struct setting *s = use_setting(b, ROLE_SCORE);
	*out = s ? score_function_named(s->value) : &score_scaled_dot;
	return *out ? ATTN_OK : setting_fail(s, roles[ROLE_SCORE].form, err);
}

bool score_needs_one_size(const struct bundle *b)
{
	const struct score_function *function;
	return bind_function(b, &function, NULL) != ATTN_OK || function->one_size;
}

/* What a score function cannot do without. */
static enum attn_status check_present(const struct bundle *b, const struct score_function *function,
				      struct attn_error *err)
{
	static const struct {
		enum role_id role;
		enum score_parts part;
	} parts[] = {{ROLE_SCORE_W, SCORE_W},
		     {ROLE_SCORE_U, SCORE_U},
		     {ROLE_SCORE_V, SCORE_V},
		     {ROLE_SCORE_B, SCORE_B}};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if ((function->needed & parts[i].part) && !given_tensor(b, parts[i].role))
			return bind_fail_missing(b, err, parts[i].role, "score '%s' also requires it",
						 function->name);
	return ATTN_OK;
}

static enum attn_status bind_general(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->inner = a->key_size;
	return bind_head_matrix(p, b, ROLE_SCORE_W, a->heads * a->maps, a->head_size, a->key_size,
				PLAIN_MATRIX, &s->w, err);
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
	TRY(bind_head_matrix(p, b, ROLE_SCORE_V, heads, 0, s->inner, PLAIN_MATRIX, &s->v, err));
	TRY(bind_head_matrix(p, b, ROLE_SCORE_B, heads, 0, s->inner, PLAIN_MATRIX, &s->b, err));
	TRY(bind_head_matrix(p, b, ROLE_SCORE_W, heads, a->head_size, s->inner, WEIGHT_MATRIX, &s->w, err));
	return bind_head_matrix(p, b, ROLE_SCORE_U, heads, a->key_size, s->inner, WEIGHT_MATRIX, &s->u, err);
}

static enum attn_status bind_temperature(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	TRY(bind_per_head(p, b, ROLE_TEMPERATURE, &a->score.temperature, err));
	const struct setting *s = given_setting(b, ROLE_TEMPERATURE);
	const struct tensor *t = given_tensor(b, ROLE_TEMPERATURE);
	for (size_t h = 0; h < a->heads && a->score.temperature; h++)
		if (!(a->score.temperature[h] > 0) || !isfinite(score_scale(&a->score, h)))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': 'temperature' of head %zu is %g, expected a number above 0",
					 origin_name(s ? s->origin : t->origin), h,
					 (double)a->score.temperature[h]);
	return ATTN_OK;
}

static enum attn_status bind_factors(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->scale = score_default_scale(s->function, a->head_size);
	TRY(setting_number(b, ROLE_SCALE, &s->scale, err));
	TRY(setting_number(b, ROLE_SOFTCAP, &s->softcap, err));
	if (s->softcap < 0)
		return setting_fail(given_setting(b, ROLE_SOFTCAP), "a number from 0 (none) up", err);
	if (!(fabs(s->scale) <= 0x1.fffffep127))
		return setting_fail(given_setting(b, ROLE_SCALE), "a number in the range of float32", err);
	return bind_temperature(p, b, err);
}

enum attn_status bind_score(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	TRY(bind_function(b, &s->function, err));
	TRY(check_present(b, s->function, err));
	s->inner = a->head_size;
	if (s->function->needed & SCORE_V)
		TRY(bind_additive(p, b, err));
	else if (s->function->needed & SCORE_W)
		TRY(bind_general(p, b, err));
	return bind_factors(p, b, err);
}
