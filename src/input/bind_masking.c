/* Which keys a query attends to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"
#include "util/number.h"

/* PyTorch's masks for each batch item and head are (B H, N, M), which is told from (H, N, M). */
static bool is_folded(const struct masking *v, const struct tensor *t)
{
	return t->rank == 3 && v->batch > 1 && t->shape[0] != 1 && t->shape[0] != v->heads &&
	       t->shape[0] == v->batch * v->heads;
}

/* Align the mask's shape to the right of (batch, heads, queries, keys). */
static enum attn_status mask_shape(struct masking *v, const struct tensor *t, struct string_list *notes,
				   struct attn_error *err)
{
	const size_t whole[4] = {v->batch, v->heads, v->queries, v->plain_keys};
	char found[200], note[200];
	bool fits = t->rank >= 1 && t->rank <= 4 && t->count > 0, folded = is_folded(v, t);
	for (int axis = 0; axis < 4 && fits; axis++) {
		int own = axis - (4 - t->rank);
		size_t length = own < 0 ? 1 : t->shape[own];
		if (folded && axis < 2)
			length = whole[axis];
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

static enum attn_status bind_float_mask(struct masking *v, const struct tensor *t, struct string_list *notes,
					struct attn_error *err)
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

static enum attn_status bind_mask(struct masking *v, const struct bundle *b, struct string_list *notes,
				  struct attn_error *err)
{
	struct tensor *t = use_tensor(b, ROLE_MASK);
	if (!t)
		return ATTN_OK;
	TRY(mask_shape(v, t, notes, err));
	TRY(tensor_load(t, err));
	v->mask = array_alloc(t->count, 1);
	if (!v->mask)
		return attn_fail_memory(err);
	if (dtype_is_float(t->dtype))
		return bind_float_mask(v, t, notes, err);
	if (t->dtype != DTYPE_BOOL)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': 'mask' is %s, expected bool (true = attend) or float (added to the scores)",
		    origin_name(t->origin), dtype_name(t->dtype));
	for (size_t i = 0; i < t->count; i++)
		v->mask[i] = tensor_get(t, i) != 0;
	return ATTN_OK;
}

static enum attn_status bind_lengths(struct masking *v, const struct bundle *b, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, ROLE_KV_LENGTHS);
	char text[300];
	if (!t)
		return ATTN_OK;
	if (v->past_keys > 0)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'%s': 'kv_lengths' and 'past_k' cannot be combined: both say where keys end",
		    origin_name(t->origin));
	if (t->rank > 1 || t->count != v->batch)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'kv_lengths' is %s, expected %zu (one for each batch item)",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, text, sizeof text), v->batch);
	TRY(tensor_load(t, err));
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

/* What bounds one side of a window, in steps of the dilation: "-1" is no bound. */
static bool parse_bound(const char *text, size_t dilation, bool *bound, size_t *distance)
{
	size_t steps;
	*bound = false;
	if (strcmp(text, "-1") == 0)
		return true;
	if (!parse_count(text, &steps))
		return false;
	*bound = size_mul(steps, dilation, distance) && *distance <= MASKING_DISTANCE_MAX;
	return true;
}

/* "L,R" as ONNX's Attention has it; "-1" alone, for both, is what it is without a window. */
static enum attn_status bind_window(struct masking *v, const struct bundle *b, struct attn_error *err)
{
	const struct setting *s = use_setting(b, ROLE_WINDOW);
	char left[32];
	v->dilation = 1;
	enum attn_status status = setting_count(b, ROLE_DILATION, 1, &v->dilation, err);
	v->dilation = size_min(v->dilation, MASKING_DISTANCE_MAX);
	if (status != ATTN_OK || !s || strcmp(s->value, "-1") == 0)
		return status;
	const char *comma = strchr(s->value, ',');
	if (comma && (size_t)(comma - s->value) < sizeof left) {
		snprintf(left, sizeof left, "%.*s", (int)(comma - s->value), s->value);
		if (parse_bound(left, v->dilation, &v->left_bound, &v->left) &&
		    parse_bound(comma + 1, v->dilation, &v->right_bound, &v->right))
			return ATTN_OK;
	}
	return setting_fail(s,
			    "'L,R', such as '4,0' for the four keys before each query and its own, or "
			    "'-1,2'; -1 for no bound",
			    err);
}

