/* Attention from precomputed Q, K, V, and the KV cache. */
#include "input/bind.h"

#include <stdio.h>

#include "input/given.h"
#include "input/settings.h"

/* One of q, k, v as found: (B, heads, tokens, size). */
struct precomputed {
	size_t heads, tokens, size;
	struct heads_view view;
};

static enum attn_status bind_packed(struct problem *p, const struct bundle *b, const struct tensor *t,
				    size_t heads, struct precomputed *out, struct attn_error *err)
{
	if (t->rank != 2 && t->rank != 3)
		return bind_fail_shape(
		    t, err, "tokens x (heads x head size), or with a batch in front, as 'packed' says");
	size_t width = t->shape[t->rank - 1];
	if (width % heads != 0)
		return bind_fail_divisor(b, t, t->role == ROLE_Q ? ROLE_NUM_HEADS : ROLE_NUM_KV_HEADS, heads,
					 width, err);
	out->heads = heads;
	out->tokens = t->shape[t->rank - 2];
	out->size = width / heads;
	out->view = (struct heads_view){NULL, t->rank == 3 ? out->tokens * width : 0, out->size, width};
	return t->rank == 3 ? bind_batch(p, t, t->shape[0], err) : ATTN_OK;
}

static enum attn_status bind_unpacked(struct problem *p, const struct tensor *t, struct precomputed *out,
				      struct attn_error *err)
{
	if (t->rank != 3 && t->rank != 4)
		return bind_fail_shape(
		    t, err,
		    "heads x tokens x head size, or with a batch in front (give --packed where heads "
		    "lie side by side: tokens x (heads x head size))");
	out->heads = t->shape[t->rank - 3];
	out->tokens = t->shape[t->rank - 2];
	out->size = t->shape[t->rank - 1];
	out->view = (struct heads_view){NULL, 0, out->tokens * out->size, out->size};
	if (t->rank == 3)
		return ATTN_OK;
	out->view.batch_stride = out->heads * out->view.head_stride;
	return bind_batch(p, t, t->shape[0], err);
}

/* `heads` is used where the tensor is packed. */
static enum attn_status bind_one(struct problem *p, const struct bundle *b, struct tensor *t, bool packed,
				 size_t heads, struct precomputed *out, struct attn_error *err)
{
	if (t->count == 0)
		return bind_fail_shape(t, err, "no dimension of 0");
	TRY(packed ? bind_packed(p, b, t, heads, out, err) : bind_unpacked(p, t, out, err));
	return bind_f32(&p->floats, t, &out->view.data, err);
}

/* A setting, if given, must say what the tensors say: so many heads of `maps` maps. */
static enum attn_status check_heads(const struct bundle *b, enum role_id role, const struct tensor *t,
				    size_t found, size_t maps, struct attn_error *err)
{
	size_t wanted = found / maps;
	enum attn_status status = setting_count(b, role, 1, &wanted, err);
	if (status == ATTN_OK && maps > 1 && wanted * maps != found)
		return bind_fail_shape(t, err, "%zu heads: two maps for each of %zu, as 'lambda' says",
				       maps * (given_setting(b, role) ? wanted : (found + 1) / 2),
				       given_setting(b, role) ? wanted : (found + 1) / 2);
	if (status == ATTN_OK && wanted * maps != found)
		status = bind_fail_shape(t, err, "%zu heads, as '%s' says", wanted, roles[role].name);
	return status;
}

static enum attn_status bind_values(struct problem *p, const struct bundle *b, bool packed,
				    struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct tensor *t = use_tensor(b, ROLE_V);
	struct precomputed v;
	if (!t)
		return ATTN_OK;
	TRY(bind_one(p, b, t, packed, a->kv_heads, &v, err));
	if (v.heads != a->kv_heads || v.tokens != a->keys.own)
		return bind_fail_shape(t, err, "%zu heads and %zu tokens, as 'k'", a->kv_heads, a->keys.own);
	a->value_size = v.size;
	a->v = v.view;
	a->has_values = true;
	return ATTN_OK;
}

/* (B, N, H d) and (N, H, d) look like (H, N, d): where the shape is an unlikely one, say how it was
 * read. */
