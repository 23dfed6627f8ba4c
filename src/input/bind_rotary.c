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
	return rope ? strcmp(rope->value, "none") != 0 : given_tensor(b, ROLE_INV_FREQ) != NULL;
}

/* How many dimensions are rotated, and which is the first. */
static enum attn_status bind_dims(struct rotary *r, const struct bundle *b, size_t size, size_t latent_dims,
				  struct attn_error *err)
{
	const struct setting *s = given_setting(b, ROLE_ROPE_DIM);
	char expected[200];
	const struct tensor *frequencies = given_tensor(b, ROLE_INV_FREQ);
	size_t dims = latent_dims > 0 ? latent_dims : size;
	if (frequencies && !s && latent_dims == 0 && frequencies->rank == 1 && frequencies->count <= size / 2)
		dims = 2 * frequencies->count;
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

enum scaling {
	LINEAR,
	NTK,
	DYNAMIC,
	LLAMA3,
	YARN,
	LONGROPE,
	SCALINGS
};

enum {
	NUMBERS = 5 /* of a scaling, at most */
};

static const struct {
	const char *name, *form;
	size_t least, most; /* how many numbers follow */
} scalings[SCALINGS] = {
    [LINEAR] = {"linear=", "linear=FACTOR", 1, 1},
    [NTK] = {"ntk=", "ntk=FACTOR", 1, 1},
    [DYNAMIC] = {"dynamic=", "dynamic=FACTOR,ORIGINAL", 2, 2},
    [LLAMA3] = {"llama3=", "llama3=FACTOR,LOW,HIGH,ORIGINAL", 4, 4},
    [YARN] = {"yarn=", "yarn=FACTOR,ORIGINAL[,BETA_FAST,BETA_SLOW[,ATTENTION_FACTOR]]", 2, 5},
    [LONGROPE] = {"longrope=", "longrope=ORIGINAL,MAX[,ATTENTION_FACTOR]", 2, 3},
};

static enum scaling scaling_kind(const struct setting *s)
{
	enum scaling kind = LINEAR;
	while (kind < SCALINGS && strncmp(s->value, scalings[kind].name, strlen(scalings[kind].name)) != 0)
		kind++;
	return kind;
}

/* The numbers behind the name, all above 0.  False: not so many, or no numbers. */
static bool scaling_numbers(const struct setting *s, enum scaling kind, double numbers[NUMBERS],
			    size_t *count)
{
	char text[200];
	snprintf(text, sizeof text, "%s", s->value + strlen(scalings[kind].name));
	if (strlen(s->value) >= sizeof text)
		return false;
	char *at = text;
	for (*count = 0; at && *count < NUMBERS; ++*count) {
		char *comma = strchr(at, ',');
		if (comma)
			*comma = 0;
		if (!parse_number(at, &numbers[*count]) || !(numbers[*count] > 0))
			return false;
		at = comma ? comma + 1 : NULL;
	}
	return !at && *count >= scalings[kind].least && *count <= scalings[kind].most;
}

/* The largest angle of all must be a number. */
static enum attn_status check_angles(const struct rotary *r, const struct setting *s, struct attn_error *err)
{
	if (isnormal(r->base) && isfinite(0x1p53 / r->divisor / fmin(r->base, 1)))
		return ATTN_OK;
	return setting_fail(s, "a factor nearer to 1", err);
}

/* A scaling's numbers, as bind_scaling checked them, into *r. */
static void set_scaling(struct rotary *r, enum scaling kind, const double *n, size_t count)
{
	switch (kind) {
	case LINEAR:
		r->divisor = n[0];
		break;
	case NTK:
		r->base = rotary_ntk_base(r->base, n[0], r->dims);
		break;
	case DYNAMIC: /* the base depends on the length: bind_rotary_length */
		r->factor = n[0];
		r->original = n[1];
		break;
	case LLAMA3:
		r->scaling = ROTARY_LLAMA3;
		r->factor = n[0];
		r->low = n[1];
		r->high = n[2];
		r->original = n[3];
		break;
	case YARN:
		r->scaling = ROTARY_YARN;
		r->factor = n[0];
		r->original = n[1];
		r->high = count > 3 ? n[2] : 32;
		r->low = count > 3 ? n[3] : 1;
		r->magnitude = count > 4 ? n[4] : n[0] > 1 ? 0.1 * log(n[0]) + 1 : 1;
		break;
	default:
		r->original = n[0];
		r->magnitude = count > 2 ? n[2] : n[1] > n[0] ? sqrt(1 + log(n[1] / n[0]) / log(n[0])) : 1;
	}
}

static enum attn_status fail_scaling(const struct setting *s, enum scaling kind, struct attn_error *err)
{
	char expected[300];
	if (kind < SCALINGS && kind > NTK)
		snprintf(expected, sizeof expected, "%s, numbers above 0", scalings[kind].form);
	else
		snprintf(expected, sizeof expected,
			 "linear=FACTOR or ntk=FACTOR, such as linear=4, or dynamic=, llama3=, yarn= or "
			 "longrope= (see attn-formats(5))");
	return setting_fail(s, expected, err);
}

static enum attn_status bind_scaling(struct rotary *r, const struct bundle *b, struct attn_error *err)
{
	const struct setting *s = use_setting(b, ROLE_ROPE_SCALING);
	double numbers[NUMBERS];
	size_t count;
	if (!s)
		return ATTN_OK;
	enum scaling kind = scaling_kind(s);
	if (kind == SCALINGS || !scaling_numbers(s, kind, numbers, &count) || (kind == YARN && count == 3))
		return fail_scaling(s, kind, err);
	if ((kind == NTK || kind == DYNAMIC) && r->dims <= 2)
		return setting_fail(
		    s, "linear=FACTOR: ntk needs more than 2 rotary dimensions, as does dynamic", err);
	if (kind == DYNAMIC && numbers[0] < 1)
		return setting_fail(s, "a FACTOR from 1 up", err);
	if (kind == LLAMA3 && !(numbers[1] < numbers[2]))
		return setting_fail(s, "llama3=FACTOR,LOW,HIGH,ORIGINAL with LOW below HIGH", err);
	if (kind == YARN && count > 3 && !(numbers[2] > numbers[3]))
		return setting_fail(s, "a BETA_FAST above BETA_SLOW", err);
	if (kind == LONGROPE && !(numbers[0] > 1))
		return setting_fail(s, "an ORIGINAL length above 1", err);
	if (r->inv_freq)
		return setting_fail(s, "none beside 'inv_freq', which are the frequencies after scaling",
				    err);
	if ((kind == LONGROPE) != (given_tensor(b, ROLE_ROPE_FACTORS) != NULL))
		return setting_fail(s,
				    kind == LONGROPE
					? "'rope_factors' beside it: what divides the frequencies"
					: "longrope=ORIGINAL,MAX, or none, beside 'rope_factors'",
				    err);
	set_scaling(r, kind, numbers, count);
	return check_angles(r, s, err);
}

static enum attn_status check_positive(const struct tensor *t, const float *numbers, struct attn_error *err)
{
	for (size_t i = 0; i < t->count; i++)
		if (!(numbers[i] >= 0x1p-126f))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' has %g at [%zu], expected numbers above 0",
					 origin_name(t->origin), t->name, (double)numbers[i], i);
	return ATTN_OK;
}

