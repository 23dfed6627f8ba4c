#include "core/visibility.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/settings.h"
#include "util/checked.h"

void visibility_release(struct visibility *v)
{
	free(v->lengths);
	free(v->mask);
	free(v->bias);
	free(v->padding);
	*v = (struct visibility){0};
}

bool visibility_limited(const struct visibility *v)
{
	return v->causal || v->lengths || v->mask || v->padding;
}

/* Align the mask's shape to the right of (batch, heads, queries, keys). */
static enum attn_status mask_shape(struct visibility *v, const struct tensor *t, struct string_list *notes,
				   struct attn_error *err)
{
	const size_t whole[4] = {v->batch, v->heads, v->queries, v->plain_keys};
	char found[200], note[200];
	bool fits = t->rank >= 1 && t->rank <= 4 && t->count > 0;
	for (int axis = 0; axis < 4 && fits; axis++) {
		int own = axis - (4 - t->rank);
		size_t length = own < 0 ? 1 : t->shape[own];
		v->mask_shape[axis] = length;
		fits = length == 1 || length == whole[axis] || (axis == 3 && length < whole[axis]);
	}
	if (!fits)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'mask' is %s, expected %zu x %zu (queries x keys), or with heads, "
				 "%zu, or batch items "
				 "and heads, %zu x %zu, in front",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, found, sizeof found), v->queries,
				 v->plain_keys, v->heads, v->batch, v->heads);
	if (v->mask_shape[3] != 1 && v->mask_shape[3] < v->plain_keys) {
		snprintf(note, sizeof note, "'mask' covers %zu of %zu keys; those beyond are masked",
			 v->mask_shape[3], v->plain_keys);
		if (!string_list_add(notes, note))
			return attn_fail_memory(err);
	}
	return ATTN_OK;
}

static enum attn_status bind_float_mask(struct visibility *v, const struct tensor *t,
					struct string_list *notes, struct attn_error *err)
{
	bool all_binary = true, any_one = false;
	v->bias = array_alloc(t->count, sizeof *v->bias);
	if (!v->bias)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		char place[300];
		if (isnan(value) || value == INFINITY)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %s, expected a finite number or -inf",
					 origin_name(t->origin), tensor_index_text(t, i, place, sizeof place),
					 isnan(value) ? "nan" : "inf");
		/* A number beyond float32 (float64's lowest is a common mask) keeps its meaning: as low as
		 * can be. */
		v->bias[i] = value == -INFINITY ? -INFINITY
						: (float)fmax(-0x1.fffffep127, fmin(value, 0x1.fffffep127));
		v->mask[i] = value != -INFINITY;
		all_binary &= value == 0 || value == 1;
		any_one |= value == 1;
	}
	if (all_binary && any_one &&
	    !string_list_add(notes, "'mask' holds only 0 and 1 and, as a float mask, is added to the scores; "
				    "a mask of true and false says which keys to attend to"))
		return attn_fail_memory(err);
	return ATTN_OK;
}

static enum attn_status bind_mask(struct visibility *v, const struct bundle *b, struct string_list *notes,
				  struct attn_error *err)
{
	struct tensor *t = bundle_tensor(b, "mask");
	if (!t)
		return ATTN_OK;
	enum attn_status status = mask_shape(v, t, notes, err);
	if (status == ATTN_OK)
		status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	v->mask = array_alloc(t->count, 1);
	if (!v->mask)
		return attn_fail_memory(err);
	switch (t->dtype) {
	case DTYPE_BOOL:
		for (size_t i = 0; i < t->count; i++)
			v->mask[i] = tensor_get(t, i) != 0;
		return ATTN_OK;
	case DTYPE_F64:
	case DTYPE_F32:
	case DTYPE_F16:
	case DTYPE_BF16:
		return bind_float_mask(v, t, notes, err);
	default:
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': 'mask' is %s, expected bool (true = attend) or float (added to the scores)",
		    origin_name(t->origin), dtype_name(t->dtype));
	}
}

static enum attn_status bind_padding(struct visibility *v, const struct bundle *b, struct attn_error *err)
{
	struct tensor *t = bundle_tensor(b, "key_padding");
	char text[300];
	if (!t)
		return ATTN_OK;
	size_t keys = t->rank > 0 ? t->shape[t->rank - 1] : 0;
	size_t own_keys = v->plain_keys - v->past_keys;
	bool fits = (t->rank == 1 || (t->rank == 2 && (t->shape[0] == 1 || t->shape[0] == v->batch))) &&
		    (keys == own_keys || keys == v->plain_keys);
	if (!fits)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': 'key_padding' is %s, expected %zu, or %zu x %zu",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, text, sizeof text), own_keys, v->batch,
				 own_keys);
	enum attn_status status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	v->padding_batch = t->rank == 2 ? t->shape[0] : 1;
	v->padding = array_alloc(v->padding_batch, v->plain_keys);
	if (!v->padding)
		return attn_fail_memory(err);
	memset(v->padding, 1, v->padding_batch * v->plain_keys);
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		if (value != 0 && value != 1)
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %g, expected true or 1 (a real key), or false or 0",
					 origin_name(t->origin), tensor_index_text(t, i, text, sizeof text),
					 value);
		v->padding[i / keys * v->plain_keys + (v->plain_keys - keys) + i % keys] = value != 0;
	}
	return ATTN_OK;
}

