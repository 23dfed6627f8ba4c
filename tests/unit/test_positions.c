/* Positions, encodings and tables: sums worked out by hand or in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "attention/positions.h"
#include "bundle_test.h"
#include "input/bind.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Pairs of names and values that end with NULL. */
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct bundle with(const char *const *settings)
{
	struct bundle b;
	bundle_init(&b);
	for (; *settings; settings += 2)
		put_setting(&b, settings[0], settings[1]);
	return b;
}

static void expect_near(const float *found, const double *expected, size_t count, double bound)
{
	for (size_t i = 0; i < count; i++)
		if (!(fabs((double)found[i] - expected[i]) <= bound))
			fail_msg("[%zu] is %.9g, expected %.9g", i, (double)found[i], expected[i]);
}

/* Of embeddings that are queries and, with `self`, keys; where rotary needs positions. */
static enum attn_status bind(struct positions *at, const struct bundle *b, size_t batch, size_t queries,
			     size_t keys, size_t past, bool self, struct attn_error *err)
{
	struct problem p = {.attention = {.batch = batch,
					  .queries = queries,
					  .keys = {.past = past, .own = keys},
					  .projected = true,
					  .cross = !self,
					  .rotary = {.dims = 2}}};
	enum attn_status status = bind_positions(&p, b, err);
	*at = p.attention.positions;
	return status;
}

