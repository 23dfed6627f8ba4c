#include "input/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/latent.h"
#include "input/bind.h"
#include "input/roles.h"
#include "input/settings.h"

void problem_release(struct problem *p)
{
	attention_release(&p->attention);
	for (size_t i = 0; i < p->owned_count; i++)
		free(p->owned[i]);
	free(p->owned);
	rows_info_release(&p->info);
	string_list_release(&p->notes);
	*p = (struct problem){0};
}

/* A tensor that is no role: an error when it looks like a misspelt one, else a
 * note, since checkpoints hold much else. */
static enum attn_status check_unknown(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	size_t ignored = 0;
	const struct tensor *first = NULL;
	char note[400];
	for (size_t i = 0; i < b->tensor_count; i++) {
		const struct tensor *t = &b->tensors[i];
		if (role_find(t->name))
			continue;
		const char *near = role_suggest(t->name);
		if (near && !bundle_tensor(b, near))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is not a role, did you mean '%s'",
					 origin_name(t->origin), t->name, near);
		first = first ? first : t;
		ignored++;
	}
	if (ignored == 0)
		return ATTN_OK;
	snprintf(note, sizeof note,
		 "'%s': ignored '%s'%s: not a role (bind what you need with ROLE=FILE:TENSOR)",
		 origin_name(first->origin), first->name, ignored > 1 ? " and others" : "");
	return string_list_add(&p->notes, note) ? ATTN_OK : attn_fail_memory(err);
}

/* Which of the two forms the bundle holds. */
static enum attn_status bind_form(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static const char *const ready[] = {"q", "k", "v"};
	static const char *const projected[] = {
	    "embeddings", "source_embeddings", "source_values", "wq", "wk", "wv", "wqkv", "bq", "bk", "bv",
	    "bqkv"};
	const char *has_ready = NULL, *has_projected = NULL;
	for (size_t i = 0; i < sizeof ready / sizeof *ready && !has_ready; i++)
		has_ready = bundle_tensor(b, ready[i]) ? ready[i] : NULL;
	for (size_t i = 0; i < sizeof projected / sizeof *projected && !has_projected; i++)
		has_projected = bundle_tensor(b, projected[i]) ? projected[i] : NULL;
	if (!has_projected)
		has_projected = latent_role(b);
	if (has_ready && has_projected)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s' and '%s' are both given, expected ready-made 'q', 'k', 'v' or 'embeddings' with "
		    "projections (choose with ROLE=FILE:TENSOR)",
		    has_ready, has_projected);
	return has_ready ? bind_precomputed(p, b, err) : bind_projected(p, b, err);
}

/* bias_k with bias_v, and add_zero_attn: keys behind the others. */
static enum attn_status bind_appended(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *k = bundle_tensor(b, "bias_k"), *v = bundle_tensor(b, "bias_v");
	if ((k && !v && a->has_values) || (v && !k))
		return bind_fail_missing(b, err, k ? "bias_v" : "bias_k", "beside '%s'",
					 k ? "bias_k" : "bias_v");
	a->keys.bias = k != NULL;
	enum attn_status status =
	    bind_vector(p, b, "bias_k", a->maps * a->kv_heads * a->key_size, &a->bias_k, err);
	if (status == ATTN_OK && a->has_values)
		status = bind_vector(p, b, "bias_v", a->kv_heads * a->value_size, &a->bias_v, err);
	if (status == ATTN_OK)
		status = setting_bool(b, "add_zero_attn", &a->keys.zero, err);
	return status;
}

static enum attn_status bind_output(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct tensor *wo = bundle_tensor(b, "wo");
	if (!wo && bundle_tensor(b, "bo"))
		return bind_fail_missing(b, err, "wo", "beside 'bo'");
	if (!a->has_values)
		return ATTN_OK;
	a->output.context_size = a->heads * a->value_size;
	return wo ? bind_output_layer(p, b, &a->output, err) : ATTN_OK;
}

/* Differential attention has two maps a head. */
static enum attn_status bind_maps(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	(void)err;
	p->attention.maps = bundle_tensor(b, "lambda") || bundle_setting(b, "lambda") ? 2 : 1;
	return ATTN_OK;
}

static enum attn_status bind_lambda(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	return bind_per_head(p, b, "lambda", &p->attention.lambda, err);
}

/* Linear attention has no scores: what a file says of their size is left out, with a
 * note, what would change the weights is refused. */
static enum attn_status check_linear(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	static const char *const sizes[] = {"scale", "temperature", "softcap"};
	static const char *const other[] = {"score",         "alibi",     "sinks", "alibi_slopes",
					    "relative_bias", "zero_sink", "top_k"};
	char note[200];
	if (a->normalization.normalizer->scaled)
		return ATTN_OK;
	const char *given = a->masking.bias ? "mask" : NULL;
	for (size_t i = 0; i < sizeof other / sizeof *other && !given; i++) {
		const struct setting *s = bundle_setting(b, other[i]);
		bool neutral = s && (strcmp(s->value, "false") == 0 || strcmp(s->value, "scaled-dot") == 0);
		if (bundle_tensor(b, other[i]) || (s && !neutral))
			given = other[i];
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !given; i++) {
		const struct setting *s = bundle_setting(b, sizes[i]);
		if (s && s->from_command)
			given = sizes[i];
		if (!s && !bundle_tensor(b, sizes[i]))
			continue;
		snprintf(note, sizeof note, "'%s' is left out: normalizer 'linear' has no scores", sizes[i]);
		if (!string_list_add(&p->notes, note))
			return attn_fail_memory(err);
	}
	a->score.softcap = 0;
	if (!given)
		return ATTN_OK;
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "normalizer is 'linear', which has no scores, but '%s' is given, expected it without%s", given,
	    a->masking.bias ? ", or a mask of true and false" : "");
}

static enum attn_status bind_rows(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	bool layer, batch, given; /* axes mean nothing here, but must be right */
	p->info.shape = attention_shape(a);
	if (a->normalization.top_k >= attention_keys(a))
		a->normalization.top_k = 0; /* all of them */
	enum attn_status status = setting_axes(b, &layer, &batch, &given, err);
	if (status == ATTN_OK)
		status = bind_labels(&p->info, b, &a->keys, err);
	if (status != ATTN_OK)
		return status;
	a->cross = p->info.shape.cross; /* labels may tell, too */
	a->masking = masking_of_all(&p->info.shape);
	return bind_masking(&a->masking, b, &p->notes, err);
}

enum attn_status problem_init(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static enum attn_status (*const steps[])(struct problem *, const struct bundle *,
						 struct attn_error *) = {
	    check_unknown, bind_maps,       bind_form,   bind_past,      bind_appended,
	    bind_output,   bind_norms,      bind_rotary, bind_positions, bind_score,
	    bind_lambda,   bind_normalizer, bind_rows,   bind_relative,  check_linear,
	};
	*p = (struct problem){.attention = {.batch = 1}};
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && status == ATTN_OK; i++)
		status = steps[i](p, b, err);
	if (status != ATTN_OK)
		problem_release(p);
	return status;
}
