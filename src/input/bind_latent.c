/* Multi-head latent attention: its matrices, separate or fused as published checkpoints
 * have them, and their shapes. */
#include <stdio.h>

#include "attention/latent.h"
#include "attention/matrix.h"
#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

/* --- which of them there are ------------------------------------------------------ */

/* What belongs to other attention. */
static enum attn_status refuse_others(const struct problem *p, const struct bundle *b, struct attn_error *err)
{
	const struct attention *a = &p->attention;
	const struct tensor *other = given_about(b, ABOUT_HEAD_LIST);
	const struct setting *lambda = given_setting(b, ROLE_LAMBDA);
	const struct setting *kv_heads = given_setting(b, ROLE_NUM_KV_HEADS);
	char expected[200];
	if (other)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' and 'wdkv' are both given, expected ordinary projections or those of "
				 "latent attention (choose with ROLE=FILE:TENSOR)",
				 other->name);
	if (given_tensor(b, ROLE_SOURCE_VALUES))
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'source_values' and 'wdkv' are both given, expected one of them: latent "
				 "attention makes values of the latents that keys are made of");
	if (lambda)
		return setting_fail(
		    lambda, "none with 'wdkv': differential and latent attention cannot be combined", err);
	if (a->maps > 1)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'lambda' and 'wdkv' are both given, expected one of them: differential and "
				 "latent attention cannot be combined");
	if (a->kv_heads == a->heads)
		return ATTN_OK;
	snprintf(expected, sizeof expected, "%zu, as num_heads: in latent attention each head has its keys",
		 a->heads);
	return setting_fail(kv_heads, expected, err);
}

static enum attn_status check_present(const struct bundle *b, struct attn_error *err)
{
	static const enum role_id separate[] = {ROLE_WUK, ROLE_WUV};
	bool wqr = given_tensor(b, ROLE_WQR), wkr = given_tensor(b, ROLE_WKR);
	if (!given_tensor(b, ROLE_WUQ))
		return bind_fail_missing(b, err, ROLE_WUQ, "'wdkv' also requires it");
	for (size_t i = 0; i < 2 && given_tensor(b, ROLE_WUKV); i++)
		if (given_tensor(b, separate[i]))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'wukv' and '%s' are both given, expected one of them: 'wukv' is "
					 "'wuk' and 'wuv' in one",
					 roles[separate[i]].name);
	if (!given_tensor(b, ROLE_WUKV) && !given_tensor(b, ROLE_WUK))
		return bind_fail_missing(b, err, ROLE_WUK, "'wdkv' also requires it (or 'wukv')");
	if (given_tensor(b, ROLE_Q_LATENT_NORM) && !given_tensor(b, ROLE_WDQ))
		return bind_fail_missing(b, err, ROLE_WDQ, "'q_latent_norm' also requires it");
	if (wqr == wkr || given_setting(b, ROLE_ROPE_DIM))
		return ATTN_OK;
	return bind_fail_missing(b, err, wqr ? ROLE_WKR : ROLE_WQR,
				 "'%s' also requires it (or rope_dim, if '%s' holds a rotary part too)",
				 wqr ? "wqr" : "wkr", wqr ? "wdkv" : "wuq");
}

/* --- their shapes ------------------------------------------------------------------ */

/* Inputs and outputs of a matrix as it is stored; false: it is none. */
static bool stored_sizes(const struct bundle *b, const struct tensor *t, size_t *in, size_t *out)
{
	bool transposed;
	bind_layout(b, &transposed, NULL); /* what is wrong with it bind_weight will say */
	if (t->rank != 2 || t->count == 0)
		return false;
	*in = t->shape[transposed];
	*out = t->shape[!transposed];
	return true;
}

/* What a matrix is multiplied with. */
struct inputs {
	size_t count;
	const char *whose;
	bool latents;
};

