/* What the tests of the readers share.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_READER_TEST_H
#define ATTN_TESTS_READER_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bundle.h"
#include "util/error.h"

typedef enum attn_status (*reader)(const unsigned char *data, size_t length, const char *origin,
				   struct bundle *out, struct attn_error *err);

/* A file's bytes in memory of just their size, so that a sanitizer sees a read
 * past the end. */
struct bytes {
	unsigned char *data;
	size_t length;
};

static inline struct bytes bytes_of(const void *data, size_t length)
{
	struct bytes b = {malloc(length ? length : 1), length};
	assert_non_null(b.data);
	memcpy(b.data, data, length);
	return b;
}

static inline struct bytes bytes_of_file(const char *path)
{
	static unsigned char data[1 << 20];
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot open %s: run the tests from the top directory", path);
	size_t length = fread(data, 1, sizeof data, file);
	fclose(file);
	return bytes_of(data, length);
}

/* Inflate all that is compressed. */
static inline enum attn_status load_all(struct bundle *b, struct attn_error *err)
{
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; i < b->tensor_count && status == ATTN_OK; i++)
		status = tensor_load(&b->tensors[i], err);
	for (size_t i = 0; i < b->text_count && status == ATTN_OK; i++)
		status = text_load(&b->texts[i], err);
	return status;
}

/* Look at all that a loaded bundle holds. */
static inline double bundle_sum(const struct bundle *b)
{
	double sum = 0;
	for (size_t i = 0; i < b->tensor_count; i++)
		for (size_t j = 0; j < b->tensors[i].count; j++)
			sum += tensor_get(&b->tensors[i], j);
	for (size_t i = 0; i < b->text_count; i++)
		for (size_t j = 0; j < b->texts[i].list.count; j++)
			sum += (double)strlen(b->texts[i].list.items[j]);
	for (size_t i = 0; i < b->setting_count; i++)
		sum += (double)(strlen(b->settings[i].name) + strlen(b->settings[i].value));
	return sum;
}

/* Read bytes, look at what they hold and forget it. */
static inline enum attn_status try_bytes(reader read, const void *data, size_t length, struct attn_error *err)
{
	struct bytes copy = bytes_of(data, length);
	struct bundle b;
	bundle_init(&b);
	enum attn_status status = read(copy.data, copy.length, "file", &b, err);
	if (status == ATTN_OK)
		status = load_all(&b, err);
	if (status == ATTN_OK) {
		volatile double sum = bundle_sum(&b);
		(void)sum;
	}
	bundle_release(&b);
	free(copy.data);
	return status;
}

/* Expect ATTN_BAD_INPUT with `part` in its message. */
static inline void expect_bad(reader read, struct bytes bytes, const char *part)
{
	struct attn_error err = {0};
	enum attn_status status = try_bytes(read, bytes.data, bytes.length, &err);
	if (status != ATTN_BAD_INPUT || !strstr(err.message, part))
		fail_msg("status %d, '%s', expected '%s'", (int)status, err.message, part);
	free(bytes.data);
}

static inline void expect_bad_file(reader read, const char *folder, const char *name, const char *part)
{
	char path[300];
	snprintf(path, sizeof path, "tests/fuzz/corpus/%s/bad-%s.%s", folder, name, folder);
	struct bytes bytes = bytes_of_file(path);
	struct attn_error err = {0};
	enum attn_status status = try_bytes(read, bytes.data, bytes.length, &err);
	if (status != ATTN_BAD_INPUT || !strstr(err.message, part))
		fail_msg("%s: status %d, '%s', expected '%s'", path, (int)status, err.message, part);
	free(bytes.data);
}

/* Every beginning of the file is bad input. */
static inline void expect_truncations_bad(reader read, const char *path)
{
	struct bytes bytes = bytes_of_file(path);
	for (size_t length = 0; length < bytes.length; length++) {
		struct attn_error err = {0};
		if (try_bytes(read, bytes.data, length, &err) != ATTN_BAD_INPUT)
			fail_msg("%s: read from its first %zu bytes", path, length);
		assert_true(err.message[0]);
	}
	assert_int_equal(try_bytes(read, bytes.data, bytes.length, NULL), ATTN_OK);
	free(bytes.data);
}

/* Change each of the first `count` bytes, one at a time: no answer is expected,
 * but that there is one, and a message if it is bad. */
static inline void survive_changes(reader read, const char *path, size_t count)
{
	static const unsigned char changes[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
	struct bytes bytes = bytes_of_file(path);
	for (size_t i = 0; i < bytes.length && i < count; i++) {
		for (size_t c = 0; c < sizeof changes; c++) {
			struct attn_error err = {0};
			bytes.data[i] ^= changes[c];
			if (try_bytes(read, bytes.data, bytes.length, &err) != ATTN_OK)
				assert_true(err.message[0]);
			bytes.data[i] ^= changes[c];
		}
	}
	free(bytes.data);
}

/* The tensor has this type and shape (rank sizes), and these values. */
static inline void expect_tensor(const struct tensor *t, enum dtype dtype, int rank, const size_t *shape,
				 const double *values)
{
	assert_non_null(t);
	assert_int_equal(t->dtype, dtype);
	assert_int_equal(t->rank, rank);
	size_t count = 1;
	for (int i = 0; i < rank; i++) {
		assert_int_equal(t->shape[i], shape[i]);
		count *= shape[i];
	}
	assert_int_equal(t->count, count);
	for (size_t i = 0; i < count; i++)
		if (!(tensor_get(t, i) == values[i]))
			fail_msg("element %zu is %g, expected %g", i, tensor_get(t, i), values[i]);
}

#endif
