#include "result/stored.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention/masking.h"
#include "input/labels.h"
#include "input/settings.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/threads.h"

struct stored {
	struct row_source source; /* first: a source is cast to its stored result */
	struct rows_info info;
	struct masking masking;
	struct tensor *weights;
	size_t batch_stride, layer_stride; /* elements */
	bool in_place;                     /* aligned float32: rows are used where they are */
	size_t workers;
	float **rows;            /* a worker's (ROWS_BLOCK, keys), unless in place */
	unsigned char **visible; /* a worker's (ROWS_BLOCK, keys) */
};

static void stored_free(struct row_source *source)
{
	struct stored *s = (struct stored *)source;
	rows_info_release(&s->info);
	masking_release(&s->masking);
	for (size_t i = 0; i < s->workers; i++) {
		free(s->rows ? s->rows[i] : NULL);
		free(s->visible ? s->visible[i] : NULL);
	}
	free(s->rows);
	free(s->visible);
	free(s);
}

static enum attn_status fail_weight(const struct tensor *t, const struct rows_info *info, size_t i,
				    struct attn_error *err)
{
	char place[300];
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected a %s", origin_name(t->origin),
			 tensor_index_text(t, i, place, sizeof place), tensor_get(t, i),
			 info->signed_weights ? "finite weight" : "weight from 0 to 1");
}

enum attn_status stored_check(const struct tensor *t, const struct rows_info *info, size_t first,
			      struct row_block *block, unsigned char *visible, struct attn_error *err)
{
	/* float16 weights round up a little */
	const float most = info->signed_weights ? FLT_MAX : 1.01f,
		    least = info->signed_weights ? -FLT_MAX : 0;
	for (size_t i = 0; i < block->count * block->keys; i++) {
		if (!(block->weights[i] >= least && block->weights[i] <= most))
			return fail_weight(t, info, first + i, err);
		/* The weights have the last word: what has one was seen. */
		visible[i] |= block->weights[i] != 0;
	}
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++)
		block->masked += memchr(visible + r * block->keys, 1, block->keys) == NULL;
	return ATTN_OK;
}

static enum attn_status stored_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct stored *s = (struct stored *)source;
	const struct rows_info *info = &s->info;
	size_t first = block->batch * s->batch_stride + block->layer * s->layer_stride +
		       (block->head * info->queries + block->query) * info->keys;
	size_t count = block->count * info->keys;
	const float *rows = s->in_place ? (const float *)s->weights->data + first : s->rows[worker];
	unsigned char *visible = s->visible[worker];
	for (size_t i = 0; i < count && !s->in_place; i++)
		s->rows[worker][i] = (float)tensor_get(s->weights, first + i);
	for (size_t r = 0; r < block->count; r++)
		masking_row(&s->masking, block->batch, block->head, block->query + r,
			    visible + r * info->keys);
	block->weights = rows;
	block->visible = visible;
	block->scores = NULL;
	block->context = NULL;
	return stored_check(s->weights, info, first, block, visible, err);
}

static bool allocate(struct stored *s)
{
	s->workers = threads_count();
	s->visible = array_alloc(s->workers, sizeof *s->visible);
	s->rows = array_alloc(s->workers, sizeof *s->rows);
	if (!s->visible || !s->rows)
		return false;
	for (size_t i = 0; i < s->workers; i++) {
		s->visible[i] = array_alloc(ROWS_BLOCK, s->info.keys);
		if (!s->in_place)
			s->rows[i] = floats_alloc4(ROWS_BLOCK, s->info.keys, 1, 1);
		if (!s->visible[i] || (!s->in_place && !s->rows[i]))
			return false;
	}
	return true;
}