static struct inputs source_inputs(const struct problem *p)
{
	return (struct inputs){p->attention.source.cols, "the width of the embeddings that keys are made of",
			       false};
}

/* A matrix of any number of outputs. */
static enum attn_status bind_matrix(struct problem *p, const struct bundle *b, enum role_id role,
				    const struct inputs *from, struct matrix *out, struct attn_error *err)
{
	const struct tensor *t = given_tensor(b, role);
	size_t inputs, outputs;
	if (!t)
		return ATTN_OK;
	/* Where the other layout would fit, bind_weight says so: but it is known once there
	 * are latents. */
	if (!stored_sizes(b, t, &inputs, &outputs) ||
	    (inputs != from->count && (from->latents || outputs != from->count)))
		return bind_fail_shape(t, err, "a matrix of %zu inputs, %s", from->count, from->whose);
	return bind_weight(&p->floats, b, role, from->count, 0, out, err);
}

/* The same where each head has as many outputs, *size. */
static enum attn_status bind_up(struct problem *p, const struct bundle *b, enum role_id role,
				const struct inputs *from, struct head_columns *out, size_t *size,
				struct attn_error *err)
{
	struct attention *a = &p->attention;
	enum attn_status status = bind_matrix(p, b, role, from, &out->w, err);
	if (status != ATTN_OK || !out->w.data)
		return status;
	if (out->w.cols % a->heads != 0)
		return bind_fail_divisor(b, given_tensor(b, role), ROLE_NUM_HEADS, a->heads, out->w.cols,
					 err);
	*size = out->step = out->w.cols = out->w.cols / a->heads;
	return ATTN_OK;
}

/* How many dimensions of a head are rotary: as wkr or rope_dim says. */
static enum attn_status bind_rotary_size(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct latent *l = &p->attention.latent;
	struct inputs from = source_inputs(p);
	char expected[200];
	enum attn_status status = bind_matrix(p, b, ROLE_WKR, &from, &l->rotary_k, err);
	l->rotary_size = l->rotary_k.cols;
	if (status == ATTN_OK)
		status = setting_count(b, ROLE_ROPE_DIM, 1, &l->rotary_size, err);
	if (status != ATTN_OK || !l->rotary_k.data || l->rotary_k.cols == l->rotary_size)
		return status;
	snprintf(expected, sizeof expected, "%zu, the outputs of 'wkr'", l->rotary_k.cols);
	return setting_fail(given_setting(b, ROLE_ROPE_DIM), expected, err);
}

/* wdq, wuq and wqr.  *plain: the dimensions of a head that are not rotary. */
static enum attn_status bind_queries(struct problem *p, const struct bundle *b, size_t *plain,
				     struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct latent *l = &a->latent;
	struct inputs from = {a->embeddings.cols, "the width of 'embeddings'", false};
	size_t size = 0, rotary = l->rotary_size;
	TRY(bind_matrix(p, b, ROLE_WDQ, &from, &l->down_q, err));
	if (l->down_q.data)
		from = (struct inputs){l->down_q.cols, "the outputs of 'wdq'", true};
	TRY(bind_up(p, b, ROLE_WUQ, &from, &l->up_q, &size, err));
	TRY(bind_up(p, b, ROLE_WQR, &from, &l->rotary_q, &rotary, err));
	if (rotary != l->rotary_size)
		return bind_fail_shape(given_tensor(b, ROLE_WQR), err,
				       "%zu outputs for each of %zu heads, as %s", l->rotary_size, a->heads,
				       l->rotary_k.data ? "'wkr' has" : "rope_dim says");
	if (l->rotary_q.w.data)
		rotary = 0; /* in wuq */
	if (size <= rotary)
		return bind_fail_shape(
		    given_tensor(b, ROLE_WUQ), err,
		    "more than %zu outputs for each of %zu heads, of which the last %zu are "
		    "rotary, as rope_dim says",
		    rotary, a->heads, rotary);
	*plain = size - rotary;
	return ATTN_OK;
}

