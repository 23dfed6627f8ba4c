#include "input/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/latent.h"
#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "input/unused.h"

void problem_release(struct problem *p)
{
	attention_release(&p->attention);
	float_pool_release(&p->floats);
	rows_info_release(&p->info);
	string_list_release(&p->notes);
	*p = (struct problem){0};
}

/* Which of the two forms the bundle holds. */
static enum attn_status bind_form(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	const struct tensor *precomputed = given_about(b, ABOUT_PRECOMPUTED);
	const struct tensor *projected = given_about(b, ABOUT_PROJECTED);
	if (!projected)
		projected = given_about(b, ABOUT_LATENT);
	if (precomputed && projected)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s' and '%s' are both given, expected precomputed 'q', 'k', 'v' or 'embeddings' with "
		    "projections (choose with ROLE=FILE:TENSOR)",
		    precomputed->name, projected->name);
	return precomputed ? bind_precomputed(p, b, err) : bind_projected(p, b, err);
}

/* bias_k with bias_v, and add_zero_attn: keys behind the others. */
static enum attn_status bind_appended(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *k = given_tensor(b, ROLE_BIAS_K), *v = given_tensor(b, ROLE_BIAS_V);
	if ((k && !v && a->has_values) || (v && !k))
		return bind_fail_missing(b, err, k ? ROLE_BIAS_V : ROLE_BIAS_K, "'%s' also requires it",
					 k ? "bias_k" : "bias_v");
	a->keys.bias = k != NULL;
	TRY(bind_vector(&p->floats, b, ROLE_BIAS_K, a->maps * a->kv_heads * a->key_size, &a->bias_k, err));
	if (a->has_values)
		TRY(bind_vector(&p->floats, b, ROLE_BIAS_V, a->kv_heads * a->value_size, &a->bias_v, err));
	return setting_bool(b, ROLE_ADD_ZERO_ATTN, &a->keys.zero, err);
}

static enum attn_status bind_output(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *wo = given_tensor(b, ROLE_WO);
	if (!wo && given_tensor(b, ROLE_BO))
		return bind_fail_missing(b, err, ROLE_WO, "'bo' also requires it");
	if (!a->has_values)
		return ATTN_OK;
	a->output.context_size = a->heads * a->value_size;
	return wo ? bind_output_layer(&p->floats, b, &a->output, err) : ATTN_OK;
}

/* Differential attention has two maps a head. */
static enum attn_status bind_maps(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	enum {
		ADJACENT,
		HALVES
	};
	size_t pairing = ADJACENT;
	p->attention.maps = given(b, ROLE_LAMBDA) ? 2 : 1;
	if (p->attention.maps == 1)
		return ATTN_OK;
	TRY(setting_choice(b, ROLE_LAMBDA_PAIRING, &pairing, err));
	p->attention.maps_apart = pairing == HALVES;
	return ATTN_OK;
}

/* Columns of values (rows, G e) whose heads have halves that lie G halves apart, side by side:
 * a copy in the pool. */
static enum attn_status join_halves(struct problem *p, const float **data, size_t rows, size_t stride,
				    struct attn_error *err)
{
	const struct attention *a = &p->attention;
	size_t half = a->value_size / 2, width = a->kv_heads * a->value_size;
	float *copy = *data ? float_pool_take(&p->floats, rows * width) : NULL;
	if (!*data)
		return ATTN_OK;
	if (!copy)
		return attn_fail_memory(err);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < width; c++) {
			size_t part = c / half; /* of head part / 2 */
			size_t from = (part % 2 * a->kv_heads + part / 2) * half + c % half;
			copy[r * width + c] = (*data)[r * stride + from];
		}
	*data = copy;
	return ATTN_OK;
}