/* What the dimensions before (head, query, key) mean. */
static enum attn_status bind_axes(struct stored *s, const struct bundle *b, struct attn_error *err)
{
	const struct tensor *t = s->weights;
	bool layer, batch, given;
	struct rows_info *info = &s->info;
	char found[200];
	if (t->rank < 2 || t->rank > 5 || t->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'weights' is %s, expected heads x queries x keys, or with layers or "
				 "batch items in front",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, found, sizeof found));
	info->queries = t->shape[t->rank - 2];
	info->keys = t->shape[t->rank - 1];
	info->heads = t->rank > 2 ? t->shape[t->rank - 3] : 1;
	info->layers = info->batch = 1;
	size_t item = info->heads * info->queries * info->keys;
	enum attn_status status = setting_axes(b, &layer, &batch, &given, err);
	if (status != ATTN_OK)
		return status;
	int in_front = t->rank > 3 ? t->rank - 3 : 0;
	if (given && layer + batch != in_front)
		return setting_fail(bundle_setting(b, "axes"),
				    in_front == 0 ? "none: 'weights' has nothing before its heads"
				    : in_front == 1
					? "'layer' or 'batch': 'weights' has one dimension before its heads"
					: "'layer,batch': 'weights' has two dimensions before its heads",
				    err);
	if (in_front == 2) {
		info->layers = t->shape[0];
		info->batch = t->shape[1];
		s->batch_stride = item;
		s->layer_stride = item * info->batch;
	} else if (batch) {
		info->batch = t->shape[0];
		s->batch_stride = item;
	} else if (in_front == 1) {
		info->layers = t->shape[0];
		s->layer_stride = item;
	}
	info->has_layers = s->layer_stride > 0;
	info->has_batch = s->batch_stride > 0;
	return ATTN_OK;
}

enum attn_status stored_keys(const struct rows_info *info, const struct bundle *b, struct key_counts *keys,
			     struct attn_error *err)
{
	const struct setting *appended = bundle_setting(b, "appended_keys");
	*keys = (struct key_counts){0};
	enum attn_status status = setting_count(b, "past_keys", 0, &keys->past, err);
	if (status != ATTN_OK)
		return status;
	if (appended) {
		keys->bias =
		    strcmp(appended->value, "bias") == 0 || strcmp(appended->value, "bias,zero") == 0;
		keys->zero =
		    strcmp(appended->value, "zero") == 0 || strcmp(appended->value, "bias,zero") == 0;
		if (!keys->bias && !keys->zero)
			return setting_fail(appended, "'bias', 'zero' or 'bias,zero'", err);
	}
	size_t extra = (size_t)keys->bias + keys->zero;
	if (keys->past >= info->keys || extra >= info->keys - keys->past)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'weights' has %zu keys, expected more than the %zu past and %zu appended ones",
		    info->keys, keys->past, extra);
	keys->own = info->keys - keys->past - extra;
	return ATTN_OK;
}

static enum attn_status stored_bind(struct stored *s, const struct bundle *b, struct string_list *notes,
				    struct attn_error *err)
{
	struct key_counts keys;
	enum attn_status status = bind_axes(s, b, err);
	s->info.signed_weights = bundle_setting(b, "lambda") != NULL;
	if (status == ATTN_OK)
		status = stored_keys(&s->info, b, &keys, err);
	if (status == ATTN_OK)
		status = labels_bind(&s->info, b, &keys, err);
	if (status != ATTN_OK)
		return status;
	s->masking = (struct masking){
	    .batch = s->info.batch,
	    .heads = s->info.heads,
	    .queries = s->info.queries,
	    .plain_keys = keys.past + keys.own,
	    .appended_keys = (size_t)keys.bias + keys.zero,
	    .past_keys = keys.past,
	};
	s->source.row_cost = s->info.keys * 8; /* reading and checking take about as long */
	status = bind_masking(&s->masking, b, notes, err);
	if (status == ATTN_OK)
		status = tensor_load(s->weights, err);
	if (status != ATTN_OK)
		return status;
	const struct tensor *t = s->weights;
	s->in_place = t->dtype == DTYPE_F32 && (uintptr_t)t->data % _Alignof(float) == 0;
	return allocate(s) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status stored_open(struct row_source **source, const struct bundle *b, struct string_list *notes,
			     struct attn_error *err)
{
	struct stored *s = calloc(1, sizeof *s);
	*source = NULL;
	if (!s)
		return attn_fail_memory(err);
	s->source = (struct row_source){&s->info, &s->masking, 0, stored_read, stored_free};
	s->weights = bundle_tensor(b, "weights");
	enum attn_status status = stored_bind(s, b, notes, err);
	if (status != ATTN_OK) {
		stored_free(&s->source);
		return status;
	}
	*source = &s->source;
	return ATTN_OK;
}
