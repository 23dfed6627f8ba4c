/* What the program computes from a bundle, all of it in memory.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_ANSWER_TEST_H
#define ATTN_TESTS_ANSWER_TEST_H

#include <stdio.h>

#include "planned_test.h"

struct answer {
	struct row_consumer consumer;
	float *weights, *scores[SCORE_STAGES]; /* (B, H, N, K), or NULL unless asked for */
	unsigned char *attended;
	float *context; /* (B, N, H, e), or NULL */
	size_t heads, queries, keys, value_size, cells, contexts, masked;
};

static inline enum attn_status collect(struct row_consumer *consumer, const struct row_block *block,
				       struct attn_error *err)
{
	struct answer *a = (struct answer *)consumer;
	size_t first = ((block->batch * a->heads + block->head) * a->queries + block->query) * a->keys;
	size_t count = block->count * block->keys;
	(void)err;
	assert_int_equal(block->keys, a->keys);
	a->masked += block->masked;
	if (consumer->no_weights)
		assert_true(!block->weights && !block->cells);
	if (a->weights) {
		memcpy(a->weights + first, block->weights, count * sizeof *a->weights);
		memcpy(a->attended + first, block->cells, count);
	}
	for (int s = 0; s < SCORE_STAGES; s++)
		if (a->scores[s])
			memcpy(a->scores[s] + first, block->scores[s], count * sizeof(float));
		else
			assert_null(block->scores[s]);
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

/* What is planned of the chosen heads (NULL: all) as a stream gives it, with weights or, though they
 * are planned, without; the other heads' places stay 0. */
static inline struct answer compute_streamed(const struct bundle *b, const char *name, const bool *heads,
					     struct rows_want want, bool no_weights)
{
	const struct rows_selection selection = {.heads = heads};
	struct attn_error err = {0};
	struct planned r = {0};
	if (problem_init(&r.problem, b, &err) != ATTN_OK ||
	    plan_init(&r.plan, &r.problem.attention, &selection, want, &err) != ATTN_OK ||
	    plan_run(&r.plan, &r.source, &err) != ATTN_OK)
		fail_case(b, name, err.message);
	const struct rows_shape *shape = &r.source->shape;
	const struct attention *attention = &r.problem.attention;
	struct answer a = {.consumer = {.consume = collect, .no_weights = no_weights},
			   .heads = shape->heads,
			   .queries = shape->queries,
			   .keys = shape->keys,
			   .value_size = attention->value_size,
			   .cells = shape->batch * shape->heads * shape->queries * shape->keys,
			   .contexts = shape->batch * shape->heads * shape->queries * attention->value_size};
	a.weights = want.weights && !no_weights ? calloc(a.cells, sizeof(float)) : NULL;
	a.attended = calloc(a.cells, 1);
	for (int s = 0; s < SCORE_STAGES; s++)
		a.scores[s] = want.scores & SCORES_OF(s) ? calloc(a.cells, sizeof(float)) : NULL;
	a.context = attention->has_values && want.context ? calloc(a.contexts, sizeof(float)) : NULL;
	if (rows_stream(r.source, &selection, (struct row_consumer *[]){&a.consumer}, 1, &err) != ATTN_OK)
		fail_case(b, name, err.message);
	planned_release(&r);
	return a;
}

static inline struct answer compute_heads(const struct bundle *b, const char *name, const bool *heads,
					  struct rows_want want)
{
	return compute_streamed(b, name, heads, want, false);
}

static inline struct answer compute(const struct bundle *b, const char *name, struct rows_want want)
{
	return compute_heads(b, name, NULL, want);
}

static inline void answer_release(struct answer *a);

/* Contexts are the same bits whether or not a stream needs the weights that are planned. */
static inline void expect_context_alone(const struct bundle *b, const char *name, const struct answer *whole)
{
	struct rows_want want = {.weights = true, .context = true};
	struct answer alone = compute_streamed(b, name, NULL, want, true);
	assert_int_equal(alone.masked, whole->masked);
	if (alone.context)
		assert_memory_equal(alone.context, whole->context, alone.contexts * sizeof *alone.context);
	answer_release(&alone);
}

static inline void answer_release(struct answer *a)
{
	free(a->weights);
	for (int s = 0; s < SCORE_STAGES; s++)
		free(a->scores[s]);
	free(a->attended);
	free(a->context);
}

#endif
