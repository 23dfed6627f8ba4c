/* A model's forward pass as work for attn bench. */
#ifndef ATTN_CMD_BENCH_MODEL_H
#define ATTN_CMD_BENCH_MODEL_H

#include "attention/plan.h"
#include "model/model.h"

/* All weights in memory. */
struct layers_consumer {
	struct row_consumer consumer;
	struct rows_shape shape;
	float *weights; /* (L, H, N, N), owned; NULL: none are kept */
};

struct bench_model {
	struct model *model;
	size_t *ids;
	struct text_ids text;
	struct layers_consumer layers;
};

/* Open a model for a text of `tokens` made up ids; with `weights` those of all layers are kept. */
enum attn_status bench_model_init(struct bench_model *b, const char *path, size_t tokens, bool weights,
				  struct attn_error *err);
void bench_model_release(struct bench_model *b); /* safe on a zeroed one */

/* The pass once, from ids to the last hidden states. */
enum attn_status bench_model_run(struct bench_model *b, struct attn_error *err);

/* What that costs. */
enum attn_status bench_model_cost(struct bench_model *b, struct plan_cost *cost, struct attn_error *err);

#endif
