#include "result/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "result/view_internal.h"
#include "util/memory.h"
#include "util/threads.h"

/* Where the numbers of a row stand in a tensor. */
struct array {
	struct tensor *tensor;  /* NULL: none */
	size_t size;            /* numbers of a row of a head */
	size_t item, head, row; /* elements from one (layer, batch item), head and query to the next */
};

struct arrays {
	struct view_base base; /* `inner` may be NULL */
	struct array context, scores;
	enum score_stage stage;
	float **rows; /* of each worker (ROWS_BLOCK, size of a context), owned */
};

/* --- shapes ------------------------------------------------------------------------------- */

/* The product of the first `count` sizes: of layers and batch items. */
static size_t items_of(const struct tensor *t, int count)
{
	size_t items = 1;
	for (int i = 0; i < count; i++)
		items *= t->shape[i];
	return items;
}

/* "2 layers x 3 batch items x ", as far as there are more than one. */
static void items_text(const struct rows_shape *shape, char text[64])
{
	size_t used = 0;
	text[0] = '\0';
	if (shape->layers > 1)
		used += (size_t)snprintf(text, 64, "%zu layers x ", shape->layers);
	if (shape->batch > 1)
		snprintf(text + used, 64 - used, "%zu batch items x ", shape->batch);
}

static enum attn_status fail_shape(const struct tensor *t, const char *expected, const char *hint,
				   struct attn_error *err)
{
	char found[200];
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %s, expected %s%s%s", origin_name(t->origin),
			 t->name, tensor_shape_text(t->rank, t->shape, found, sizeof found), expected,
			 *hint ? ": " : "", hint);
}

static enum attn_status bind_context(struct array *a, struct tensor *t, const struct rows_shape *shape,
				     struct attn_error *err)
{
	size_t items = shape->layers * shape->batch, heads = shape->heads;
	int r = t->rank;
	char front[64], expected[300];
	const char *hint = "";
	if (r >= 2 && t->shape[r - 2] == shape->queries && t->shape[r - 1] % heads == 0 &&
	    t->shape[r - 1] > 0 && items_of(t, r - 2) == items) {
		size_t columns = t->shape[r - 1];
		*a = (struct array){t, columns / heads, shape->queries * columns, columns / heads, columns};
		return ATTN_OK;
	}
	if (r >= 3 && t->shape[r - 3] == heads && t->shape[r - 2] == shape->queries && t->shape[r - 1] > 0 &&
	    items_of(t, r - 3) == items) {
		size_t e = t->shape[r - 1];
		*a = (struct array){t, e, heads * shape->queries * e, shape->queries * e, e};
		return ATTN_OK;
	}
	if (r >= 3 && t->shape[r - 3] == shape->queries && t->shape[r - 2] == heads)
		hint = "it looks like queries x heads x e, store it as queries x (heads e)";
	else if (r == 2 && t->shape[1] == shape->queries)
		hint = "it looks transposed";
	items_text(shape, front);
	snprintf(expected, sizeof expected,
		 "%s%zu queries x a multiple of %zu heads, or %s%zu heads x %zu queries x any", front,
		 shape->queries, heads, front, heads, shape->queries);
	return fail_shape(t, expected, hint, err);
}

static enum attn_status bind_scores(struct array *a, struct tensor *t, const struct rows_shape *shape,
				    struct attn_error *err)
{
	size_t items = shape->layers * shape->batch, keys = shape->keys;
	int r = t->rank;
	char front[64], expected[200];
	const char *hint = "";
	bool plain = r == 2 && shape->heads == 1;
	if (r >= 2 && t->shape[r - 1] == keys && t->shape[r - 2] == shape->queries &&
	    (plain || (r >= 3 && t->shape[r - 3] == shape->heads)) &&
	    (plain ? 1 : items_of(t, r - 3)) == items) {
		size_t head = shape->queries * keys;
		*a = (struct array){t, keys, shape->heads * head, head, keys};
		return ATTN_OK;
	}
	if (r >= 2 && t->shape[r - 2] == keys && t->shape[r - 1] == shape->queries)
		hint = "it looks transposed, rows are queries";
	items_text(shape, front);
	snprintf(expected, sizeof expected, "%s%zu heads x %zu queries x %zu keys", front, shape->heads,
		 shape->queries, keys);
	return fail_shape(t, expected, hint, err);
}

