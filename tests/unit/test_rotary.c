/* Rotary positions: rotations worked out by hand or in long double, and their settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "attention/rotary.h"
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

/* For heads of `size` numbers, of which latent attention rotates latent_dims (0: any). */
static enum attn_status bind(struct rotary *r, const struct bundle *b, size_t size, size_t latent_dims,
			     struct attn_error *err)
{
	struct problem p = {.attention = {.head_size = size, .latent = {.rotary_size = latent_dims}}};
	enum attn_status status = bind_rotary(&p, b, err);
	*r = p.attention.rotary;
	problem_release(&p);
	return status;
}

static struct rotary rotary_of(const char *const *settings, size_t size, size_t latent_dims)
{
	struct attn_error err = {0};
	struct bundle b = with(settings);
	struct rotary r;
	if (bind(&r, &b, size, latent_dims, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	bundle_release(&b);
	return r;
}

/* Rotate one vector to a position. */
static void rotate(const struct rotary *r, double position, float *x)
{
	float table[64];
	assert_true(r->dims <= 64);
	rotary_table(r, &position, 1, table);
	rotary_rotate(r, table, x, 0, 1);
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
	rotate(&r, 1, x);
	expect_near(x, half, 4, 1e-6);
	r = rotary_of(SETTINGS("rope", "10000", "rope_style", "half"), 4, 0);
	rotate(&r, 1, z);
	assert_memory_equal(x, z, sizeof x);
	r = rotary_of(SETTINGS("rope", "1e4", "rope_style", "interleaved"), 4, 0);
	assert_true(r.interleaved);
	rotate(&r, 1, y);
	expect_near(y, interleaved, 4, 1e-6);
	/* Position 0 rotates nothing. */
	rotate(&r, 0, z);
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
		float q[SIZE], k[SIZE], rotated[3][2][SIZE];
		struct rotary r = rotary_of(SETTINGS("rope", "100", "rope_style", styles[s]), SIZE, 0);
		for (int i = 0; i < SIZE; i++) {
			q[i] = (float)sin(3 * i + 1);
			k[i] = (float)cos(5 * i);
		}
		for (int at = 0; at < 3; at++) { /* differences 7, 7 and 8 */
			memcpy(rotated[at][0], q, sizeof q);
			memcpy(rotated[at][1], k, sizeof k);
			rotate(&r, 7 + 40 * at + (at == 2), rotated[at][0]);
			rotate(&r, 40 * at, rotated[at][1]);
			assert_true(fabs(dot(rotated[at][0], rotated[at][0], SIZE) - dot(q, q, SIZE)) < 1e-5);
		}
		double first = dot(rotated[0][0], rotated[0][1], SIZE);
		assert_true(fabs(first - dot(rotated[1][0], rotated[1][1], SIZE)) < 1e-5);
		assert_true(fabs(first - dot(rotated[2][0], rotated[2][1], SIZE)) > 1e-2);
	}
}

/* Every element of a rotated batch of tokens against the formula in long double:
 * x[first + ...] of each token rotated, all else as it was. */
static void expect_rotated(const struct rotary *r, long double base, long double divisor)
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
	rotary_rotate(r, table, x, STRIDE, COUNT);
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
	expect_rotated(&r, 10000, 1);
	r = rotary_of(SETTINGS("rope", "500000", "rope_dim", "4", "rope_style", "interleaved"), 5, 0);
	assert_true(r.dims == 4 && r.first == 0);
	expect_rotated(&r, 500000, 1);
	/* Latent attention rotates the last. */
	r = rotary_of(SETTINGS("rope", "10000"), 24, 8);
	assert_true(r.dims == 8 && r.first == 16);
	expect_rotated(&r, 10000, 1);
	r = rotary_of(SETTINGS("rope", "10000", "rope_dim", "2", "rope_style", "interleaved"), 7, 2);
	assert_true(r.dims == 2 && r.first == 5);
	expect_rotated(&r, 10000, 1);
}