/* wdkv: latents, and the rotary part of keys where that has no matrix of its own. */
static enum attn_status bind_down(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct latent *l = &p->attention.latent;
	const struct tensor *t = given_tensor(b, ROLE_WDKV);
	const struct tensor *up = given_tensor(b, given_tensor(b, ROLE_WUKV) ? ROLE_WUKV : ROLE_WUK);
	struct inputs from = source_inputs(p);
	size_t inputs, outputs;
	enum attn_status status = bind_matrix(p, b, ROLE_WDKV, &from, &l->down_kv, err);
	if (status != ATTN_OK || l->rotary_k.data)
		return status;
	if (l->rotary_size == 0) {
		if (stored_sizes(b, up, &inputs, &outputs) && inputs < l->down_kv.cols &&
		    outputs != l->down_kv.cols)
			return bind_fail_shape(
			    t, err,
			    "%zu outputs, the inputs of '%s' (or rope_dim %zu, if the last %zu outputs are "
			    "the rotary part of keys)",
			    inputs, up->name, l->down_kv.cols - inputs, l->down_kv.cols - inputs);
		return ATTN_OK;
	}
	if (l->down_kv.cols <= l->rotary_size)
		return bind_fail_shape(t, err,
				       "more than %zu outputs, of which the last %zu are rotary, as rope_dim "
				       "says",
				       l->rotary_size, l->rotary_size);
	size_t plain = l->down_kv.cols - l->rotary_size;
	l->rotary_k = matrix_columns(&l->down_kv, plain, l->rotary_size);
	l->down_kv.cols = plain;
	return ATTN_OK;
}

/* wuk and wuv, or wukv, which has each head's keys and then its values. */
static enum attn_status bind_keys(struct problem *p, const struct bundle *b, size_t plain,
				  struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct latent *l = &a->latent;
	bool all = given_tensor(b, ROLE_WKR) || !l->rotary_k.data;
	struct inputs from = {l->down_kv.cols,
			      all ? "the outputs of 'wdkv'" : "the outputs of 'wdkv' that are not rotary",
			      true};
	bool fused = given_tensor(b, ROLE_WUKV);
	size_t size = 0;
	TRY(bind_up(p, b, fused ? ROLE_WUKV : ROLE_WUK, &from, &l->up_k, &size, err));
	if (!fused && size != plain)
		return bind_fail_shape(given_tensor(b, ROLE_WUK), err,
				       "%zu outputs for each of %zu heads, as 'wuq' has that are not rotary",
				       plain, a->heads);
	if (!fused)
		return bind_up(p, b, ROLE_WUV, &from, &l->up_v, &a->value_size, err);
	if (size <= plain)
		return bind_fail_shape(given_tensor(b, ROLE_WUKV), err,
				       "more than %zu outputs for each of %zu heads: those of keys, as 'wuq' "
				       "has that are not rotary, and then of values",
				       plain, a->heads);
	a->value_size = size - plain;
	l->up_v = l->up_k;
	l->up_v.w = matrix_columns(&l->up_k.w, plain, a->value_size);
	l->up_k.w.cols = plain;
	return ATTN_OK;
}

enum attn_status bind_latent(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct latent *l = &a->latent;
	size_t plain = 0;
	TRY(refuse_others(p, b, err));
	TRY(check_present(b, err));
	TRY(bind_rotary_size(p, b, err));
	TRY(bind_queries(p, b, &plain, err));
	TRY(bind_down(p, b, err));
	TRY(bind_keys(p, b, plain, err));
	a->head_size = a->key_size = plain + l->rotary_size;
	TRY(bind_vector(&p->floats, b, ROLE_Q_LATENT_NORM, l->down_q.cols, &l->q_gain, err));
	return bind_vector(&p->floats, b, ROLE_KV_LATENT_NORM, l->down_kv.cols, &l->kv_gain, err);
}