enum attn_status arrays_context_size(const struct bundle *b, const struct rows_shape *shape, size_t *size,
				     struct attn_error *err)
{
	struct array a;
	TRY(bind_context(&a, use_tensor(b, ROLE_CONTEXT), shape, err));
	*size = a.size;
	return ATTN_OK;
}

enum attn_status arrays_output(const struct bundle *b, const struct rows_shape *shape, struct tensor **output,
			       size_t *size, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, ROLE_OUTPUT);
	char front[64], expected[200];
	*output = t;
	*size = t->rank > 0 ? t->shape[t->rank - 1] : 0;
	if (t->rank >= 2 && *size > 0 && t->shape[t->rank - 2] == shape->queries &&
	    items_of(t, t->rank - 2) == shape->layers * shape->batch)
		return tensor_load(t, err);
	items_text(shape, front);
	snprintf(expected, sizeof expected, "%s%zu queries x any", front, shape->queries);
	return fail_shape(t, expected,
			  t->rank == 2 && t->shape[1] == shape->queries ? "it looks transposed" : "", err);
}

/* --- rows ----------------------------------------------------------------------------------- */

static void arrays_free(struct row_source *source)
{
	struct arrays *a = (struct arrays *)source;
	for (size_t i = 0; a->rows && i < threads_count(); i++)
		free(a->rows[i]);
	free(a->rows);
	view_base_release(&a->base);
	free(a);
}

static enum attn_status arrays_start(struct row_source *source, struct attn_error *err)
{
	struct arrays *a = (struct arrays *)source;
	if (a->base.inner)
		TRY(view_base_start(source, err));
	if (a->context.tensor)
		TRY(tensor_load(a->context.tensor, err));
	return a->scores.tensor ? tensor_load(a->scores.tensor, err) : ATTN_OK;
}

static bool arrays_remark(struct row_source *source, char *text, size_t size)
{
	struct row_source *inner = ((struct arrays *)source)->base.inner;
	return inner && inner->remark && inner->remark(inner, text, size);
}

static size_t first_element(const struct arrays *a, const struct array *array, const struct row_block *block)
{
	return (block->layer * a->base.source.shape.batch + block->batch) * array->item +
	       block->head * array->head + block->query * array->row;
}

/* Scores, of which -inf says that a key is masked. */
static enum attn_status read_scores(const struct arrays *a, const struct row_block *block, float *scores,
				    unsigned char *cells, struct attn_error *err)
{
	const struct tensor *t = a->scores.tensor;
	size_t first = first_element(a, &a->scores, block);
	char index[200];
	for (size_t i = 0; i < block->count * block->keys; i++) {
		float score = (float)tensor_get(t, first + i);
		if (isnan(score) || (isinf(score) && score > 0))
			return attn_fail(err, ATTN_BAD_INPUT,
					 "'%s': '%s' is %s, expected a finite number, or -inf where masked",
					 origin_name(t->origin),
					 tensor_index_text(t, first + i, index, sizeof index),
					 isnan(score) ? "NaN" : "inf");
		scores[i] = score;
		cells[i] = isinf(score) ? CELL_MASKED : CELL_ATTENDED;
	}
	return ATTN_OK;
}

static enum attn_status arrays_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct arrays *a = (struct arrays *)source;
	struct view_worker *w = &a->base.workers[worker];
	float *context = a->rows ? a->rows[worker] : NULL;
	block->weights = NULL;
	block->cells = NULL;
	block->masked = 0;
	if (a->base.inner)
		TRY(a->base.inner->read(a->base.inner, worker, block, err));
	for (size_t r = 0; a->context.tensor && r < block->count; r++)
		TRY(tensor_part_to_f32(a->context.tensor,
				       first_element(a, &a->context, block) + r * a->context.row,
				       a->context.size, context + r * a->context.size, err));
	block->context = a->context.tensor ? context : NULL;
	block->context_stride = a->context.size;
	if (!a->scores.tensor)
		return ATTN_OK;
	TRY(read_scores(a, block, w->weights, w->cells, err));
	block->scores[a->stage] = w->weights;
	if (!block->cells)
		block->cells = w->cells;
	return ATTN_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The shape of arrays that are compared with no rows. */