static void test_scaling(void **state)
{
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "linear=4"), 16, 0);
	assert_true(r.divisor == 4 && r.base == 10000);
	expect_rotated(&r, 10000, 4);
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "linear=0.5"), 8, 0);
	expect_rotated(&r, 10000, 0.5L);
	/* 10000 * 8^(16/14) */
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "ntk=8"), 16, 0);
	assert_true(r.divisor == 1);
	expect_rotated(&r, 10000 * powl(8, 16.0L / 14), 1);
	/* r is what is rotated, not the head: 100 * 3^(6/4) */
	r = rotary_of(SETTINGS("rope", "100", "rope_dim", "6", "rope_scaling", "ntk=3"), 16, 0);
	expect_rotated(&r, 100 * powl(3, 1.5L), 1);
}

static void test_ntk_base(void **state)
{
	(void)state;
	/* 100 * 3^(6/4), and 100 * 2^(4/2) */
	assert_true(fabs(rotary_ntk_base(100, 3, 6) - 519.6152422706632) < 1e-9);
	assert_true(rotary_ntk_base(100, 2, 4) == 400);
	assert_true(rotary_ntk_base(100, 1, 8) == 100);
}

static void expect_frequency(const struct rotary *r, size_t c, double expected, double bound)
{
	double found = rotary_frequency(r, c);
	if (!(fabs(found / expected - 1) < bound))
		fail_msg("pair %zu: %.9g, expected %.9g", c, found, expected);
}

/* Frequencies of Llama 3.1 8B (base 500000, heads of 128), as transformers' modeling_rope_utils
 * gives them in float32. */
static void test_llama3(void **state)
{
	static const struct {
		size_t c;
		double frequency;
	} published[] = {{20, 0.01656044},   {29, 0.00216657},   {30, 0.001371894},
			 {34, 0.0001785078}, {35, 9.556212e-05}, {63, 3.068926e-07}};
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "500000", "rope_scaling", "llama3=8,1,4,8192"), 128, 0);
	for (size_t i = 0; i < sizeof published / sizeof *published; i++)
		expect_frequency(&r, published[i].c, published[i].frequency, 1e-6);
}

/* By hand, of 8 dimensions and 16 positions: 32 waves do not fit before pair 0, one does before
 * pair 0.4, so that all but pair 0 are divided by 4; the magnitude is 0.1 ln 4 + 1.  It is what
 * transformers gives, too. */
static void test_yarn(void **state)
{
	static const double frequencies[] = {1, 0.025, 0.0025, 0.00025};
	(void)state;
	struct rotary r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "yarn=4,16"), 8, 0);
	for (size_t c = 0; c < 4; c++)
		expect_frequency(&r, c, frequencies[c], 1e-12);
	assert_true(fabs(r.magnitude - 1.1386294361119891) < 1e-12);
	float x[8] = {3, 0, 0, 0, 4, 0, 0, 0};
	rotate(&r, 0, x); /* not rotated, only longer */
	expect_near(x, (double[]){3 * r.magnitude, 0, 0, 0, 4 * r.magnitude, 0, 0, 0}, 8, 1e-6);
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "yarn=4,16,32,1,0.5"), 8, 0);
	assert_true(r.magnitude == 0.5);
	r = rotary_of(SETTINGS("rope", "10000", "rope_scaling", "yarn=0.5,16"), 8, 0);
	assert_true(r.magnitude == 1);
}

/* One head of 8 dimensions and so many tokens, with rotary tensors. */
struct given {
	const char *name;
	size_t rows, cols; /* rows 0: a vector */
	double values[8];
};

static struct bundle with_tokens(const char *const *settings, size_t tokens, const struct given *given)
{
	static const double zeros[8 * 8];
	struct bundle b = with(settings);
	put(&b, "q", DTYPE_F32, SHAPE(1, tokens, 8), zeros);
	put(&b, "k", DTYPE_F32, SHAPE(1, tokens, 8), zeros);
	if (given && given->rows > 0)
		put(&b, given->name, DTYPE_F64, SHAPE(given->rows, given->cols), given->values);
	else if (given)
		put(&b, given->name, DTYPE_F64, SHAPE(given->cols), given->values);
	return b;
}