static enum attn_status bind_lengths(struct visibility *v, const struct bundle *b, struct attn_error *err)
{
	struct tensor *t = bundle_tensor(b, "kv_lengths");
	char text[300];
	if (!t)
		return ATTN_OK;
	if (v->past_keys > 0)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': 'kv_lengths' and 'past_k' say the same in two ways, expected one of them",
		    origin_name(t->origin));
	if (t->rank > 1 || t->count != v->batch)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'kv_lengths' is %s, expected %zu (one for each batch item)",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, text, sizeof text), v->batch);
	enum attn_status status = tensor_load(t, err);
	if (status != ATTN_OK)
		return status;
	v->lengths = array_alloc(v->batch, sizeof *v->lengths);
	if (!v->lengths)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		if (!(value >= 0 && value <= (double)v->plain_keys) || value != floor(value))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %g, expected a whole number from 0 to %zu",
					 origin_name(t->origin), tensor_index_text(t, i, text, sizeof text),
					 value, v->plain_keys);
		v->lengths[i] = (size_t)value;
	}
	return ATTN_OK;
}

enum attn_status visibility_bind(struct visibility *v, const struct bundle *b, struct string_list *notes,
				 struct attn_error *err)
{
	enum attn_status status = setting_bool(b, "causal", &v->causal, err);
	if (status == ATTN_OK)
		status = bind_mask(v, b, notes, err);
	if (status == ATTN_OK)
		status = bind_padding(v, b, err);
	if (status == ATTN_OK)
		status = bind_lengths(v, b, err);
	return status;
}

/* Flat index into the mask of key 0 of a row; a dimension of 1 repeats. */
static size_t mask_row(const struct visibility *v, size_t batch, size_t head, size_t query)
{
	const size_t *shape = v->mask_shape;
	size_t row = shape[0] == 1 ? 0 : batch;
	row = row * shape[1] + (shape[1] == 1 ? 0 : head);
	row = row * shape[2] + (shape[2] == 1 ? 0 : query);
	return row * shape[3];
}

/* How many leading plain keys a causal query sees: j <= i + offset, the offset
 * being lengths - queries where there are lengths, and perhaps negative. */
static size_t causal_count(const struct visibility *v, size_t batch, size_t query)
{
	size_t reach = query + 1 + (v->lengths ? v->lengths[batch] : v->past_keys);
	size_t behind = v->lengths ? v->queries : 0;
	size_t count = reach > behind ? reach - behind : 0;
	return count < v->plain_keys ? count : v->plain_keys;
}

bool visibility_is_prefix(const struct visibility *v)
{
	return !v->mask && !v->padding && v->appended_keys == 0;
}

size_t visibility_count(const struct visibility *v, size_t batch, size_t query)
{
	size_t seen = v->plain_keys;
	if (v->causal)
		seen = causal_count(v, batch, query);
	if (v->lengths && v->lengths[batch] < seen)
		seen = v->lengths[batch];
	if (v->mask && v->mask_shape[3] != 1 && v->mask_shape[3] < seen)
		seen = v->mask_shape[3];
	return seen;
}

void visibility_row(const struct visibility *v, size_t batch, size_t head, size_t query, unsigned char *row)
{
	size_t seen = visibility_count(v, batch, query);
	memset(row, 1, seen);
	memset(row + seen, 0, v->plain_keys - seen);
	memset(row + v->plain_keys, 1, v->appended_keys);
	if (v->mask) {
		const unsigned char *mask = v->mask + mask_row(v, batch, head, query);
		size_t step = v->mask_shape[3] != 1;
		for (size_t j = 0; j < seen; j++)
			row[j] &= mask[j * step];
	}
	if (v->padding) {
		const unsigned char *padding =
		    v->padding + (v->padding_batch == 1 ? 0 : batch) * v->plain_keys;
		for (size_t j = 0; j < seen; j++)
			row[j] &= padding[j];
	}
}

const float *visibility_bias_row(const struct visibility *v, size_t batch, size_t head, size_t query,
				 size_t *step)
{
	*step = v->mask_shape[3] != 1;
	return v->bias ? v->bias + mask_row(v, batch, head, query) : NULL;
}

float visibility_bias(const struct visibility *v, size_t batch, size_t head, size_t query, size_t key)
{
	size_t step;
	const float *row = visibility_bias_row(v, batch, head, query, &step);
	return row && key < v->plain_keys ? row[key * step] : 0;
}
