/* What problem_init says of matrices of latent attention that are missing, do not fit or do
 * not go together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "bundle_test.h"
#include "input/problem.h"

/* D 2, H 2, r 3, l 4, n 1, t 2, e 1. */
static const char *const fitting[][2] = {
    {"embeddings", "[[1, 2], [3, 4], [5, 6]]"},
    {"num_heads", "2"},
    {"wdq", "[[1, 2, 3], [4, 5, 6]]"},
    {"wuq", "[[1, 2], [3, 4], [5, 6]]"},
    {"wqr", "[[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]]"},
    {"wdkv", "[[1, 2, 3, 4], [5, 6, 7, 8]]"},
    {"wuk", "[[1, 2], [3, 4], [5, 6], [7, 8]]"},
    {"wuv", "[[1, 2], [3, 4], [5, 6], [7, 8]]"},
    {"wkr", "[[1, 2], [3, 4]]"},
    {0},
};

/* Changes to that, and what must be in the message; NULL text: left out. */
struct refusal {
	const char *changes[4][2];
	const char *parts[7];
};

static const char *changed(const struct refusal *refusal, const char *name, const char *text)
{
	for (size_t i = 0; i < 4 && refusal->changes[i][0]; i++)
		if (strcmp(refusal->changes[i][0], name) == 0)
			return refusal->changes[i][1];
	return text;
}

static bool is_fitting(const char *name)
{
	for (size_t i = 0; fitting[i][0]; i++)
		if (strcmp(fitting[i][0], name) == 0)
			return true;
	return false;
}

static void add_member(char *json, size_t size, const char *name, const char *text)
{
	size_t used = strlen(json);
	if (text)
		snprintf(json + used, size - used, "%s\"%s\": %s", used > 1 ? ", " : "", name, text);
}

static struct bundle bundle_of_changes(const struct refusal *refusal, char *json, size_t size)
{
	snprintf(json, size, "{");
	for (size_t i = 0; fitting[i][0]; i++)
		add_member(json, size, fitting[i][0], changed(refusal, fitting[i][0], fitting[i][1]));
	for (size_t i = 0; i < 4 && refusal->changes[i][0]; i++)
		if (!is_fitting(refusal->changes[i][0]))
			add_member(json, size, refusal->changes[i][0], refusal->changes[i][1]);
	snprintf(json + strlen(json), size - strlen(json), "}");
	return bundle_of(json);
}

static void expect_refusals(const struct refusal *refusals)
{
	char json[2000];
	for (; refusals->parts[0]; refusals++) {
		struct attn_error err = {0};
		struct problem p;
		struct bundle b = bundle_of_changes(refusals, json, sizeof json);
		if (problem_init(&p, &b, &err) == ATTN_OK)
			fail_msg("%s: accepted", json);
		assert_int_equal(err.status, ATTN_BAD_INPUT);
		expect_parts(json, err.message, refusals->parts);
		assert_true(err.message[strlen(err.message) - 1] != '.');
		assert_null(p.floats.arrays);
		bundle_release(&b);
	}
}