static enum attn_status note_reading(struct problem *p, const struct bundle *b, const struct tensor *t,
				     const struct precomputed *q, struct attn_error *err)
{
	enum {
		HEAD_SIZE_USUAL = 256
	};
	char note[300];
	bool odd = q->size > HEAD_SIZE_USUAL || (q->heads > q->tokens && q->tokens > 1);
	if (t->rank != 3 || given_setting(b, ROLE_NUM_HEADS) || given_setting(b, ROLE_PACKED) || !odd)
		return ATTN_OK;
	snprintf(
	    note, sizeof note,
	    "'q' is read as %zu heads x %zu tokens, head size %zu (--packed is for batch items x tokens x "
	    "heads side by side)",
	    q->heads, q->tokens, q->size);
	return string_list_add(&p->notes, note) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status bind_precomputed(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	static const enum role_id needed[] = {ROLE_Q, ROLE_K};
	bool packed = false;
	size_t heads, kv_heads;
	struct precomputed q, k;
	for (size_t i = 0; i < 2; i++)
		if (!given_tensor(b, needed[i]))
			return bind_fail_missing(
			    b, err, needed[i], "'%s' also requires it",
			    roles[given_tensor(b, needed[!i]) ? needed[!i] : ROLE_V].name);
	struct tensor *tq = use_tensor(b, ROLE_Q), *tk = use_tensor(b, ROLE_K);
	TRY(setting_bool(b, ROLE_PACKED, &packed, err));
	TRY(bind_head_counts(b, &heads, &kv_heads, err));
	TRY(bind_one(p, b, tq, packed, heads * a->maps, &q, err));
	TRY(bind_one(p, b, tk, packed, kv_heads * a->maps, &k, err));
	TRY(note_reading(p, b, tq, &q, err));
	TRY(check_heads(b, ROLE_NUM_HEADS, tq, q.heads, a->maps, err));
	TRY(check_heads(b, ROLE_NUM_KV_HEADS, tk, k.heads, a->maps, err));
	if (q.heads % k.heads != 0)
		return bind_fail_shape(tk, err, "a number of heads that divides the %zu of 'q'", q.heads);
	if (k.size != q.size && score_needs_one_size(b))
		return bind_fail_shape(tk, err, "head size %zu, as 'q'%s", q.size,
				       packed && !given_setting(b, ROLE_NUM_KV_HEADS)
					   ? " (give --num-kv-heads if query heads share kv heads)"
					   : "");
	a->heads = q.heads / a->maps;
	a->kv_heads = k.heads / a->maps;
	a->queries = q.tokens;
	a->keys.own = k.tokens;
	a->head_size = q.size;
	a->key_size = k.size;
	a->q = q.view;
	a->k = k.view;
	return bind_values(p, b, packed, err);
}

/* past_k or past_v: (heads, P, size) or with a batch in front. */
static enum attn_status bind_past_one(struct problem *p, const struct bundle *b, struct tensor *t,
				      size_t heads, size_t size, size_t *tokens, struct heads_view *view,
				      struct attn_error *err)
{
	struct precomputed past;
	TRY(bind_one(p, b, t, false, 0, &past, err));
	if (past.heads != heads || past.size != size || (*tokens && past.tokens != *tokens))
		return bind_fail_shape(t, err, "%zu kv heads and head size %zu%s", heads, size,
				       *tokens ? ", and as many tokens as 'past_k'" : "");
	*tokens = past.tokens;
	*view = past.view;
	return ATTN_OK;
}

enum attn_status bind_past(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct tensor *k = use_tensor(b, ROLE_PAST_K);
	struct tensor *v = a->has_values ? use_tensor(b, ROLE_PAST_V) : NULL;
	if (!k && !v)
		return ATTN_OK;
	if (!k || (!v && a->has_values))
		return bind_fail_missing(b, err, k ? ROLE_PAST_V : ROLE_PAST_K, "'%s' also requires it",
					 k ? "past_k" : "past_v");
	TRY(bind_past_one(p, b, k, a->kv_heads * a->maps, a->key_size, &a->keys.past, &a->past_k, err));
	if (a->has_values)
		TRY(bind_past_one(p, b, v, a->kv_heads, a->value_size, &a->keys.past, &a->past_v, err));
	return ATTN_OK;
}