static struct positions bound(const struct bundle *b, size_t batch, size_t queries, size_t keys, size_t past,
			      bool self)
{
	struct attn_error err = {0};
	struct positions p;
	if (bind(&p, b, batch, queries, keys, past, self, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return p;
}

static void expect_positions(struct positions *p, size_t query_batch, size_t queries,
			     const double *of_queries, size_t key_batch, size_t keys, const double *of_keys)
{
	assert_int_equal(p->query_batch, query_batch);
	assert_int_equal(p->key_batch, key_batch);
	assert_memory_equal(p->queries, of_queries, query_batch * queries * sizeof(double));
	assert_memory_equal(p->keys, of_keys, key_batch * keys * sizeof(double));
	positions_release(p);
	assert_true(!p->queries && !p->keys);
}

#define NUMBERS(...) ((const double[]){__VA_ARGS__})

static void test_counted(void **state)
{
	(void)state;
	struct bundle b = with(SETTINGS(NULL));
	struct positions p = bound(&b, 2, 2, 2, 0, true);
	expect_positions(&p, 1, 2, NUMBERS(0, 1), 1, 2, NUMBERS(0, 1));
	p = bound(&b, 2, 2, 2, 3, true);
	expect_positions(&p, 1, 2, NUMBERS(3, 4), 1, 2, NUMBERS(3, 4));
	p = bound(&b, 1, 2, 3, 3, false);
	expect_positions(&p, 1, 2, NUMBERS(3, 4), 1, 3, NUMBERS(3, 4, 5));
	bundle_release(&b);
	/* The offset moves own keys only where they are the queries' tokens. */
	b = with(SETTINGS("position_offset", "10"));
	p = bound(&b, 1, 2, 2, 3, true);
	expect_positions(&p, 1, 2, NUMBERS(10, 11), 1, 2, NUMBERS(10, 11));
	p = bound(&b, 1, 2, 3, 3, false);
	expect_positions(&p, 1, 2, NUMBERS(10, 11), 1, 3, NUMBERS(3, 4, 5));
	bundle_release(&b);
}

static void test_given(void **state)
{
	(void)state;
	struct bundle b = with(SETTINGS("position_offset", "10"));
	put(&b, "positions", DTYPE_I64, SHAPE(2, 2), NUMBERS(7, 0, 1, 9007199254740991.0));
	struct positions p = bound(&b, 2, 2, 2, 0, true);
	expect_positions(&p, 2, 2, NUMBERS(7, 0, 1, 9007199254740991.0), 2, 2,
			 NUMBERS(7, 0, 1, 9007199254740991.0));
	p = bound(&b, 2, 2, 2, 4, false);
	expect_positions(&p, 2, 2, NUMBERS(7, 0, 1, 9007199254740991.0), 1, 2, NUMBERS(4, 5));
	put(&b, "source_positions", DTYPE_F32, SHAPE(2), NUMBERS(5, 3));
	p = bound(&b, 2, 2, 2, 0, true);
	expect_positions(&p, 2, 2, NUMBERS(7, 0, 1, 9007199254740991.0), 1, 2, NUMBERS(5, 3));
	bundle_release(&b);
	b = with(SETTINGS("position_offset", "10"));
	put(&b, "source_positions", DTYPE_F32, SHAPE(1, 2), NUMBERS(5, 3));
	p = bound(&b, 2, 2, 2, 0, true);
	expect_positions(&p, 1, 2, NUMBERS(10, 11), 1, 2, NUMBERS(5, 3));
	bundle_release(&b);
}

/* 3 batch items, 2 queries and 4 keys. */
static void refuse_positions(const struct bundle *b, const char *const *parts)
{
	struct attn_error err = {0};
	struct positions p;
	assert_int_equal(bind(&p, b, 3, 2, 4, 0, false, &err), ATTN_BAD_INPUT);
	expect_parts("positions", err.message, parts);
	positions_release(&p);
	assert_true(!p.queries && !p.keys);
}

static void refuse_tensor(const char *name, int rank, const size_t *shape, double value,
			  const char *const *parts)
{
	double values[12];
	struct bundle b = with(SETTINGS(NULL));
	for (size_t i = 0; i < 12; i++)
		values[i] = i == 1 ? value : 0;
	put(&b, name, DTYPE_F64, rank, shape, values);
	refuse_positions(&b, parts);
	bundle_release(&b);
}

static void test_position_refusals(void **state)
{
	(void)state;
	struct bundle b = with(SETTINGS("position_offset", "-1"));
	refuse_positions(&b, PARTS("'position_offset' is '-1'", "whole number from 0"));
	bundle_release(&b);
	b = with(SETTINGS("position_offset", "9007199254740991"));
	refuse_positions(&b, PARTS("'position_offset'", "below 2^53"));
	bundle_release(&b);
	refuse_tensor("positions", SHAPE(4), 0, PARTS("'test'", "'positions' is 4, expected 2, or 3 x 2"));
	refuse_tensor("positions", SHAPE(2, 2), 0, PARTS("'positions' is 2 x 2"));
	refuse_tensor("positions", SHAPE(1, 1, 2), 0, PARTS("'positions' is 1 x 1 x 2"));
	refuse_tensor("source_positions", SHAPE(2), 0, PARTS("'source_positions' is 2, expected 4, or 3"));
	refuse_tensor("positions", SHAPE(2), -1, PARTS("'positions[1]' is -1", "whole number from 0"));
	refuse_tensor("positions", SHAPE(2), 0.5, PARTS("'positions[1]' is 0.5"));
	refuse_tensor("positions", SHAPE(2), NAN, PARTS("'positions[1]' is", "nan"));
	refuse_tensor("positions", SHAPE(3, 2), 0x1p53, PARTS("'positions[0,1]'", "below 2^53"));
	refuse_tensor("source_positions", SHAPE(4), INFINITY, PARTS("'source_positions[1]' is inf"));
}

/* The part of a problem that positions are added to. */
struct scene {
	struct bundle b;
	struct problem p;
	float embeddings[12], source[12], values[12];
};

/* `batch` (1 or 2) items of 2 tokens, 3 wide, filled with 1, 2, 3, ...; with a batch
 * of -2 two items that share theirs. */
static void scene_init(struct scene *s, int batch, const char *const *settings)
{
	*s = (struct scene){.b = with(settings)};
	for (int i = 0; i < 12; i++) {
		s->embeddings[i] = (float)(i + 1);
		s->source[i] = (float)(100 * (i + 1));
		s->values[i] = (float)(1000 * (i + 1));
	}
	struct attention *a = &s->p.attention;
	a->batch = (size_t)abs(batch);
	a->projected = true;
	a->queries = a->keys.own = 2;
	a->embeddings = (struct sequence){s->embeddings, 2, 3, batch > 1 ? 6 : 0};
	a->source = a->source_values = a->embeddings;
}

static void scene_cross(struct scene *s)
{
	s->p.attention.cross = true;
	s->p.attention.source.data = s->p.attention.source_values.data = s->source;
}

static void scene_release(struct scene *s)
{
	problem_release(&s->p);
	bundle_release(&s->b);
}

static void scene_bind(struct scene *s, bool rotary)
{
	struct attn_error err = {0};
	s->p.attention.rotary.dims = rotary ? 2 : 0;
	if (bind_positions(&s->p, &s->b, &err) != ATTN_OK)
		fail_msg("%s", err.message);
}

/* Nothing asked for: nothing done; rotary alone wants positions only. */
static void test_nothing_added(void **state)
{
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("sinusoidal", "false"));
	scene_bind(&s, false);
	assert_null(s.p.attention.positions.queries);
	assert_true(s.p.attention.embeddings.data == s.embeddings && s.p.floats.count == 0);
	scene_bind(&s, true);
	assert_true(s.p.attention.positions.queries[1] == 1 && s.p.attention.positions.keys[1] == 1);
	assert_true(s.p.attention.embeddings.data == s.embeddings && s.p.floats.count == 0);
	scene_release(&s);
}

/* Precomputed q and k are of one sequence where they are as many. */
static void test_precomputed(void **state)
{
	struct scene s;
	(void)state;
	for (size_t keys = 2; keys < 4; keys++) {
		scene_init(&s, 1, SETTINGS("position_offset", "5"));
		s.p.attention.projected = false;
		s.p.attention.keys.own = keys;
		s.p.attention.keys.past = 1;
		scene_bind(&s, true);
		assert_true(s.p.attention.positions.queries[0] == 5);
		assert_true(s.p.attention.positions.keys[0] == (keys == 2 ? 5 : 1));
		scene_release(&s);
	}
}

/* Width 3: sin t, cos t, sin(t / 10000^(2/3)) with 10000^(2/3) = 464.1588834:
 * t = 0: 0, 1, 0; t = 1: 0.8414709848, 0.5403023059, 0.0021544330. */
static void test_sinusoidal(void **state)
{
	static const double self[] = {1, 3, 3, 4.8414709848,  5.5403023059,  6.0021544330,
				      7, 9, 9, 10.8414709848, 11.5403023059, 12.0021544330};
	static const double cross[] = {100, 201, 300, 400.8414709848, 500.5403023059, 600.0021544330};
	struct scene s;
	(void)state;
	scene_init(&s, 2, SETTINGS("sinusoidal", "true"));
	scene_bind(&s, false);
	expect_near(s.p.attention.embeddings.data, self, 12, 1e-6);
	assert_true(s.p.attention.embeddings.batch_stride == 6 && s.p.attention.embeddings.rows == 2 &&
		    s.p.attention.embeddings.cols == 3);
	assert_true(s.p.attention.source.data == s.p.attention.embeddings.data &&
		    s.p.attention.source.batch_stride == 6);
	assert_true(s.p.attention.source_values.data == s.p.attention.embeddings.data &&
		    s.p.attention.source_values.batch_stride == 6);
	assert_true(s.embeddings[1] == 2); /* the bundle's own stay */
	scene_release(&s);

	/* Values of their own get nothing, and shared vectors stay shared. */
	scene_init(&s, -2, SETTINGS("sinusoidal", "true", "position_offset", "1"));
	scene_cross(&s);
	put(&s.b, "source_values", DTYPE_F32, SHAPE(2, 3), NUMBERS(0, 0, 0, 0, 0, 0));
	s.p.attention.source_values.data = s.values;
	scene_bind(&s, false);
	expect_near(s.p.attention.source.data, cross, 6, 4e-5);
	expect_near(s.p.attention.embeddings.data, NUMBERS(1.8414709848, 2.5403023059, 3.0021544330), 3,
		    1e-6);
	assert_true(s.p.attention.source.batch_stride == 0 && s.p.attention.embeddings.batch_stride == 0);
	assert_true(s.p.attention.source_values.data == s.values);
	scene_release(&s);
}

/* Far positions of a wide vector, against long double. */
static void test_sinusoidal_far(void **state)
{
	enum {
		COLS = 64
	};
	float zeros[COLS] = {0};
	double expected[COLS];
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("sinusoidal", "true", "position_offset", "131071"));
	s.p.attention.queries = s.p.attention.keys.own = 1;
	s.p.attention.embeddings = s.p.attention.source = s.p.attention.source_values =
	    (struct sequence){zeros, 1, COLS, 0};
	scene_bind(&s, false);
	for (int i = 0; i < COLS; i++) {
		long double angle = 131071 / powl(10000, 2 * (long double)(i / 2) / COLS);
		expected[i] = (double)(i % 2 ? cosl(angle) : sinl(angle));
	}
	expect_near(s.p.attention.embeddings.data, expected, COLS, 6e-8);
	scene_release(&s);
}

