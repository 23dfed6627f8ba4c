/* What is given and has no effect: an error that says why, or a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "bundle_test.h"
#include "input/problem.h"
#include "input/unused.h"
#include "result/stored.h"

#define Q "{\"q\": [[[1, 2]]], \"k\": [[[1, 0]]]"
#define V ", \"v\": [[[1]]]"
#define P "{\"embeddings\": [[1, 2]], \"wq\": [[1, 0], [0, 1]], \"wk\": [[1, 0], [0, 1]], \"num_heads\": 1"
#define WV ", \"wv\": [[1, 0], [0, 1]]"
#define W "{\"weights\": [[[0.5, 0.5]], [[1, 0]]]"

/* An input, options "--name=value" on top of it that end with NULL, and what is said. */
struct given_case {
	const char *json;
	const char *options[3];
	const char *said[4]; /* parts; none: nothing is said */
};

static struct bundle bundle_with(const struct given_case *c)
{
	struct bundle b = bundle_of(c->json);
	for (size_t i = 0; c->options[i]; i++) {
		char option[40], name[40];
		size_t length = strcspn(c->options[i], "=");
		snprintf(option, sizeof option, "%.*s", (int)length, c->options[i]);
		snprintf(name, sizeof name, "%s", option + 2);
		for (char *at = name; *at; at++)
			*at = *at == '-' ? '_' : *at;
		assert_int_equal(bundle_override(&b, name, c->options[i] + length + 1, option, NULL),
				 ATTN_OK);
	}
	return b;
}

static enum attn_status bind(const struct given_case *c, struct string_list *notes, struct attn_error *err)
{
	struct bundle b = bundle_with(c);
	enum attn_status status;
	if (strstr(c->json, "weights")) {
		const struct masking *masking;
		struct named_rows rows;
		status = stored_open(&rows, &masking, &b, notes, err);
		if (status == ATTN_OK) {
			status = unused_check_stored(&b, notes, err);
			named_rows_release(&rows);
		}
	} else {
		struct problem p;
		status = problem_init(&p, &b, err);
		if (status == ATTN_OK) {
			*notes = p.notes;
			p.notes = (struct string_list){0};
			problem_release(&p);
		}
	}
	bundle_release(&b);
	return status;
}

static void refuses(const struct given_case *cases, enum attn_status expected)
{
	for (; cases->json; cases++) {
		struct attn_error err = {0};
		struct string_list notes = {0};
		if (bind(cases, &notes, &err) != expected)
			fail_msg("%s: status %d, '%s'", cases->json, (int)err.status, err.message);
		expect_parts(cases->json, err.message, cases->said);
		string_list_release(&notes);
	}
}

static void accepts(const struct given_case *cases)
{
	for (; cases->json; cases++) {
		struct attn_error err = {0};
		struct string_list notes = {0};
		if (bind(cases, &notes, &err) != ATTN_OK)
			fail_msg("%s: '%s'", cases->json, err.message);
		if (notes.count != (cases->said[0] ? 1 : 0))
			fail_msg("%s: %zu notes, the first '%s'", cases->json, notes.count,
				 notes.count ? notes.items[0] : "");
		if (notes.count)
			expect_parts(cases->json, notes.items[0], cases->said);
		string_list_release(&notes);
	}
}