/* rope_factors: (r/2), or short and long ones (2, r/2), of which bind_rotary_length chooses. */
static enum attn_status bind_factors(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct rotary *r = &p->attention.rotary;
	struct tensor *t = use_tensor(b, ROLE_ROPE_FACTORS);
	const struct setting *scaling = given_setting(b, ROLE_ROPE_SCALING);
	if (!t)
		return ATTN_OK;
	size_t pairs = r->dims / 2;
	bool two = t->rank == 2 && t->shape[0] == 2 && scaling;
	if ((t->rank != 1 && !two) || t->shape[t->rank - 1] != pairs)
		return bind_fail_shape(t, err, "%zu%s", pairs,
				       scaling ? ", or 2 of them, short and long ones"
					       : " (short and long ones require rope_scaling "
						 "longrope=ORIGINAL,MAX)");
	TRY(bind_f32(&p->floats, t, &r->factors, err));
	return check_positive(t, r->factors, err);
}

/* rope, or inv_freq in its place. */
static enum attn_status bind_base(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct rotary *r = &p->attention.rotary;
	const struct setting *rope = use_setting(b, ROLE_ROPE);
	struct tensor *t = use_tensor(b, ROLE_INV_FREQ);
	r->base = 10000;
	if (rope && t)
		return setting_fail(rope, "none beside 'inv_freq', which holds the frequencies", err);
	if (!t)
		return parse_number(rope->value, &r->base) && r->base > 1
			   ? ATTN_OK
			   : setting_fail(rope, "a base above 1, such as 10000, or none", err);
	if (t->rank != 1 || t->shape[0] != r->dims / 2 || r->dims % 2 != 0)
		return bind_fail_shape(t, err, "%zu: half of the rotary dimensions (see rope_dim)",
				       r->dims / 2);
	TRY(bind_f32(&p->floats, t, &r->inv_freq, err));
	return check_positive(t, r->inv_freq, err);
}

