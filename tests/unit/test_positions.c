/* Rotary, encodings and position tables: rotations and sums worked out by hand or in
 * long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "attention/positions.h"
#include "attention/rotary.h"
#include "bundle_test.h"
#include "input/problem.h"

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

static struct rotary rotary_of(const char *const *settings, size_t size, size_t latent_dims)
{
	struct attn_error err = {0};
	struct bundle b = with(settings);
	struct rotary r;
	if (rotary_bind(&r, &b, size, latent_dims, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	bundle_release(&b);
	return r;
}

/* Turn one vector to a position. */
static void turn(const struct rotary *r, double position, float *x)
{
	float table[64];
	assert_true(r->dims <= 64);
	rotary_table(r, &position, 1, table);
	rotary_turn(r, table, x, 0, 1);
}

static void expect_near(const float *found, const double *expected, size_t count, double bound)
{
	for (size_t i = 0; i < count; i++)
		if (!(fabs((double)found[i] - expected[i]) <= bound))
			fail_msg("[%zu] is %.9g, expected %.9g", i, (double)found[i], expected[i]);
}

/* d 4, base 10000, position 1: angles 1 and 1/100.
 *   cos 1 = 0.5403023059, sin 1 = 0.8414709848,
 *   cos 0.01 = 0.9999500004, sin 0.01 = 0.0099998333. */
static void test_hand_worked(void **state)
{
	/* (1, 2, 3, 4): pairs (1, 3) and (2, 4), or (1, 2) and (3, 4) */
	static const double half[] = {0.5403023059 - 3 * 0.8414709848, 2 * 0.9999500004 - 4 * 0.0099998333,
				      3 * 0.5403023059 + 0.8414709848, 4 * 0.9999500004 + 2 * 0.0099998333};
	static const double interleaved[] = {0.5403023059 - 2 * 0.8414709848, 2 * 0.5403023059 + 0.8414709848,
					     3 * 0.9999500004 - 4 * 0.0099998333,
					     4 * 0.9999500004 + 3 * 0.0099998333};
	float x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 4}, z[] = {1, 2, 3, 4};
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "10000"), 4, 0);
	assert_true(r.dims == 4 && r.first == 0 && !r.interleaved && r.base == 10000 && r.divisor == 1);
	turn(&r, 1, x);
	expect_near(x, half, 4, 1e-6);
	r = rotary_of(SETTINGS("rope", "10000", "rope_style", "half"), 4, 0);
	turn(&r, 1, z);
	assert_memory_equal(x, z, sizeof x);
	r = rotary_of(SETTINGS("rope", "1e4", "rope_style", "interleaved"), 4, 0);
	assert_true(r.interleaved);
	turn(&r, 1, y);
	expect_near(y, interleaved, 4, 1e-6);
	/* Position 0 turns nothing. */
	turn(&r, 0, z);
	assert_memory_equal(x, z, sizeof x);
}

