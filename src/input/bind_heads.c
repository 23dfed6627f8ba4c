/* Fetching what is one for each head, or shared by all. */
#include <stdio.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/number.h"

/* No input has as many, and their products with small numbers do not wrap. */
#define HEADS_MAX ((size_t)1 << 32)

static enum attn_status head_count(const struct bundle *b, enum role_id role, size_t *out,
				   struct attn_error *err)
{
	enum attn_status status = setting_count(b, role, 1, out, err);
	const struct setting *s = given_setting(b, role);
	if (status == ATTN_OK && *out > HEADS_MAX)
		return setting_fail(s, "2^32 at most", err);
	if (status == ATTN_OK && s && b->head_list && *out != b->head_list) {
		char expected[100];
		snprintf(expected, sizeof expected, "%zu, as many as 'heads' lists", b->head_list);
		return setting_fail(s, expected, err);
	}
	return status;
}

enum attn_status bind_head_counts(const struct bundle *b, size_t *heads, size_t *kv_heads,
				  struct attn_error *err)
{
	*heads = 1;
	TRY(head_count(b, ROLE_NUM_HEADS, heads, err));
	*kv_heads = *heads;
	return head_count(b, ROLE_NUM_KV_HEADS, kv_heads, err);
}

/* "0.5", or one for each head with commas between. */
static enum attn_status parse_per_head(const struct problem *p, const struct setting *s, float *out,
				       struct attn_error *err)
{
	const struct attention *a = &p->attention;
	char expected[100], number[64];
	const char *at = s->value;
	size_t count = 0;
	bool good = true;
	while (good) {
		size_t length = strcspn(at, ",");
		double value;
		good = count < a->heads && length < sizeof number;
		if (!good)
			break;
		memcpy(number, at, length);
		number[length] = '\0';
		good = parse_number(number, &value) && value >= -0x1.fffffep127 && value <= 0x1.fffffep127;
		if (good)
			out[count++] = (float)value;
		if (at[length] == '\0')
			break;
		at += length + 1;
	}
	if (good && count == 1)
		for (size_t h = 1; h < a->heads; h++)
			out[h] = out[0];
	if (good && (count == 1 || count == a->heads))
		return ATTN_OK;
	snprintf(expected, sizeof expected,
		 a->heads > 1 ? "a number, or %zu with commas, one for each head"
			      : "a number: there is one head",
		 a->heads);
	return setting_fail(s, expected, err);
}

enum attn_status bind_per_head(struct problem *p, const struct bundle *b, enum role_id role,
			       const float **out, struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct tensor *t = use_tensor(b, role);
	const struct setting *s = use_setting(b, role);
	*out = NULL;
	if (!t && !s)
		return ATTN_OK;
	if (t && s && !s->from_command)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is a tensor of '%s' and a setting of '%s', expected one of them",
				 t->name, origin_name(t->origin), origin_name(s->origin));
	if (!s && (t->rank > 1 || (t->count != 1 && t->count != a->heads)))
		return bind_fail_shape(t, err, "%zu, one for each head, or 1", a->heads);
	if (!s && t->count == a->heads)
		return bind_f32(&p->floats, t, out, err);
	float *numbers = float_pool_take(&p->floats, a->heads);
	if (!numbers)
		return attn_fail_memory(err);
	*out = numbers;
	if (s)
		return parse_per_head(p, s, numbers, err);
	const float *one;
	TRY(bind_f32(&p->floats, t, &one, err));
	for (size_t h = 0; h < a->heads; h++)
		numbers[h] = *one;
	return ATTN_OK;
}

/* out (rows, cols) = the transpose of each matrix (cols, rows). */
static void transpose(float *out, const float *data, size_t count, size_t rows, size_t cols)
{
	for (size_t m = 0; m < count; m++, out += rows * cols, data += rows * cols)
		for (size_t r = 0; r < rows; r++)
			for (size_t c = 0; c < cols; c++)
				out[r * cols + c] = data[c * rows + r];
}