/* rope, rope_style, rope_dim, rope_scaling and what stands for them. */
static enum attn_status bind_settings(struct problem *p, const struct bundle *b, size_t size,
				      size_t latent_dims, struct attn_error *err)
{
	enum {
		HALF,
		INTERLEAVED
	};
	const struct setting *rope = use_setting(b, ROLE_ROPE);
	struct rotary *r = &p->attention.rotary;
	size_t style = HALF;
	*r = (struct rotary){.divisor = 1};
	if (!is_rotary(b)) /* but latent attention may need rope_dim to cut its fused matrices */
		return latent_dims > 0 ? bind_dims(&(struct rotary){0}, b, size, latent_dims, err) : ATTN_OK;
	TRY(bind_dims(r, b, size, latent_dims, err));
	TRY(bind_base(p, b, err));
	TRY(setting_choice(b, ROLE_ROPE_STYLE, &style, err));
	r->interleaved = style == INTERLEAVED;
	if (r->dims % 2 != 0) {
		char expected[200];
		snprintf(expected, sizeof expected, "an even number of dimensions to rotate, found %zu%s",
			 r->dims, latent_dims > 0 ? "" : " (give an even rope_dim)");
		return setting_fail(rope, expected, err);
	}
	TRY(bind_factors(p, b, err));
	return bind_scaling(r, b, err);
}

enum attn_status bind_rotary(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	bool latent = a->latent.down_kv.data != NULL;
	if (latent && a->latent.rotary_size == 0 && is_rotary(b) && !given_setting(b, ROLE_ROPE))
		return bind_fail_shape(
		    given_tensor(b, ROLE_INV_FREQ), err,
		    "none, or rotary dimensions of latent attention: give 'wqr' and 'wkr', "
		    "or rope_dim where 'wuq' and 'wdkv' hold them");
	if (latent && a->latent.rotary_size == 0 && is_rotary(b))
		return setting_fail(given_setting(b, ROLE_ROPE),
				    "none, or rotary dimensions of latent attention: give 'wqr' and 'wkr', "
				    "or rope_dim where 'wuq' and 'wdkv' hold them",
				    err);
	return bind_settings(p, b, a->head_size, a->latent.rotary_size, err);
}

/* The longest text of a batch item, in positions. */
static double rotary_length(const struct attention *a)
{
	const struct positions *p = &a->positions;
	double last = 0;
	for (size_t i = 0; i < p->query_batch * a->queries; i++)
		last = fmax(last, p->queries[i]);
	for (size_t i = 0; i < p->key_batch * a->keys.own; i++)
		last = fmax(last, p->keys[i]);
	return last + 1;
}

enum attn_status bind_rotary_length(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct rotary *r = &p->attention.rotary;
	const struct setting *s = given_setting(b, ROLE_ROPE_SCALING);
	if (r->dims == 0 || !s)
		return ATTN_OK;
	double length = rotary_length(&p->attention);
	if (length <= r->original)
		return ATTN_OK;
	const struct tensor *factors = given_tensor(b, ROLE_ROPE_FACTORS);
	if (factors && factors->rank == 2) /* short, then long ones */
		r->factors += r->dims / 2;
	if (scaling_kind(s) == DYNAMIC) {
		r->base =
		    rotary_ntk_base(r->base, r->factor * length / r->original - (r->factor - 1), r->dims);
		return check_angles(r, s, err);
	}
	return ATTN_OK;
}