/* DiffLlama pairs the heads of values as those of Q and K. */
static enum attn_status bind_value_halves(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	if (!a->maps_apart || !a->projected || !a->has_values)
		return ATTN_OK;
	if (a->value_size % 2 != 0)
		return setting_fail(given_setting(b, ROLE_LAMBDA_PAIRING),
				    "adjacent, or an even number of values a head", err);
	const float *wv = a->wv.data;
	TRY(join_halves(p, &wv, a->wv.rows, a->wv.stride, err));
	a->wv.data = wv;
	a->wv.stride = a->kv_heads * a->value_size;
	return join_halves(p, &a->bv, 1, 0, err);
}

static enum attn_status bind_lambda(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	return bind_per_head(p, b, ROLE_LAMBDA, &p->attention.lambda, err);
}

/* A role that changes the scores which linear attention does not have, or NULL. */
static const char *needs_scores(const struct problem *p, const struct bundle *b)
{
	static const enum role_id needing[] = {ROLE_SCORE,        ROLE_ALIBI,         ROLE_SINKS,
					       ROLE_ALIBI_SLOPES, ROLE_RELATIVE_BIAS, ROLE_ZERO_SINK,
					       ROLE_TOP_K};
	if (p->attention.masking.bias)
		return given(b, ROLE_MASK) ? "mask" : "key_padding";
	for (size_t i = 0; i < sizeof needing / sizeof *needing; i++) {
		const struct setting *s = given_setting(b, needing[i]);
		bool neutral = s && (strcmp(s->value, "false") == 0 || strcmp(s->value, "scaled-dot") == 0);
		if (given(b, needing[i]) && !neutral)
			return roles[needing[i]].name;
	}
	return NULL;
}

/* Linear attention has no scores: what a file says of their size is left out, with a
 * note, what would change the weights is refused. */
static enum attn_status check_linear(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static const enum role_id sizes[] = {ROLE_SCALE, ROLE_TEMPERATURE, ROLE_SOFTCAP};
	struct attention *a = &p->attention;
	char note[200];
	if (a->normalization.normalizer->scaled)
		return ATTN_OK;
	const char *refused = needs_scores(p, b);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !refused; i++) {
		const struct setting *s = given_setting(b, sizes[i]);
		if (s && s->from_command)
			refused = roles[sizes[i]].name;
		if (!given(b, sizes[i]))
			continue;
		snprintf(note, sizeof note, "'%s' is left out: normalizer 'linear' has no scores",
			 roles[sizes[i]].name);
		if (!string_list_add(&p->notes, note))
			return attn_fail_memory(err);
	}
	a->score.softcap = 0;
	if (!refused)
		return ATTN_OK;
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "normalizer is 'linear', which has no scores, but '%s' is given, expected it without%s", refused,
	    a->masking.bias ? ", or with true and false alone" : "");
}

static enum attn_status bind_rows(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	p->info.shape = attention_shape(a);
	if (a->normalization.top_k >= attention_keys(a))
		a->normalization.top_k = 0; /* all of them */
	TRY(bind_labels(&p->info, b, &a->keys, err));
	a->cross = p->info.shape.cross; /* labels may tell, too */
	a->masking = masking_of_all(&p->info.shape);
	return bind_masking(&a->masking, b, &p->notes, err);
}

static enum attn_status check_unknown(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	return unknown_check(b, &p->notes, err);
}

static enum attn_status check_unused(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	return unused_check(b, &p->notes, err);
}

enum attn_status problem_init(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static enum attn_status (*const steps[])(struct problem *, const struct bundle *,
						 struct attn_error *) = {
	    check_unknown,      bind_maps,    bind_form,    bind_past,       bind_appended,
	    bind_value_halves,  bind_output,  bind_norms,   bind_rotary,     bind_positions,
	    bind_rotary_length, bind_score,   bind_lambda,  bind_normalizer, bind_rows,
	    bind_relative,      check_linear, check_unused,
	};
	*p = (struct problem){.attention = {.batch = 1}};
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && status == ATTN_OK; i++)
		status = steps[i](p, b, err);
	if (status != ATTN_OK)
		problem_release(p);
	return status;
}