/* The numbers alone, without any bundle: what is out of range says its row. */
static void test_encoding(void **state)
{
	static const float x[] = {1, 2, 3, 4}, rows[] = {0, 0, 10, 20, 0x1.fffffep127f, 0};
	static const double at[] = {1, 0};
	const struct sequence s = {x, 2, 2, 0};
	struct position_encoding encoding = {.table = rows, .positions = at, .position_batch = 1};
	double scratch[6];
	float out[4];
	size_t beyond;
	(void)state;
	assert_true(position_encoding_add(&encoding, &s, 1, out, scratch, &beyond));
	expect_near(out, NUMBERS(11, 22, 3, 4), 4, 0);
	encoding.sinusoidal = true; /* sin 1, cos 1 and 0, 1 */
	assert_true(position_encoding_add(&encoding, &s, 1, out, scratch, &beyond));
	expect_near(out, NUMBERS(11.8414709848, 22.5403023059, 3, 5), 4, 2e-6);
	encoding.positions = NUMBERS(0, 2);
	const struct sequence large = {(const float[]){1, 2, 0x1p104f, 4}, 2, 2, 0};
	assert_false(position_encoding_add(&encoding, &large, 1, out, scratch, &beyond));
	assert_int_equal(beyond, 1);
}

static const double table[] = {0.5, 0.5, 0.5, 10, 20, 30, -1, -2, -3};

