/* Tiles of queries and the float64 reference give the same rows, where a tile takes a short
 * cut that the rolled cases of test_variants are too small or too tame for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer_test.h"

/* q (heads, queries, size) and k, v (heads, keys, size) of numbers from -2 to 2. */
static struct bundle random_bundle(size_t heads, size_t queries, size_t keys, size_t size)
{
	static const char *const names[] = {"q", "k", "v"};
	struct bundle b;
	uint32_t state = 1;
	bundle_init(&b);
	for (size_t i = 0; i < 3; i++) {
		size_t tokens = i == 0 ? queries : keys, count = heads * tokens * size;
		double *numbers = malloc(count * sizeof *numbers);
		assert_non_null(numbers);
		for (size_t n = 0; n < count; n++) {
			state = state * 1664525 + 1013904223;
			numbers[n] = (double)(state >> 8) / 0x1p22 - 2;
		}
		put(&b, names[i], DTYPE_F32, SHAPE(heads, tokens, size), numbers);
		free(numbers);
	}
	return b;
}

/* Contexts by tiles, without and with weights, are those of the reference, to within
 * least + 1e-5 |x|. */
static void expect_near_rows(const struct bundle *b, const char *name, double least)
{
	struct answer plain = compute(b, name, want_scores(SCORES_OF(SCORES_RAW)));
	for (int weights = 0; weights <= 1; weights++) {
		struct answer tiles =
		    compute(b, name, (struct rows_want){.weights = weights, .context = true});
		for (size_t i = 0; i < plain.contexts; i++)
			if (!(fabs((double)tiles.context[i] - (double)plain.context[i]) <=
			      least + 1e-5 * fabs((double)plain.context[i])))
				fail_msg("%s: context[%zu] is %.9g, expected %.9g", name, i,
					 (double)tiles.context[i], (double)plain.context[i]);
		assert_int_equal(tiles.masked, plain.masked);
		if (weights)
			expect_context_alone(b, name, &tiles);
		answer_release(&tiles);
	}
	answer_release(&plain);
}

static void expect_same_rows(const struct bundle *b, const char *name)
{
	expect_near_rows(b, name, 1e-5);
}

/* Weights that move as their scores do keep to what softmax keeps to. */
static void test_sparse_weights(void **state)
{
	static const char *const normalizers[] = {"sparsemax", "entmax15"};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct bundle b = random_bundle(2, 130, 200, 64);
		put_setting(&b, "normalizer", normalizers[i % 2]);
		put_setting(&b, "scale", i < 2 ? "0.125" : "0.5");
		expect_near_rows(&b, normalizers[i % 2], 2e-6);
		bundle_release(&b);
	}
}

/* Sums over the first keys are for queries that see them all.  Here the window of the last
 * queries has left the keys behind, so that they see none, and that of others begins late. */
static void test_linear_windows(void **state)
{
	static const char *const windows[] = {"2,0", "-1,0", "-1,3", "200,-1", "-1,-1"};
	static const char *const causal[] = {"true", "false"};
	(void)state;
	for (size_t i = 0; i < 10; i++) {
		struct bundle b = random_bundle(1, 520, 450, 4);
		put_setting(&b, "normalizer", "linear");
		put_setting(&b, "window", windows[i / 2]);
		put_setting(&b, "causal", causal[i % 2]);
		expect_same_rows(&b, windows[i / 2]);
		bundle_release(&b);
	}
}

/* A bias that is nearly the same everywhere takes float32's digits from every score. */
static void test_large_biases(void **state)
{
	static const char *const normalizers[] = {"softmax", "sparsemax", "entmax15", "softmax"};
	double bias[8];
	(void)state;
	for (size_t i = 0; i < 8; i++)
		bias[i] = 1e5 + (double)i / 8;
	for (size_t i = 0; i < 4; i++) {
		struct bundle b = random_bundle(1, 70, 70, 4);
		put(&b, "relative_bias", DTYPE_F32, SHAPE(8, 1), bias);
		put_setting(&b, "normalizer", normalizers[i]);
		if (i == 3)
			put_setting(&b, "top_k", "5");
		expect_same_rows(&b, normalizers[i]);
		bundle_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sparse_weights),
	    cmocka_unit_test(test_linear_windows),
	    cmocka_unit_test(test_large_biases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
