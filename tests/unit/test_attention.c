/* Attention whose numbers nobody read from a file: filled in by hand, planned and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention/attention.h"
#include "attention/matrix.h"
#include "attention/plan.h"
#include "attention/rows.h"

#if defined ATTN_INPUT_BUNDLE_H || defined ATTN_TOKENS_ROWS_INFO_H
#error "attention/ is for whoever has numbers, of a bundle or not"
#endif

#define LN3 1.0986122886681098

enum {
	MOST = 64 /* weights, and numbers of a context, of any case */
};

/* Weights (batch, heads, queries, keys) and contexts (batch, queries, heads, e). */
struct found {
	struct row_consumer consumer;
	const struct attention *attention;
	float weights[MOST], context[MOST];
	size_t masked;
};

static enum attn_status keep(struct row_consumer *consumer, const struct row_block *block,
			     struct attn_error *err)
{
	struct found *f = (struct found *)consumer;
	const struct attention *a = f->attention;
	size_t row = (block->batch * a->heads + block->head) * a->queries + block->query, e = a->value_size;
	(void)err;
	memcpy(f->weights + row * block->keys, block->weights,
	       block->count * block->keys * sizeof *f->weights);
	for (size_t r = 0; r < block->count && block->context; r++)
		memcpy(f->context +
			   ((block->batch * a->queries + block->query + r) * a->heads + block->head) * e,
		       block->context + r * block->context_stride, e * sizeof *f->context);
	f->masked += block->masked;
	return ATTN_OK;
}

static struct found compute(const struct attention *a)
{
	struct found f = {.consumer = {.consume = keep}, .attention = a};
	struct attn_error err = {0};
	struct row_source *source = NULL;
	struct plan plan;
	if (plan_init(&plan, a, NULL, (struct rows_want){.weights = true, .context = true}, &err) !=
		ATTN_OK ||
	    plan_run(&plan, &source, &err) != ATTN_OK ||
	    rows_stream(source, NULL, (struct row_consumer *[]){&f.consumer}, 1, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_true(a->batch * a->heads * a->queries * source->shape.keys <= MOST);
	source->free(source);
	plan_release(&plan);
	return f;
}

static void expect_floats(const char *what, const float *got, const double *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(fabs((double)got[i] - want[i]) <= 2e-6 + 1e-6 * fabs(want[i])))
			fail_msg("%s[%zu] is %.9g, expected %.9g", what, i, (double)got[i], want[i]);
}

#define NUMBERS(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

/* One head over vectors that lie row by row. */
static struct attention one_head(size_t queries, size_t keys, size_t head_size, const float *q,
				 const float *k, size_t value_size, const float *v)
{
	struct attention a = {.batch = 1,
			      .heads = 1,
			      .kv_heads = 1,
			      .queries = queries,
			      .keys = {.own = keys},
			      .head_size = head_size,
			      .value_size = value_size,
			      .has_values = v != NULL,
			      .q = {q, 0, 0, head_size},
			      .k = {k, 0, 0, head_size},
			      .v = {v, 0, 0, value_size}};
	attention_set_plain(&a);
	return a;
}

/* Scores 0 and ln 3, halved on their way where d is 4: weights 1/4 and 3/4. */
static void test_plain(void **state)
{
	static const float q[] = {1}, k[] = {0, (float)LN3}, v[] = {8, 0, 0, 4};
	static const float wide_q[] = {2, 0, 0, 0}, wide_k[] = {0, 7, 7, 7, (float)LN3, -5, 0, 5};
	(void)state;
	struct attention a = one_head(1, 2, 1, q, k, 2, v);
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0.25, 0.75));
	expect_floats("context", f.context, NUMBERS(2, 3));
	assert_int_equal(a.output.context_size, 2);
	attention_release(&a);
	a = one_head(1, 2, 4, wide_q, wide_k, 2, v);
	f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0.25, 0.75));
	expect_floats("context", f.context, NUMBERS(2, 3));
	attention_release(&a);
}

static void test_without_values(void **state)
{
	static const float q[] = {1}, k[] = {0, (float)LN3};
	(void)state;
	struct attention a = one_head(1, 2, 1, q, k, 0, NULL);
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0.25, 0.75));
	assert_int_equal(a.output.context_size, 0);
	attention_release(&a);
}

/* Query i attends to i + 1 keys, and to two more that a KV cache has in front. */
static void test_causal(void **state)
{
	static const float q[] = {0, 0, 0}, k[] = {1, 2, 3}, v[] = {6, 12, 18}, past[] = {0, 0},
			   past_v[] = {12, 24};
	(void)state;
	struct attention a = one_head(3, 3, 1, q, k, 1, v);
	a.masking.causal = true;
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(1, 0, 0, 0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3));
	expect_floats("context", f.context, NUMBERS(6, 9, 12));
	attention_release(&a);

	a = one_head(2, 2, 1, q, k, 1, v);
	a.keys.past = 2;
	a.past_k = (struct heads_view){past, 0, 0, 1};
	a.past_v = (struct heads_view){past_v, 0, 0, 1};
	attention_set_plain(&a); /* with as many keys as there are now */
	a.masking.causal = true;
	f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(1. / 3, 1. / 3, 1. / 3, 0, 0.25, 0.25, 0.25, 0.25));
	expect_floats("context", f.context, NUMBERS(14, 13.5));
	attention_release(&a);
}