static enum attn_status find_shape(struct rows_info *info, const struct bundle *b, struct attn_error *err)
{
	const struct tensor *scores = use_tensor(b, ROLE_SCORES), *context = use_tensor(b, ROLE_CONTEXT);
	const struct tensor *t = scores ? scores : context ? context : use_tensor(b, ROLE_OUTPUT);
	int own = scores && t->rank > 2 ? 3 : 2; /* axes that are no batch items */
	struct rows_shape *shape = &info->shape;
	*shape = (struct rows_shape){.batch = 1, .layers = 1, .heads = 1, .queries = 1, .keys = 1};
	if (t->rank < 2 || t->rank > own + 1 || t->count == 0)
		return fail_shape(t,
				  scores ? "heads x queries x keys, or with batch items in front"
					 : "queries x any, or with batch items in front",
				  "", err);
	info->has_batch = t->rank > own;
	shape->batch = info->has_batch ? t->shape[0] : 1;
	if (!scores && context)
		TRY(setting_count(b, ROLE_NUM_HEADS, 1, &shape->heads, err));
	if (own == 3)
		shape->heads = t->shape[t->rank - 3];
	shape->queries = t->shape[t->rank - 2];
	if (scores)
		shape->keys = t->shape[t->rank - 1];
	return ATTN_OK;
}

static enum attn_status find_info(struct rows_info *info, const struct rows_info *inner,
				  const struct bundle *b, const struct rows_info *like,
				  struct attn_error *err)
{
	if (inner)
		return view_info_copy(info, inner) ? ATTN_OK : attn_fail_memory(err);
	if (like)
		return view_info_copy(info, like) ? ATTN_OK : attn_fail_memory(err);
	TRY(find_shape(info, b, err));
	return bind_labels(info, b, &(struct key_counts){.own = info->shape.keys}, err);
}

static enum attn_status bind(struct arrays *a, const struct bundle *b, const struct arrays_want *want,
			     struct attn_error *err)
{
	const struct rows_shape *shape = &a->base.source.shape;
	if (want->context)
		TRY(bind_context(&a->context, use_tensor(b, ROLE_CONTEXT), shape, err));
	if (want->scores)
		TRY(bind_scores(&a->scores, use_tensor(b, ROLE_SCORES), shape, err));
	if (!view_base_workers(&a->base))
		return attn_fail_memory(err);
	a->rows = want->context ? array_alloc(threads_count(), sizeof *a->rows) : NULL;
	for (size_t i = 0; a->rows && i < threads_count(); i++) {
		a->rows[i] = floats_alloc4(ROWS_BLOCK, a->context.size, 1, 1);
		if (!a->rows[i])
			return attn_fail_memory(err);
	}
	return a->rows || !want->context ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status arrays_open(struct named_rows *rows, const struct named_rows *inner, const struct bundle *b,
			     const struct rows_info *like, const struct arrays_want *want,
			     struct attn_error *err)
{
	struct arrays *a = calloc(1, sizeof *a);
	*rows = (struct named_rows){0};
	if (!a)
		return attn_fail_memory(err);
	rows->source = &a->base.source;
	a->stage = want->stage;
	a->base.source = (struct row_source){
	    .start = arrays_start, .read = arrays_read, .remark = arrays_remark, .free = arrays_free};
	enum attn_status status = find_info(&rows->info, inner->source ? &inner->info : NULL, b, like, err);
	a->base.source.shape = rows->info.shape;
	a->base.source.row_cost = rows->info.shape.keys * 8 + (inner->source ? inner->source->row_cost : 0);
	if (status == ATTN_OK)
		status = bind(a, b, want, err);
	if (status == ATTN_OK)
		a->base.inner = inner->source;
	else
		named_rows_release(rows);
	return status;
}