static void test_files(void **state)
{
	static const struct given_case cases[] = {
	    {P ", \"bv\": [1]}", {NULL}, {"'x.json': 'bv' has no effect without values: give 'wv'"}},
	    {P ", \"wo\": [[1], [1]]}", {NULL}, {"'wo' has no effect without values: give 'v' or 'wv'"}},
	    {P ", \"wo\": [[1], [1]], \"bo\": [1]}", {NULL}, {"without values"}},
	    {P ", \"source_values\": [[1, 2]]}", {NULL}, {"'source_values'", "without values"}},
	    {Q ", \"wo\": [[1], [1]]}", {NULL}, {"'wo'", "without values"}},
	    {Q ", \"past_v\": [[[1]]]}", {NULL}, {"'past_v'", "without values"}},
	    {Q ", \"past_k\": [[[1, 1]]], \"past_v\": [[[1]]]}", {NULL}, {"'past_v'", "without values"}},
	    {Q ", \"bias_k\": [1, 1], \"bias_v\": [1]}", {NULL}, {"'bias_v'", "without values"}},
	    {P WV ", \"packed\": true}", {NULL}, {"'packed'", "without precomputed 'q', 'k', 'v'"}},
	    {Q ", \"layout\": \"out,in\"}", {NULL}, {"'layout'", "without a weight matrix"}},
	    {Q V ", \"axes\": \"batch\"}", {NULL}, {"'axes'", "without stored 'weights'"}},
	    {Q V ", \"past_keys\": 3}", {NULL}, {"'past_keys'", "without stored 'weights'"}},
	    {P WV ", \"appended_keys\": \"zero\"}", {NULL}, {"'appended_keys'", "stored 'weights'"}},
	    {Q ", \"alibi\": false, \"alibi_slopes\": [1]}", {NULL}, {"'alibi_slopes'", "which is false"}},
	    {Q ", \"qk_norm_eps\": 0.1}", {NULL}, {"'qk_norm_eps'", "without --qk-norm rms, rms-full or l2"}},
	    {Q ", \"qk_norm\": \"none\", \"q_norm\": [1, 1]}", {NULL}, {"'q_norm'", "--qk-norm"}},
	    {Q ", \"k_norm\": [1, 1]}", {NULL}, {"'k_norm'", "--qk-norm"}},
	    {Q ", \"rope_style\": \"half\"}", {NULL}, {"'rope_style'", "without 'rope', such as 10000"}},
	    {Q ", \"rope_dim\": 2}", {NULL}, {"'rope_dim'", "without 'rope'"}},
	    {Q ", \"rope\": \"none\", \"rope_scaling\": \"ntk=2\"}", {NULL}, {"'rope_scaling'", "'rope'"}},
	    {Q ", \"positions\": [3]}", {NULL}, {"'positions'", "'rope', 'sinusoidal' or 'position_table'"}},
	    {Q ", \"source_positions\": [3]}", {NULL}, {"'source_positions'", "without 'rope'"}},
	    {P ", \"position_offset\": 3}", {NULL}, {"'position_offset'", "without 'rope'"}},
	    {Q ", \"position_table\": [[3, 4]]}", {NULL}, {"'position_table'", "without 'embeddings'"}},
	    {Q ", \"source_position_table\": [[3, 4]]}", {NULL}, {"without 'source_embeddings'"}},
	    {Q ", \"sinusoidal\": true}", {NULL}, {"'sinusoidal'", "without 'embeddings'"}},
	    {Q ", \"relative_max_distance\": 64}", {NULL}, {"'relative_max_distance'", "'relative_bias'"}},
	    {Q ", \"relative_bidirectional\": true}", {NULL}, {"without 'relative_bias'"}},
	    {Q ", \"score_w\": [[1, 0], [0, 1]]}", {NULL}, {"'score_w'", "--score general or additive"}},
	    {Q ", \"score\": \"cosine\", \"score_v\": [1, 0]}", {NULL}, {"'score_v'", "--score additive"}},
	    {Q ", \"score\": \"general\", \"score_w\": [[1, 0], [0, 1]], \"score_b\": [1, 0]}",
	     {NULL},
	     {"'score_b'", "--score additive"}},
	    {Q ", \"blocks\": \"size=1,seed=3\"}", {NULL}, {"'blocks'", "'random' with 'seed'"}},
	    {0},
	};
	(void)state;
	refuses(cases, ATTN_BAD_INPUT);
}

static void test_options(void **state)
{
	static const struct given_case cases[] = {
	    {Q "}", {"--rope-dim=2"}, {"'--rope-dim' has no effect without 'rope'"}},
	    {Q "}", {"--rope=none", "--rope-style=half"}, {"'--rope-style' has no effect"}},
	    {Q "}",
	     {"--qk-norm-eps=5"},
	     {"'--qk-norm-eps' has no effect without --qk-norm rms, rms-full or l2"}},
	    {Q "}", {"--alibi=false", "--alibi-slopes=1"}, {"'--alibi-slopes' has no effect"}},
	    {Q "}", {"--axes=batch"}, {"'--axes' has no effect without stored 'weights'"}},
	    {P "}", {"--packed=true"}, {"'--packed' has no effect without precomputed"}},
	    {"{\"embeddings\": [[1]], \"heads\": [{\"wq\": [[1]], \"wk\": [[1]], \"wv\": [[1]]},"
	     " {\"wq\": [[1]], \"wk\": [[1]], \"wv\": [[1]]}]}",
	     {"--num-heads=1"},
	     {"'--num-heads' is '1', expected 2, as many as 'heads' lists"}},
	    {W "}", {"--rope=10000"}, {"'--rope' has no effect on a stored result: 'x.json'"}},
	    {W "}", {"--num-heads=2"}, {"'--num-heads' has no effect on a stored result"}},
	    {W "}", {"--packed=false"}, {"'--packed' has no effect on a stored result"}},
	    {0},
	};
	(void)state;
	refuses(cases, ATTN_USAGE);
}