/* Head h reads kv head h / 2, wherever its vectors are: here side by side, a token a row. */
static void test_groups(void **state)
{
	static const float q[] = {1, 0, 1, 0}, k[] = {0, (float)LN3, (float)LN3, 0}, v[] = {4, 0, 8, 16};
	struct attention a = {.batch = 1,
			      .heads = 4,
			      .kv_heads = 2,
			      .queries = 1,
			      .keys = {.own = 2},
			      .head_size = 1,
			      .value_size = 1,
			      .has_values = true,
			      .q = {q, 0, 1, 4},
			      .k = {k, 0, 1, 2},
			      .v = {v, 0, 1, 2}};
	(void)state;
	attention_set_plain(&a);
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0.25, 0.75, 0.5, 0.5, 0.75, 0.25, 0.5, 0.5));
	expect_floats("context", f.context, NUMBERS(7, 6, 4, 8));
	attention_release(&a);
}

/* Tokens (1, 0) and (0, 1): queries 1 and 0, keys 0 and ln 3, values (4, 0) and (0, 8); the
 * output is the context times (1, 10) plus 0.5. */
static void test_projected(void **state)
{
	static const float x[] = {1, 0, 0, 1}, wq[] = {1, 0}, wk[] = {0, (float)LN3}, wv[] = {4, 0, 0, 8},
			   wo[] = {1, 10}, bo[] = {0.5f};
	float output[2];
	struct attention a = {.batch = 1,
			      .heads = 1,
			      .kv_heads = 1,
			      .queries = 2,
			      .keys = {.own = 2},
			      .head_size = 1,
			      .value_size = 2,
			      .has_values = true,
			      .projected = true,
			      .embeddings = {x, 2, 2, 0},
			      .source = {x, 2, 2, 0},
			      .source_values = {x, 2, 2, 0},
			      .wq = matrix_plain(wq, 2, 1, 1),
			      .wk = matrix_plain(wk, 2, 1, 1),
			      .wv = matrix_plain(wv, 2, 2, 2)};
	(void)state;
	attention_set_plain(&a);
	a.output.wo = matrix_plain(wo, 2, 1, 1);
	a.output.bo = bo;
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0.25, 0.75, 0.5, 0.5));
	expect_floats("context", f.context, NUMBERS(1, 6, 2, 4));
	assert_int_equal(output_layer_project(&a.output, f.context, 2, output, NULL), ATTN_OK);
	expect_floats("output", output, NUMBERS(61.5, 42.5));
	attention_release(&a);
}

/* A mask, a bias by distance and positions are owned, and go with the attention. */
static void test_owned(void **state)
{
	static const float q[] = {0, 0, 0, 0}, k[] = {1, 0, 1, 0};
	static const float slopes[] = {(float)LN3};
	(void)state;
	struct attention a = one_head(2, 2, 2, q, k, 0, NULL);
	const struct relative_rules rules = {.alibi = true, .slopes = slopes};
	assert_int_equal(relative_init(&a.relative, &rules, &a.masking, NULL), ATTN_OK);
	struct found f = compute(&a);
	/* exp(-ln 3) at distance 1 */
	expect_floats("weights", f.weights, NUMBERS(0.75, 0.25, 0.25, 0.75));

	a.masking.mask = malloc(4);
	assert_non_null(a.masking.mask);
	memcpy(a.masking.mask, (const unsigned char[]){0, 0, 0, 1}, 4);
	memcpy(a.masking.mask_shape, (const size_t[]){1, 1, 2, 2}, sizeof a.masking.mask_shape);
	f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(0, 0, 0, 1));
	assert_int_equal(f.masked, 1);
	attention_release(&a);
	assert_true(!a.masking.mask && !a.relative.table && a.heads == 0);
}

/* Equal vectors at positions 0 and 1, rotated by 1: products 1 and cos 1. */
static void test_rotary(void **state)
{
	static const float q[] = {1, 0, 1, 0}, k[] = {1, 0, 1, 0};
	const double far = 1 / (1 + exp(1 - cos(1)));
	(void)state;
	struct attention a = one_head(2, 2, 2, q, k, 0, NULL);
	a.score.scale = 1;
	a.rotary = (struct rotary){.base = 10000, .divisor = 1, .dims = 2};
	a.positions = (struct positions){positions_count(5, 2), positions_count(5, 2), 1, 1};
	assert_true(a.positions.queries[1] == 6);
	struct found f = compute(&a);
	expect_floats("weights", f.weights, NUMBERS(1 - far, far, far, 1 - far));
	attention_release(&a);
	assert_null(a.positions.queries);
}

static void test_shape(void **state)
{
	(void)state;
	struct attention a = {.batch = 2,
			      .heads = 4,
			      .kv_heads = 2,
			      .queries = 3,
			      .keys = {.past = 5, .own = 7, .bias = true, .zero = true},
			      .head_size = 16,
			      .cross = true};
	attention_set_plain(&a);
	struct rows_shape shape = attention_shape(&a);
	assert_int_equal(attention_keys(&a), 14);
	assert_int_equal(shape.batch, 2);
	assert_int_equal(shape.layers, 1);
	assert_int_equal(shape.heads, 4);
	assert_int_equal(shape.queries, 3);
	assert_int_equal(shape.keys, 14);
	assert_int_equal(shape.past_keys, 5);
	assert_int_equal(shape.appended_keys, 2);
	assert_true(shape.cross && !shape.signed_weights);
	assert_true(a.maps == 1 && a.key_size == 16 && a.score.inner == 16 && a.score.scale == 0.25);
	assert_true(a.masking.plain_keys == 12 && a.masking.appended_keys == 2 && a.masking.past_keys == 5);
	assert_true(a.masking.batch == 2 && a.masking.heads == 4 && a.masking.queries == 3);
	a.maps = 2;
	assert_true(attention_shape(&a).signed_weights);
	attention_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),     cmocka_unit_test(test_without_values),
	    cmocka_unit_test(test_causal),    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_projected), cmocka_unit_test(test_owned),
	    cmocka_unit_test(test_rotary),    cmocka_unit_test(test_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
