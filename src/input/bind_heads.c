/* Fetching what is one for each head, or shared by all. */
#include <stdio.h>
#include <string.h>

#include "input/bind.h"
#include "input/settings.h"

/* No input has as many, and their products with small numbers do not wrap. */
#define HEADS_MAX ((size_t)1 << 32)

static enum attn_status head_count(const struct bundle *b, const char *name, size_t *out,
				   struct attn_error *err)
{
	enum attn_status status = setting_count(b, name, 1, out, err);
	if (status == ATTN_OK && *out > HEADS_MAX)
		return setting_fail(bundle_setting(b, name), "2^32 at most", err);
	return status;
}

enum attn_status bind_head_counts(const struct bundle *b, size_t *heads, size_t *kv_heads,
				  struct attn_error *err)
{
	*heads = 1;
	enum attn_status status = head_count(b, "num_heads", heads, err);
	*kv_heads = *heads;
	return status == ATTN_OK ? head_count(b, "num_kv_heads", kv_heads, err) : status;
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

enum attn_status bind_per_head(struct problem *p, const struct bundle *b, const char *name, const float **out,
			       struct attn_error *err)
{
	struct attention *a = &p->attention;
	struct tensor *t = bundle_tensor(b, name);
	const struct setting *s = bundle_setting(b, name);
	*out = NULL;
	if (!t && !s)
		return ATTN_OK;
	if (t && s && !s->from_command)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s' is a tensor of '%s' and a setting of '%s', expected one of them", name,
				 origin_name(t->origin), origin_name(s->origin));
	if (!s && (t->rank > 1 || (t->count != 1 && t->count != a->heads)))
		return bind_fail_shape(t, err, "%zu, one for each head, or 1", a->heads);
	if (!s && t->count == a->heads)
		return bind_f32(p, t, out, err);
	float *numbers = bind_floats(p, a->heads);
	if (!numbers)
		return attn_fail_memory(err);
	*out = numbers;
	if (s)
		return parse_per_head(p, s, numbers, err);
	const float *one;
	enum attn_status status = bind_f32(p, t, &one, err);
	for (size_t h = 0; h < a->heads && status == ATTN_OK; h++)
		numbers[h] = *one;
	return status;
}

/* out (rows, cols) = the transpose of each matrix (cols, rows). */
static void turn(float *out, const float *data, size_t count, size_t rows, size_t cols)
{
	for (size_t m = 0; m < count; m++, out += rows * cols, data += rows * cols)
		for (size_t r = 0; r < rows; r++)
			for (size_t c = 0; c < cols; c++)
				out[r * cols + c] = data[c * rows + r];
}

enum attn_status bind_head_matrix(struct problem *p, const struct bundle *b, const char *name, size_t heads,
				  size_t rows, size_t cols, bool weight, struct head_matrix *out,
				  struct attn_error *err)
{
	struct tensor *t = bundle_tensor(b, name);
	const char *each = p->attention.maps > 1 ? "map of a head" : "head";
	int rank = rows > 0 ? 2 : 1;
	if (!t)
		return ATTN_OK;
	bool transposed = false;
	enum attn_status status = weight ? bind_layout(b, &transposed, err) : ATTN_OK;
	if (status != ATTN_OK)
		return status;
	size_t first = transposed ? cols : rows, last = transposed ? rows : cols;
	bool fits = (t->rank == rank || (t->rank == rank + 1 && t->shape[0] == heads)) &&
		    t->shape[t->rank - 1] == last && (rows == 0 || t->shape[t->rank - 2] == first);
	if (!fits && rows > 0)
		return bind_fail_shape(t, err, "%zu x %zu%s, or %zu of them, one for each %s", first, last,
				       transposed ? " (layout out,in)" : "", heads, each);
	if (!fits)
		return bind_fail_shape(t, err, "%zu, or %zu x %zu, one for each %s", cols, heads, cols, each);
	*out = (struct head_matrix){NULL, rows, cols, t->rank > rank ? (rows ? rows : 1) * cols : 0};
	status = bind_f32(p, t, &out->data, err);
	if (status != ATTN_OK || !transposed)
		return status;
	float *turned = bind_floats(p, t->count);
	if (!turned)
		return attn_fail_memory(err);
	turn(turned, out->data, t->rank > rank ? heads : 1, rows, cols);
	out->data = turned;
	return ATTN_OK;
}

/* The gain of a norm: (size), or one for each head. */
static enum attn_status bind_gain(struct problem *p, const struct bundle *b, const char *name, size_t heads,
				  size_t size, struct vector_norm *norm, struct attn_error *err)
{
	const struct tensor *t = bundle_tensor(b, name);
	struct head_matrix gain = {0};
	if (t && norm->kind == VECTOR_NORM_NONE)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': '%s' is given, but no norm, expected --qk-norm rms or l2",
				 origin_name(t->origin), name);
	enum attn_status status = bind_head_matrix(p, b, name, heads, 0, size, false, &gain, err);
	norm->gain = gain.data;
	norm->gain_stride = gain.head_stride;
	return status;
}

enum attn_status bind_norms(struct problem *p, const struct bundle *b, struct attn_error *err)
{
	struct attention *a = &p->attention;
	const struct setting *kind = bundle_setting(b, "qk_norm");
	struct vector_norm norm = {.eps = 1e-6};
	enum attn_status status = setting_number(b, "qk_norm_eps", &norm.eps, err);
	if (status == ATTN_OK && !(norm.eps >= 0))
		status = setting_fail(bundle_setting(b, "qk_norm_eps"), "a number from 0 up", err);
	if (status != ATTN_OK)
		return status;
	if (kind && strcmp(kind->value, "rms") == 0)
		norm.kind = VECTOR_NORM_RMS;
	else if (kind && strcmp(kind->value, "l2") == 0)
		norm.kind = VECTOR_NORM_L2;
	else if (kind && strcmp(kind->value, "none") != 0)
		return setting_fail(kind, "'none', 'rms' or 'l2'", err);
	const struct setting *eps = bundle_setting(b, "qk_norm_eps");
	bool latent = bundle_tensor(b, "q_latent_norm") || bundle_tensor(b, "kv_latent_norm");
	if (eps && eps->from_command && norm.kind == VECTOR_NORM_NONE && !latent)
		return setting_fail(eps, "a qk_norm beside it", err);
	a->q_norm = a->k_norm = norm;
	status = bind_gain(p, b, "q_norm", a->heads * a->maps, a->head_size, &a->q_norm, err);
	return status == ATTN_OK
		   ? bind_gain(p, b, "k_norm", a->kv_heads * a->maps, a->key_size, &a->k_norm, err)
		   : status;
}
