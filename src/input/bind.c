#include "input/bind.h"
#include "attention/matrix.h"
#include "input/given.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/settings.h"
#include "util/memory.h"

enum attn_status bind_fail_shape(const struct tensor *t, struct attn_error *err, const char *expected, ...)
{
	char found[200], wanted[400];
	va_list args;
	va_start(args, expected);
	vsnprintf(wanted, sizeof wanted, expected, args);
	va_end(args);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected %s", origin_name(t->origin),
			 t->name, tensor_shape_text(t->rank, t->shape, found, sizeof found), wanted);
}

enum attn_status bind_fail_divisor(const struct bundle *b, const struct tensor *t, enum role_id setting,
				   size_t heads, size_t columns, struct attn_error *err)
{
	const char *name = roles[given_setting(b, setting) ? setting : ROLE_NUM_HEADS].name;
	bool last = t->shape[t->rank - 1] == columns;
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': %s is %zu, expected a divisor of the %zu %s of '%s'",
			 origin_name(t->origin), name, heads, columns, last ? "columns" : "rows", t->name);
}

/* Operands that bind what others call queries, keys, values and weights: "; give q=x.npz:query". */
static void add_bindings(const struct bundle *b, char *list, size_t size)
{
	static const char *const known[][2] = {
	    {"query", "q"},
	    {"queries", "q"},
	    {"Q", "q"},
	    {"key", "k"},
	    {"keys", "k"},
	    {"K", "k"},
	    {"value", "v"},
	    {"values", "v"},
	    {"V", "v"},
	    {"attentions", "weights"},
	    {"attention", "weights"},
	    {"attn", "weights"},
	    {"attention_weights", "weights"},
	    {"attn_weights", "weights"},
	    {"attn_probs", "weights"},
	    {"attention_probs", "weights"},
	};
	size_t used = 0;
	for (size_t i = 0; i < sizeof known / sizeof *known && used < size; i++) {
		const struct tensor *t = bundle_tensor(b, known[i][0]);
		if (t && !bundle_tensor(b, known[i][1]))
			used += (size_t)snprintf(list + used, size - used, "%s%s=%.60s:%s",
						 used ? " " : "; give ", known[i][1], origin_name(t->origin),
						 t->name);
	}
}

enum attn_status bind_fail_missing(const struct bundle *b, struct attn_error *err, enum role_id role,
				   const char *why, ...)
{
	enum {
		LISTED = 5
	};
	char wanted[200], list[600] = "";
	size_t ignored = 0, used = 0;
	va_list args;
	va_start(args, why);
	vsnprintf(wanted, sizeof wanted, why, args);
	va_end(args);
	for (size_t i = 0; i < b->tensor_count; i++) {
		if (b->tensors[i].role)
			continue;
		if (ignored++ < LISTED)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s'%.80s'",
						 ignored > 1 ? ", " : "; ignored: ", b->tensors[i].name);
	}
	if (ignored > LISTED)
		used += (size_t)snprintf(list + used, sizeof list - used, " and %zu more", ignored - LISTED);
	if (used < sizeof list)
		add_bindings(b, list + used, sizeof list - used);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s' is missing: %s%s", roles[role].name, wanted, list);
}

static bool all_finite(const float *data, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(data[i]))
			return false;
	return true;
}

enum attn_status bind_f32(struct float_pool *pool, struct tensor *t, const float **out,
			  struct attn_error *err)
{
	TRY(tensor_load(t, err));
	if (t->dtype == DTYPE_F32 && (uintptr_t)t->data % _Alignof(float) == 0) {
		*out = t->data;
		if (all_finite(*out, t->count))
			return ATTN_OK;
	}
	float *floats = float_pool_take(pool, t->count);
	if (!floats)
		return attn_fail_memory(err);
	*out = floats;
	return tensor_to_f32(t, floats, err);
}

enum attn_status bind_batch(struct problem *p, const struct tensor *t, size_t batch, struct attn_error *err)
{
	struct attention *a = &p->attention;
	if (batch == 0)
		return bind_fail_shape(t, err, "at least one batch item");
	if (p->info.has_batch && a->batch != batch)
		return bind_fail_shape(t, err, "%zu batch items, as the tensors before it", a->batch);
	p->info.has_batch = true;
	a->batch = batch;
	return ATTN_OK;
}

enum attn_status bind_sequence(struct problem *p, const struct bundle *b, enum role_id role,
			       struct sequence *out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	if (!t)
		return ATTN_OK;
	if (t->rank != 2 && t->rank != 3)
		return bind_fail_shape(t, err, "tokens x width, or batch x tokens x width");
	if (t->count == 0)
		return bind_fail_shape(t, err, "at least one token and one number each");
	out->rows = t->shape[t->rank - 2];
	out->cols = t->shape[t->rank - 1];
	out->batch_stride = t->rank == 3 ? out->rows * out->cols : 0;
	if (t->rank == 3) {
		TRY(bind_batch(p, t, t->shape[0], err));
	}
	return bind_f32(&p->floats, t, &out->data, err);
}

enum attn_status bind_layout(const struct bundle *b, bool *transposed, struct attn_error *err)
{
	enum {
		IN_OUT,
		OUT_IN
	};
	size_t layout = IN_OUT;
	enum attn_status status = setting_choice(b, ROLE_LAYOUT, &layout, err);
	*transposed = status == ATTN_OK && layout == OUT_IN;
	if (!*transposed || !b->head_list)
		return status;
	*transposed = false;
	return setting_fail(given_setting(b, ROLE_LAYOUT),
			    "'in,out': the matrices of a 'heads' list are always (in, out)", err);
}