static double dot(const float *a, const float *b, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

/* Lengths stay, and q.k depends on the difference of positions alone. */
static void test_invariants(void **state)
{
	enum {
		SIZE = 16
	};
	static const char *const styles[] = {"half", "interleaved"};
	(void)state;
	for (size_t s = 0; s < 2; s++) {
		float q[SIZE], k[SIZE], turned[3][2][SIZE];
		struct rotary r = rotary_of(SETTINGS("rope", "100", "rope_style", styles[s]), SIZE, 0);
		for (int i = 0; i < SIZE; i++) {
			q[i] = (float)sin(3 * i + 1);
			k[i] = (float)cos(5 * i);
		}
		for (int at = 0; at < 3; at++) { /* differences 7, 7 and 8 */
			memcpy(turned[at][0], q, sizeof q);
			memcpy(turned[at][1], k, sizeof k);
			turn(&r, 7 + 40 * at + (at == 2), turned[at][0]);
			turn(&r, 40 * at, turned[at][1]);
			assert_true(fabs(dot(turned[at][0], turned[at][0], SIZE) - dot(q, q, SIZE)) < 1e-5);
		}
		double first = dot(turned[0][0], turned[0][1], SIZE);
		assert_true(fabs(first - dot(turned[1][0], turned[1][1], SIZE)) < 1e-5);
		assert_true(fabs(first - dot(turned[2][0], turned[2][1], SIZE)) > 1e-2);
	}
}

/* Every element of a turned batch of tokens against the formula in long double:
 * x[first + ...] of each token turned, all else as it was. */
static void expect_turned(const struct rotary *r, long double base, long double divisor)
{
	enum {
		COUNT = 5,
		STRIDE = 24
	};
	static const double positions[COUNT] = {0, 1, 17, 4095, 131071};
	float x[COUNT * STRIDE], before[COUNT * STRIDE], table[COUNT * STRIDE];
	for (int i = 0; i < COUNT * STRIDE; i++)
		x[i] = before[i] = (float)sin(7 * i);
	rotary_table(r, positions, COUNT, table);
	rotary_turn(r, table, x, STRIDE, COUNT);
	for (size_t t = 0; t < COUNT; t++) {
		double expected[STRIDE];
		for (size_t c = 0; c < STRIDE; c++)
			expected[c] = (double)before[t * STRIDE + c];
		for (size_t c = 0; c < r->dims / 2; c++) {
			size_t at = r->first + (r->interleaved ? 2 * c : c);
			size_t other = r->interleaved ? at + 1 : at + r->dims / 2;
			long double angle = (long double)positions[t] / divisor /
					    powl(base, 2 * (long double)c / (long double)r->dims);
			long double a = before[t * STRIDE + at], b = before[t * STRIDE + other];
			expected[at] = (double)(a * cosl(angle) - b * sinl(angle));
			expected[other] = (double)(b * cosl(angle) + a * sinl(angle));
		}
		expect_near(x + t * STRIDE, expected, STRIDE, 3e-7);
		for (size_t c = 0; c < STRIDE; c++)
			if (c < r->first || c >= r->first + r->dims)
				assert_true(x[t * STRIDE + c] == before[t * STRIDE + c]);
	}
}

static void test_dims(void **state)
{
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "10000", "rope_dim", "6"), 16, 0);
	assert_true(r.dims == 6 && r.first == 0);
	expect_turned(&r, 10000, 1);
	r = rotary_of(SETTINGS("rope", "500000", "rope_dim", "4", "rope_style", "interleaved"), 5, 0);
	assert_true(r.dims == 4 && r.first == 0);
	expect_turned(&r, 500000, 1);
	/* Latent attention turns the last. */
	r = rotary_of(SETTINGS("rope", "10000"), 24, 8);
	assert_true(r.dims == 8 && r.first == 16);
	expect_turned(&r, 10000, 1);
	r = rotary_of(SETTINGS("rope", "10000", "rope_dim", "2", "rope_style", "interleaved"), 7, 2);
	assert_true(r.dims == 2 && r.first == 5);
	expect_turned(&r, 10000, 1);
}

static void test_scaling(void **state)
{
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "linear=4"), 16, 0);
	assert_true(r.divisor == 4 && r.base == 10000);
	expect_turned(&r, 10000, 4);
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "linear=0.5"), 8, 0);
	expect_turned(&r, 10000, 0.5L);
	/* 10000 * 8^(16/14) */
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "ntk=8"), 16, 0);
	assert_true(r.divisor == 1);
	expect_turned(&r, 10000 * powl(8, 16.0L / 14), 1);
	/* r is what is turned, not the head: 100 * 3^(6/4) */
	r = rotary_of(SETTINGS("rope", "100", "rope_dim", "6", "rope_scaling", "ntk=3"), 16, 0);
	expect_turned(&r, 100 * powl(3, 1.5L), 1);
}