static void test_tables(void **state)
{
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("position_offset", "1"));
	put(&s.b, "position_table", DTYPE_F32, SHAPE(3, 3), table);
	scene_bind(&s, false);
	expect_near(s.p.attention.embeddings.data, NUMBERS(11, 22, 33, 3, 3, 3), 6, 0);
	assert_true(s.p.attention.source.data == s.p.attention.embeddings.data);
	assert_true(s.p.attention.source_values.data == s.p.attention.embeddings.data);
	scene_release(&s);

	/* Positions by batch item make two of the shared vectors; the encoding adds up. */
	scene_init(&s, -2, SETTINGS("sinusoidal", "true"));
	put(&s.b, "position_table", DTYPE_F64, SHAPE(3, 3), table);
	put(&s.b, "positions", DTYPE_I64, SHAPE(2, 2), NUMBERS(0, 0, 0, 1));
	scene_bind(&s, true);
	expect_near(
	    s.p.attention.embeddings.data,
	    NUMBERS(1.5, 3.5, 3.5, 4.5, 6.5, 6.5, 1.5, 3.5, 3.5, 14.8414709848, 25.5403023059, 36.0021544330),
	    12, 2e-6);
	assert_true(s.p.attention.embeddings.batch_stride == 6 && s.p.attention.source.batch_stride == 6);
	assert_true(s.p.attention.positions.query_batch == 2 && s.p.attention.positions.key_batch == 2);
	scene_release(&s);

	/* Each sequence by its own table, or one of them only. */
	for (int both = 0; both < 2; both++) {
		scene_init(&s, 1, SETTINGS(NULL));
		scene_cross(&s);
		put(&s.b, "source_position_table", DTYPE_F32, SHAPE(3, 3), table);
		put(&s.b, "source_positions", DTYPE_I64, SHAPE(2), NUMBERS(2, 1));
		if (both)
			put(&s.b, "position_table", DTYPE_F32, SHAPE(2, 3), table + 3);
		scene_bind(&s, false);
		expect_near(s.p.attention.source.data, NUMBERS(99, 198, 297, 410, 520, 630), 6, 0);
		assert_true(s.p.attention.source_values.data == s.p.attention.source.data);
		if (both)
			expect_near(s.p.attention.embeddings.data, NUMBERS(11, 22, 33, 3, 3, 3), 6, 0);
		else
			assert_true(s.p.attention.embeddings.data == s.embeddings);
		scene_release(&s);
	}
}

