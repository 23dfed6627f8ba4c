#include "cmd/bench_model.h"

#include <stdlib.h>
#include <string.h>

#include "model/model_rows.h"
#include "util/checked.h"
#include "util/memory.h"

static float *place_of(const struct layers_consumer *l, const struct row_block *block)
{
	return l->weights +
	       rows_number(&l->shape, block->layer, 0, block->head, block->query) * l->shape.keys;
}

static void place(struct row_consumer *consumer, struct row_block *block)
{
	block->weights_place = place_of((struct layers_consumer *)consumer, block);
}

static enum attn_status keep(struct row_consumer *consumer, const struct row_block *block,
			     struct attn_error *err)
{
	float *to = place_of((struct layers_consumer *)consumer, block);
	(void)err;
	if (block->weights != to) /* the reference has its own memory */
		memcpy(to, block->weights, block->count * block->keys * sizeof *to);
	return ATTN_OK;
}

static enum attn_status make_ids(struct bench_model *b, size_t tokens, struct attn_error *err)
{
	if (!b->model->words)
		return attn_fail(err, ATTN_USAGE, "a %s model reads pictures, which are not measured",
				 b->model->a.family->title);
	size_t words = b->model->words->shape[0];
	b->ids = array_alloc(tokens, sizeof *b->ids);
	if (!b->ids)
		return attn_fail_memory(err);
	for (size_t i = 0; i < tokens; i++)
		b->ids[i] = i * 7919 % words;
	b->text = (struct text_ids){.ids = b->ids, .count = tokens};
	return model_check_text(b->model, &b->text, err);
}

static enum attn_status keep_weights(struct bench_model *b, struct attn_error *err)
{
	const struct architecture *a = &b->model->a;
	size_t tokens = b->text.count, layers;
	b->layers = (struct layers_consumer){
	    .consumer = {.consume = keep, .place = place, .any_order = true, .no_context = true},
	    .shape = {.batch = 1, .layers = a->layers, .heads = a->heads, .queries = tokens, .keys = tokens}};
	if (size_mul(a->layers, a->heads, &layers))
		b->layers.weights = floats_alloc4(layers, tokens, tokens, 1);
	return b->layers.weights ? ATTN_OK : attn_fail_memory(err);
}

enum attn_status bench_model_init(struct bench_model *b, const char *path, size_t tokens, bool weights,
				  struct attn_error *err)
{
	*b = (struct bench_model){0};
	TRY(model_open(&b->model, path, err));
	TRY(make_ids(b, tokens, err));
	return weights ? keep_weights(b, err) : ATTN_OK;
}

void bench_model_release(struct bench_model *b)
{
	free(b->ids);
	free(b->layers.weights);
	model_free(b->model);
	*b = (struct bench_model){0};
}

static enum attn_status open_rows(struct bench_model *b, struct row_source **source, struct attn_error *err)
{
	const struct model_want want = {.rows = {.weights = b->layers.weights != NULL},
					.source = b->model->encoder ? &b->text : NULL,
					.to_end = true};
	return model_rows_new(source, b->model, &b->text, &want, err);
}

enum attn_status bench_model_run(struct bench_model *b, struct attn_error *err)
{
	struct row_consumer *consumers[] = {&b->layers.consumer};
	struct row_source *source;
	TRY(open_rows(b, &source, err));
	enum attn_status status = b->layers.weights ? rows_stream(source, NULL, consumers, 1, err) : ATTN_OK;
	if (status == ATTN_OK)
		status = model_rows_finish(source, err);
	source->free(source);
	return status;
}

enum attn_status bench_model_cost(struct bench_model *b, struct plan_cost *cost, struct attn_error *err)
{
	struct row_source *source;
	TRY(open_rows(b, &source, err));
	enum attn_status status = model_rows_cost(source, cost, err);
	source->free(source);
	return status;
}
