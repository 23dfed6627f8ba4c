/* Stored results as a source of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "bundle_test.h"
#include "result/stored.h"

static struct named_rows opened(const struct bundle *b)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	const struct masking *masking = NULL;
	struct named_rows rows;
	if (stored_open(&rows, &masking, b, &notes, &err) != ATTN_OK ||
	    rows.source->start(rows.source, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	assert_int_equal(masking->queries, rows.info.shape.queries);
	string_list_release(&notes);
	return rows;
}

/* Weight (batch, layer, head, query, key) as a row of it has it. */
static float weight_at(struct row_source *source, size_t batch, size_t layer, size_t head, size_t query,
		       size_t key)
{
	struct attn_error err = {0};
	struct row_block block = {.batch = batch,
				  .layer = layer,
				  .head = head,
				  .query = query,
				  .count = 1,
				  .keys = source->shape.keys};
	if (source->read(source, 0, &block, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (int stage = 0; stage < SCORE_STAGES; stage++)
		assert_null(block.scores[stage]);
	return block.weights[key];
}

/* weights of this shape whose elements are i / 1000 */
static struct bundle counted(enum dtype dtype, int rank, const size_t *shape, const char *axes)
{
	double values[200];
	struct bundle b;
	for (size_t i = 0; i < 200; i++)
		values[i] = (double)i / 1000;
	bundle_init(&b);
	put(&b, "weights", dtype, rank, shape, values);
	if (axes)
		put_setting(&b, "axes", axes);
	return b;
}

/* The element that (batch, layer, head, query, key) must be is `expected` / 1000. */
static void expect_place(struct row_source *source, const size_t at[5], size_t expected)
{
	float weight = weight_at(source, at[0], at[1], at[2], at[3], at[4]);
	if (fabsf(weight - (float)expected / 1000) > 1e-7f)
		fail_msg("weight %g, expected element %zu", (double)weight, expected);
}

/* Both of the names and of the source. */
static void expect_shape(const struct named_rows *rows, size_t batch, size_t layers, size_t heads,
			 size_t queries, size_t keys)
{
	const struct rows_shape *const shapes[] = {&rows->info.shape, &rows->source->shape};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(shapes[i]->batch, batch);
		assert_int_equal(shapes[i]->layers, layers);
		assert_int_equal(shapes[i]->heads, heads);
		assert_int_equal(shapes[i]->queries, queries);
		assert_int_equal(shapes[i]->keys, keys);
	}
}

static void test_rank_2(void **state)
{
	(void)state;
	struct bundle b = counted(DTYPE_F32, SHAPE(4, 5), NULL);
	struct named_rows rows = opened(&b);
	expect_shape(&rows, 1, 1, 1, 4, 5);
	assert_false(rows.info.has_batch || rows.info.has_layers || rows.info.layer_known);
	expect_place(rows.source, (size_t[]){0, 0, 0, 2, 3}, 13);
	named_rows_release(&rows);
	bundle_release(&b);
}

static void test_rank_3(void **state)
{
	(void)state;
	struct bundle b = counted(DTYPE_F64, SHAPE(3, 4, 5), NULL);
	struct named_rows rows = opened(&b);
	expect_shape(&rows, 1, 1, 3, 4, 5);
	expect_place(rows.source, (size_t[]){0, 0, 2, 1, 4}, 49);
	named_rows_release(&rows);
	bundle_release(&b);
}

static void test_rank_4(void **state)
{
	(void)state;
	struct bundle b = counted(DTYPE_F32, SHAPE(2, 3, 4, 5), NULL);
	struct named_rows rows = opened(&b);
	expect_shape(&rows, 1, 2, 3, 4, 5);
	assert_true(rows.info.has_layers && rows.info.layer_known && !rows.info.has_batch);
	expect_place(rows.source, (size_t[]){0, 1, 2, 1, 4}, 109);
	named_rows_release(&rows);
	bundle_release(&b);

	b = counted(DTYPE_F32, SHAPE(2, 3, 4, 5), "batch");
	rows = opened(&b);
	expect_shape(&rows, 2, 1, 3, 4, 5);
	assert_true(rows.info.has_batch && !rows.info.has_layers);
	expect_place(rows.source, (size_t[]){1, 0, 2, 1, 4}, 109);
	named_rows_release(&rows);
	bundle_release(&b);
}

static void test_rank_5(void **state)
{
	(void)state;
	struct bundle b = counted(DTYPE_F32, SHAPE(2, 3, 2, 3, 4), "layer,batch");
	struct named_rows rows = opened(&b);
	expect_shape(&rows, 3, 2, 2, 3, 4);
	assert_true(rows.info.has_batch && rows.info.has_layers);
	expect_place(rows.source, (size_t[]){2, 1, 1, 2, 3}, 143);
	expect_place(rows.source, (size_t[]){1, 0, 1, 0, 2}, 38);
	named_rows_release(&rows);
	bundle_release(&b);
}

/* Axes in another order, and weights without heads. */
static void test_named_axes(void **state)
{
	(void)state;
	struct bundle b = counted(DTYPE_F32, SHAPE(3, 2, 4, 5), "head,layer");
	struct named_rows rows = opened(&b);
	expect_shape(&rows, 1, 2, 3, 4, 5);
	/* [head 2, layer 1, query 3, key 4] */
	expect_place(rows.source, (size_t[]){0, 1, 2, 3, 4}, 119);
	expect_place(rows.source, (size_t[]){0, 0, 1, 2, 3}, 1 * 40 + 0 * 20 + 2 * 5 + 3);
	named_rows_release(&rows);
	bundle_release(&b);

	b = counted(DTYPE_F32, SHAPE(2, 3, 4, 5), "layer,head,key,query");
	rows = opened(&b);
	expect_shape(&rows, 1, 2, 3, 5, 4);
	/* [layer 1, head 0, key 2, query 3] */
	expect_place(rows.source, (size_t[]){0, 1, 0, 3, 2}, 60 + 2 * 5 + 3);
	named_rows_release(&rows);
	bundle_release(&b);

	b = counted(DTYPE_F32, SHAPE(2, 4, 5), "layer");
	rows = opened(&b);
	expect_shape(&rows, 1, 2, 1, 4, 5);
	assert_true(rows.info.has_layers);
	assert_string_equal(rows.info.head_names.items[0], "averaged over heads");
	expect_place(rows.source, (size_t[]){0, 1, 0, 2, 3}, 20 + 2 * 5 + 3);
	named_rows_release(&rows);
	bundle_release(&b);
}

/* More rows than a block holds, read as whole blocks. */
static void test_blocks(void **state)
{
	enum {
		ROWS = ROWS_BLOCK + 9
	};
	double values[ROWS * 2];
	struct attn_error err = {0};
	struct bundle b;
	(void)state;
	for (size_t i = 0; i < ROWS * 2; i++)
		values[i] = (double)i / (ROWS * 2);
	bundle_init(&b);
	put(&b, "weights", DTYPE_F64, SHAPE(ROWS, 2), values);
	struct named_rows rows = opened(&b);
	for (size_t query = 0; query < ROWS; query += ROWS_BLOCK) {
		struct row_block block = {.query = query, .count = ROWS - query, .keys = 2};
		if (block.count > ROWS_BLOCK)
			block.count = ROWS_BLOCK;
		assert_int_equal(rows.source->read(rows.source, 0, &block, &err), ATTN_OK);
		for (size_t i = 0; i < block.count * 2; i++)
			assert_true(block.weights[i] == (float)values[query * 2 + i]);
	}
	named_rows_release(&rows);
	bundle_release(&b);
}

static void expect_open_refusal(const char *json, const char *const *parts)
{
	struct attn_error err = {0};
	struct string_list notes = {0};
	struct named_rows rows;
	const struct masking *masking;
	struct bundle b = bundle_of(json);
	if (stored_open(&rows, &masking, &b, &notes, &err) != ATTN_BAD_INPUT)
		fail_msg("%s: status %d", json, (int)err.status);
	assert_null(rows.source);
	expect_parts(json, err.message, parts);
	string_list_release(&notes);
	bundle_release(&b);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_refusals(void **state)
{
	(void)state;
	expect_open_refusal("{\"weights\": [1]}", PARTS("'weights' is 1", "heads x queries x keys"));
	expect_open_refusal("{\"weights\": [[[[[[1]]]]]]}", PARTS("'weights' is 1 x 1 x 1 x 1 x 1 x 1"));
	expect_open_refusal("{\"weights\": [[1]], \"tokens\": [\"a\", \"b\"]}",
			    PARTS("'tokens'", "2 strings", "expected 1"));
	expect_open_refusal("{\"weights\": [[1]], \"source_tokens\": [\"a\", \"b\"]}",
			    PARTS("'source_tokens'", "2 strings", "expected 1"));
	expect_open_refusal("{\"weights\": [[1]], \"head_names\": [\"a\", \"b\"]}",
			    PARTS("'head_names'", "2 strings", "expected 1"));
	expect_open_refusal("{\"weights\": [[0.5, 0.5]], \"mask\": [true, false, true]}",
			    PARTS("'mask' is 3", "1 x 2"));
}

static void test_setting_refusals(void **state)
{
	static const struct {
		const char *name, *value, *part;
	} settings[] = {
	    {"axes", "heads", "'layer,batch'"},
	    {"axes", "layer,layer", "'layer,batch'"},
	    {"axes", "head,key", "all axes"},
	    {"axes", "batch", "nothing before its heads"},
	    {"past_keys", "5", "expected more than the 5 past"},
	    {"past_keys", "-1", "whole number"},
	    {"appended_keys", "both", "'bias,zero'"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct attn_error err = {0};
		struct named_rows rows;
		const struct masking *masking;
		struct bundle b = counted(DTYPE_F32, SHAPE(4, 5), NULL);
		put_setting(&b, settings[i].name, settings[i].value);
		assert_int_equal(stored_open(&rows, &masking, &b, NULL, &err), ATTN_BAD_INPUT);
		expect_parts(settings[i].name, err.message, PARTS(settings[i].part));
		bundle_release(&b);
	}
}

/* What is no weight is found when its row is read, and named. */
static void expect_bad_weight(enum dtype dtype, double value, const char *shown)
{
	double values[6] = {0.5, 0.5, 0, 0, 1, 0};
	struct attn_error err = {0};
	struct bundle b;
	values[3] = value;
	bundle_init(&b);
	put(&b, "weights", dtype, SHAPE(1, 3, 2), values);
	struct named_rows rows = opened(&b);
	struct row_block block = {.query = 0, .count = 1, .keys = 2};
	assert_int_equal(rows.source->read(rows.source, 0, &block, &err), ATTN_OK);
	block.count = 3;
	assert_int_equal(rows.source->read(rows.source, 0, &block, &err), ATTN_BAD_INPUT);
	expect_parts(shown, err.message, PARTS("'test'", "'weights[0,1,1]'", shown, "from 0 to 1"));
	named_rows_release(&rows);
	bundle_release(&b);
}

static void test_bad_weights(void **state)
{
	static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F64};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		expect_bad_weight(dtypes[i], NAN, "nan");
		expect_bad_weight(dtypes[i], -0.25, "is -0.25");
		expect_bad_weight(dtypes[i], 1.5, "is 1.5");
		expect_bad_weight(dtypes[i], INFINITY, "is inf");
	}
}

/* float16 rounds a weight near 1 up a little: that is no error. */
static void test_slack(void **state)
{
	static const double values[] = {1.0004, 0};
	struct bundle b;
	(void)state;
	bundle_init(&b);
	put(&b, "weights", DTYPE_F32, SHAPE(1, 2), values);
	struct named_rows rows = opened(&b);
	assert_true(weight_at(rows.source, 0, 0, 0, 0, 0) == 1.0004f);
	named_rows_release(&rows);
	bundle_release(&b);
}

static void expect_attended(const char *json, const char *settings, const char *expected)
{
	struct attn_error err = {0};
	struct bundle b = bundle_of(json);
	char found[100], *end = found;
	if (settings)
		put_setting(&b, "appended_keys", settings);
	struct named_rows rows = opened(&b);
	struct row_block block = {.count = rows.info.shape.queries, .keys = rows.info.shape.keys};
	assert_int_equal(rows.source->read(rows.source, 0, &block, &err), ATTN_OK);
	for (size_t i = 0; i < block.count * block.keys; i++) {
		if (i > 0 && i % block.keys == 0)
			*end++ = ' ';
		*end++ = block.cells[i] ? '1' : '.';
	}
	*end = '\0';
	assert_string_equal(found, expected);
	named_rows_release(&rows);
	bundle_release(&b);
}

/* A masked cell is told from a weight of 0 where the file says what hides keys;
 * a cell with a weight was seen, whatever it says. */
static void test_attended(void **state)
{
	(void)state;
	expect_attended("{\"weights\": [[1, 0], [0, 1]]}", NULL, "11 11");
	expect_attended("{\"weights\": [[1, 0], [0, 1]], \"causal\": true}", NULL, "1. 11");
	expect_attended("{\"weights\": [[1, 0], [0, 1]], \"mask\": [true, false], \"version\": \"1\"}", NULL,
			"1. 11");
	expect_attended("{\"weights\": [[1, 0], [0, 1]], \"key_padding\": [true, false], \"version\": \"1\"}",
			NULL, "1. 11");
	expect_attended("{\"weights\": [[0, 0], [0, 0]], \"kv_lengths\": [1]}", NULL, "1. 1.");
	expect_attended("{\"weights\": [[1, 0, 0], [0, 0, 1]], \"causal\": true}", "zero", "1.1 111");
	expect_attended("{\"weights\": [[1, 0, 0], [0, 0, 1]], \"mask\": [false], \"version\": \"1\"}",
			"bias,zero", "111 .11");
}

static void test_labels(void **state)
{
	(void)state;
	struct bundle b = bundle_of("{\"weights\": [[0.5, 0.5, 0, 0, 0], [1, 0, 0, 0, 0]],"
				    " \"tokens\": [\"a\", \"b\"], \"layer\": 7, \"head_names\": [\"h\"]}");
	put_setting(&b, "past_keys", "1");
	put_setting(&b, "appended_keys", "bias,zero");
	struct named_rows rows = opened(&b);
	static const char *const keys[] = {"0", "a", "b", "<bias>", "<zero>"};
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(rows.info.key_labels.items[i], keys[i]);
	assert_string_equal(rows.info.head_names.items[0], "h");
	assert_true(rows.info.layer_known && rows.info.has_tokens && !rows.info.shape.cross);
	assert_int_equal(rows.info.first_layer, 7);
	named_rows_release(&rows);
	bundle_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rank_2),      cmocka_unit_test(test_rank_3),
	    cmocka_unit_test(test_rank_4),      cmocka_unit_test(test_rank_5),
	    cmocka_unit_test(test_named_axes),  cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_refusals),    cmocka_unit_test(test_setting_refusals),
	    cmocka_unit_test(test_bad_weights), cmocka_unit_test(test_slack),
	    cmocka_unit_test(test_attended),    cmocka_unit_test(test_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