enum attn_status bind_head_matrix(struct problem *p, const struct bundle *b, enum role_id role, size_t heads,
				  size_t rows, size_t cols, enum head_matrix_kind kind,
				  struct head_matrix *out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	const char *each = p->attention.maps > 1 ? "map of a head" : "head";
	int rank = rows > 0 ? 2 : 1;
	if (!t)
		return ATTN_OK;
	bool transposed = false;
	if (kind == WEIGHT_MATRIX)
		TRY(bind_layout(b, &transposed, err));
	size_t first = transposed ? cols : rows, last = transposed ? rows : cols;
	bool fits = (t->rank == rank || (t->rank == rank + 1 && t->shape[0] == heads)) &&
		    t->shape[t->rank - 1] == last && (rows == 0 || t->shape[t->rank - 2] == first);
	if (!fits && rows > 0)
		return bind_fail_shape(t, err, "%zu x %zu%s, or %zu of them, one for each %s", first, last,
				       transposed ? " (layout out,in)" : "", heads, each);
	if (!fits)
		return bind_fail_shape(t, err, "%zu, or %zu x %zu, one for each %s", cols, heads, cols, each);
	*out = (struct head_matrix){NULL, rows, cols, t->rank > rank ? (rows ? rows : 1) * cols : 0};
	TRY(bind_f32(&p->floats, t, &out->data, err));
	if (!transposed)
		return ATTN_OK;
	float *copy = float_pool_take(&p->floats, t->count);
	if (!copy)
		return attn_fail_memory(err);
	transpose(copy, out->data, t->rank > rank ? heads : 1, rows, cols);
	out->data = copy;
	return ATTN_OK;
}

/* The gain of a norm over the whole width: (heads size). */
static enum attn_status bind_whole_gain(struct problem *p, const struct bundle *b, enum role_id role,
					size_t heads, size_t size, struct vector_norm *norm,
					struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	if (!t)
		return ATTN_OK;
	if (t->rank != 1 || t->count != heads * size)
		return bind_fail_shape(t, err, "%zu, as many as %zu heads of %zu have", heads * size, heads,
				       size);
	norm->gain_stride = size;
	return bind_f32(&p->floats, t, &norm->gain, err);
}

/* The gain of a norm: (size), or one for each head. */
static enum attn_status bind_gain(struct problem *p, const struct bundle *b, enum role_id role, size_t heads,
				  size_t size, struct vector_norm *norm, struct attn_error *err)
{
	struct head_matrix gain = {0};
	if (norm->kind == VECTOR_NORM_NONE)
		return ATTN_OK;
	if (norm->whole)
		return bind_whole_gain(p, b, role, heads, size, norm, err);
	const struct tensor *t = given_tensor(b, role);
	if (t && t->rank == 1 && t->count == heads * size && heads > 1)
		return bind_fail_shape(
		    t, err, "%zu; a gain of all heads side by side requires qk_norm rms-full", size);
	TRY(bind_head_matrix(p, b, role, heads, 0, size, PLAIN_MATRIX, &gain, err));
	norm->gain = gain.data;
	norm->gain_stride = gain.head_stride;
	return ATTN_OK;
}

enum attn_status bind_norms(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	/* In the order of the words of the setting. */
	static const int kinds[] = {VECTOR_NORM_NONE, VECTOR_NORM_RMS, VECTOR_NORM_L2, VECTOR_NORM_RMS};
	enum {
		RMS_FULL = 3
	};
	struct attention *a = &p->attention;
	struct vector_norm norm = {.eps = 1e-6};
	size_t kind = 0;
	enum attn_status status = setting_choice(b, ROLE_QK_NORM, &kind, err);
	norm.kind = kinds[kind];
	norm.whole = kind == RMS_FULL;
	if (status == ATTN_OK && (norm.kind != VECTOR_NORM_NONE || a->latent.q_gain || a->latent.kv_gain))
		status = setting_number(b, ROLE_QK_NORM_EPS, &norm.eps, err);
	if (status == ATTN_OK && !(norm.eps >= 0))
		status = setting_fail(given_setting(b, ROLE_QK_NORM_EPS), "a number from 0 up", err);
	if (status != ATTN_OK)
		return status;
	a->q_norm = a->k_norm = norm;
	status = bind_gain(p, b, ROLE_Q_NORM, a->heads * a->maps, a->head_size, &a->q_norm, err);
	return status == ATTN_OK
		   ? bind_gain(p, b, ROLE_K_NORM, a->kv_heads * a->maps, a->key_size, &a->k_norm, err)
		   : status;
}
