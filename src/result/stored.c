#include "result/stored.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/axes.h"
#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/threads.h"

/* How far a sum of weights may be from 1: those of float16, or written with two digits. */
#define SUM_TOLERANCE 0.0101

/* A sum above 1 but below this may come of dropout, which divides by what it keeps. */
#define SUM_DROPOUT 1.4

struct stored {
	struct row_source source; /* first: a source is cast to its stored result */
	char maskers[200];        /* what masks, where it did not come with the weights; or "" */
	bool sums_to_one;
	atomic_size_t first_off; /* the first row read whose sum is not 1; SIZE_MAX: none */
	struct masking masking;
	struct tensor *weights;
	size_t strides[AXIS_NAMES]; /* elements; 0 for an axis that is not there */
	bool in_place;              /* aligned float32, row after row: used where they are */
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
	enum {
		KEPT_LEAST = 4 /* dropout that keeps one in so many weights makes them so many times larger */
	};
	char place[300];
	double value = tensor_get(t, i);
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected a %s", origin_name(t->origin),
			 tensor_index_text(t, i, place, sizeof place), value,
			 shape->signed_weights ? "finite weight"
			 : value > 1 && value <= KEPT_LEAST
			     ? "weight from 0 to 1 (dropout in training leaves weights above 1: evaluate "
			       "with dropout off, as model.eval() does)"
			 : value < 0 && isfinite(value) ? "weight from 0 to 1 (differential attention "
							  "leaves negative ones: give --lambda)"
							: "weight from 0 to 1");
}

enum attn_status stored_check(const struct tensor *t, const struct rows_shape *shape, size_t first,
			      size_t row_stride, size_t key_stride, struct row_block *block,
			      unsigned char *cells, struct attn_error *err)
{
	/* float16 weights round up a little */
	const float most = shape->signed_weights ? FLT_MAX : 1.01f,
		    least = shape->signed_weights ? -FLT_MAX : 0;
	for (size_t i = 0; i < block->count * block->keys; i++) {
		if (!(block->weights[i] >= least && block->weights[i] <= most))
			return fail_weight(
			    t, shape, first + i / block->keys * row_stride + i % block->keys * key_stride,
			    err);
		/* The weights have the last word: what has one was attended to. */
		cells[i] |= block->weights[i] != 0;
	}
	block->masked = 0;
	for (size_t r = 0; r < block->count; r++)
		block->masked += memchr(cells + r * block->keys, 1, block->keys) == NULL;
	return ATTN_OK;
}

static size_t row_start(const struct stored *s, size_t layer, size_t batch, size_t head, size_t query)
{
	return batch * s->strides[AXIS_BATCH] + layer * s->strides[AXIS_LAYER] +
	       head * s->strides[AXIS_HEAD] + query * s->strides[AXIS_QUERY];
}

/* The place of row `number` of the order (layer, batch, head, query). */
struct row_place {
	size_t layer, batch, head, query, start;
};

static struct row_place row_place(const struct stored *s, size_t number)
{
	const struct rows_shape *shape = &s->source.shape;
	struct row_place at = {.query = number % shape->queries};
	number /= shape->queries;
	at.head = number % shape->heads;
	number /= shape->heads;
	at.batch = number % shape->batch;
	at.layer = number / shape->batch;
	at.start = row_start(s, at.layer, at.batch, at.head, at.query);
	return at;
}

/* Weights at masked keys: the first of all and their count, by reading the whole tensor. */
static enum attn_status fail_masked(const struct stored *s, struct attn_error *err)
{
	const struct rows_shape *shape = &s->source.shape;
	size_t rows = shape->layers * shape->batch * shape->heads * shape->queries, found = 0, first = 0;
	unsigned char *cells = array_alloc(shape->keys, 1);
	char place[300];
	if (!cells)
		return attn_fail_memory(err);
	for (size_t row = 0; row < rows; row++) {
		struct row_place at = row_place(s, row);
		masking_row(&s->masking, at.batch, at.head, at.query, cells);
		for (size_t k = 0; k < shape->keys; k++)
			if (!cells[k] && tensor_get(s->weights, at.start + k * s->strides[AXIS_KEY]) != 0 &&
			    found++ == 0)
				first = at.start + k * s->strides[AXIS_KEY];
	}
	free(cells);
	return attn_fail(
	    err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected 0 where %s masks it (%zu such weight%s)",
	    origin_name(s->weights->origin), tensor_index_text(s->weights, first, place, sizeof place),
	    tensor_get(s->weights, first), s->maskers, found, found == 1 ? "" : "s");
}

/* What masks beside the weights must agree with them. */
static enum attn_status check_masked(const struct stored *s, const struct row_block *block,
				     struct attn_error *err)
{
	size_t count = block->count * block->keys;
	for (size_t i = 0; i < count; i++)
		if (!block->cells[i] && block->weights[i] != 0)
			return fail_masked(s, err);
	return ATTN_OK;
}

