/* What the settings say of normalisers, top_k and sinks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bundle_test.h"
#include "input/bind.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Settings are name, value, ..., NULL. */
static struct bundle settings(const char *const *of)
{
	struct bundle b;
	bundle_init(&b);
	for (; *of; of += 2)
		put_setting(&b, of[0], of[1]);
	return b;
}

/* Of two heads, which have sinks of their own where `sinks` is set. */
static enum attn_status bound(struct problem *p, const char *const *of, bool sinks, struct attn_error *err)
{
	struct bundle b = settings(of);
	if (sinks)
		put_setting(&b, "sinks", "1,2");
	*p = (struct problem){.attention = {.heads = 2}};
	p->attention.normalization = (struct normalization){.normalizer = &normalizer_linear, .top_k = 7};
	enum attn_status status = bind_normalizer(p, &b, err);
	bundle_release(&b);
	return status;
}

static void test_bind(void **state)
{
	static const char *const names[] = {"softmax", "sparsemax", "entmax15", "linear"};
	static const struct normalizer *const kinds[] = {&normalizer_softmax, &normalizer_sparsemax,
							 &normalizer_entmax15, &normalizer_linear};
	struct problem p;
	const struct normalization *n = &p.attention.normalization;
	struct attn_error err = {0};
	(void)state;
	assert_int_equal(bound(&p, PARTS(NULL), true, &err), ATTN_OK);
	assert_true(n->normalizer == &normalizer_softmax && n->top_k == 0);
	assert_true(n->sinks[0] == 1 && n->sinks[1] == 2);
	problem_release(&p);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(bound(&p, PARTS("normalizer", names[i], "zero_sink", "false"), false, &err),
				 ATTN_OK);
		assert_true(n->normalizer == kinds[i] && n->top_k == 0 && !n->sinks);
		problem_release(&p);
	}
	assert_int_equal(
	    bound(&p, PARTS("normalizer", "softmax", "zero_sink", "true", "top_k", "12"), false, &err),
	    ATTN_OK);
	assert_true(n->top_k == 12 && n->sinks[0] == 0 && n->sinks[1] == 0);
	problem_release(&p);
}

static void expect_refusal(bool has_sinks, const char *const *of, const char *const *parts)
{
	struct attn_error err = {0};
	struct problem p;
	if (bound(&p, of, has_sinks, &err) != ATTN_BAD_INPUT)
		fail_msg("%s %s: status %d", of[0], of[1], (int)err.status);
	expect_parts(of[1], err.message, parts);
	problem_release(&p);
}

static void test_bind_errors(void **state)
{
	(void)state;
	expect_refusal(
	    false, PARTS("normalizer", "Softmax"),
	    PARTS("'test'", "'normalizer' is 'Softmax'", "'softmax', 'sparsemax', 'entmax15' or 'linear'"));
	expect_refusal(false, PARTS("normalizer", ""), PARTS("'normalizer' is ''"));
	expect_refusal(false, PARTS("top_k", "0"), PARTS("'top_k' is '0'", "a whole number from 1"));
	expect_refusal(false, PARTS("top_k", "2.5"), PARTS("'top_k' is '2.5'"));
	expect_refusal(false, PARTS("zero_sink", "maybe"), PARTS("'zero_sink' is 'maybe'", "true or false"));
	expect_refusal(true, PARTS("zero_sink", "true"), PARTS("'zero_sink'", "false where there are sinks"));
	expect_refusal(true, PARTS("normalizer", "sparsemax"),
		       PARTS("'sparsemax'", "'softmax' where there are sinks"));
	expect_refusal(true, PARTS("normalizer", "linear"), PARTS("'softmax' where there are sinks"));
	expect_refusal(false, PARTS("normalizer", "entmax15", "zero_sink", "true"),
		       PARTS("'entmax15'", "'softmax' with zero_sink"));
	expect_refusal(false, PARTS("normalizer", "linear", "top_k", "3"),
		       PARTS("'linear'", "'softmax', 'sparsemax' or 'entmax15' with top_k"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bind),
	    cmocka_unit_test(test_bind_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
