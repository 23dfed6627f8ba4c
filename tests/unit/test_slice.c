/* Slices of tensors and lists, against sums by hand and what NumPy says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/slice.h"

/* (2, 3, 4) of 0, 1, 2...: element [i,j,k] is 12 i + 4 j + k. */
static struct tensor cube(void)
{
	struct tensor t;
	assert_int_equal(tensor_init(&t, "x", "file", DTYPE_I32, 3, (size_t[]){2, 3, 4}, NULL), ATTN_OK);
	int32_t *data = t.owned = malloc(24 * sizeof *data);
	for (int i = 0; i < 24; i++)
		data[i] = i;
	t.data = data;
	return t;
}

static void test_values(void **state)
{
	static const struct {
		const char *slice;
		int rank;
		size_t shape[3];
		int values[24]; /* the first `shape` elements */
	} cases[] = {
	    {"[1]", 2, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
	    {"[-1,0]", 1, {4}, {12, 13, 14, 15}},
	    {"[0,:,2:5]", 2, {3, 2}, {2, 3, 6, 7, 10, 11}},
	    {"[..., 1]", 2, {2, 3}, {1, 5, 9, 13, 17, 21}},
	    {"[1, ..., -1]", 1, {3}, {15, 19, 23}},
	    {"[:, 1]", 2, {2, 4}, {4, 5, 6, 7, 16, 17, 18, 19}},
	    {"[0, ::2, ::-2]", 2, {2, 2}, {3, 1, 11, 9}},
	    {"[:1, -2:, 1:-1]", 3, {1, 2, 2}, {5, 6, 9, 10}},
	    {"[0, 2:0:-1, 0]", 1, {2}, {8, 4}},
	    {"[1,2,3]", 0, {0}, {23}},
	    {"[...]", 3, {2, 3, 4}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
				     12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
	    {"[0,0,-100:100:3]", 1, {2}, {0, 3}},
	    {"[1][2]", 1, {4}, {20, 21, 22, 23}},
	    {"[:, ::2][0][1, ::-1]", 1, {4}, {11, 10, 9, 8}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct attn_error err = {0};
		struct tensor t = cube();
		if (tensor_slice(&t, cases[i].slice, &err) != ATTN_OK)
			fail_msg("%s: %s", cases[i].slice, err.message);
		assert_int_equal(t.rank, cases[i].rank);
		size_t count = 1;
		for (int axis = 0; axis < t.rank; axis++) {
			assert_int_equal(t.shape[axis], cases[i].shape[axis]);
			count *= t.shape[axis];
		}
		assert_int_equal(t.count, count);
		for (size_t j = 0; j < count; j++)
			if (tensor_get(&t, j) != cases[i].values[j])
				fail_msg("%s: element %zu is %g", cases[i].slice, j, tensor_get(&t, j));
		tensor_release(&t);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *slice, *part;
		enum attn_status status;
	} cases[] = {
	    {"[2]", "'x[2]': index 2 is not in axis 0, which has 2", ATTN_BAD_INPUT},
	    {"[0,-4]", "index -4 is not in axis 1, which has 3", ATTN_BAD_INPUT},
	    {"[0,0,0,0]", "has 4 indices, but 'x' has 3 dimensions", ATTN_BAD_INPUT},
	    {"[1:1]", "chooses nothing", ATTN_BAD_INPUT},
	    {"[::0]", "is no slice", ATTN_USAGE},
	    {"[...,...]", "is no slice", ATTN_USAGE},
	    {"[0 1]", "is no slice", ATTN_USAGE},
	    {"[,]", "is no slice", ATTN_USAGE},
	    {"[1:2:3:4]", "is no slice", ATTN_USAGE},
	    {"[99999999999999999999]", "is no slice", ATTN_USAGE},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct attn_error err = {0};
		struct tensor t = cube();
		enum attn_status status = tensor_slice(&t, cases[i].slice, &err);
		if (status != cases[i].status || !strstr(err.message, cases[i].part))
			fail_msg("%s: status %d, '%s'", cases[i].slice, (int)status, err.message);
		assert_int_equal(t.count, 24);
		tensor_release(&t);
	}
}

static void test_find(void **state)
{
	(void)state;
	char yes[] = "a[0][1:2]", no[] = "a[b]", only[] = "[0]", empty[] = "a[]";
	assert_ptr_equal(slice_find(yes), yes + 1);
	char after[] = "a[b][0]", gap[] = "a[0] [1]";
	assert_ptr_equal(slice_find(after), after + 4);
	assert_ptr_equal(slice_find(gap), gap + 5);
	assert_null(slice_find(no));
	assert_null(slice_find(only));
	assert_null(slice_find(empty));
}

static void test_strings(void **state)
{
	struct string_list list = {0};
	struct attn_error err = {0};
	(void)state;
	for (const char *const *word = (const char *const[]){"a", "b", "c", NULL}; *word; word++)
		assert_true(string_list_add(&list, *word));
	assert_int_equal(strings_slice(&list, "tokens", "[::-2]", &err), ATTN_OK);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0], "c");
	assert_string_equal(list.items[1], "a");
	assert_int_equal(strings_slice(&list, "tokens", "[2]", &err), ATTN_BAD_INPUT);
	assert_int_equal(list.count, 2);
	assert_int_equal(strings_slice(&list, "tokens", "[1:][0:1]", &err), ATTN_OK);
	assert_string_equal(list.items[0], "a");
	string_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
