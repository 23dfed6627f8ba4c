/* The kernels: the reference against numbers worked out by hand, and each set against plain
 * float64 loops, at odd sizes, with tails, extremes, and what lies around the outputs.
 *
 * The sets tried are those from kernels_best() on: ATTN_KERNEL caps them, and under "scalar"
 * the reference alone is tested.  Which were tried, and which not and why, is printed.
 * ATTN_TEST_SEED chooses the numbers; what fails prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernels_gemm_test.h"
#include "kernels_softmax_test.h"
#include "kernels_test.h"
#include "kernels_tile_test.h"
#include "kernels_variants_test.h"
#include "reference_test.h"

/* --- which sets there are ------------------------------------------------------- */

/* Whether the processor and the system have what a set needs: on x86-64 by the bits of
 * CPUID and XGETBV, not by the compiler's check, which the program asks. */
#if defined(__x86_64__)
static bool processor_runs(const char *name)
{
	const unsigned wide[] = {bit_AVX512F, bit_AVX512DQ, bit_AVX512BW, bit_AVX512VL};
	unsigned a, b, c, d, saved, high;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_OSXSAVE) ||
	    !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return false;
	__asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
	bool runs = (saved & 0x06) == 0x06 && (b & bit_AVX2); /* 128 and 256 bits are saved */
	if (strcmp(name, "avx512") == 0) {
		runs &= (saved & 0xe0) == 0xe0; /* masks and all of the 32 registers */
		for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
			runs &= (b & wide[i]) != 0;
	}
	return runs;
}
#else
static bool processor_runs(const char *name)
{
	return strcmp(name, "neon") == 0;
}
#endif

/* NULL where there is none. */
static const char *cap(void)
{
	const char *name = getenv("ATTN_KERNEL");
	return name && name[0] ? name : NULL;
}

/* All sets that the processor runs are found, the widest first. */
static void test_runnable_sets(void **state)
{
	(void)state;
	size_t found = 0;
	for (size_t i = 0; kernels_built(i); i++) {
		const struct kernels *k = kernels_built(i);
		assert_true(k->lanes >= 4 && TILE % k->lanes == 0);
		assert_true(i == 0 || kernels_built(i - 1)->lanes > k->lanes);
		CHECK((kernels_runnable(found) == k) == processor_runs(k->name), "'%s' is %srunnable",
		      k->name, kernels_runnable(found) == k ? "" : "not ");
		found += kernels_runnable(found) == k;
	}
#if defined(__x86_64__) || defined(__aarch64__)
	assert_non_null(kernels_built(0));
#endif
	assert_null(kernels_runnable(found));
	assert_null(kernels_runnable(1000));
	assert_null(kernels_built(1000));
}

/* ATTN_KERNEL names the set that is chosen, or else it is the best. */
static void test_cap(void **state)
{
	(void)state;
	struct attn_error err = {.message = ""};
	CHECK(kernels_check(&err) == ATTN_OK, "%s", err.message);
	if (!cap())
		assert_ptr_equal(kernels_best(), kernels_runnable(0));
	else
		assert_string_equal(kernels_name(kernels_best()), cap());
}

/* Trying nothing, or other sets alone, is noticed. */
static void test_untried(void **state)
{
	(void)state;
	static const struct kernels first = {.name = "first"}, second = {.name = "second"};
	const struct set_list none = {.count = 0}, other = {{&second}, 1}, both = {{&second, &first}, 2};
	assert_string_equal(untried(&first, &none), "first");
	assert_string_equal(untried(&first, &other), "first");
	assert_null(untried(&first, &both));
	assert_null(untried(NULL, &none));
}

/* --- what was tried ------------------------------------------------------------- */

static void print_tried(void)
{
	print_message("kernels tried:");
	for (size_t i = 0; i < all_tried.count; i++)
		print_message(" %s", all_tried.sets[i]->name);
	print_message("%s\n", kernels_best() ? "" : " scalar");
	for (size_t i = 0; kernels_built(i); i++) {
		const char *name = kernels_built(i)->name;
		if (!untried(kernels_built(i), &all_tried))
			continue;
		if (!processor_runs(name))
			print_message("kernels skipped: %s, which this processor lacks\n", name);
		else if (cap())
			print_message("kernels skipped: %s, above ATTN_KERNEL=%s\n", name, cap());
		else
			print_message("kernels skipped: %s\n", name);
	}
}

int main(void)
{
	const struct CMUnitTest plain[] = {
	    cmocka_unit_test(test_runnable_sets),
	    cmocka_unit_test(test_cap),
	    cmocka_unit_test(test_untried),
	    cmocka_unit_test(test_reference_sums_are_float64),
	    cmocka_unit_test(test_reference_scores),
	    cmocka_unit_test(test_reference_additive),
	    cmocka_unit_test(test_reference_additive_saturates),
	    cmocka_unit_test(test_reference_softcap),
	    cmocka_unit_test(test_reference_softmax),
	    cmocka_unit_test(test_reference_softmax_extremes),
	    cmocka_unit_test(test_reference_weighted_sum),
	    cmocka_unit_test(test_reference_feature_map),
	    cmocka_unit_test(test_reference_magnitudes),
	};
	const struct CMUnitTest sets[] = {
	    cmocka_unit_test(test_gemm),
	    cmocka_unit_test(test_gemm_keeps_columns_apart),
	    cmocka_unit_test(test_softmax),
	    cmocka_unit_test(test_softmax_shows_overflow),
	    cmocka_unit_test(test_exponential),
	    cmocka_unit_test(test_softcap),
	    cmocka_unit_test(test_softcap_extremes),
	    cmocka_unit_test(test_additive),
	    cmocka_unit_test(test_tanh),
	    cmocka_unit_test(test_additive_extremes),
	    cmocka_unit_test(test_add_by_distance),
	    cmocka_unit_test(test_feature_map),
	    cmocka_unit_test(test_pack),
	    cmocka_unit_test(test_unpack),
	    cmocka_unit_test(test_scale_columns),
	    cmocka_unit_test(test_sum_columns),
	    cmocka_unit_test(test_all_finite),
	    cmocka_unit_test(test_largest),
	    cmocka_unit_test(test_magnitudes),
	    cmocka_unit_test(test_weigh),
	    cmocka_unit_test(test_binary_logarithm),
	    cmocka_unit_test(test_spin),
	};
	choose_seed();
	int failed = cmocka_run_group_tests(plain, NULL, NULL);
	if (kernels_best())
		failed += cmocka_run_group_tests(sets, NULL, NULL);
	print_tried();
	if (untried(kernels_best(), &all_tried))
		print_error("the set '%s' was not tried\n", untried(kernels_best(), &all_tried));
	return failed > 0 || untried(kernels_best(), &all_tried) != NULL;
}
