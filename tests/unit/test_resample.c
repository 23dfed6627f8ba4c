/* Pictures in other sizes against what Pillow makes of them, to the last bit.
 *
 * They are in ../shared/models/images, or where ATTN_SHARED says; small ones are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/image/picture.h"
#include "files/input.h"
#include "files/json_text.h"
#include "model/resample.h"

static const char *images(void)
{
	static char path[1000];
	const char *given = getenv("ATTN_SHARED");
	snprintf(path, sizeof path, "%s/models/images", given ? given : "../shared");
	return path;
}

static struct file_bytes open_file(const char *name)
{
	char path[1200];
	struct file_bytes bytes;
	struct attn_error err;
	snprintf(path, sizeof path, "%s/%s", images(), name);
	if (file_bytes_open(&bytes, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	return bytes;
}

static size_t number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return item ? (size_t)item->valuedouble : 0;
}

static void expect_same(const char *name, const struct pixels *found)
{
	char path[1200];
	struct bundle b;
	struct attn_error err;
	bundle_init(&b);
	snprintf(path, sizeof path, "%s/%s", images(), name);
	if (input_read_file(&b, path, NULL, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const struct tensor *t = &b.tensors[0];
	assert_int_equal(t->shape[0], found->height);
	assert_int_equal(t->shape[1], found->width);
	for (size_t i = 0; i < t->count; i++)
		if ((int)tensor_get(t, i) != found->data[i])
			fail_msg("%s: byte %zu is %d, expected %d", name, i, found->data[i],
				 (int)tensor_get(t, i));
	bundle_release(&b);
}

static void try_case(const cJSON *item)
{
	const char *name = cJSON_GetObjectItemCaseSensitive(item, "image")->valuestring;
	struct file_bytes bytes = open_file(name);
	struct image image;
	struct attn_error err;
	if (image_parse(bytes.data, bytes.length, name, &image, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const struct pixels picture = {image.width, image.height, image.pixels};
	size_t width = number(item, "width"), height = number(item, "height");
	size_t edge = number(item, "shortest_edge"), crop = number(item, "crop");
	if (edge && image.width < image.height)
		width = edge, height = edge * image.height / image.width;
	else if (edge)
		height = edge, width = edge * image.width / image.height;
	struct pixels resized, cropped = {0};
	enum resampling how = (enum resampling)number(item, "resample");
	assert_int_equal(pixels_resize(&picture, width, height, how, &resized, NULL), ATTN_OK);
	if (crop)
		assert_int_equal(pixels_crop(&resized, crop, crop, &cropped, NULL), ATTN_OK);
	expect_same(cJSON_GetObjectItemCaseSensitive(item, "expected")->valuestring,
		    crop ? &cropped : &resized);
	pixels_release(&resized);
	pixels_release(&cropped);
	image_release(&image);
	file_bytes_release(&bytes);
}

static void test_known(void **state)
{
	(void)state;
	char path[1200];
	struct file_bytes bytes;
	struct attn_error err;
	cJSON *root;
	snprintf(path, sizeof path, "%s/cases.json", images());
	if (file_bytes_open(&bytes, path, &err) != ATTN_OK) {
		print_message("skipped: there is no %s\n", path);
		skip();
	}
	assert_int_equal(json_text_parse(bytes.data, bytes.length, &root, &err), ATTN_OK);
	const cJSON *item, *cases = cJSON_GetObjectItemCaseSensitive(root, "cases");
	assert_true(cJSON_GetArraySize(cases) > 0);
	cJSON_ArrayForEach(item, cases) try_case(item);
	cJSON_Delete(root);
	file_bytes_release(&bytes);
}

/* Two pixels become one, their mean, and four: bilinear at -1/4, 1/4, 3/4 and 5/4 of the way between them,
 * as far as there are pixels. */
static void test_by_hand(void **state)
{
	(void)state;
	unsigned char data[] = {0, 100, 200, 100, 200, 40};
	const struct pixels two = {2, 1, data};
	struct pixels out;
	assert_int_equal(pixels_resize(&two, 1, 1, RESAMPLE_BILINEAR, &out, NULL), ATTN_OK);
	const unsigned char mean[] = {50, 150, 120};
	assert_memory_equal(out.data, mean, 3);
	pixels_release(&out);
	assert_int_equal(pixels_resize(&two, 4, 1, RESAMPLE_BILINEAR, &out, NULL), ATTN_OK);
	const unsigned char four[] = {0, 100, 200, 25, 125, 160, 75, 175, 80, 100, 200, 40};
	assert_memory_equal(out.data, four, 12);
	pixels_release(&out);
	for (int how = 0; how < RESAMPLINGS; how++) {
		assert_int_equal(pixels_resize(&two, 2, 1, (enum resampling)how, &out, NULL), ATTN_OK);
		assert_memory_equal(out.data, data, 6);
		pixels_release(&out);
		assert_int_equal(pixels_resize(&two, 7, 5, (enum resampling)how, &out, NULL), ATTN_OK);
		assert_int_equal(out.width, 7);
		assert_int_equal(out.height, 5);
		pixels_release(&out);
	}
}

/* The middle: of an odd rest the more is cut off behind, and there is black around what is too small. */
static void test_crops(void **state)
{
	(void)state;
	unsigned char data[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
	const struct pixels row = {4, 1, data};
	struct pixels out;
	assert_int_equal(pixels_crop(&row, 1, 1, &out, NULL), ATTN_OK);
	assert_int_equal(out.data[0], 2);
	pixels_release(&out);
	assert_int_equal(pixels_crop(&row, 7, 2, &out, NULL), ATTN_OK);
	const unsigned char wide[] = {0, 0, 1, 2, 3, 4, 0};
	for (size_t x = 0; x < 7; x++) {
		assert_int_equal(out.data[x * 3], 0);
		assert_int_equal(out.data[(7 + x) * 3], wide[x]);
	}
	pixels_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_by_hand),
					   cmocka_unit_test(test_crops)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
