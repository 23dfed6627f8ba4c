/* What problem_init makes of a bundle, and what it says of a bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "bundle_test.h"
#include "input/problem.h"

/* A document and what must be in the message about it. */
struct refusal {
	const char *json;
	const char *parts[6];
};

static void expect_refusal(const struct refusal *refusal)
{
	struct attn_error err = {0};
	struct bundle b = bundle_of(refusal->json);
	struct problem p;
	if (problem_init(&p, &b, &err) == ATTN_OK)
		fail_msg("%s: accepted", refusal->json);
	if (err.status != ATTN_BAD_INPUT)
		fail_msg("%s: status %d", refusal->json, (int)err.status);
	expect_parts(refusal->json, err.message, refusal->parts);
	/* One line, lower case, no full stop, and nothing left to release. */
	assert_null(strchr(err.message, '\n'));
	assert_true(err.message[strlen(err.message) - 1] != '.');
	assert_null(p.floats.arrays);
	bundle_release(&b);
}

static void expect_refusals(const struct refusal *refusals)
{
	for (; refusals->json; refusals++)
		expect_refusal(refusals);
}

static struct problem problem_of(const struct bundle *b)
{
	struct attn_error err = {0};
	struct problem p;
	if (problem_init(&p, b, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return p;
}

/* Element i of row 0 of a matrix of float32. */
static float element(const struct matrix *m, size_t i)
{
	return ((const float *)m->data)[i];
}

static void test_missing(void **state)
{
	static const struct refusal refusals[] = {
	    {"{}", {"'embeddings'", "missing", "'q'"}},
	    {"{\"embeddings\": [[1]]}", {"'wq'", "missing", "'wqkv'"}},
	    {"{\"embeddings\": [[1]], \"wq\": [[1]]}", {"'wk'", "missing", "'wq'"}},
	    {"{\"wq\": [[1]], \"wk\": [[1]]}", {"'embeddings'", "missing"}},
	    {"{\"q\": [[[1]]]}", {"'k'", "missing", "'q'"}},
	    {"{\"k\": [[[1]]]}", {"'q'", "missing", "'k'"}},
	    {"{\"v\": [[[1]]]}", {"'q'", "missing", "'v'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"past_v\": [[[1]]]}",
	     {"'past_k'", "missing", "'past_v'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"past_k\": [[[1]]]}",
	     {"'past_v'", "missing", "'past_k'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"bias_k\": [1]}",
	     {"'bias_v'", "missing", "'bias_k'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"bias_v\": [1]}",
	     {"'bias_k'", "missing", "'bias_v'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"bo\": [1]}", {"'wo'", "missing", "'bo'"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

static void test_both_forms(void **state)
{
	static const struct refusal refusals[] = {
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"embeddings\": [[1]]}",
	     {"'q'", "'embeddings'", "both given", "ROLE=FILE:TENSOR"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"wq\": [[1]]}", {"'q'", "'wq'", "both given"}},
	    {"{\"embeddings\": [[1]], \"wqkv\": [[1, 1, 1]], \"wk\": [[1]]}",
	     {"'wqkv'", "'wk'", "both given"}},
	    {"{\"embeddings\": [[1]], \"wqkv\": [[1, 1, 1]], \"bq\": [1]}", {"'wqkv'", "'bq'", "both given"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

#define X "{\"embeddings\": [[1, 2, 3], [4, 5, 6]], "
#define WQ "\"wq\": [[1, 2], [3, 4], [5, 6]], "
#define WK "\"wk\": [[1, 2], [3, 4], [5, 6]]"

static void test_shapes(void **state)
{
	static const struct refusal refusals[] = {
	    {"{\"embeddings\": [1, 2], \"wqkv\": [[1]]}",
	     {"'x.json'", "'embeddings'", "is 2", "tokens x width"}},
	    {"{\"embeddings\": [[[[1]]]], \"wqkv\": [[1]]}",
	     {"'embeddings'", "1 x 1 x 1 x 1", "batch x tokens x width"}},
	    {X WQ "\"wk\": [[1, 2]]}", {"'x.json'", "'wk'", "1 x 2", "expected 3 x H*d"}},
	    {X "\"wq\": [[[1, 2], [3, 4], [5, 6]]], " WK "}", {"'wq'", "1 x 3 x 2", "expected 3 x H*d"}},
	    {X WQ "\"wk\": [[1], [3], [5]]}", {"'wk'", "3 x 1", "2 outputs (1 kv heads of 2)"}},
	    {X WQ WK ", \"wv\": [[1, 2]]}", {"'wv'", "1 x 2", "expected 3 x H*d"}},
	    {X WQ WK ", \"num_heads\": 3}", {"'wq'", "num_heads is 3", "a divisor of the 2 columns"}},
	    {X WQ WK ", \"num_heads\": \"9223372036854775808\", \"lambda\": 1}",
	     {"'num_heads' is '9223372036854775808'", "2^32 at most"}},
	    {"{\"embeddings\": [[1]], \"wqkv\": [[1, 1, 1]], \"num_heads\": \"18446744073709551615\","
	     " \"num_kv_heads\": 1}",
	     {"'num_heads'", "2^32 at most"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"score\": \"additive\", \"score_w\": [[1]],"
	     " \"score_u\": [[1]], \"score_v\": [1], \"layout\": \"sideways\"}",
	     {"'layout' is 'sideways'", "'in,out' or 'out,in'"}},
	    {"{\"packed\": true, \"q\": [[1]], \"k\": [[1]], \"lambda\": 1,"
	     " \"num_kv_heads\": \"9223372036854775808\"}",
	     {"'num_kv_heads'", "2^32 at most"}},
	    {X WQ WK ", \"bq\": [1, 2, 3]}", {"'bq'", "is 3", "expected 2"}},
	    {X WQ WK ", \"bk\": [1]}", {"'bk'", "is 1", "expected 2"}},
	    {X WQ WK ", \"wv\": [[1], [1], [1]], \"bv\": [[1, 2]]}", {"'bv'", "1 x 2", "expected 1"}},
	    {X WQ WK ", \"wv\": [[1], [1], [1]], \"wo\": [[1, 2], [3, 4]]}",
	     {"'wo'", "2 x 2", "expected 1 x"}},
	    {X WQ WK ", \"wv\": [[1], [1], [1]], \"wo\": [[1, 2]], \"bo\": [1]}",
	     {"'bo'", "is 1", "expected 2"}},
	    {X WQ WK ", \"wv\": [[1], [1], [1]], \"source_values\": [[1, 2, 3]]}",
	     {"'source_values'", "1 x 3", "2 rows"}},
	    {X WQ WK ", \"source_embeddings\": [[1, 2, 3, 4]]}", {"'wk'", "3 x 2", "expected 4 x H*d"}},
	    {"{\"embeddings\": [[[1]], [[1]]], \"source_embeddings\": [[[1]], [[1]], [[1]]],"
	     " \"wq\": [[1]], \"wk\": [[1]]}",
	     {"'source_embeddings'", "3 x 1 x 1", "2 batch items"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

static void test_precomputed_shapes(void **state)
{
	static const struct refusal refusals[] = {
	    {"{\"q\": [[1]], \"k\": [[1]]}", {"'q'", "1 x 1", "heads x tokens x head size", "--packed"}},
	    {"{\"q\": [[[1, 2]]], \"k\": [[[1]]]}", {"'k'", "1 x 1 x 1", "head size 2", "'q'"}},
	    {"{\"q\": [[[1]], [[1]], [[1]]], \"k\": [[[1]], [[1]]]}", {"'k'", "2 x 1 x 1", "divides the 3"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1], [2]]], \"v\": [[[1]]]}",
	     {"'v'", "1 x 1 x 1", "1 heads and 2 tokens"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"num_heads\": 2}", {"'q'", "1 x 1 x 1", "2 heads"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"num_heads\": 1, \"num_kv_heads\": 2}",
	     {"'k'", "1 x 1 x 1", "2 heads"}},
	    {"{\"q\": [[[[1]]], [[[1]]]], \"k\": [[[[1]]], [[[1]]], [[[1]]]]}",
	     {"'k'", "3 x 1 x 1 x 1", "2 batch items"}},
	    {"{\"packed\": true, \"num_heads\": 2, \"q\": [[1, 2, 3]], \"k\": [[1, 2, 3]]}",
	     {"'q'", "num_heads is 2", "a divisor of the 3 columns"}},
	    {"{\"packed\": true, \"num_heads\": 2, \"q\": [[1, 2, 3, 4]], \"k\": [[1, 2]]}",
	     {"'k'", "1 x 2", "head size 2", "--num-kv-heads"}},
	    {"{\"packed\": true, \"q\": [[[[1]]]], \"k\": [[1]]}", {"'q'", "1 x 1 x 1 x 1", "'packed'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"past_k\": [[[1, 2]]], \"past_v\": [[[1]]]}",
	     {"'past_k'", "1 x 1 x 2", "1 kv heads and head size 1"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"past_k\": [[[1]]],"
	     " \"past_v\": [[[1], [2]]]}",
	     {"'past_v'", "1 x 2 x 1", "as many tokens as 'past_k'"}},
	    {"{\"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"bias_k\": [1, 2], \"bias_v\": [1]}",
	     {"'bias_k'", "is 2", "expected 1"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

/* wq is 2 x 3 where 3 x 2 is needed: the message says what to give. */
static void test_layout(void **state)
{
	static const struct refusal refusals[] = {
	    {X "\"wq\": [[1, 2, 3], [4, 5, 6]], " WK "}",
	     {"'wq'", "2 x 3", "'wk' is 'in,out'", "transpose 'wq'"}},
	    {X WQ "\"wk\": [[1, 2, 3], [4, 5, 6]]}", {"'wk'", "2 x 3", "'wq' is 'in,out'", "transpose 'wk'"}},
	    {X "\"wq\": [[1, 2, 3], [4, 5, 6]], \"wk\": [[1, 2, 3], [4, 5, 6]]}",
	     {"'wq'", "2 x 3", "--layout out,in"}},
	    {X WQ WK ", \"layout\": \"out,in\"}", {"'wq'", "3 x 2", "--layout in,out"}},
	    {X WQ WK ", \"layout\": \"in-out\"}", {"'layout'", "'in-out'", "'in,out'", "'out,in'"}},
	    {X "\"layout\": \"out,in\", \"heads\": [{\"wq\": [[1], [2], [3]],"
	       " \"wk\": [[1], [2], [3]], \"wv\": [[1], [2], [3]]}]}",
	     {"'layout'", "'heads'"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
	/* A square matrix fits both ways: the default is (in, out), never guessed. */
	struct bundle b =
	    bundle_of("{\"embeddings\": [[1, 0]], \"wq\": [[1, 2], [3, 4]], \"wk\": [[1, 2], [3, 4]]}");
	struct problem p = problem_of(&b);
	assert_true(element(&p.attention.wq, 1) == 2);
	problem_release(&p);
	assert_int_equal(bundle_override(&b, "layout", "out,in", "--layout", NULL), ATTN_OK);
	p = problem_of(&b);
	assert_true(element(&p.attention.wq, 1) == 3);
	problem_release(&p);
	bundle_release(&b);
}

/* A fused matrix is cut by heads, and not in thirds. */
static void test_fused(void **state)
{
	static const struct refusal refusals[] = {
	    {"{\"embeddings\": [[1]], \"wqkv\": [[1, 2, 3, 4]]}", {"'wqkv'", "4 columns", "num_kv_heads"}},
	    {"{\"embeddings\": [[1]], \"wqkv\": [[1, 2, 3]], \"bqkv\": [1, 2]}",
	     {"'bqkv'", "is 2", "expected 3"}},
	    {"{\"embeddings\": [[1]], \"source_embeddings\": [[1, 2]], \"wqkv\": [[1, 2, 3]]}",
	     {"'wqkv'", "one width", "1", "2", "wq, wk and wv"}},
	    {"{\"embeddings\": [[1], [2]], \"wqkv\": [[1], [2], [3]]}", {"'wqkv'", "--layout out,in"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
	struct bundle b =
	    bundle_of("{\"embeddings\": [[1]], \"num_heads\": 4, \"num_kv_heads\": 2,"
		      " \"wqkv\": [[0, 1, 2, 3, 4, 5, 6, 7]], \"bqkv\": [0, 1, 2, 3, 4, 5, 6, 7]}");
	struct problem p = problem_of(&b);
	assert_int_equal(p.attention.head_size, 1);
	assert_int_equal(p.attention.value_size, 1);
	assert_true(element(&p.attention.wq, 0) == 0 && p.attention.wq.cols == 4);
	assert_true(element(&p.attention.wk, 0) == 4 && p.attention.wk.cols == 2);
	assert_true(element(&p.attention.wv, 0) == 6 && p.attention.wv.cols == 2);
	assert_true(p.attention.bk[0] == 4 && p.attention.bv[1] == 7);
	problem_release(&p);
	bundle_release(&b);
}

/* wo has H e rows, so that values may be of another size than keys. */
static void test_fused_by_wo(void **state)
{
	(void)state;
	struct bundle b = bundle_of("{\"embeddings\": [[1]], \"num_heads\": 2,"
				    " \"wqkv\": [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],"
				    " \"wo\": [[1], [2], [3], [4], [5], [6]]}");
	struct problem p = problem_of(&b);
	assert_int_equal(p.attention.head_size, 1);
	assert_int_equal(p.attention.value_size, 3);
	assert_int_equal(p.attention.output.wo.cols, 1);
	assert_true(element(&p.attention.wk, 0) == 2 && element(&p.attention.wv, 0) == 4 &&
		    p.attention.wv.cols == 6);
	problem_release(&p);
	bundle_release(&b);
}

static void test_heads(void **state)
{
	static const struct refusal refusals[] = {
	    {X WQ WK ", \"num_heads\": 2, \"num_kv_heads\": 4}", {"num_heads is 2", "multiple", "4"}},
	    {X "\"wq\": [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], " WK ", \"num_heads\": 4}",
	     {"'wk'", "3 x 2", "4 outputs (4 heads of 1)", "--num-kv-heads 2"}},
	    {X WQ WK ", \"num_heads\": 0}", {"'num_heads'", "'0'", "whole number from 1"}},
	    {X WQ WK ", \"num_heads\": 1.5}", {"'num_heads'", "'1.5'", "whole number"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

static void test_settings(void **state)
{
	static const struct refusal refusals[] = {
	    {X WQ WK ", \"causal\": \"maybe\"}", {"'x.json'", "'causal'", "'maybe'", "true or false"}},
	    {X WQ WK ", \"scale\": \"inf\"}", {"'scale'", "'inf'", "finite"}},
	    {X WQ WK ", \"scale\": 1e300}", {"'scale'", "float32"}},
	    {X WQ WK ", \"softcap\": -1}", {"'softcap'", "'-1'", "from 0"}},
	    {X WQ WK ", \"add_zero_attn\": 2}", {"'add_zero_attn'", "'2'", "true or false"}},
	    {X WQ WK ", \"layer\": -1}", {"'layer'", "'-1'", "whole number from 0"}},
	    {X WQ WK ", \"tokens\": [\"a\"]}", {"'tokens'", "1 strings", "expected 2"}},
	    {X WQ WK ", \"source_tokens\": [\"a\", \"b\", \"c\"]}",
	     {"'source_tokens'", "3 strings", "expected 2", "key"}},
	    {X WQ WK ", \"head_names\": [\"a\", \"b\"]}", {"'head_names'", "2 strings", "expected 1"}},
	    {0},
	};
	(void)state;
	expect_refusals(refusals);
}

/* A setting of the command line is wrong usage, and names the option. */
static void test_option_is_usage(void **state)
{
	struct attn_error err = {0};
	struct problem p;
	(void)state;
	struct bundle b = bundle_of(X WQ WK ", \"softcap\": 5}");
	assert_int_equal(bundle_override(&b, "softcap", "-2", "--softcap", NULL), ATTN_OK);
	assert_int_equal(problem_init(&p, &b, &err), ATTN_USAGE);
	expect_parts("--softcap", err.message, (const char *const[]){"'--softcap'", "'-2'", NULL});
	bundle_release(&b);
}

/* Two files that disagree. */
static void test_two_values(void **state)
{
	struct attn_error err = {0};
	struct bundle b = bundle_of("{\"rope\": \"none\"}");
	(void)state;
	assert_int_equal(bundle_add_setting(&b, "rope", "10000", "y.json", &err), ATTN_BAD_INPUT);
	bundle_release(&b);
}

static void expect_not_finite(const char *name, double value, const char *const *parts)
{
	double values[4] = {1, 2, 3, 4};
	struct attn_error err = {0};
	struct problem p;
	struct bundle b;
	values[2] = value;
	bundle_init(&b);
	put(&b, "q", DTYPE_F64, SHAPE(1, 2, 2), values);
	values[2] = 3;
	put(&b, "k", DTYPE_F64, SHAPE(1, 2, 2), values);
	assert_int_equal(problem_init(&p, &b, &err), ATTN_BAD_INPUT);
	expect_parts(name, err.message, parts);
	bundle_release(&b);
}

/* The message names tensor and index. */
static void test_not_finite(void **state)
{
	(void)state;
	expect_not_finite("nan", NAN, (const char *const[]){"'q[0,1,0]'", "nan", "finite", NULL});
	expect_not_finite("inf", INFINITY, (const char *const[]){"'q[0,1,0]'", "inf", NULL});
	expect_not_finite("-inf", -INFINITY, (const char *const[]){"'q[0,1,0]'", "-inf", NULL});
	expect_not_finite("1e39", 1e39, (const char *const[]){"'q[0,1,0]'", "1e+39", "float32", NULL});
}

static void test_float32_is_checked_in_place(void **state)
{
	static const double good[] = {1, 2}, bad[] = {1, NAN};
	struct attn_error err = {0};
	struct problem p;
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put(&b, "q", DTYPE_F32, SHAPE(1, 1, 2), good);
	put(&b, "k", DTYPE_F32, SHAPE(1, 1, 2), good);
	p = problem_of(&b);
	assert_ptr_equal(p.attention.q.data, bundle_tensor(&b, "q")->data); /* not copied */
	problem_release(&p);
	put(&b, "v", DTYPE_F32, SHAPE(1, 1, 2), bad);
	assert_int_equal(problem_init(&p, &b, &err), ATTN_BAD_INPUT);
	expect_parts("v", err.message, (const char *const[]){"'v[0,0,1]'", "nan", NULL});
	bundle_release(&b);
}

/* A tensor of another name: near a role it is a mistake, else only a note. */
static void test_unknown_tensor(void **state)
{
	static const double one[] = {1};
	struct attn_error err = {0};
	struct problem p;
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put(&b, "embedings", DTYPE_F32, SHAPE(1, 1), one);
	assert_int_equal(problem_init(&p, &b, &err), ATTN_BAD_INPUT);
	expect_parts("embedings", err.message, (const char *const[]){"'embedings'", "'embeddings'", NULL});
	bundle_release(&b);

	/* What was left out is named where something is missing. */
	put(&b, "a", DTYPE_F32, SHAPE(1), one);
	put(&b, "b", DTYPE_F32, SHAPE(1), one);
	put(&b, "c", DTYPE_F32, SHAPE(1), one);
	put(&b, "d", DTYPE_F32, SHAPE(1), one);
	put(&b, "e", DTYPE_F32, SHAPE(1), one);
	put(&b, "f", DTYPE_F32, SHAPE(1), one);
	assert_int_equal(problem_init(&p, &b, &err), ATTN_BAD_INPUT);
	expect_parts("missing", err.message,
		     (const char *const[]){"'embeddings' is missing",
					   "ignored: 'a', 'b', 'c', 'd', 'e' and 1 more", NULL});
	bundle_release(&b);

	b = bundle_of(X WQ WK "}");
	put(&b, "model.layers.0.mlp", DTYPE_F32, SHAPE(1), one);
	put(&b, "lm_head", DTYPE_F32, SHAPE(1), one);
	p = problem_of(&b);
	assert_int_equal(p.notes.count, 2);
	assert_string_equal(p.notes.items[1], "num_heads is not given: taken as 1");
	expect_parts("note", p.notes.items[0],
		     (const char *const[]){"'model.layers.0.mlp'", "others", "ignored", NULL});
	problem_release(&p);
	bundle_release(&b);
}

static void test_sizes(void **state)
{
	(void)state;
	struct bundle b = bundle_of("{\"q\": [[[[1, 2]]], [[[1, 2]]]], \"k\": [[[[1, 2], [1, 2], [1, 2]]],"
				    " [[[1, 2], [1, 2], [1, 2]]]], \"v\": [[[1], [1], [1]]],"
				    " \"past_k\": [[[1, 2], [1, 2]]], \"past_v\": [[[1], [1]]],"
				    " \"add_zero_attn\": true}");
	struct problem p = problem_of(&b);
	assert_true(p.info.has_batch && p.attention.has_values && !p.attention.projected);
	assert_int_equal(p.attention.batch, 2);
	assert_int_equal(p.attention.heads, 1);
	assert_int_equal(p.attention.queries, 1);
	assert_int_equal(p.attention.keys.past, 2);
	assert_int_equal(p.attention.keys.own, 3);
	assert_int_equal(p.info.shape.keys, 6);
	assert_int_equal(p.attention.head_size, 2);
	assert_int_equal(p.attention.value_size, 1);
	assert_true(fabs(p.attention.score.scale - 1 / sqrt(2)) < 1e-15);
	/* shared by the batch */
	assert_int_equal(p.attention.v.batch_stride, 0);
	assert_int_equal(p.attention.past_k.batch_stride, 0);
	problem_release(&p);
	bundle_release(&b);
}

static void expect_labels(const char *json, const char *const *queries, const char *const *keys)
{
	struct bundle b = bundle_of(json);
	struct problem p = problem_of(&b);
	for (size_t i = 0; i < p.attention.queries; i++)
		assert_string_equal(p.info.query_labels.items[i], queries[i]);
	for (size_t i = 0; i < p.info.shape.keys; i++)
		assert_string_equal(p.info.key_labels.items[i], keys[i]);
	assert_null(keys[p.info.shape.keys]);
	problem_release(&p);
	bundle_release(&b);
}

#define TWO "\"q\": [[[1], [1]]], \"v\": [[[1], [1]]]"

static void test_labels(void **state)
{
	(void)state;
	static const char *const numbers[] = {"0", "1", NULL}, *const ab[] = {"a", "b", NULL};
	static const char *const xyz[] = {"x", "y", "z", NULL};
	expect_labels("{" TWO ", \"k\": [[[1], [1]]]}", numbers, numbers);
	/* Self-attention: keys are called as queries are. */
	expect_labels("{" TWO ", \"k\": [[[1], [1]]], \"tokens\": [\"a\", \"b\"]}", ab, ab);
	/* Cross-attention: they are not. */
	expect_labels("{\"embeddings\": [[1], [1]], \"source_embeddings\": [[1], [1]], \"wq\": [[1]],"
		      " \"wk\": [[1]], \"tokens\": [\"a\", \"b\"]}",
		      ab, numbers);
	expect_labels("{\"q\": [[[1], [1]]], \"k\": [[[1], [1], [1]]], \"tokens\": [\"a\", \"b\"],"
		      " \"source_tokens\": [\"x\", \"y\", \"z\"]}",
		      ab, xyz);
	expect_labels("{" TWO ", \"k\": [[[1], [1]]], \"tokens\": [\"a\", \"b\"], \"past_k\": [[[1], [1]]],"
		      " \"past_v\": [[[1], [1]]], \"bias_k\": [1], \"bias_v\": [1], \"add_zero_attn\": true}",
		      ab, (const char *const[]){"0", "1", "a", "b", "<bias>", "<zero>", NULL});
	/* source_tokens may name the past keys too */
	expect_labels("{" TWO ", \"k\": [[[1], [1]]], \"past_k\": [[[1]]], \"past_v\": [[[1]]],"
		      " \"source_tokens\": [\"x\", \"y\", \"z\"]}",
		      numbers, xyz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_missing),
	    cmocka_unit_test(test_both_forms),
	    cmocka_unit_test(test_shapes),
	    cmocka_unit_test(test_precomputed_shapes),
	    cmocka_unit_test(test_layout),
	    cmocka_unit_test(test_fused),
	    cmocka_unit_test(test_fused_by_wo),
	    cmocka_unit_test(test_heads),
	    cmocka_unit_test(test_settings),
	    cmocka_unit_test(test_option_is_usage),
	    cmocka_unit_test(test_two_values),
	    cmocka_unit_test(test_not_finite),
	    cmocka_unit_test(test_float32_is_checked_in_place),
	    cmocka_unit_test(test_unknown_tensor),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