static bool sum_is_off(double sum)
{
	return sum != 0 && fabs(sum - 1) > SUM_TOLERANCE;
}

/* Remember the first row whose weights do not add up to 1, whichever thread meets it. */
static void check_sums(struct stored *s, const struct row_block *block)
{
	size_t number = rows_number(&s->source.shape, block->layer, block->batch, block->head, block->query);
	for (size_t r = 0; r < block->count; r++) {
		const float *w = block->weights + r * block->keys;
		double sums[4] = {0};
		for (size_t k = 0; k < block->keys; k++)
			sums[k % 4] += (double)w[k];
		if (!sum_is_off(sums[0] + sums[1] + sums[2] + sums[3]))
			continue;
		size_t first = atomic_load(&s->first_off);
		while (number + r < first && !atomic_compare_exchange_weak(&s->first_off, &first, number + r))
			;
		return;
	}
}

/* Whether each key's weights add up to 1, in the head of a row. */
static bool columns_sum_to_one(const struct stored *s, const struct row_place *at)
{
	const struct rows_shape *shape = &s->source.shape;
	size_t head = row_start(s, at->layer, at->batch, at->head, 0);
	for (size_t k = 0; k < shape->keys; k++) {
		double sum = 0;
		for (size_t q = 0; q < shape->queries; q++)
			sum += tensor_get(s->weights,
					  head + q * s->strides[AXIS_QUERY] + k * s->strides[AXIS_KEY]);
		if (fabs(sum - 1) > SUM_TOLERANCE)
			return false;
	}
	return true;
}

static bool stored_remark(struct row_source *source, char *text, size_t size)
{
	struct stored *s = (struct stored *)source;
	size_t row = atomic_exchange(&s->first_off, SIZE_MAX);
	if (row == SIZE_MAX)
		return false;
	struct row_place at = row_place(s, row);
	char where[100] = "";
	double sum = 0;
	for (size_t k = 0; k < s->source.shape.keys; k++)
		sum += tensor_get(s->weights, at.start + k * s->strides[AXIS_KEY]);
	if (s->source.shape.layers > 1)
		snprintf(where, sizeof where, " of layer %zu", at.layer);
	if (s->source.shape.batch > 1)
		snprintf(where + strlen(where), sizeof where - strlen(where), " of batch item %zu", at.batch);
	snprintf(text, size, "'%.200s': row %zu of head %zu%s sums to %.6g, expected 1%s",
		 origin_name(s->weights->origin), at.query, at.head, where, sum,
		 columns_sum_to_one(s, &at)     ? " (columns do: transposed?)"
		 : sum > 1 && sum < SUM_DROPOUT ? " (dropout in training?)"
						: "");
	s->sums_to_one = false; /* said once */
	return true;
}

static enum attn_status stored_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct stored *s = (struct stored *)source;
	const struct rows_shape *shape = &s->source.shape;
	const size_t row_stride = s->strides[AXIS_QUERY], key_stride = s->strides[AXIS_KEY];
	size_t first = row_start(s, block->layer, block->batch, block->head, block->query);
	const float *rows = s->in_place ? (const float *)s->weights->data + first : s->rows[worker];
	unsigned char *cells = s->cells[worker];
	for (size_t r = 0; r < block->count && !s->in_place; r++)
		for (size_t k = 0; k < shape->keys; k++)
			s->rows[worker][r * shape->keys + k] =
			    (float)tensor_get(s->weights, first + r * row_stride + k * key_stride);
	for (size_t r = 0; r < block->count; r++)
		masking_row(&s->masking, block->batch, block->head, block->query + r,
			    cells + r * shape->keys);
	block->weights = rows;
	block->cells = cells;
	block->context = NULL;
	if (*s->maskers)
		TRY(check_masked(s, block, err));
	TRY(stored_check(s->weights, shape, first, row_stride, key_stride, block, cells, err));
	if (s->sums_to_one)
		check_sums(s, block);
	return ATTN_OK;
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

/* What axes of another number should have been. */
static enum attn_status fail_axes(const struct axis_list *axes, const struct tensor *t,
				  struct attn_error *err)
{
	int in_front = t->rank > 3 ? t->rank - 3 : 0;
	return setting_fail(axes->setting,
			    in_front == 0 ? "none, or 'head': 'weights' has nothing before its heads"
			    : in_front == 1
				? "'layer' or 'batch': 'weights' has one dimension before its heads"
				: "'layer,batch': 'weights' has two dimensions before its heads",
			    err);
}