static void expect_frequencies(const char *const *settings, size_t tokens, const struct given *given,
			       const double *frequencies, double magnitude)
{
	struct attn_error err = {0};
	struct bundle b = with_tokens(settings, tokens, given);
	struct problem p;
	if (problem_init(&p, &b, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	for (size_t c = 0; c < 4; c++)
		expect_frequency(&p.attention.rotary, c, frequencies[c], 1e-6);
	assert_true(fabs(p.attention.rotary.magnitude - magnitude) < 1e-12); /* 0 is 1 */
	problem_release(&p);
	bundle_release(&b);
}

/* By hand: 4 tokens of 2 are base 10000 (2 4/2 - 1)^(8/6), so that frequency c is divided by
 * 3^(c/3); no more than 2 leave the base. */
static void test_dynamic(void **state)
{
	const char *const *settings = SETTINGS("rope", "10000", "rope_scaling", "dynamic=2,2");
	(void)state;
	expect_frequencies(settings, 4, NULL, (double[]){1, 0.06933612744, 0.004807498568, 0.001 / 3}, 0);
	expect_frequencies(settings, 2, NULL, (double[]){1, 0.1, 0.01, 0.001}, 0);
}

/* Phi-3's lengths, whose magnitude is the root of 1 + ln 32 / ln 4096, that is of 17/12; the
 * second row of factors is for texts that are longer than the first length. */
static void test_longrope(void **state)
{
	static const struct given factors = {"rope_factors", 2, 4, {1, 2, 4, 8, 10, 20, 40, 80}};
	(void)state;
	expect_frequencies(SETTINGS("rope", "10000", "rope_scaling", "longrope=4096,131072"), 4, &factors,
			   (double[]){1, 0.05, 0.0025, 0.000125}, 1.1902380714238083);
	expect_frequencies(SETTINGS("rope", "10000", "rope_scaling", "longrope=3,9"), 4, &factors,
			   (double[]){0.1, 0.005, 0.00025, 0.0000125}, 1.4142135623730951);
	expect_frequencies(SETTINGS("rope", "10000", "rope_scaling", "longrope=4,16,0.5"), 4, &factors,
			   (double[]){1, 0.05, 0.0025, 0.000125}, 0.5);
}

/* Those that yarn gives, given. */
static void test_inv_freq(void **state)
{
	static const struct given yarn = {"inv_freq", 0, 4, {1, 0.025, 0.0025, 0.00025}};
	(void)state;
	expect_frequencies(SETTINGS(NULL), 2, &yarn, yarn.values, 0);
}

static void test_tensor_refusals(void **state)
{
	static const struct {
		const char *settings[5];
		struct given given;
		const char *part;
	} cases[] = {
	    {{NULL}, {"inv_freq", 0, 5, {1, 1, 1, 1, 1}}, "'inv_freq' is 5, expected 4: half of the rotary"},
	    {{NULL}, {"inv_freq", 2, 2, {1, 1, 1, 1}}, "'inv_freq' is 2 x 2"},
	    {{NULL}, {"inv_freq", 0, 4, {1, 1, 0, 1}}, "'inv_freq' has 0 at [2], expected numbers above 0"},
	    {{NULL}, {"inv_freq", 0, 4, {1, -1, 1, 1}}, "'inv_freq' has -1 at [1]"},
	    {{"rope", "9"}, {"inv_freq", 0, 4, {1, 1, 1, 1}}, "none beside 'inv_freq'"},
	    {{"rope_scaling", "linear=2"}, {"inv_freq", 0, 4, {1, 1, 1, 1}}, "frequencies after scaling"},
	    {{"rope", "9"}, {"rope_factors", 0, 3, {1, 1, 1}}, "'rope_factors' is 3, expected 4"},
	    {{"rope", "9"}, {"rope_factors", 2, 4, {1, 1, 1, 1, 1, 1, 1, 1}}, "require rope_scaling"},
	    {{"rope", "9"}, {"rope_factors", 0, 4, {1, 0, 1, 1}}, "'rope_factors' has 0 at [1]"},
	    {{"rope", "9", "rope_scaling", "linear=2"},
	     {"rope_factors", 0, 4, {1, 1, 1, 1}},
	     "or none, beside 'rope_factors'"},
	    {{"rope", "9", "rope_scaling", "longrope=1,9"},
	     {"rope_factors", 0, 4, {1, 1, 1, 1}},
	     "an ORIGINAL length above 1"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct attn_error err = {0};
		struct bundle b = with_tokens(cases[i].settings, 2, &cases[i].given);
		struct problem p;
		enum attn_status status = problem_init(&p, &b, &err);
		if (status != ATTN_BAD_INPUT || !strstr(err.message, cases[i].part))
			fail_msg("expected '%s', found '%s', status %d", cases[i].part, err.message,
				 (int)status);
		bundle_release(&b);
	}
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
	assert_int_equal(bind(&r, &b, 8, 0, &err), ATTN_OK);
	assert_int_equal(r.dims, 0);
	bundle_release(&b);
}

static void refuse_rotary(const char *const *settings, size_t size, size_t latent_dims,
			  const char *const *parts)
{
	struct attn_error err = {0};
	struct bundle b = with(settings);
	struct rotary r;
	if (bind(&r, &b, size, latent_dims, &err) != ATTN_BAD_INPUT)
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
	refuse_rotary(SETTINGS("rope", "9", "rope_style", "neox"), 4, 0,
		      PARTS("'rope_style' is 'neox'", "half", "interleaved"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "3"), 4, 0, PARTS("'rope_dim' is '3'", "even", "4"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "6"), 4, 0, PARTS("'rope_dim' is '6'", "size, 4"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "0"), 4, 0, PARTS("'rope_dim' is '0'"));
	refuse_rotary(SETTINGS("rope", "9", "rope_dim", "4"), 6, 2, PARTS("'rope_dim' is '4'", "2, as many"));
	refuse_rotary(SETTINGS("rope_dim", "4"), 6, 2, PARTS("'rope_dim' is '4'", "2, as many"));
	static const char *const scalings[] = {"4", "linear", "linear=", "linear=0", "ntk=-1", "ntk=4x"};
	for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++)
		refuse_rotary(SETTINGS("rope", "9", "rope_scaling", scalings[i]), 4, 0,
			      PARTS("'rope_scaling'", scalings[i], "linear=FACTOR or ntk=FACTOR"));
	static const char *const models[] = {"yarn=4",    "yarn=4,16,32", "llama3=8,1,4", "llama3=8,4,1,16",
					     "dynamic=2", "dynamic=2,0",  "longrope=16",  "yarn=1,2,3,2,1,1"};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		refuse_rotary(SETTINGS("rope", "9", "rope_scaling", models[i]), 4, 0,
			      PARTS("'rope_scaling'", models[i], "ORIGINAL"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "longrope=16,64"), 4, 0, PARTS("'rope_factors'"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "ntk=2"), 2, 0, PARTS("ntk needs more than 2"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "ntk=1e300"), 4, 0, PARTS("nearer to 1"));
	refuse_rotary(SETTINGS("rope", "9", "rope_scaling", "linear=1e-300"), 4, 0, PARTS("nearer to 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hand_worked),
	    cmocka_unit_test(test_invariants),
	    cmocka_unit_test(test_dims),
	    cmocka_unit_test(test_scaling),
	    cmocka_unit_test(test_ntk_base),
	    cmocka_unit_test(test_llama3),
	    cmocka_unit_test(test_yarn),
	    cmocka_unit_test(test_dynamic),
	    cmocka_unit_test(test_longrope),
	    cmocka_unit_test(test_inv_freq),
	    cmocka_unit_test(test_tensor_refusals),
	    cmocka_unit_test(test_no_rotary),
	    cmocka_unit_test(test_rotary_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