static void test_no_rotary(void **state)
{
	struct attn_error err = {0};
	(void)state;
	assert_int_equal(rotary_of(SETTINGS(NULL), 5, 0).dims, 0);
	assert_int_equal(rotary_of(SETTINGS("rope", "none"), 5, 0).dims, 0);
	struct rotary r = rotary_of(SETTINGS("rope_dim", "3"), 7, 3);
	assert_true(r.dims == 0 && r.first == 0);
	/* The command line turns off what a file says. */
	struct bundle b = with(SETTINGS("rope", "10000", "rope_style", "half", "rope_scaling", "ntk=2"));
	assert_int_equal(bundle_override(&b, "rope", "none", "--rope", &err), ATTN_OK);
	assert_int_equal(rotary_bind(&r, &b, 8, 0, &err), ATTN_OK);
	assert_int_equal(r.dims, 0);
	assert_int_equal(bundle_override(&b, "rope_dim", "2", "--rope-dim", &err), ATTN_OK);
	assert_int_equal(rotary_bind(&r, &b, 8, 0, &err), ATTN_USAGE);
	expect_parts("rope_dim", err.message, PARTS("'--rope-dim' is '2'", "expected 'rope'"));
	bundle_release(&b);
}

static void refuse_rotary(const char *const *settings, size_t size, size_t latent_dims,
			  const char *const *parts)
{
	struct attn_error err = {0};
	struct bundle b = with(settings);
	struct rotary r;
	if (rotary_bind(&r, &b, size, latent_dims, &err) != ATTN_BAD_INPUT)
		fail_msg("%s=%s: status %d", settings[0], settings[1], (int)err.status);
	expect_parts(settings[0], err.message, parts);
	bundle_release(&b);
}

static void test_rotary_refusals(void **state)
{
	(void)state;
	refuse_rotary(SETTINGS("rope", "true"), 4, 0, PARTS("'test'", "'rope' is 'true'", "10000, or none"));
	refuse_rotary(SETTINGS("rope", "1"), 4, 0, PARTS("'rope' is '1'", "above 1"));
	refuse_rotary(SETTINGS("rope", "-5"), 4, 0, PARTS("'rope' is '-5'"));
	refuse_rotary(SETTINGS("rope", "9"), 5, 0, PARTS("'rope'", "even", "found 5", "rope_dim"));
	refuse_rotary(SETTINGS("rope", "9"), 8, 3, PARTS("'rope'", "even", "found 3"));
	refuse_rotary(SETTINGS("rope_style", "half"), 4, 0, PARTS("'rope_style'", "expected 'rope' beside"));
	refuse_rotary(SETTINGS("rope", "none", "rope_scaling", "ntk=2"), 4, 0,
		      PARTS("'rope_scaling'", "expected 'rope' beside"));
	refuse_rotary(SETTINGS("rope_dim", "2"), 4, 0, PARTS("'rope_dim'", "expected 'rope' beside"));
	refuse_rotary(SETTINGS("rope_style", "half"), 4, 2, PARTS("'rope_style'", "expected 'rope' beside"));
	refuse_rotary(SETTINGS("rope", "9", "rope_style", "neox"), 4, 0,
		      PARTS("'rope_style' is 'neox'", "half", "interleaved"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "3"), 4, 0, PARTS("'rope_dim' is '3'", "even", "4"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "6"), 4, 0, PARTS("'rope_dim' is '6'", "size, 4"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "0"), 4, 0, PARTS("'rope_dim' is '0'"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "4"), 6, 2, PARTS("'rope_dim' is '4'", "2, as many"));
	refuse_rotary(SETTINGS("rope_dim", "4"), 6, 2, PARTS("'rope_dim' is '4'", "2, as many"));
	static const char *const scalings[] = {
	    "4", "yarn=4", "linear", "linear=", "linear=0", "ntk=-1", "ntk=4x"};
	for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++)
		refuse_rotary(SETTINGS("rope", "9", "rope_scaling", scalings[i]), 4, 0,
			      PARTS("'rope_scaling'", scalings[i], "linear=FACTOR or ntk=FACTOR"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "ntk=2"), 2, 0, PARTS("ntk needs more than 2"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "ntk=1e300"), 4, 0, PARTS("nearer to 1"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "linear=1e-300"), 4, 0, PARTS("nearer to 1"));
}

