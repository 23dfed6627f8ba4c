/* key_padding: which keys are real, or what is added to the scores of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

/* Added to scores, a number of this size or more below 0 masks (10000 is BERT's). */
#define PADDING_MASKS (-9999)

/* What the numbers of key_padding mean: floats of which none is below 0 are zeros and ones. */
enum padding {
	PADDING_REAL,   /* 1: a real key, 0: none */
	PADDING_MASKED, /* 0: a real key; -inf, or PADDING_MASKS and below: none */
	PADDING_ADDED,  /* any number is added to the scores; those that would mask do */
};

static enum padding padding_of(const struct tensor *t)
{
	bool below = false, between = false;
	for (size_t i = 0; i < t->count && dtype_is_float(t->dtype); i++) {
		double value = tensor_get(t, i);
		below |= value < 0;
		between |= value > PADDING_MASKS && value != 0 && value != 1;
	}
	return !below ? PADDING_REAL : between ? PADDING_ADDED : PADDING_MASKED;
}

/* Whether a number stands for a real key.  False: for nothing. */
static bool padding_number(double value, enum padding kind, unsigned char *real)
{
	*real = kind == PADDING_REAL ? value == 1 : value > PADDING_MASKS;
	switch (kind) {
	case PADDING_REAL:
		return value == 0 || value == 1;
	case PADDING_MASKED:
		return value == 0 || value <= PADDING_MASKS;
	default:
		return value < INFINITY; /* false for NaN */
	}
}

static float sum(float a, float b)
{
	return fmaxf(-0x1.fffffep127f, fminf(a + b, 0x1.fffffep127f));
}

/* Key j of batch item b has added[b * added_step + j]: make that a float mask, or add it to
 * the mask that is there, which grows by the dimensions that it lacks. */
static enum attn_status add_bias(struct masking *v, const float *added, size_t added_step,
				 struct attn_error *err)
{
	size_t shape[4] = {v->padding_batch, 1, 1, v->plain_keys}, old[4], count = 1;
	for (int axis = 0; axis < 4; axis++) {
		old[axis] = v->mask ? v->mask_shape[axis] : 1;
		if (old[axis] != 1)
			shape[axis] = old[axis];
		if (!size_mul(count, shape[axis], &count))
			return attn_fail_memory(err);
	}
	unsigned char *mask = array_alloc(count, sizeof *mask);
	float *bias = array_alloc(count, sizeof *bias);
	if (!mask || !bias) {
		free(mask);
		free(bias);
		return attn_fail_memory(err);
	}
	for (size_t i = 0; i < count; i++) {
		size_t at[4], from = 0, rest = i;
		for (int axis = 3; axis >= 0; axis--) {
			at[axis] = rest % shape[axis];
			rest /= shape[axis];
		}
		for (int axis = 0; axis < 4; axis++)
			from = from * old[axis] + (old[axis] == 1 ? 0 : at[axis]);
		mask[i] = v->mask ? v->mask[from] : 1;
		bias[i] = sum(v->bias ? v->bias[from] : 0, added[at[0] * added_step + at[3]]);
	}
	free(v->mask);
	free(v->bias);
	v->mask = mask;
	v->bias = bias;
	memcpy(v->mask_shape, shape, sizeof shape);
	return ATTN_OK;
}

/* Fill v->padding from the `keys` last keys of each batch item; numbers that are added go to
 * added, as large as it and all 0. */
static enum attn_status read_padding(struct masking *v, const struct tensor *t, size_t keys,
				     enum padding kind, float *added, struct attn_error *err)
{
	static const char *const expected[] = {
	    [PADDING_REAL] = "true or 1 (a real key), or false or 0",
	    [PADDING_MASKED] = "0 (a real key) or a number below 0 (added to the scores)",
	    [PADDING_ADDED] = "a finite number (added to the scores) or -inf (masked)",
	};
	char text[300];
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		size_t at = i / keys * v->plain_keys + (v->plain_keys - keys) + i % keys;
		if (!padding_number(value, kind, &v->padding[at]))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected %s",
					 origin_name(t->origin), tensor_index_text(t, i, text, sizeof text),
					 value, expected[kind]);
		if (kind == PADDING_ADDED && v->padding[at])
			added[at] = (float)fmin(value, 0x1.fffffep127);
	}
	return ATTN_OK;
}

static enum attn_status check_shape(const struct masking *v, const struct bundle *b, const struct tensor *t,
				    size_t keys, struct attn_error *err)
{
	size_t own_keys = v->plain_keys - v->past_keys;
	const struct tensor *q = given_tensor(b, ROLE_Q);
	bool heads = t->rank == 2 && q && q->rank == 3 && q->shape[0] == t->shape[0];
	char text[300];
	if ((t->rank == 1 || (t->rank == 2 && (t->shape[0] == 1 || t->shape[0] == v->batch))) &&
	    (keys == own_keys || keys == v->plain_keys))
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': 'key_padding' is %s, expected %zu, or %zu x %zu%s",
			 origin_name(t->origin), tensor_shape_text(t->rank, t->shape, text, sizeof text),
			 own_keys, v->batch, own_keys,
			 heads ? " (the first dimension of 'q' is read as heads: give --packed where it is "
				 "batch items)"
			       : "");
}

static enum attn_status padding_note(enum padding kind, struct string_list *notes, struct attn_error *err)
{
	const char *note =
	    kind == PADDING_ADDED
		? "'key_padding' has numbers below 0: it is added to the scores; those of -9999 "
		  "and below mask their keys"
		: "'key_padding' has numbers below 0: it is read as added to the scores, so "
		  "that 0 is a real key";
	return kind == PADDING_REAL || string_list_add(notes, note) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status bind_padding(struct masking *v, const struct bundle *b, struct string_list *notes,
			      struct attn_error *err)
{
	struct tensor *t = use_tensor(b, ROLE_KEY_PADDING);
	if (!t)
		return ATTN_OK;
	size_t keys = t->rank > 0 ? t->shape[t->rank - 1] : 0, size;
	TRY(check_shape(v, b, t, keys, err));
	TRY(tensor_load(t, err));
	v->padding_batch = t->rank == 2 ? t->shape[0] : 1;
	enum padding kind = padding_of(t);
	if (!size_mul(v->padding_batch, v->plain_keys, &size))
		return attn_fail_memory(err);
	v->padding = array_alloc(size, 1);
	float *added = kind == PADDING_ADDED ? array_alloc(size, sizeof *added) : NULL;
	if (!v->padding || (kind == PADDING_ADDED && !added)) {
		free(added);
		return attn_fail_memory(err);
	}
	memset(v->padding, 1, size);
	if (added)
		memset(added, 0, size * sizeof *added);
	enum attn_status status = read_padding(v, t, keys, kind, added, err);
	if (status == ATTN_OK && added)
		status = add_bias(v, added, v->padding_batch == 1 ? 0 : v->plain_keys, err);
	free(added);
	return status == ATTN_OK ? padding_note(kind, notes, err) : status;
}