static enum attn_status bind_prefix(struct masking *v, const struct bundle *b, struct attn_error *err)
{
	TRY(setting_bool(b, ROLE_CAUSAL, &v->causal, err));
	TRY(setting_count(b, ROLE_PREFIX, 0, &v->prefix, err));
	if (given_setting(b, ROLE_PREFIX))
		v->causal = true;
	return ATTN_OK;
}

/* One of the two tensors of segments, (columns) or (batch, columns), as whole numbers
 * (*batch, columns) with the ranges of their runs; `each` says what a column is. */
static enum attn_status read_segments(const struct masking *v, struct tensor *t, size_t columns,
				      const char *each, int64_t **out, struct segment_range **ranges,
				      size_t *batch, struct attn_error *err)
{
	char text[300];
	size_t own = t->rank > 0 ? t->shape[t->rank - 1] : 0;
	*batch = t->rank == 2 ? t->shape[0] : 1;
	if (own != columns || t->rank > 2 || (*batch != 1 && *batch != v->batch))
		return attn_fail(
		    err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected %zu (one for each %s), or %zu x %zu",
		    origin_name(t->origin), t->name, tensor_shape_text(t->rank, t->shape, text, sizeof text),
		    columns, each, v->batch, columns);
	TRY(tensor_load(t, err));
	*out = array_alloc(t->count, sizeof **out);
	if (!*out)
		return attn_fail_memory(err);
	for (size_t i = 0; i < t->count; i++) {
		double value = tensor_get(t, i);
		if (value != floor(value) || !(fabs(value) < 0x1p53))
			return attn_fail(
			    err, ATTN_BAD_INPUT,
			    "'%s': '%s' is %.17g, expected a whole number between -2^53 and 2^53",
			    origin_name(t->origin), tensor_index_text(t, i, text, sizeof text), value);
		(*out)[i] = (int64_t)value;
	}
	*ranges = segment_ranges(*out, *batch, columns);
	return *ranges ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status bind_segments(struct masking *v, const struct bundle *b, struct attn_error *err)
{
	struct tensor *queries = use_tensor(b, ROLE_SEGMENTS), *keys = use_tensor(b, ROLE_SOURCE_SEGMENTS);
	bool self =
	    v->past_keys == 0 && v->plain_keys == v->queries && !given_tensor(b, ROLE_SOURCE_EMBEDDINGS);
	if (!queries && !keys)
		return ATTN_OK;
	if (!queries)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'source_segments' without 'segments', expected both: %zu of the "
				 "queries need segments too",
				 origin_name(keys->origin), v->queries);
	if (!keys && !self)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'segments' without 'source_segments', expected both where keys are "
				 "not the queries' own: %zu of the keys%s",
				 origin_name(queries->origin), v->plain_keys,
				 v->past_keys > 0 ? ", past ones first" : "");
	TRY(read_segments(v, queries, v->queries, "query", &v->query_segments, &v->query_ranges,
			  &v->query_segment_batch, err));
	return read_segments(v, keys ? keys : queries, v->plain_keys,
			     v->past_keys > 0 ? "key, past ones first" : "key", &v->key_segments,
			     &v->key_ranges, &v->key_segment_batch, err);
}

enum attn_status bind_masking(struct masking *v, const struct bundle *b, struct string_list *notes,
			      struct attn_error *err)
{
	enum attn_status status = bind_prefix(v, b, err);
	if (status == ATTN_OK)
		status = bind_window(v, b, err);
	if (status == ATTN_OK)
		status = bind_mask(v, b, notes, err);
	if (status == ATTN_OK)
		status = bind_padding(v, b, notes, err);
	if (status == ATTN_OK)
		status = bind_lengths(v, b, err);
	if (status == ATTN_OK)
		status = bind_segments(v, b, err);
	if (status == ATTN_OK) /* last: needs causal and lengths */
		status = bind_blocks(v, b, err);
	return status;
}
