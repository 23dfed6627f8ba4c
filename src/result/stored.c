#include "result/stored.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/memory.h"
#include "util/threads.h"

struct stored {
	struct row_source source; /* first: a source is cast to its stored result */
	struct masking masking;
	struct tensor *weights;
	size_t batch_stride, layer_stride; /* elements */
	bool in_place;                     /* aligned float32: rows are used where they are */
	size_t workers;
	float **rows;          /* a worker's (ROWS_BLOCK, keys), unless in place */
	unsigned char **cells; /* a worker's (ROWS_BLOCK, keys) */
};

static void stored_free(struct row_source *source)
{
	struct stored *s = (struct stored *)source;
	masking_release(&s->masking);
	for (size_t i = 0; i < s->workers; i++) {
		free(s->rows ? s->rows[i] : NULL);
		free(s->cells ? s->cells[i] : NULL);
	}
	free(s->rows);
	free(s->cells);
	free(s);
}

static enum attn_status fail_weight(const struct tensor *t, const struct rows_shape *shape, size_t i,
				    struct attn_error *err)
{
	char place[300];
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected a %s", origin_name(t->origin),
			 tensor_index_text(t, i, place, sizeof place), tensor_get(t, i),
			 shape->signed_weights ? "finite weight" : "weight from 0 to 1");
}

enum attn_status stored_check(const struct tensor *t, const struct rows_shape *shape, size_t first,
			      struct row_block *block, unsigned char *cells, struct attn_error *err)
{
	/* float16 weights round up a little */
	const float most = shape->signed_weights ? FLT_MAX : 1.01f,
		    least = shape->signed_weights ? -FLT_MAX : 0;
	for (size_t i = 0; i < block->count * block->keys; i++) {
		if (!(block->weights[i] >= least && block->weights[i] <= most))
			return fail_weight(t, shape, first + i, err);
		/* The weights have the last word: what has one was attended to. */
		cells[i] |= block->weights[i] != 0;
	}
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++)
		block->masked += memchr(cells + r * block->keys, 1, block->keys) == NULL;
	return ATTN_OK;
}

static enum attn_status stored_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct stored *s = (struct stored *)source;
	const struct rows_shape *shape = &s->source.shape;
	size_t first = block->batch * s->batch_stride + block->layer * s->layer_stride +
		       (block->head * shape->queries + block->query) * shape->keys;
	size_t count = block->count * shape->keys;
	const float *rows = s->in_place ? (const float *)s->weights->data + first : s->rows[worker];
	unsigned char *cells = s->cells[worker];
	for (size_t i = 0; i < count && !s->in_place; i++)
		s->rows[worker][i] = (float)tensor_get(s->weights, first + i);
	for (size_t r = 0; r < block->count; r++)
		masking_row(&s->masking, block->batch, block->head, block->query + r,
			    cells + r * shape->keys);
	block->weights = rows;
	block->cells = cells;
	block->context = NULL;
	return stored_check(s->weights, shape, first, block, cells, err);
}

static bool allocate(struct stored *s)
{
	s->workers = threads_count();
	s->cells = array_alloc(s->workers, sizeof *s->cells);
	s->rows = array_alloc(s->workers, sizeof *s->rows);
	if (!s->cells || !s->rows)
		return false;
	for (size_t i = 0; i < s->workers; i++) {
		s->cells[i] = array_alloc(ROWS_BLOCK, s->source.shape.keys);
		if (!s->in_place)
			s->rows[i] = floats_alloc4(ROWS_BLOCK, s->source.shape.keys, 1, 1);
		if (!s->cells[i] || (!s->in_place && !s->rows[i]))
			return false;
	}
	return true;
}

/* What the dimensions before (head, query, key) mean. */
static enum attn_status bind_axes(struct stored *s, struct rows_info *info, const struct bundle *b,
				  struct attn_error *err)
{
	const struct tensor *t = s->weights;
	bool layer, batch, set;
	struct rows_shape *shape = &info->shape;
	char found[200];
	if (t->rank < 2 || t->rank > 5 || t->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'weights' is %s, expected heads x queries x keys, or with layers or "
				 "batch items in front",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, found, sizeof found));
	shape->queries = t->shape[t->rank - 2];
	shape->keys = t->shape[t->rank - 1];
	shape->heads = t->rank > 2 ? t->shape[t->rank - 3] : 1;
	shape->layers = shape->batch = 1;
	size_t item = shape->heads * shape->queries * shape->keys;
	TRY(setting_axes(b, &layer, &batch, &set, err));
	int in_front = t->rank > 3 ? t->rank - 3 : 0;
	if (set && layer + batch != in_front)
		return setting_fail(given_setting(b, ROLE_AXES),
				    in_front == 0 ? "none: 'weights' has nothing before its heads"
				    : in_front == 1
					? "'layer' or 'batch': 'weights' has one dimension before its heads"
					: "'layer,batch': 'weights' has two dimensions before its heads",
				    err);
	if (in_front == 2) {
		shape->layers = t->shape[0];
		shape->batch = t->shape[1];
		s->batch_stride = item;
		s->layer_stride = item * shape->batch;
	} else if (batch) {
		shape->batch = t->shape[0];
		s->batch_stride = item;
	} else if (in_front == 1) {
		shape->layers = t->shape[0];
		s->layer_stride = item;
	}
	info->has_layers = s->layer_stride > 0;
	info->has_batch = s->batch_stride > 0;
	return ATTN_OK;
}

