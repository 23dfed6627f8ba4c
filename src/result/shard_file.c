#include "result/shard_file.h"

#include <stdlib.h>
#include <string.h>

#include "input/fingerprint.h"
#include "result/result_file.h"
#include "util/memory.h"

/* Which rows are this shard's, and memory for their contexts. */
static enum attn_status find_rows(struct shard_file *s, struct attn_error *err)
{
	size_t blocks;
	if (!rows_block_count(&s->subject->whole->shape, &blocks))
		return attn_fail_memory(err);
	shard_range(&s->shard, blocks, &s->blocks.first_block, &s->blocks.last_block);
	s->first_row = rows_before_block(&s->subject->whole->shape, s->blocks.first_block);
	s->rows = rows_before_block(&s->subject->whole->shape, s->blocks.last_block) - s->first_row;
	if (s->context)
		s->contexts = floats_alloc4(s->rows, s->shard.value_size, 1, 1);
	return s->contexts || !s->context ? ATTN_OK : attn_fail_memory(err);
}

static float *context_of(const struct shard_file *s, const struct row_block *block)
{
	size_t row =
	    rows_number(&s->subject->whole->shape, block->layer, block->batch, block->head, block->query);
	return s->contexts + (row - s->first_row) * s->shard.value_size;
}

static void place(struct row_consumer *consumer, struct row_block *block)
{
	const struct shard_file *s = (const struct shard_file *)consumer;
	if (!s->context)
		return;
	block->context_place = context_of(s, block);
	block->context_stride = s->shard.value_size;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct shard_file *s = (struct shard_file *)consumer;
	if (s->context && block->context != context_of(s, block))
		memcpy(context_of(s, block), block->context,
		       block->count * s->shard.value_size * sizeof *s->contexts);
	return s->weights ? tensor_writer_put(s->writer, 0, block->weights, block->count * block->keys, err)
			  : ATTN_OK;
}

static struct shard describe(const struct subject *subject, size_t number, size_t count, const char *kernel)
{
	const struct rows_shape *shape = &subject->whole->shape;
	return (struct shard){
	    .number = number,
	    .count = count,
	    .layers = shape->layers,
	    .batch = shape->batch,
	    .heads = shape->heads,
	    .queries = shape->queries,
	    .keys = shape->keys,
	    .value_size = subject->output->context_size / shape->heads,
	    .output_size = subject_output_size(subject),
	    .has_tokens = subject->whole->has_tokens,
	    .kernel = kernel,
	};
}

static void add_matrix(struct shard_file *s, const char *name, const char *rows_name, size_t rows,
		       const char *cols_name, size_t cols)
{
	s->specs[s->spec_count++] = (struct tensor_spec){
	    .name = name,
	    .dtype = DTYPE_F32,
	    .rank = 2,
	    .axes = {{.name = rows_name, .length = rows}, {.name = cols_name, .length = cols}},
	};
}

/* float32 first, so that it is aligned. */
static void add_specs(struct shard_file *s)
{
	const struct output_layer *output = s->subject->output;
	if (s->rows > 0 && s->weights)
		add_matrix(s, "weights", "row", s->rows, "key", s->shard.keys);
	if (s->rows > 0 && s->context)
		add_matrix(s, "context", "row", s->rows, "column", s->shard.value_size);
	if (s->shard.number > 1)
		return; /* one shard knows what all have in common */
	if (s->context && s->shard.output_size > 0) {
		add_matrix(s, "wo", "row", output->wo.rows, "column", output->wo.cols);
		if (output->bo)
			add_matrix(s, "bo", "row", 1, "column", output->wo.cols);
	}
	masking_specs(s->subject->masking, s->specs, &s->spec_count);
}

static enum attn_status write_head(struct shard_file *s, const char *path, struct attn_error *err)
{
	TRY(s->shard.number == 1 ? result_labels(&s->labels, s->subject, err)
				 : bundle_override(&s->labels, "version", ATTN_VERSION, NULL, err));
	TRY(shard_describe(&s->shard, &s->labels, err));
	add_specs(s);
	return tensor_writer_open(&s->writer, path, FORMAT_SAFETENSORS, s->specs, s->spec_count, &s->labels,
				  err);
}

static enum attn_status put_rest(struct shard_file *s, struct attn_error *err)
{
	const struct output_layer *output = s->subject->output;
	enum attn_status status = ATTN_OK;
	size_t index = s->rows > 0 && s->weights;
	if (s->rows > 0 && s->context)
		status =
		    tensor_writer_put(s->writer, index++, s->contexts, s->rows * s->shard.value_size, err);
	if (s->shard.number > 1 || status != ATTN_OK)
		return status;
	if (s->context && s->shard.output_size > 0) {
		const float *wo = output->wo.data; /* plain: of an input's */
		for (size_t row = 0; row < output->wo.rows && status == ATTN_OK; row++)
			status = tensor_writer_put(s->writer, index, wo + row * output->wo.stride,
						   output->wo.cols, err);
		index++;
		if (output->bo && status == ATTN_OK)
			status = tensor_writer_put(s->writer, index++, output->bo, output->wo.cols, err);
	}
	return status == ATTN_OK ? masking_put(s->writer, index, s->subject->masking, err) : status;
}

enum attn_status shard_file_open(struct shard_file *file, const struct subject *subject, size_t number,
				 size_t count, struct rows_want want, const char *kernel, const char *path,
				 struct attn_error *err)
{
	size_t past = subject->whole->shape.past_keys;
	*file =
	    (struct shard_file){.consumer = {.consume = consume, .place = place, .any_order = !want.weights},
				.subject = subject,
				.shard = describe(subject, number, count, kernel),
				.weights = want.weights};
	file->context = want.context && file->shard.value_size > 0;
	if (!file->weights && past > SHARDS_MAX_PAST)
		return attn_fail(err, ATTN_BAD_INPUT,
				 "there are %zu past keys, expected at most %d for shards without weights",
				 past, SHARDS_MAX_PAST);
	TRY(bundle_fingerprint(subject->settings, &file->shard.run, err));
	TRY(find_rows(file, err));
	return write_head(file, path, err);
}

enum attn_status shard_file_commit(struct shard_file *file, struct attn_error *err)
{
	enum attn_status status = put_rest(file, err);
	if (status == ATTN_OK) {
		status = tensor_writer_commit(file->writer, err);
		file->writer = NULL;
	}
	return status;
}

void shard_file_release(struct shard_file *file)
{
	tensor_writer_abort(file->writer);
	bundle_release(&file->labels);
	free(file->contexts);
	*file = (struct shard_file){0};
}
