/* As much of cmocka as test_kernels uses, for processors that the library is not
 * installed for.  The first failure ends the program. */
#ifndef ATTN_TESTS_PLAIN_CMOCKA_H
#define ATTN_TESTS_PLAIN_CMOCKA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(function)                                                                           \
	{                                                                                                    \
#function, function                                                                          \
	}
#define cmocka_run_group_tests(tests, setup, teardown) plain_run(tests, sizeof(tests) / sizeof *(tests))

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define assert_true(condition) plain_assert(condition, #condition, __FILE__, __LINE__)
#define assert_null(pointer) assert_true(!(pointer))
#define assert_non_null(pointer) assert_true(pointer)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_ptr_equal(a, b) assert_true((a) == (b))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)

static inline void plain_assert(bool holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	exit(1);
}

static inline int plain_run(const struct CMUnitTest *tests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		printf("%s\n", tests[i].name);
		fflush(stdout);
		tests[i].run(NULL);
	}
	printf("%zu tests passed\n", count);
	return 0;
}

#endif