enum attn_status stored_keys(struct rows_shape *shape, const struct bundle *b, struct key_counts *keys,
			     struct attn_error *err)
{
	const struct setting *appended = use_setting(b, ROLE_APPENDED_KEYS);
	*keys = (struct key_counts){0};
	TRY(setting_count(b, ROLE_PAST_KEYS, 0, &keys->past, err));
	if (appended) {
		keys->bias =
		    strcmp(appended->value, "bias") == 0 || strcmp(appended->value, "bias,zero") == 0;
		keys->zero =
		    strcmp(appended->value, "zero") == 0 || strcmp(appended->value, "bias,zero") == 0;
		if (!keys->bias && !keys->zero)
			return setting_fail(appended, "'bias', 'zero' or 'bias,zero'", err);
	}
	size_t extra = (size_t)keys->bias + keys->zero;
	if (keys->past >= shape->keys || extra >= shape->keys - keys->past)
		return attn_fail(
		    err, ATTN_BAD_INPUT,
		    "'weights' has %zu keys, expected more than the %zu past and %zu appended ones",
		    shape->keys, keys->past, extra);
	keys->own = shape->keys - keys->past - extra;
	shape->past_keys = keys->past;
	shape->appended_keys = extra;
	return ATTN_OK;
}

/* num_heads of a file, if given, must say what the weights say. */
static enum attn_status check_heads(const struct rows_shape *shape, const struct bundle *b,
				    struct attn_error *err)
{
	const struct setting *s = given_setting(b, ROLE_NUM_HEADS);
	size_t heads = shape->heads;
	char expected[100];
	if (!s || s->from_command || given_setting(b, ROLE_VERSION))
		return ATTN_OK; /* a result of some heads says how many there were */
	enum attn_status status = setting_count(b, ROLE_NUM_HEADS, 1, &heads, err);
	if (status != ATTN_OK || heads == shape->heads)
		return status;
	snprintf(expected, sizeof expected, "%zu, the heads of 'weights'", shape->heads);
	return setting_fail(s, expected, err);
}

static enum attn_status stored_bind(struct stored *s, struct rows_info *info, const struct bundle *b,
				    struct string_list *notes, struct attn_error *err)
{
	struct key_counts keys;
	TRY(bind_axes(s, info, b, err));
	TRY(check_heads(&info->shape, b, err));
	info->shape.signed_weights = given_setting(b, ROLE_LAMBDA) != NULL;
	TRY(stored_keys(&info->shape, b, &keys, err));
	TRY(bind_labels(info, b, &keys, err));
	s->source.shape = info->shape;
	s->source.row_cost = info->shape.keys * 8; /* reading and checking take about as long */
	s->masking = masking_of_all(&info->shape);
	return bind_masking(&s->masking, b, notes, err);
}

/* Load the weights, and get memory to read them. */
static enum attn_status stored_start(struct row_source *source, struct attn_error *err)
{
	struct stored *s = (struct stored *)source;
	const struct tensor *t = s->weights;
	if (s->cells)
		return ATTN_OK;
	TRY(tensor_load(s->weights, err));
	s->in_place = t->dtype == DTYPE_F32 && (uintptr_t)t->data % _Alignof(float) == 0;
	return allocate(s) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status stored_open(struct named_rows *rows, const struct masking **masking, const struct bundle *b,
			     struct string_list *notes, struct attn_error *err)
{
	struct stored *s = calloc(1, sizeof *s);
	*rows = (struct named_rows){0};
	if (!s)
		return attn_fail_memory(err);
	s->source = (struct row_source){.start = stored_start, .read = stored_read, .free = stored_free};
	s->weights = use_tensor(b, ROLE_WEIGHTS);
	rows->source = &s->source;
	enum attn_status status = stored_bind(s, &rows->info, b, notes, err);
	if (status != ATTN_OK)
		named_rows_release(rows);
	else
		*masking = &s->masking;
	return status;
}