static void test_fits(void **state)
{
	const struct refusal none = {{{0}}, {0}};
	char json[2000];
	struct attn_error err = {0};
	struct problem p;
	struct bundle b = bundle_of_changes(&none, json, sizeof json);
	(void)state;
	if (problem_init(&p, &b, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_int_equal(p.notes.count, 0);
	problem_release(&p);
	bundle_release(&b);
}

static void test_missing(void **state)
{
	static const struct refusal refusals[] = {
	    {{{"embeddings", NULL}}, {"'embeddings' is missing", "projections"}},
	    {{{"wdkv", NULL}}, {"'wdkv' is missing", "'wdq' also requires it"}},
	    {{{"wuq", NULL}}, {"'wuq' is missing", "'wdkv' also requires it"}},
	    {{{"wuk", NULL}}, {"'wuk' is missing", "'wdkv' also requires it (or 'wukv')"}},
	    {{{"wdq", NULL}, {"q_latent_norm", "[1, 1, 1]"}},
	     {"'wdq' is missing", "'q_latent_norm' also requires it"}},
	    {{{"wkr", NULL}}, {"'wkr' is missing", "'wqr' also requires it (or rope_dim, if 'wdkv' holds"}},
	    {{{"wqr", NULL}}, {"'wqr' is missing", "'wkr' also requires it (or rope_dim, if 'wuq' holds"}},
	    {{{0}}, {0}},
	};
	(void)state;
	expect_refusals(refusals);
}

static void test_not_together(void **state)
{
	static const struct refusal refusals[] = {
	    {{{"wq", "[[1], [2]]"}}, {"'wq' and 'wdkv' are both given", "ordinary projections or"}},
	    {{{"wk", "[[1], [2]]"}}, {"'wk' and 'wdkv' are both given"}},
	    {{{"wv", "[[1], [2]]"}}, {"'wv' and 'wdkv' are both given"}},
	    {{{"wqkv", "[[1], [2]]"}}, {"'wqkv' and 'wdkv' are both given"}},
	    {{{"bq", "[1]"}}, {"'bq' and 'wdkv' are both given"}},
	    {{{"bk", "[1]"}}, {"'bk' and 'wdkv' are both given"}},
	    {{{"bv", "[1]"}}, {"'bv' and 'wdkv' are both given"}},
	    {{{"bqkv", "[1]"}}, {"'bqkv' and 'wdkv' are both given"}},
	    {{{"q", "[[[1]]]"}}, {"'q' and 'embeddings' are both given"}},
	    {{{"embeddings", NULL}, {"k", "[[[1]]]"}}, {"'k' and 'wdkv' are both given", "precomputed"}},
	    {{{"source_values", "[[1], [2], [3]]"}},
	     {"'source_values' and 'wdkv' are both given", "latents"}},
	    {{{"lambda", "0.5"}}, {"lambda", "'0.5'", "'wdkv'", "cannot be combined"}},
	    {{{"lambda", "[0.5, 0.5]"}}, {"lambda", "'wdkv'", "cannot be combined"}},
	    {{{"num_kv_heads", "1"}}, {"'x.json'", "num_kv_heads", "'1'", "expected 2, as num_heads"}},
	    {{{"wukv", "[[1, 2, 3, 4]]"}}, {"'wukv' and 'wuk' are both given"}},
	    {{{"wukv", "[[1, 2, 3, 4]]"}, {"wuk", NULL}}, {"'wukv' and 'wuv' are both given"}},
	    {{{0}}, {0}},
	};
	(void)state;
	expect_refusals(refusals);
}

#define ROWS4 "[[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]"

static void test_shapes(void **state)
{
	static const struct refusal refusals[] = {
	    {{{"wdq", "[[1, 2, 3]]"}},
	     {"'x.json': 'wdq' is 1 x 3, expected a matrix of 2 inputs, the width of 'embeddings'"}},
	    {{{"wdq", "[1, 2, 3]"}}, {"'wdq' is 3, expected a matrix of 2 inputs"}},
	    {{{"wdq", "[[1, 2], [3, 4], [5, 6]]"}}, {"'wdq' is 3 x 2", "give --layout out,in"}},
	    {{{"wuq", "[[1, 2]]"}}, {"'wuq' is 1 x 2", "3 inputs, the outputs of 'wdq'"}},
	    {{{"wuq", "[[1, 2, 3]]"}, {"wdq", NULL}},
	     {"'wuq' is 1 x 3", "2 inputs, the width of 'embeddings'"}},
	    {{{"wuq", "[[1, 2]]"}, {"wdq", NULL}}, {"'wuq' is 1 x 2", "give --layout out,in"}},
	    {{{"wuq", "[[1], [2], [3]]"}}, {"num_heads is 2", "a divisor of the 1 columns of 'wuq'"}},
	    {{{"wqr", "[[1, 2, 3, 4]]"}}, {"'wqr' is 1 x 4", "3 inputs, the outputs of 'wdq'"}},
	    {{{"wqr", "[[1], [2], [3]]"}}, {"num_heads is 2", "a divisor of the 1 columns of 'wqr'"}},
	    {{{"wqr", "[[1, 2], [3, 4], [5, 6]]"}},
	     {"'wqr' is 3 x 2", "2 outputs for each of 2 heads, as 'wkr' has"}},
	    {{{"wqr", "[[1, 2], [3, 4], [5, 6]]"}, {"wkr", NULL}, {"rope_dim", "2"}},
	     {"'wqr' is 3 x 2", "2 outputs for each of 2 heads, as rope_dim says"}},
	    {{{"wdkv", "[[1, 2, 3, 4]]"}}, {"'wdkv' is 1 x 4", "2 inputs, the width of the embeddings"}},
	    {{{"wkr", "[[1, 2, 3]]"}}, {"'wkr' is 1 x 3", "2 inputs, the width of the embeddings"}},
	    {{{"wuk", "[[1, 2]]"}}, {"'wuk' is 1 x 2", "4 inputs, the outputs of 'wdkv'"}},
	    {{{"wuk", ROWS4}}, {"num_heads is 2", "a divisor of the 3 columns of 'wuk'"}},
	    {{{"wuk", "[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]"}},
	     {"'wuk' is 4 x 4", "1 outputs for each of 2 heads, as 'wuq' has"}},
	    {{{"wuv", "[[1, 2]]"}}, {"'wuv' is 1 x 2", "4 inputs, the outputs of 'wdkv'"}},
	    {{{"wuv", ROWS4}}, {"num_heads is 2", "a divisor of the 3 columns of 'wuv'"}},
	    {{{"wukv", ROWS4}, {"wuk", NULL}, {"wuv", NULL}},
	     {"num_heads is 2", "a divisor of the 3 columns of 'wukv'"}},
	    {{{"wukv", "[[1, 2], [3, 4], [5, 6], [7, 8]]"}, {"wuk", NULL}, {"wuv", NULL}},
	     {"'wukv' is 4 x 2", "more than 1 outputs for each of 2 heads", "then of values"}},
	    {{{"q_latent_norm", "[1, 2]"}}, {"'q_latent_norm' is 2, expected 3"}},
	    {{{"kv_latent_norm", "[1, 2]"}}, {"'kv_latent_norm' is 2, expected 4"}},
	    {{{"past_k", "[[[1, 2]], [[1, 2]]]"}, {"past_v", "[[[1]], [[1]]]"}},
	     {"'past_k' is 2 x 1 x 2", "2 kv heads and head size 3"}},
	    {{{"wo", "[[1]]"}}, {"'wo' is 1 x 1", "expected 2 x"}},
	    {{{0}}, {0}},
	};
	(void)state;
	expect_refusals(refusals);
}

static void test_rope_dim(void **state)
{
	static const struct refusal refusals[] = {
	    /* 4 outputs of wdkv, but 3 inputs of wuk: fused, perhaps. */
	    {{{"wuk", "[[1, 2], [3, 4], [5, 6]]"}, {"wqr", NULL}, {"wkr", NULL}},
	     {"'wdkv' is 2 x 4", "3 outputs, the inputs of 'wuk' (or rope_dim 1, if the last 1 outputs"}},
	    {{{"rope_dim", "4"}}, {"rope_dim", "'4'", "expected 2, the outputs of 'wkr'"}},
	    {{{"rope_dim", "0"}}, {"rope_dim", "'0'", "a whole number from 1"}},
	    {{{"rope_dim", "1"}, {"wqr", NULL}, {"wkr", NULL}},
	     {"'wuq' is 3 x 2", "more than 1 outputs for each of 2 heads", "rope_dim"}},
	    {{{"rope_dim", "4"},
	      {"wqr", "[[1,2,3,4,5,6,7,8], [1,2,3,4,5,6,7,8], [1,2,3,4,5,6,7,8]]"},
	      {"wkr", NULL}},
	     {"'wdkv' is 2 x 4", "more than 4 outputs", "rope_dim"}},
	    {{{"rope_dim", "2"}, {"wkr", NULL}}, {"'wuk' is 4 x 2", "2 inputs", "that are not rotary"}},
	    {{{"rope", "10000"}, {"wqr", NULL}, {"wkr", NULL}},
	     {"rope", "'10000'", "expected none", "'wqr' and 'wkr'", "rope_dim"}},
	    {{{"rope", "10000"}, {"wqr", "[[1, 2], [3, 4], [5, 6]]"}, {"wkr", "[[1], [2]]"}},
	     {"rope", "'10000'", "an even number of dimensions to rotate, found 1"}},
	    {{{0}}, {0}},
	};
	(void)state;
	expect_refusals(refusals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fits),         cmocka_unit_test(test_missing),
	    cmocka_unit_test(test_not_together), cmocka_unit_test(test_shapes),
	    cmocka_unit_test(test_rope_dim),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