/* What the dimensions mean. */
static enum attn_status bind_axes(struct stored *s, struct rows_info *info, const struct bundle *b,
				  struct attn_error *err)
{
	const struct tensor *t = s->weights;
	struct rows_shape *shape = &info->shape;
	size_t *const sizes[AXIS_NAMES] = {&shape->layers, &shape->batch, &shape->heads, &shape->queries,
					   &shape->keys};
	struct axis_list axes;
	char found[200];
	if (t->rank < 2 || t->rank > 5 || t->count == 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': 'weights' is %s, expected heads x queries x keys, or with layers or "
				 "batch items in front",
				 origin_name(t->origin),
				 tensor_shape_text(t->rank, t->shape, found, sizeof found));
	TRY(axis_list_read(b, &axes, err));
	if (!axis_list_fit(&axes, t->rank))
		return fail_axes(&axes, t, err);
	shape->layers = shape->batch = shape->heads = 1;
	size_t stride = 1;
	for (size_t i = axes.count; i-- > 0;) {
		*sizes[axes.names[i]] = t->shape[i];
		s->strides[axes.names[i]] = stride;
		stride *= t->shape[i];
	}
	info->has_layers = axis_list_has(&axes, AXIS_LAYER);
	info->has_batch = axis_list_has(&axes, AXIS_BATCH);
	/* Named axes without heads are of averages over heads. */
	bool averaged = axes.setting && !axis_list_has(&axes, AXIS_HEAD) && !given_text(b, ROLE_HEAD_NAMES);
	if (averaged && !string_list_add(&info->head_names, AVERAGED_HEADS))
		return attn_fail_memory(err);
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

/* What masks the weights, where an option or another file says so: what attn stored beside them
 * agrees with them. */
static void list_maskers(struct stored *s, const struct bundle *b)
{
	const char *own = s->weights->origin;
	bool stored = given_setting(b, ROLE_VERSION), other = !stored;
	size_t used = 0;
	for (enum role_id id = ROLE_NONE + 1; id < ROLE_COUNT; id++) {
		const struct setting *set = given_setting(b, id);
		const struct tensor *t = given_tensor(b, id);
		bool value = true;
		if (!(roles[id].about & ABOUT_MASKING) || (!set && !t))
			continue;
		if (set && roles[id].kind == KIND_BOOL && parse_bool(set->value, &value) && !value)
			continue;
		other |= set ? set->from_command : strcmp(origin_name(t->origin), origin_name(own)) != 0;
		if (used < sizeof s->maskers)
			used += (size_t)snprintf(s->maskers + used, sizeof s->maskers - used, "%s%s",
						 used ? " or " : "", roles[id].name);
	}
	if (!other)
		*s->maskers = '\0';
}

/* What a file says of its weights: signed ones are differential attention's, and rows beside
 * sinks sum to less than 1; attn's own are as they were computed. */
static void use_kinds(struct stored *s, struct rows_info *info, const struct bundle *b)
{
	static const enum role_id sinks[] = {ROLE_SINKS, ROLE_ZERO_SINK};
	info->shape.signed_weights = given(b, ROLE_LAMBDA);
	use_setting(b, ROLE_LAMBDA);
	use_tensor(b, ROLE_LAMBDA);
	s->sums_to_one = !info->shape.signed_weights && !given_setting(b, ROLE_VERSION);
	for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++) {
		const struct setting *set = given_setting(b, sinks[i]);
		s->sums_to_one &= !given(b, sinks[i]);
		use_tensor(b, sinks[i]);
		if (set && !set->from_command)
			use_setting(b, sinks[i]);
	}
}

static enum attn_status stored_bind(struct stored *s, struct rows_info *info, const struct bundle *b,
				    struct string_list *notes, struct attn_error *err)
{
	struct key_counts keys;
	TRY(bind_axes(s, info, b, err));
	TRY(check_heads(&info->shape, b, err));
	use_kinds(s, info, b);
	TRY(stored_keys(&info->shape, b, &keys, err));
	TRY(bind_labels(info, b, &keys, err));
	s->source.shape = info->shape;
	s->source.row_cost = info->shape.keys * 8; /* reading and checking take about as long */
	s->masking = masking_of_all(&info->shape);
	list_maskers(s, b);
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
	s->in_place = t->dtype == DTYPE_F32 && (uintptr_t)t->data % _Alignof(float) == 0 &&
		      s->strides[AXIS_KEY] == 1 && s->strides[AXIS_QUERY] == s->source.shape.keys;
	return allocate(s) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status stored_open(struct named_rows *rows, const struct masking **masking, const struct bundle *b,
			     struct string_list *notes, struct attn_error *err)
{
	struct stored *s = calloc(1, sizeof *s);
	*rows = (struct named_rows){0};
	if (!s)
		return attn_fail_memory(err);
	s->source = (struct row_source){
	    .start = stored_start, .read = stored_read, .remark = stored_remark, .free = stored_free};
	atomic_init(&s->first_off, SIZE_MAX);
	s->weights = use_tensor(b, ROLE_WEIGHTS);
	rows->source = &s->source;
	enum attn_status status = stored_bind(s, &rows->info, b, notes, err);
	if (status != ATTN_OK)
		named_rows_release(rows);
	else
		*masking = &s->masking;
	return status;
}
