/* Rotary positions of a model: where their numbers stand in config.json, old and new. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/architecture.h"
#include "util/memory.h"

enum {
	KEY_SIZE = 100
};

/* What reads the numbers of a rope. */
struct reader {
	const struct config *c;
	struct attn_error *err;
	size_t positions; /* of the model: the longest text */
	const struct rope_place *where;
};

/* Where a number stands: in rope_parameters, by the type of layer or at all, else rope_scaling, else
 * beside them. */
static const char *place(const struct reader *r, const char *name, char key[KEY_SIZE])
{
	if (r->where->layer_type) {
		snprintf(key, KEY_SIZE, "rope_parameters.%s.%s", r->where->layer_type, name);
		if (config_has(r->c, key))
			return key;
	}
	static const char *const objects[] = {"rope_parameters.", "rope_scaling.", ""};
	for (size_t i = r->where->alone ? 2 : 0; i < sizeof objects / sizeof *objects; i++) {
		snprintf(key, KEY_SIZE, "%s%s", objects[i], name);
		if (config_has(r->c, key))
			break;
	}
	if (!config_has(r->c, key) && !r->where->alone) /* for messages */
		snprintf(key, KEY_SIZE, "%s%s",
			 config_has(r->c, "rope_parameters") ? "rope_parameters."
			 : config_has(r->c, "rope_scaling")  ? "rope_scaling."
							     : "",
			 name);
	return key;
}

static enum attn_status number(const struct reader *r, const char *name, double fallback, double least,
			       double *out)
{
	char key[KEY_SIZE];
	return config_number(r->c, place(r, name, key), fallback, least, 1e15, out, r->err);
}

/* The kind of scaling, "default" for none. */
static enum attn_status kind(const struct reader *r, char key[KEY_SIZE], const char **out)
{
	TRY(config_word(r->c, place(r, "rope_type", key), NULL, out, r->err));
	bool old = config_has(r->c, "rope_scaling.type") || config_has(r->c, "rope_parameters.type");
	if (!*out && old && !r->where->alone)
		TRY(config_word(r->c, place(r, "type", key), NULL, out, r->err));
	*out = *out ? *out : "default";
	return ATTN_OK;
}

/* --- the kinds -------------------------------------------------------------------- */

/* The length that a model was trained on before it was scaled. */
static enum attn_status original(const struct reader *r, double *out)
{
	return number(r, "original_max_position_embeddings", (double)r->positions, 1, out);
}

static enum attn_status set_default(struct rope *rope, const struct reader *r)
{
	(void)rope;
	(void)r;
	return ATTN_OK;
}

static enum attn_status set_linear(struct rope *rope, const struct reader *r)
{
	return number(r, "factor", NAN, 1e-6, &rope->rotary.divisor);
}

static enum attn_status set_dynamic(struct rope *rope, const struct reader *r)
{
	rope->dynamic = rope->rotary.dims > 2; /* the base of a single pair is never used */
	rope->longest = (double)r->positions;
	return number(r, "factor", NAN, 1, &rope->factor);
}

static enum attn_status set_llama3(struct rope *rope, const struct reader *r)
{
	struct rotary *rotary = &rope->rotary;
	rotary->scaling = ROTARY_LLAMA3;
	TRY(number(r, "factor", NAN, 1e-6, &rotary->factor));
	TRY(number(r, "low_freq_factor", NAN, 0, &rotary->low));
	TRY(number(r, "high_freq_factor", NAN, 0, &rotary->high));
	TRY(original(r, &rotary->original));
	char key[KEY_SIZE];
	return rotary->low < rotary->high ? ATTN_OK
					  : config_fail(r->c, place(r, "high_freq_factor", key),
							"more than low_freq_factor", r->err);
}

/* 0.1 a ln(F) + 1, from F = 1 on. */
static double yarn_magnitude(double factor, double a)
{
	return factor <= 1 ? 1 : 0.1 * a * log(factor) + 1;
}

static enum attn_status set_yarn(struct rope *rope, const struct reader *r)
{
	struct rotary *rotary = &rope->rotary;
	double all, some;
	char key[KEY_SIZE];
	rotary->scaling = ROTARY_YARN;
	TRY(number(r, "factor", NAN, 1e-6, &rotary->factor));
	TRY(original(r, &rotary->original));
	TRY(number(r, "beta_fast", 32, 1e-6, &rotary->high));
	TRY(number(r, "beta_slow", 1, 1e-6, &rotary->low));
	TRY(number(r, "mscale", 0, 0, &some));
	TRY(number(r, "mscale_all_dim", 0, 0, &all));
	bool truncated;
	TRY(config_bool(r->c, place(r, "truncate", key), true, &truncated, r->err));
	rotary->exact_bounds = !truncated;
	double magnitude = some > 0 && all > 0
			       ? yarn_magnitude(rotary->factor, some) / yarn_magnitude(rotary->factor, all)
			       : yarn_magnitude(rotary->factor, 1);
	return number(r, "attention_factor", magnitude, 1e-6, &rotary->magnitude);
}