static void refuse(struct scene *s, const char *const *parts)
{
	struct attn_error err = {0};
	if (bind_positions(&s->p, &s->b, &err) != ATTN_BAD_INPUT)
		fail_msg("accepted, expected '%s'", parts[0]);
	expect_parts("bind_positions", err.message, parts);
	scene_release(s);
}

static void refuse_table(int rank, const size_t *shape, const char *const *settings, const char *const *parts)
{
	struct scene s;
	scene_init(&s, 1, settings);
	put(&s.b, "position_table", DTYPE_F32, rank, shape, table);
	refuse(&s, parts);
}

static void test_table_refusals(void **state)
{
	struct scene s;
	(void)state;
	refuse_table(SHAPE(1, 3), SETTINGS(NULL),
		     PARTS("'test'", "'position_table' has 1 rows", "at least 2", "position 1"));
	refuse_table(SHAPE(3, 3), SETTINGS("position_offset", "9007199254740000"),
		     PARTS("has 3 rows", "position 9007199254740000"));
	refuse_table(SHAPE(3, 2), SETTINGS(NULL), PARTS("'position_table' is 3 x 2, expected positions x 3"));
	refuse_table(SHAPE(9), SETTINGS(NULL), PARTS("'position_table' is 9, expected positions x 3"));
	refuse_table(SHAPE(0, 3), SETTINGS(NULL), PARTS("'position_table' is 0 x 3"));
	refuse_table(SHAPE(3, 3), SETTINGS("position_offset", "x"), PARTS("'position_offset' is 'x'"));

	scene_init(&s, 1, SETTINGS(NULL));
	put(&s.b, "source_position_table", DTYPE_F32, SHAPE(3, 3), table);
	refuse(&s, PARTS("'source_embeddings' is missing", "'source_position_table'"));

	scene_init(&s, 1, SETTINGS(NULL));
	scene_cross(&s);
	put(&s.b, "source_position_table", DTYPE_F32, SHAPE(1, 3), table);
	refuse(&s, PARTS("'source_position_table' has 1 rows", "position 1"));

	scene_init(&s, 1, SETTINGS(NULL));
	put(&s.b, "position_table", DTYPE_F32, SHAPE(2, 3), NUMBERS(0, 0, 0, 0, 0x1.fffffep127, 0));
	s.embeddings[4] = 0x1p104f; /* rounds up beyond the largest */
	refuse(&s, PARTS("'embeddings' of token 1", "beyond float32"));
}

static void test_other_refusals(void **state)
{
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("sinusoidal", "2"));
	refuse(&s, PARTS("'sinusoidal' is '2'", "true or false"));
	scene_init(&s, 1, SETTINGS("sinusoidal", "true"));
	put(&s.b, "source_positions", DTYPE_I64, SHAPE(2), NUMBERS(0, 1));
	refuse(&s, PARTS("'test'", "'source_positions' is given", "only 'positions'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counted),
	    cmocka_unit_test(test_given),
	    cmocka_unit_test(test_position_refusals),
	    cmocka_unit_test(test_nothing_added),
	    cmocka_unit_test(test_precomputed),
	    cmocka_unit_test(test_sinusoidal),
	    cmocka_unit_test(test_sinusoidal_far),
	    cmocka_unit_test(test_encoding),
	    cmocka_unit_test(test_tables),
	    cmocka_unit_test(test_table_refusals),
	    cmocka_unit_test(test_other_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