/* What an option turns off, and what a file holds more than is asked for. */
static void test_notes(void **state)
{
	static const struct given_case cases[] = {
	    {Q ", \"alibi_slopes\": [1]}",
	     {"--alibi=false"},
	     {"'x.json': 'alibi_slopes' is left out", "'--alibi'"}},
	    {Q ", \"rope\": 9, \"rope_style\": \"half\"}",
	     {"--rope=none"},
	     {"'rope_style' is left out", "'--rope'"}},
	    {Q ", \"qk_norm\": \"l2\", \"q_norm\": [1, 1]}", {"--qk-norm=none"}, {"'q_norm' is left out"}},
	    {Q ", \"score\": \"general\", \"score_w\": [[1, 0], [0, 1]]}",
	     {"--score=dot"},
	     {"'score_w' is left out"}},
	    {Q ", \"context\": [[1]]}", {NULL}, {"'x.json': 'context', a result, is left out"}},
	    {Q ", \"output\": [[1]], \"scores\": [[[1]]]}",
	     {NULL},
	     {"'output' and other results are left out"}},
	    {0},
	};
	(void)state;
	accepts(cases);
}

/* Used, asking for nothing, or said by attn of its own results. */
static void test_accepted(void **state)
{
	static const struct given_case cases[] = {
	    {P WV ", \"layout\": \"in,out\", \"packed\": false, \"alibi\": false, \"sinusoidal\": false}",
	     {NULL},
	     {NULL}},
	    {Q ", \"version\": \"1.2\"}", {NULL}, {NULL}},
	    {Q ", \"version\": \"1.2\", \"axes\": \"batch\", \"past_keys\": 1}", {NULL}, {NULL}},
	    {Q ", \"alibi_slopes\": [1], \"layer\": 3, \"tokens\": [\"a\"]}", {NULL}, {NULL}},
	    {Q V ", \"wo\": [[1, 1]], \"layout\": \"in,out\"}", {NULL}, {NULL}},
	    {Q ", \"past_k\": [[[1, 1]]], \"bias_k\": [1, 1]}", {NULL}, {NULL}},
	    {P WV ", \"layout\": \"in,out\", \"bqkv\": [1, 2, 3, 4, 5, 6]}", {NULL}, {NULL}},
	    {Q ", \"blocks\": \"size=1,random=1,seed=3\"}", {NULL}, {NULL}},
	    {W ", \"num_heads\": 2, \"causal\": true, \"layer\": 1, \"context\": [[1]]}", {NULL}, {NULL}},
	    {W ", \"rope\": 10000, \"temperature\": 2, \"num_heads\": 8, \"version\": \"1.2\"}",
	     {NULL},
	     {NULL}},
	    {W "}", {"--causal=true"}, {NULL}},
	    {W ", \"sinks\": [1, 2]}", {NULL}, {NULL}},
	    {W ", \"temperature\": 2}",
	     {NULL},
	     {"'x.json': 'temperature' is left out beside stored weights"}},
	    {W ", \"temperature\": [1, 2], \"alibi_slopes\": [1, 2]}",
	     {NULL},
	     {"'temperature' and others are left out"}},
	    {W ", \"lambda\": 0.5}", {NULL}, {NULL}},
	    {0},
	};
	(void)state;
	accepts(cases);
}

static void test_stored(void **state)
{
	static const struct given_case cases[] = {
	    {W ", \"rope\": 10000}", {NULL}, {"'x.json': 'rope' has no effect on stored weights"}},
	    {W ", \"scale\": 2}", {NULL}, {"'scale'"}},
	    {W ", \"num_heads\": 8}", {NULL}, {"'num_heads' is '8', expected 2, the heads of 'weights'"}},
	    {W ", \"wo\": [[1]]}", {NULL}, {"'wo' of 'x.json' is an input", "give one of them"}},
	    {0},
	};
	(void)state;
	refuses(cases, ATTN_BAD_INPUT);
}

/* Biases in one, as PyTorch stores them beside matrices of their own widths. */
static void test_fused_bias(void **state)
{
	static const struct given_case cases[] = {
	    {P WV ", \"bqkv\": [1, 2, 3, 4, 5]}", {NULL}, {"'bqkv' is 5, expected 6"}},
	    {P WV ", \"bqkv\": [1, 2, 3, 4, 5, 6], \"bk\": [1, 2]}",
	     {NULL},
	     {"'bqkv' and 'bk' are both given"}},
	    {0},
	};
	struct attn_error err = {0};
	struct problem p;
	struct bundle b = bundle_of(P WV ", \"bqkv\": [1, 2, 3, 4, 5, 6]}");
	(void)state;
	assert_int_equal(problem_init(&p, &b, &err), ATTN_OK);
	for (int i = 0; i < 2; i++) {
		assert_true(p.attention.bq[i] == (float)(1 + i));
		assert_true(p.attention.bk[i] == (float)(3 + i));
		assert_true(p.attention.bv[i] == (float)(5 + i));
	}
	problem_release(&p);
	bundle_release(&b);
	refuses(cases, ATTN_BAD_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),  cmocka_unit_test(test_options),
	    cmocka_unit_test(test_notes),  cmocka_unit_test(test_accepted),
	    cmocka_unit_test(test_stored), cmocka_unit_test(test_fused_bias),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
