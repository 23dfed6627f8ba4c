#include "cmd/shard_output.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/progress.h"
#include "cmd/results.h"
#include "input/fingerprint.h"
#include "kernels/kernels.h"
#include "result/shards.h"
#include "util/buffer.h"
#include "util/memory.h"

/* A part in the making: a sink of its rows.  Weights are written as they come, and
 * contexts wait for them. */
struct shard {
	struct row_consumer sink;
	const struct command *self;
	const struct inputs *in;
	struct part part;
	bool weights, context;
	struct rows_selection blocks;
	size_t first_row, rows;
	float *contexts; /* (rows, value size) */
	struct tensor_spec specs[9];
	size_t spec_count;
	struct bundle labels;
	struct tensor_writer *writer;
};

/* Which rows are this part's, and memory for their contexts. */
static enum attn_status find_rows(struct shard *s, struct attn_error *err)
{
	size_t blocks;
	if (!rows_block_count(s->in->info, &blocks))
		return attn_fail_memory(err);
	shard_range(&s->part, blocks, &s->blocks.first_block, &s->blocks.last_block);
	s->first_row = rows_before_block(s->in->info, s->blocks.first_block);
	s->rows = rows_before_block(s->in->info, s->blocks.last_block) - s->first_row;
	if (s->context)
		s->contexts = floats_alloc4(s->rows, s->part.value_size, 1, 1);
	return s->contexts || !s->context ? ATTN_OK : attn_fail_memory(err);
}

static float *context_of(const struct shard *s, const struct row_block *block)
{
	size_t row = rows_number(s->in->info, block->layer, block->batch, block->head, block->query);
	return s->contexts + (row - s->first_row) * s->part.value_size;
}

static void place(struct row_consumer *sink, struct row_block *block)
{
	const struct shard *s = (const struct shard *)sink;
	if (!s->context)
		return;
	block->context_place = context_of(s, block);
	block->context_stride = s->part.value_size;
}

static enum attn_status consume(struct row_consumer *sink, const struct row_block *block,
				struct attn_error *err)
{
	struct shard *s = (struct shard *)sink;
	if (s->context && block->context != context_of(s, block))
		memcpy(context_of(s, block), block->context,
		       block->count * s->part.value_size * sizeof *s->contexts);
	return s->weights ? tensor_writer_put(s->writer, 0, block->weights, block->count * block->keys, err)
			  : ATTN_OK;
}

static struct part describe(const struct inputs *in, const struct run_options *r)
{
	const struct problem *p = &in->problem;
	const struct rows_info *info = in->info;
	const struct kernels *kernels = kernels_best();
	return (struct part){
	    .number = r->shard,
	    .count = r->shards,
	    .layers = info->layers,
	    .batch = info->batch,
	    .heads = info->heads,
	    .queries = info->queries,
	    .keys = info->keys,
	    .value_size = p->has_values ? p->value_size : 0,
	    .output_size = p->has_values ? p->output_size : 0,
	    .has_tokens = info->has_tokens,
	    .kernel = kernels_name(kernels),
	};
}

static void add_matrix(struct shard *s, const char *name, const char *rows_name, size_t rows,
		       const char *cols_name, size_t cols)
{
	s->specs[s->spec_count++] = (struct tensor_spec){
	    .name = name,
	    .dtype = DTYPE_F32,
	    .rank = 2,
	    .axes = {{rows_name, rows, 0, NULL}, {cols_name, cols, 0, NULL}},
	};
}

/* float32 first, so that it is aligned. */
static void add_specs(struct shard *s)
{
	const struct problem *p = &s->in->problem;
	if (s->rows > 0 && s->weights)
		add_matrix(s, "weights", "row", s->rows, "key", s->part.keys);
	if (s->rows > 0 && s->context)
		add_matrix(s, "context", "row", s->rows, "column", s->part.value_size);
	if (s->part.number > 1)
		return; /* one part knows what all have in common */
	if (s->context && s->part.output_size > 0) {
		add_matrix(s, "wo", "row", p->wo.rows, "column", p->wo.cols);
		if (p->bo)
			add_matrix(s, "bo", "row", 1, "column", p->output_size);
	}
	masking_specs(s->in->source->masking, s->specs, &s->spec_count);
}

static enum attn_status open_part(struct shard *s, const char *path, struct attn_error *err)
{
	enum attn_status status = s->part.number == 1
				      ? result_labels(&s->labels, s->in, err)
				      : bundle_override(&s->labels, "version", ATTN_VERSION, NULL, err);
	if (status == ATTN_OK)
		status = shard_describe(&s->part, &s->labels, err);
	add_specs(s);
	if (status == ATTN_OK)
		status = tensor_writer_open(&s->writer, path, FORMAT_SAFETENSORS, s->specs, s->spec_count,
					    &s->labels, err);
	return status;
}

static enum attn_status put_rest(struct shard *s, struct attn_error *err)
{
	const struct problem *p = &s->in->problem;
	enum attn_status status = ATTN_OK;
	size_t index = s->rows > 0 && s->weights;
	if (s->rows > 0 && s->context)
		status =
		    tensor_writer_put(s->writer, index++, s->contexts, s->rows * s->part.value_size, err);
	if (s->part.number > 1 || status != ATTN_OK)
		return status;
	if (s->context && s->part.output_size > 0) {
		for (size_t row = 0; row < p->wo.rows && status == ATTN_OK; row++)
			status = tensor_writer_put(s->writer, index, p->wo.data + row * p->wo.stride,
						   p->wo.cols, err);
		index++;
		if (p->bo && status == ATTN_OK)
			status = tensor_writer_put(s->writer, index++, p->bo, p->output_size, err);
	}
	return status == ATTN_OK ? masking_put(s->writer, index, s->in->source->masking, err) : status;
}

static enum attn_status write_part(struct shard *s, const char *path, struct attn_error *err)
{
	struct row_consumer *sinks[] = {&s->sink};
	enum attn_status status = find_rows(s, err);
	if (status == ATTN_OK)
		status = open_part(s, path, err);
	if (status == ATTN_OK && s->rows > 0)
		status = progress_stream(s->self, s->in->source, &s->blocks, sinks, 1, err);
	if (status == ATTN_OK)
		status = put_rest(s, err);
	if (status == ATTN_OK) {
		status = tensor_writer_commit(s->writer, err);
		s->writer = NULL;
	}
	return status;
}

enum attn_status shard_write(const struct command *self, const struct inputs *in, const struct run_options *r,
			     struct engine_want want, struct attn_error *err)
{
	struct shard s = {.self = self, .in = in, .part = describe(in, r), .weights = want.weights};
	struct buffer path = BUFFER_INIT;
	s.context = want.context && s.part.value_size > 0;
	if (!s.weights && in->problem.keys.past > PARTS_MAX_PAST)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "there are %zu past keys, expected at most %d for parts without weights",
				 in->problem.keys.past, PARTS_MAX_PAST);
	s.sink = (struct row_consumer){.consume = consume, .place = place, .any_order = !s.weights};
	enum attn_status status = bundle_fingerprint(&in->bundle, &s.part.run, err);
	if (status == ATTN_OK)
		status = make_directories(r->directory, err);
	buffer_printf(&path, "%s/part-%zu-of-%zu.safetensors", r->directory, r->shard, r->shards);
	if (status == ATTN_OK)
		status = path.failed ? attn_fail_memory(err) : write_part(&s, path.data, err);
	if (status == ATTN_OK)
		report_written(self, path.data);
	tensor_writer_abort(s.writer);
	bundle_release(&s.labels);
	free(s.contexts);
	buffer_release(&path);
	return status;
}