static struct positions bound(const struct bundle *b, size_t batch, size_t queries, size_t keys, size_t past,
			      bool self)
{
	struct attn_error err = {0};
	struct positions p;
	if (positions_bind(&p, b, batch, queries, keys, past, self, &err) != ATTN_OK)
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
	assert_int_equal(positions_bind(&p, b, 3, 2, 4, 0, false, &err), ATTN_BAD_INPUT);
	expect_parts("positions", err.message, parts);
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
	struct positions at;
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
	s->p.batch = (size_t)abs(batch);
	s->p.projected = true;
	s->p.queries = s->p.keys.own = 2;
	s->p.embeddings = (struct sequence){s->embeddings, 2, 3, batch > 1 ? 6 : 0};
	s->p.source = s->p.source_values = s->p.embeddings;
}

static void scene_cross(struct scene *s)
{
	s->p.info.cross = true;
	s->p.source.data = s->p.source_values.data = s->source;
}

static void scene_release(struct scene *s)
{
	positions_release(&s->at);
	problem_release(&s->p);
	bundle_release(&s->b);
}

static void scene_bind(struct scene *s, bool rotary)
{
	struct attn_error err = {0};
	if (bind_positions(&s->p, &s->b, rotary, &s->at, &err) != ATTN_OK)
		fail_msg("%s", err.message);
}

/* Nothing asked for: nothing done; rotary alone wants positions only. */
static void test_nothing_added(void **state)
{
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("sinusoidal", "false"));
	scene_bind(&s, false);
	assert_null(s.at.queries);
	assert_true(s.p.embeddings.data == s.embeddings && s.p.owned_count == 0);
	scene_bind(&s, true);
	assert_true(s.at.queries[1] == 1 && s.at.keys[1] == 1);
	assert_true(s.p.embeddings.data == s.embeddings && s.p.owned_count == 0);
	scene_release(&s);
}

/* Ready-made q and k are of one sequence where they are as many. */
static void test_ready_made(void **state)
{
	struct scene s;
	(void)state;
	for (size_t keys = 2; keys < 4; keys++) {
		scene_init(&s, 1, SETTINGS("position_offset", "5"));
		s.p.projected = false;
		s.p.keys.own = keys;
		s.p.keys.past = 1;
		scene_bind(&s, true);
		assert_true(s.at.queries[0] == 5);
		assert_true(s.at.keys[0] == (keys == 2 ? 5 : 1));
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
	expect_near(s.p.embeddings.data, self, 12, 1e-6);
	assert_true(s.p.embeddings.batch_stride == 6 && s.p.embeddings.rows == 2 && s.p.embeddings.cols == 3);
	assert_true(s.p.source.data == s.p.embeddings.data && s.p.source.batch_stride == 6);
	assert_true(s.p.source_values.data == s.p.embeddings.data && s.p.source_values.batch_stride == 6);
	assert_true(s.embeddings[1] == 2); /* the bundle's own stay */
	scene_release(&s);

	/* Values of their own get nothing, and shared vectors stay shared. */
	scene_init(&s, -2, SETTINGS("sinusoidal", "true", "position_offset", "1"));
	scene_cross(&s);
	put(&s.b, "source_values", DTYPE_F32, SHAPE(2, 3), NUMBERS(0, 0, 0, 0, 0, 0));
	s.p.source_values.data = s.values;
	scene_bind(&s, false);
	expect_near(s.p.source.data, cross, 6, 4e-5);
	expect_near(s.p.embeddings.data, NUMBERS(1.8414709848, 2.5403023059, 3.0021544330), 3, 1e-6);
	assert_true(s.p.source.batch_stride == 0 && s.p.embeddings.batch_stride == 0);
	assert_true(s.p.source_values.data == s.values);
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
	s.p.queries = s.p.keys.own = 1;
	s.p.embeddings = s.p.source = s.p.source_values = (struct sequence){zeros, 1, COLS, 0};
	scene_bind(&s, false);
	for (int i = 0; i < COLS; i++) {
		long double angle = 131071 / powl(10000, 2 * (long double)(i / 2) / COLS);
		expected[i] = (double)(i % 2 ? cosl(angle) : sinl(angle));
	}
	expect_near(s.p.embeddings.data, expected, COLS, 6e-8);
	scene_release(&s);
}

static const double table[] = {0.5, 0.5, 0.5, 10, 20, 30, -1, -2, -3};

static void test_tables(void **state)
{
	struct scene s;
	(void)state;
	scene_init(&s, 1, SETTINGS("position_offset", "1"));
	put(&s.b, "position_table", DTYPE_F32, SHAPE(3, 3), table);
	scene_bind(&s, false);
	expect_near(s.p.embeddings.data, NUMBERS(11, 22, 33, 3, 3, 3), 6, 0);
	assert_true(s.p.source.data == s.p.embeddings.data);
	assert_true(s.p.source_values.data == s.p.embeddings.data);
	scene_release(&s);

	/* Positions by batch item make two of the shared vectors; the encoding adds up. */
	scene_init(&s, -2, SETTINGS("sinusoidal", "true"));
	put(&s.b, "position_table", DTYPE_F64, SHAPE(3, 3), table);
	put(&s.b, "positions", DTYPE_I64, SHAPE(2, 2), NUMBERS(0, 0, 0, 1));
	scene_bind(&s, true);
	expect_near(
	    s.p.embeddings.data,
	    NUMBERS(1.5, 3.5, 3.5, 4.5, 6.5, 6.5, 1.5, 3.5, 3.5, 14.8414709848, 25.5403023059, 36.0021544330),
	    12, 2e-6);
	assert_true(s.p.embeddings.batch_stride == 6 && s.p.source.batch_stride == 6);
	assert_true(s.at.query_batch == 2 && s.at.key_batch == 2);
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
		expect_near(s.p.source.data, NUMBERS(99, 198, 297, 410, 520, 630), 6, 0);
		assert_true(s.p.source_values.data == s.p.source.data);
		if (both)
			expect_near(s.p.embeddings.data, NUMBERS(11, 22, 33, 3, 3, 3), 6, 0);
		else
			assert_true(s.p.embeddings.data == s.embeddings);
		scene_release(&s);
	}
}

