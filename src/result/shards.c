#include "result/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"
#include "result/stored.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/threads.h"

/* Rows [first, first + count) of the run, in one file. */
struct piece {
	const struct tensor *weights, *context; /* or NULL */
	size_t first, count;
};

struct shards {
	struct row_source source; /* first: a source is cast to its shards */
	struct masking masking;
	struct output_layer output;
	struct float_pool floats; /* of the output layer */
	struct rows_want want;
	size_t value_size;
	struct piece *pieces;
	size_t count;
	size_t workers;
	unsigned char **cells; /* a worker's (ROWS_BLOCK, keys) */
};

/* --- as a source -------------------------------------------------------------- */

static void shards_free(struct row_source *source)
{
	struct shards *s = (struct shards *)source;
	float_pool_release(&s->floats);
	masking_release(&s->masking);
	for (size_t i = 0; i < s->workers && s->cells; i++)
		free(s->cells[i]);
	free(s->cells);
	free(s->pieces);
	free(s);
}

static const struct piece *find_piece(const struct shards *s, size_t row)
{
	size_t low = 0, high = s->count; /* the last piece that begins at row or before: not an empty one */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (s->pieces[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return &s->pieces[low];
}

static enum attn_status read_weights(const struct shards *s, const struct piece *piece, size_t first,
				     unsigned char *cells, struct row_block *block, struct attn_error *err)
{
	block->weights = (const float *)piece->weights->data + first * block->keys;
	block->cells = cells;
	for (size_t r = 0; r < block->count; r++)
		masking_row(&s->masking, block->batch, block->head, block->query + r,
			    cells + r * block->keys);
	return stored_check(piece->weights, &s->source.shape, first * block->keys, block->keys, 1, block,
			    cells, err);
}

/* Rows in which nothing is cells, without weights. */
static size_t count_masked(const struct shards *s, const struct row_block *block, unsigned char *cells)
{
	const struct masking *v = &s->masking;
	size_t masked = 0, first, end;
	for (size_t r = 0; r < block->count; r++) {
		if (masking_is_interval(v)) {
			masking_interval(v, block->batch, block->query + r, &first, &end);
			masked += first == end;
			continue;
		}
		masking_row(v, block->batch, block->head, block->query + r, cells);
		masked += memchr(cells, 1, block->keys) == NULL;
	}
	return masked;
}

static enum attn_status read_context(const struct shards *s, const struct piece *piece, size_t first,
				     struct row_block *block, struct attn_error *err)
{
	const struct tensor *t = piece->context;
	block->context = (const float *)t->data + first * s->value_size;
	block->context_stride = s->value_size;
	for (size_t i = 0; i < block->count * s->value_size; i++) {
		char place[300];
		if (!isfinite(block->context[i]))
			return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %g, expected a finite number",
					 origin_name(t->origin),
					 tensor_index_text(t, first * s->value_size + i, place, sizeof place),
					 (double)block->context[i]);
	}
	return ATTN_OK;
}

static enum attn_status shards_read(struct row_source *source, size_t worker, struct row_block *block,
				    struct attn_error *err)
{
	struct shards *s = (struct shards *)source;
	size_t row = rows_number(&s->source.shape, block->layer, block->batch, block->head, block->query);
	const struct piece *piece = find_piece(s, row);
	enum attn_status status = ATTN_OK;
	block->weights = block->context = NULL;
	block->cells = NULL;
	if (s->want.weights)
		status = read_weights(s, piece, row - piece->first, s->cells[worker], block, err);
	else
		block->masked = count_masked(s, block, s->cells[worker]);
	if (s->want.context && status == ATTN_OK)
		status = read_context(s, piece, row - piece->first, block, err);
	return status;
}

/* A shard's `weights` or `context`, (rows, cols) float32: NULL where it has none. */
static enum attn_status find_tensor(const struct bundle *b, enum role_id role, size_t rows, size_t cols,
				    const struct tensor **out, struct attn_error *err)
{
	struct tensor *t = use_tensor(b, role);
	char found[200];
	*out = t;
	enum attn_status status = t ? tensor_load(t, err) : ATTN_OK;
	if (status != ATTN_OK || !t)
		return status;
	if (t->dtype != DTYPE_F32 || t->rank != 2 || t->shape[0] != rows || t->shape[1] != cols)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' is %s of %s, expected %zu x %zu of float32",
				 shard_name(b), t->name,
				 tensor_shape_text(t->rank, t->shape, found, sizeof found),
				 dtype_name(t->dtype), rows, cols);
	if ((uintptr_t)t->data % _Alignof(float) != 0)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "'%s': '%s' is not aligned, expected it as 'attn run --shard' writes it",
				 shard_name(b), t->name);
	return ATTN_OK;
}

static enum attn_status fail_lacking(const struct bundle *b, const char *name, struct attn_error *err)
{
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' holds no %s, expected it: give 'attn run --shard' the outputs that the shards "
			 "shall make, or none",
			 shard_name(b), name);
}

static enum attn_status bind_piece(struct shards *s, const struct bundle *b, size_t blocks,
				   struct piece *piece, struct attn_error *err)
{
	struct shard shard;
	size_t first, last;
	shard_read(b, &shard);
	shard_range(&shard, blocks, &first, &last);
	piece->first = rows_before_block(&s->source.shape, first);
	piece->count = rows_before_block(&s->source.shape, last) - piece->first;
	if (piece->count == 0)
		return ATTN_OK;
	TRY(find_tensor(b, ROLE_WEIGHTS, piece->count, shard.keys, &piece->weights, err));
	if (shard.value_size > 0)
		TRY(find_tensor(b, ROLE_CONTEXT, piece->count, shard.value_size, &piece->context, err));
	if (!piece->weights && (s->want.weights || !piece->context))
		return fail_lacking(b, "weights", err);
	if (!piece->context && s->want.context)
		return fail_lacking(b, "context", err);
	return ATTN_OK;
}