/* A list of factors, one a pair of dimensions. */
static enum attn_status read_factors(const struct rope *rope, const struct reader *r, const char *name,
				     float **out)
{
	char key[KEY_SIZE], expected[60];
	size_t pairs = rope->rotary.dims / 2;
	place(r, name, key);
	*out = array_alloc(pairs, sizeof **out);
	if (!*out)
		return attn_fail_memory(r->err);
	bool ok = config_list(r->c, key) == pairs;
	for (size_t i = 0; i < pairs && ok; i++) {
		double value = config_list_number(r->c, key, i);
		(*out)[i] = (float)value;
		ok = value >= 1e-6 && value <= 1e15;
	}
	snprintf(expected, sizeof expected, "%zu numbers above 0", pairs);
	return ok ? ATTN_OK : config_fail(r->c, key, expected, r->err);
}

static enum attn_status set_longrope(struct rope *rope, const struct reader *r)
{
	double ratio, magnitude;
	TRY(read_factors(rope, r, "short_factor", &rope->short_factors));
	TRY(read_factors(rope, r, "long_factor", &rope->long_factors));
	TRY(original(r, &rope->longest));
	TRY(number(r, "factor", (double)r->positions / rope->longest, 1e-6, &ratio));
	magnitude = ratio <= 1 || rope->longest <= 1 ? 1 : sqrt(1 + log(ratio) / log(rope->longest));
	return number(r, "attention_factor", magnitude, 1e-6, &rope->rotary.magnitude);
}

static const struct {
	const char *name;
	enum attn_status (*set)(struct rope *rope, const struct reader *r);
} kinds[] = {
    {"default", set_default}, {"linear", set_linear},     {"dynamic", set_dynamic}, {"llama3", set_llama3},
    {"yarn", set_yarn},       {"longrope", set_longrope}, {"su", set_longrope},
};

/* --- all of it ---------------------------------------------------------------------- */

/* A number that a family has under a name of its own, or another value of. */
static enum attn_status own_number(const struct reader *r, const struct number_key *own, const char *name,
				   double fallback, double least, double most, double *out)
{
	char key[KEY_SIZE];
	if (own->name && config_has(r->c, own->name))
		return config_number(r->c, own->name, NAN, least, most, out, r->err);
	if (own->fallback > 0)
		fallback = own->fallback;
	return config_number(r->c, place(r, name, key), fallback, least, most, out, r->err);
}

enum attn_status rope_init(struct rope *rope, const struct architecture *a, const struct config *c,
			   const struct rope_place *where, struct attn_error *err)
{
	const struct reader r = {c, err, a->positions, where};
	double share;
	char key[KEY_SIZE];
	rope->rotary = (struct rotary){.divisor = 1};
	if (config_text(c, "rope_scaling", NULL) || config_list(c, "rope_scaling") > 0)
		return config_fail(c, "rope_scaling", "an object or null", err);
	TRY(own_number(&r, &where->base, "rope_theta", 10000, 1.001, 1e15, &rope->rotary.base));
	TRY(own_number(&r, &where->share, "partial_rotary_factor", 1, 0, 1, &share));
	TRY(config_bool(c, "rope_interleaved", false, &rope->rotary.interleaved, err)); /* of GGUF files */
	rope->rotary.dims = (size_t)((double)a->head_size * share);
	if (rope->rotary.dims % 2 != 0)
		return config_fail(
		    c, config_has(c, "partial_rotary_factor") ? "partial_rotary_factor" : "head_dim",
		    "an even number of dimensions to rotate", err);
	const char *name;
	TRY(kind(&r, key, &name));
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].set(rope, &r);
	return config_fail(c, key, "default, linear, dynamic, llama3, yarn or longrope", err);
}

void rope_release(struct rope *rope)
{
	free(rope->short_factors);
	free(rope->long_factors);
	*rope = (struct rope){0};
}

struct rotary rope_rotary(const struct rope *rope, size_t tokens)
{
	struct rotary rotary = rope->rotary;
	bool longer = (double)tokens > rope->longest;
	if (rope->dynamic && longer)
		rotary.base = rotary_ntk_base(
		    rotary.base, rope->factor * (double)tokens / rope->longest - (rope->factor - 1),
		    rotary.dims);
	rotary.factors = longer ? rope->long_factors : rope->short_factors;
	return rotary;
}
