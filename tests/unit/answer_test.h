/* What the program computes from a bundle, all of it in memory.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_ANSWER_TEST_H
#define ATTN_TESTS_ANSWER_TEST_H

#include <stdio.h>

#include "attention/plan.h"
#include "bundle_test.h"
#include "input/problem.h"

struct answer {
	struct row_consumer sink;
	float *weights, *scores; /* (B, H, N, K), or NULL unless asked for */
	unsigned char *visible;
	float *context; /* (B, N, H, e), or NULL */
	size_t heads, queries, keys, value_size, cells, contexts, masked;
};

static inline enum attn_status collect(struct row_consumer *sink, const struct row_block *block,
				       struct attn_error *err)
{
	struct answer *a = (struct answer *)sink;
	size_t first = ((block->batch * a->heads + block->head) * a->queries + block->query) * a->keys;
	size_t count = block->count * block->keys;
	(void)err;
	assert_int_equal(block->keys, a->keys);
	a->masked += block->masked;
	if (a->weights) {
		memcpy(a->weights + first, block->weights, count * sizeof *a->weights);
		memcpy(a->visible + first, block->visible, count);
	}
	if (a->scores)
		memcpy(a->scores + first, block->scores, count * sizeof *a->scores);
	for (size_t r = 0; r < block->count && a->context; r++)
		memcpy(a->context +
			   ((block->batch * a->queries + block->query + r) * a->heads + block->head) *
			       a->value_size,
		       block->context + r * block->context_stride, a->value_size * sizeof *a->context);
	return ATTN_OK;
}

static inline void describe(const struct bundle *b, char *text, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < b->setting_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s=%s", b->settings[i].name,
					 b->settings[i].value);
	for (size_t i = 0; i < b->tensor_count && used < size; i++) {
		const struct tensor *t = &b->tensors[i];
		for (int r = 0; r <= t->rank && used < size; r++)
			used += (size_t)(r == 0 ? snprintf(text + used, size - used, " %s", t->name)
						: snprintf(text + used, size - used, "%c%zu",
							   r > 1 ? 'x' : ':', t->shape[r - 1]));
	}
}

static inline void fail_case(const struct bundle *b, const char *name, const char *message)
{
	char text[4000] = "";
	describe(b, text, sizeof text);
	fail_msg("%s: %s\n   %s", name, message, text);
}

static inline struct answer compute(const struct bundle *b, const char *name, struct engine_want want)
{
	struct attn_error err = {0};
	struct problem p;
	struct engine *engine = NULL;
	if (problem_init(&p, b, &err) != ATTN_OK || engine_new(&engine, &p, want, &err) != ATTN_OK)
		fail_case(b, name, err.message);
	struct row_source *source = engine_rows(engine);
	const struct rows_info *info = source->info;
	struct answer a = {.sink = {.consume = collect},
			   .heads = info->heads,
			   .queries = info->queries,
			   .keys = info->keys,
			   .value_size = p.value_size,
			   .cells = info->batch * info->heads * info->queries * info->keys,
			   .contexts = info->batch * info->heads * info->queries * p.value_size};
	a.weights = want.weights ? malloc(a.cells * sizeof(float)) : NULL;
	a.visible = malloc(a.cells);
	a.scores = want.stage != SCORES_NONE ? malloc(a.cells * sizeof(float)) : NULL;
	a.context = p.has_values && want.context ? malloc(a.contexts * sizeof(float)) : NULL;
	if (rows_stream(source, NULL, (struct row_consumer *[]){&a.sink}, 1, &err) != ATTN_OK)
		fail_case(b, name, err.message);
	source->free(source);
	problem_release(&p);
	return a;
}

static inline void answer_release(struct answer *a)
{
	free(a->weights);
	free(a->scores);
	free(a->visible);
	free(a->context);
}

#endif