static void refuse(struct scene *s, const char *const *parts)
{
	struct attn_error err = {0};
	if (bind_positions(&s->p, &s->b, false, &s->at, &err) != ATTN_BAD_INPUT)
		fail_msg("accepted, expected '%s'", parts[0]);
	expect_parts("bind_positions", err.message, parts);
	assert_true(!s->at.queries && !s->at.keys);
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
	static const char *const names[] = {"position_table", "source_position_table", "positions",
					    "source_positions"};
	struct scene s;
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		scene_init(&s, 1, SETTINGS(NULL));
		s.p.projected = false;
		put(&s.b, names[i], DTYPE_F32, SHAPE(3, 3), table);
		refuse(&s, PARTS("'test'", names[i], i < 2 ? "ready-made" : "'rope'"));
	}
	scene_init(&s, 1, SETTINGS("sinusoidal", "true"));
	s.p.projected = false;
	refuse(&s, PARTS("'sinusoidal' is 'true'", "ready-made"));
	scene_init(&s, 1, SETTINGS("sinusoidal", "2"));
	refuse(&s, PARTS("'sinusoidal' is '2'", "true or false"));
	scene_init(&s, 1, SETTINGS("position_offset", "3"));
	refuse(&s, PARTS("'position_offset'", "'rope'", "'sinusoidal'", "'position_table'"));
	scene_init(&s, 1, SETTINGS("sinusoidal", "true"));
	put(&s.b, "source_positions", DTYPE_I64, SHAPE(2), NUMBERS(0, 1));
	refuse(&s, PARTS("'test'", "'source_positions' is given", "only 'positions'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hand_worked),
	    cmocka_unit_test(test_invariants),
	    cmocka_unit_test(test_dims),
	    cmocka_unit_test(test_scaling),
	    cmocka_unit_test(test_no_rotary),
	    cmocka_unit_test(test_rotary_refusals),
	    cmocka_unit_test(test_counted),
	    cmocka_unit_test(test_given),
	    cmocka_unit_test(test_position_refusals),
	    cmocka_unit_test(test_nothing_added),
	    cmocka_unit_test(test_ready_made),
	    cmocka_unit_test(test_sinusoidal),
	    cmocka_unit_test(test_sinusoidal_far),
	    cmocka_unit_test(test_tables),
	    cmocka_unit_test(test_table_refusals),
	    cmocka_unit_test(test_other_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