/* The layouts that wq, wk and wv can have by their inputs' width. */
enum {
	EITHER_LAYOUT = -1,
	IN_OUT_ONLY,
	OUT_IN_ONLY,
};

static int layout_of(const struct bundle *b, enum role_id role)
{
	static const enum role_id from[] = {ROLE_SOURCE_VALUES, ROLE_SOURCE_EMBEDDINGS, ROLE_EMBEDDINGS};
	const struct tensor *t = given_tensor(b, role), *x = NULL;
	size_t first = role == ROLE_WV ? 0 : role == ROLE_WK ? 1 : 2;
	for (size_t i = first; i < sizeof from / sizeof *from && !x; i++)
		x = given_tensor(b, from[i]);
	if (!t || !x || t->rank != 2 || x->rank < 2)
		return EITHER_LAYOUT;
	size_t width = x->shape[x->rank - 1];
	bool in_out = t->shape[0] == width, out_in = t->shape[1] == width;
	return in_out == out_in ? EITHER_LAYOUT : in_out ? IN_OUT_ONLY : OUT_IN_ONLY;
}

/* Where matrices disagree no layout is right: name the one, or one of the few, that is not
 * stored as the others are.  ATTN_OK: they agree. */
static enum attn_status check_one_layout(const struct bundle *b, bool transposed, struct attn_error *err)
{
	static const enum role_id matrices[] = {ROLE_WQ, ROLE_WK, ROLE_WV};
	size_t votes[2] = {0};
	enum role_id last[2] = {ROLE_NONE};
	char found[200];
	for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
		int layout = layout_of(b, matrices[i]);
		if (layout == EITHER_LAYOUT)
			continue;
		votes[layout]++;
		last[layout] = matrices[i];
	}
	if (!votes[0] || !votes[1])
		return ATTN_OK;
	int odd = votes[0] == votes[1] ? !transposed : votes[1] < votes[0];
	const struct tensor *t = given_tensor(b, last[odd]);
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s': '%s' is %s, which is '%s', but '%s' is '%s', expected one layout: transpose "
			 "'%s'",
			 origin_name(t->origin), t->name,
			 tensor_shape_text(t->rank, t->shape, found, sizeof found), odd ? "out,in" : "in,out",
			 roles[last[!odd]].name, odd ? "in,out" : "out,in", t->name);
}

/* The shape check of bind_weight, whose message says what to try. */
static enum attn_status check_weight(const struct tensor *t, size_t rows, size_t cols, bool transposed,
				     struct attn_error *err)
{
	if (t->rank == 2 && t->count > 0) {
		size_t in = t->shape[transposed], out = t->shape[!transposed];
		if (in == rows && (cols == 0 || out == cols))
			return ATTN_OK;
		if (out == rows && (cols == 0 || in == cols))
			return bind_fail_shape(t, err, "%s: give --layout %s",
					       transposed ? "its rows to be outputs"
							  : "its rows to be inputs",
					       transposed ? "in,out" : "out,in");
	}
	char wide[32] = "H*d";
	if (cols > 0)
		snprintf(wide, sizeof wide, "%zu", cols);
	return transposed ? bind_fail_shape(t, err, "%s x %zu (layout out,in)", wide, rows)
			  : bind_fail_shape(t, err, "%zu x %s", rows, wide);
}

/* Copy *m, which is stored (out, in), to (in, out). */
static enum attn_status transpose(struct float_pool *pool, struct matrix *m, struct attn_error *err)
{
	float *copy = float_pool_take(pool, m->rows * m->cols);
	if (!copy)
		return attn_fail_memory(err);
	const float *from = m->data;
	for (size_t r = 0; r < m->rows; r++)
		for (size_t c = 0; c < m->cols; c++)
			copy[r * m->cols + c] = from[c * m->rows + r];
	m->data = copy;
	return ATTN_OK;
}

enum attn_status bind_weight(struct float_pool *pool, const struct bundle *b, enum role_id role, size_t rows,
			     size_t cols, struct matrix *out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	bool transposed;
	const float *data;
	if (!t)
		return ATTN_OK;
	TRY(bind_layout(b, &transposed, err));
	if (role == ROLE_WQ || role == ROLE_WK || role == ROLE_WV)
		TRY(check_one_layout(b, transposed, err));
	TRY(check_weight(t, rows, cols, transposed, err));
	TRY(bind_f32(pool, t, &data, err));
	*out = matrix_plain(data, t->shape[transposed], t->shape[!transposed], t->shape[!transposed]);
	return transposed ? transpose(pool, out, err) : ATTN_OK;
}

enum attn_status bind_vector(struct float_pool *pool, const struct bundle *b, enum role_id role, size_t count,
			     const float **out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	*out = NULL;
	if (!t)
		return ATTN_OK;
	/* PyTorch keeps bias_k as 1 x 1 x E, so only the last dimension may count. */
	if (t->rank < 1 || t->count != count || t->shape[t->rank - 1] != count)
		return bind_fail_shape(t, err, "%zu", count);
	return bind_f32(pool, t, out, err);
}

enum attn_status bind_output_layer(struct float_pool *pool, const struct bundle *b, struct output_layer *out,
				   struct attn_error *err)
{
	TRY(bind_weight(pool, b, ROLE_WO, out->context_size, out->wo.cols, &out->wo, err));
	return bind_vector(pool, b, ROLE_BO, out->wo.cols, &out->bo, err);
}
