/* The score function, with temperature and softcap. */
#include <math.h>

#include "input/bind.h"
#include "input/settings.h"

/* NULL: there is no such function. */
static const struct score_function *find_function(const struct bundle *b)
{
	const struct setting *s = bundle_setting(b, "score");
	return s ? score_function_named(s->value) : &score_scaled_dot;
}

bool score_needs_one_size(const struct bundle *b)
{
	const struct score_function *function = find_function(b);
	return !function || function->one_size;
}

/* The roles of a score function, and no others. */
static enum attn_status check_roles(const struct bundle *b, const struct score_function *function,
				    struct attn_error *err)
{
	static const struct {
		const char *name;
		enum score_parts part;
	} roles[] = {{"score_w", SCORE_W}, {"score_u", SCORE_U}, {"score_v", SCORE_V}, {"score_b", SCORE_B}};
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		const struct tensor *t = bundle_tensor(b, roles[i].name);
		bool needed = function->needed & roles[i].part,
		     used = needed || function->optional & roles[i].part;
		if (t && !used)
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%s': '%s' is given, but score '%s' does not use it, expected --score %s",
			    origin_name(t->origin), roles[i].name, function->name,
			    roles[i].part == SCORE_W ? "general or additive" : "additive");
		if (!t && needed)
			return bind_fail_missing(b, err, roles[i].name, "with score '%s'", function->name);
	}
	return ATTN_OK;
}

static enum attn_status bind_general(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->inner = a->key_size;
	return bind_head_matrix(p, b, "score_w", a->heads * a->maps, a->head_size, a->key_size, false, &s->w,
				err);
}

static enum attn_status bind_additive(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	const struct tensor *v = bundle_tensor(b, "score_v");
	size_t heads = a->heads * a->maps;
	if (v->rank < 1 || v->count == 0)
		return bind_fail_shape(v, err, "numbers, or heads x numbers");
	s->inner = v->shape[v->rank - 1];
	enum attn_status status = bind_head_matrix(p, b, "score_v", heads, 0, s->inner, false, &s->v, err);
	if (status == ATTN_OK)
		status = bind_head_matrix(p, b, "score_b", heads, 0, s->inner, false, &s->b, err);
	if (status == ATTN_OK)
		status = bind_head_matrix(p, b, "score_w", heads, a->head_size, s->inner, true, &s->w, err);
	if (status == ATTN_OK)
		status = bind_head_matrix(p, b, "score_u", heads, a->key_size, s->inner, true, &s->u, err);
	return status;
}

static enum attn_status bind_temperature(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	enum attn_status status = bind_per_head(p, b, "temperature", &a->score.temperature, err);
	const struct setting *s = bundle_setting(b, "temperature");
	const struct tensor *t = bundle_tensor(b, "temperature");
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
	s->scale = score_default_scale(s->function, a->head_size);
	enum attn_status status = setting_number(b, "scale", &s->scale, err);
	if (status == ATTN_OK)
		status = setting_number(b, "softcap", &s->softcap, err);
	if (status == ATTN_OK && s->softcap < 0)
		status = setting_fail(bundle_setting(b, "softcap"), "a number from 0 (none) up", err);
	if (status == ATTN_OK && !(fabs(s->scale) <= 0x1.fffffep127))
		status = setting_fail(bundle_setting(b, "scale"), "a number in the range of float32", err);
	return status == ATTN_OK ? bind_temperature(p, b, err) : status;
}

enum attn_status bind_score(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct score *s = &a->score;
	s->function = find_function(b);
	if (!s->function)
		return setting_fail(bundle_setting(b, "score"),
				    "'scaled-dot', 'dot', 'general', 'additive' or 'cosine'", err);
	enum attn_status status = check_roles(b, s->function, err);
	s->inner = a->head_size;
	if (status == ATTN_OK && s->function->needed & SCORE_V)
		status = bind_additive(p, b, err);
	else if (status == ATTN_OK && s->function->needed & SCORE_W)
		status = bind_general(p, b, err);
	return status == ATTN_OK ? bind_factors(p, b, err) : status;
}
