#include "core/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bind.h"
#include "core/roles.h"
#include "core/settings.h"

void problem_release(struct problem *p)
{
	for (size_t i = 0; i < p->owned_count; i++)
		free(p->owned[i]);
	free(p->owned);
	visibility_release(&p->visibility);
	rows_info_release(&p->info);
	string_list_release(&p->notes);
	*p = (struct problem){0};
}

/* Kinds of attention that are named but not computed yet: refused, not left out
 * without a word. */
static enum attn_status refuse_missing(const struct bundle *b, struct attn_error *err)
{
	static const char *const names[] = {"score",
					    "temperature",
					    "score_w",
					    "score_u",
					    "score_v",
					    "score_b",
					    "window",
					    "dilation",
					    "blocks",
					    "prefix",
					    "segments",
					    "source_segments",
					    "rope",
					    "rope_style",
					    "rope_dim",
					    "rope_scaling",
					    "positions",
					    "source_positions",
					    "position_offset",
					    "sinusoidal",
					    "position_table",
					    "source_position_table",
					    "alibi",
					    "alibi_slopes",
					    "relative_bias",
					    "normalizer",
					    "sinks",
					    "zero_sink",
					    "top_k",
					    "qk_norm",
					    "q_norm",
					    "k_norm",
					    "lambda",
					    "wdq",
					    "wuq",
					    "wqr",
					    "wdkv",
					    "wuk",
					    "wuv",
					    "wukv",
					    "wkr",
					    "q_latent_norm",
					    "kv_latent_norm"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct setting *s = bundle_setting(b, names[i]);
		const struct tensor *t = bundle_tensor(b, names[i]);
		if (s || t)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' asks for what this version does not compute",
					 origin_name(s ? s->origin : t->origin), names[i]);
	}
	return ATTN_OK;
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
	if (has_ready && has_projected)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s' and '%s' are both given, expected ready-made 'q', 'k', 'v' or 'embeddings' with "
		    "projections (choose with ROLE=FILE:TENSOR)",
		    has_ready, has_projected);
	return has_ready ? bind_ready(p, b, err) : bind_projected(p, b, err);
}

/* bias_k with bias_v, and add_zero_attn: keys behind the others. */
static enum attn_status bind_appended(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	const struct tensor *k = bundle_tensor(b, "bias_k"), *v = bundle_tensor(b, "bias_v");
	if ((k && !v && p->has_values) || (v && !k))
		return bind_fail_missing(b, err, k ? "bias_v" : "bias_k", "beside '%s'",
					 k ? "bias_k" : "bias_v");
	p->keys.bias = k != NULL;
	enum attn_status status = bind_vector(p, b, "bias_k", p->kv_heads * p->head_size, &p->bias_k, err);
	if (status == ATTN_OK && p->has_values)
		status = bind_vector(p, b, "bias_v", p->kv_heads * p->value_size, &p->bias_v, err);
	if (status == ATTN_OK)
		status = setting_bool(b, "add_zero_attn", &p->keys.zero, err);
	return status;
}

static enum attn_status bind_output(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	const struct tensor *wo = bundle_tensor(b, "wo");
	if (!wo && bundle_tensor(b, "bo"))
		return bind_fail_missing(b, err, "wo", "beside 'bo'");
	if (!wo || !p->has_values)
		return ATTN_OK;
	enum attn_status status = bind_weight(p, b, "wo", p->heads * p->value_size, 0, &p->wo, err);
	p->output_size = p->wo.cols;
	return status == ATTN_OK ? bind_vector(p, b, "bo", p->output_size, &p->bo, err) : status;
}

static enum attn_status bind_scores(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	double scale = 1 / sqrt((double)p->head_size), softcap = 0;
	enum attn_status status = setting_number(b, "scale", &scale, err);
	if (status == ATTN_OK)
		status = setting_number(b, "softcap", &softcap, err);
	if (status == ATTN_OK && softcap < 0)
		status = setting_fail(bundle_setting(b, "softcap"), "a number from 0 (none) up", err);
	if (status == ATTN_OK && !(fabs(scale) <= 0x1.fffffep127))
		status = setting_fail(bundle_setting(b, "scale"), "a number in the range of float32", err);
	p->scale = scale;
	p->softcap = softcap;
	return status;
}

static enum attn_status bind_rows(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	bool layer, batch, given; /* axes mean nothing here, but must be right */
	struct rows_info *info = &p->info;
	info->batch = p->batch;
	info->has_batch = p->has_batch;
	info->layers = 1;
	info->heads = p->heads;
	info->queries = p->queries;
	info->keys = key_total(&p->keys);
	enum attn_status status = setting_axes(b, &layer, &batch, &given, err);
	if (status == ATTN_OK)
		status = labels_bind(info, b, &p->keys, err);
	if (status != ATTN_OK)
		return status;
	p->visibility = (struct visibility){
	    .batch = p->batch,
	    .heads = p->heads,
	    .queries = p->queries,
	    .plain_keys = p->keys.past + p->keys.own,
	    .appended_keys = (size_t)p->keys.bias + p->keys.zero,
	    .past_keys = p->keys.past,
	};
	return visibility_bind(&p->visibility, b, &p->notes, err);
}

enum attn_status problem_init(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	static enum attn_status (*const steps[])(struct problem *, const struct bundle *,
						 struct attn_error *) = {
	    check_unknown, bind_form, bind_past, bind_appended, bind_output, bind_scores, bind_rows,
	};
	*p = (struct problem){.batch = 1};
	enum attn_status status = refuse_missing(b, err);
	for (size_t i = 0; i < sizeof steps / sizeof *steps && status == ATTN_OK; i++)
		status = steps[i](p, b, err);
	if (status != ATTN_OK)
		problem_release(p);
	return status;
}
