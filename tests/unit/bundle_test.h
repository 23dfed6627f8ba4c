/* Bundles for the tests of core.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_BUNDLE_TEST_H
#define ATTN_TESTS_BUNDLE_TEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/formats.h"
#include "input/bundle.h"

/* A rank and a shape: put(&b, "q", DTYPE_F32, SHAPE(2, 3), values). */
#define SHAPE(...)                                                                                           \
	(int)(sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t)), (const size_t[])                      \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

static inline void store(void *to, enum dtype dtype, size_t i, double value)
{
	switch (dtype) {
	case DTYPE_F64:
		((double *)to)[i] = value;
		break;
	case DTYPE_F32:
		((float *)to)[i] = (float)value;
		break;
	case DTYPE_I64:
		((int64_t *)to)[i] = (int64_t)value;
		break;
	case DTYPE_BOOL:
		((unsigned char *)to)[i] = value != 0;
		break;
	default:
		fail_msg("no test stores %s", dtype_name(dtype));
	}
}

/* Add a tensor of origin "test". */
static inline void put(struct bundle *b, const char *name, enum dtype dtype, int rank, const size_t *shape,
		       const double *values)
{
	struct attn_error err = {0};
	struct tensor t;
	if (tensor_init(&t, name, "test", dtype, rank, shape, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	t.data = t.owned = malloc(t.count * dtype_size(dtype) + 1);
	assert_non_null(t.owned);
	for (size_t i = 0; i < t.count; i++)
		store(t.owned, dtype, i, values[i]);
	if (bundle_add_tensor(b, &t, &err) != ATTN_OK)
		fail_msg("%s", err.message);
}

static inline void put_setting(struct bundle *b, const char *name, const char *value)
{
	assert_int_equal(bundle_add_setting(b, name, value, "test", NULL), ATTN_OK);
}

/* A bundle from a JSON document called x.json. */
static inline struct bundle bundle_of(const char *json)
{
	struct attn_error err = {0};
	struct bundle b;
	bundle_init(&b);
	if (json_parse((const unsigned char *)json, strlen(json), "x.json", &b, &err) != ATTN_OK)
		fail_msg("%s: %s", json, err.message);
	return b;
}

/* A string list from words that end with NULL. */
static inline struct string_list list_of(const char *const *words)
{
	struct string_list list = {0};
	for (; *words; words++)
		assert_true(string_list_add(&list, *words));
	return list;
}

/* Every part, which end with NULL, is in the message. */
static inline void expect_parts(const char *of, const char *message, const char *const *parts)
{
	for (; *parts; parts++)
		if (!strstr(message, *parts))
			fail_msg("%s: '%s' lacks '%s'", of, message, *parts);
}

#endif