/* Sizes, and each shard's rows: the files are as large as they say. */
static enum attn_status bind_pieces(struct shards *s, const struct bundle *shards, const struct shard *shard,
				    struct attn_error *err)
{
	size_t blocks, rows;
	s->source.shape.layers = shard->layers;
	s->source.shape.batch = shard->batch;
	s->source.shape.heads = shard->heads;
	s->source.shape.queries = shard->queries;
	s->source.shape.keys = shard->keys;
	if (!rows_block_count(&s->source.shape, &blocks) || !size_mul(blocks, ROWS_BLOCK, &rows))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has damaged settings: too many rows",
				 shard_name(shards));
	for (size_t i = 0; i < s->count; i++)
		TRY(bind_piece(s, &shards[i], blocks, &s->pieces[i], err));
	return ATTN_OK;
}

/* Nothing but weights in the file shows that there are as many keys as it says, and each
 * gets a label: own keys are tokens or queries, which are counted. */
static enum attn_status check_past(const struct shards *s, const struct bundle *b,
				   const struct key_counts *keys, struct attn_error *err)
{
	if (s->pieces[0].weights || keys->past <= SHARDS_MAX_PAST)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT,
			 "'%s' has %zu past keys and no weights, expected at most %d of them", shard_name(b),
			 keys->past, SHARDS_MAX_PAST);
}

/* Labels and masks, which the first shard has. */
static enum attn_status bind_names(struct shards *s, struct rows_info *info, const struct bundle *b,
				   const struct shard *shard, struct string_list *notes,
				   struct attn_error *err)
{
	struct key_counts keys;
	bool set;
	info->shape = s->source.shape;
	info->shape.signed_weights = given_setting(b, ROLE_LAMBDA) != NULL;
	TRY(setting_axes(b, &info->has_layers, &info->has_batch, &set, err));
	TRY(stored_keys(&info->shape, b, &keys, err));
	TRY(check_past(s, b, &keys, err));
	/* Only what has labels of its own has other keys than queries. */
	if (keys.own != shard->queries && !given_text(b, ROLE_SOURCE_TOKENS))
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' has no 'source_tokens', expected %zu strings",
				 shard_name(b), keys.own);
	TRY(bind_labels(info, b, &keys, err));
	info->has_tokens = shard->has_tokens; /* numbers may stand for labels */
	s->source.shape = info->shape;
	s->masking = masking_of_all(&info->shape);
	return bind_masking(&s->masking, b, notes, err);
}

/* What a result is finished with. */
static enum attn_status bind_finishing(struct shards *s, const struct bundle *b, const struct shard *shard,
				       struct attn_error *err)
{
	struct output_layer *output = &s->output;
	if (!size_mul(shard->heads, shard->value_size, &output->context_size))
		return attn_fail_memory(err);
	output->wo.cols = shard->output_size;
	if (!s->want.context || shard->output_size == 0)
		return ATTN_OK;
	return given_tensor(b, ROLE_WO) ? bind_output_layer(&s->floats, b, output, err)
					: fail_lacking(b, "wo", err);
}

static bool allocate(struct shards *s)
{
	s->workers = threads_count();
	s->cells = array_alloc(s->workers, sizeof *s->cells);
	for (size_t i = 0; i < s->workers && s->cells; i++) {
		s->cells[i] = array_alloc(s->want.weights ? ROWS_BLOCK : 1, s->source.shape.keys);
		if (!s->cells[i])
			return false;
	}
	return s->cells != NULL;
}

static enum attn_status bind(struct shards *s, struct rows_info *info, struct bundle *shards,
			     const char *version, struct string_list *notes, struct attn_error *err)
{
	struct shard shard;
	TRY(shards_check(shards, s->count, version, notes, err));
	shard_read(&shards[0], &shard);
	s->value_size = shard.value_size;
	s->want.context &= shard.value_size > 0;
	s->source.row_cost = shard.keys * 8; /* as for a stored result */
	s->pieces = array_alloc(s->count, sizeof *s->pieces);
	if (!s->pieces)
		return attn_fail_memory(err);
	TRY(bind_pieces(s, shards, &shard, err));
	TRY(bind_names(s, info, &shards[0], &shard, notes, err));
	return bind_finishing(s, &shards[0], &shard, err);
}

static enum attn_status shards_start(struct row_source *source, struct attn_error *err)
{
	struct shards *s = (struct shards *)source;
	return s->cells || allocate(s) ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status shards_open(struct opened_shards *opened, struct bundle *shards, size_t count,
			     const char *version, struct rows_want want, struct string_list *notes,
			     struct attn_error *err)
{
	struct shards *s = calloc(1, sizeof *s);
	*opened = (struct opened_shards){0};
	if (!s)
		return attn_fail_memory(err);
	s->source = (struct row_source){.start = shards_start, .read = shards_read, .free = shards_free};
	s->want = want;
	s->count = count;
	opened->rows.source = &s->source;
	enum attn_status status = bind(s, &opened->rows.info, shards, version, notes, err);
	if (status != ATTN_OK) {
		named_rows_release(&opened->rows);
		return status;
	}
	opened->masking = &s->masking;
	opened->output = &s->output;
	return ATTN_OK;
}
