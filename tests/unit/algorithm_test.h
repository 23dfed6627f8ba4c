/* Algorithms of tokenizers from the text of a "model" object.  Include after cmocka's headers. */
#ifndef ATTN_TESTS_ALGORITHM_TEST_H
#define ATTN_TESTS_ALGORITHM_TEST_H

#include <stdlib.h>
#include <string.h>

#include "tokenizer/algorithm.h"
#include "util/buffer.h"

static inline struct algorithm *algorithm_of(const char *json)
{
	struct attn_error err = {0};
	struct algorithm *a;
	cJSON *model = cJSON_Parse(json);
	if (!model)
		fail_msg("not JSON: %s", json);
	if (algorithm_parse(&a, model, &err) != ATTN_OK)
		fail_msg("%.200s: %s", json, err.message);
	cJSON_Delete(model);
	return a;
}

/* Expect that a model is refused by a message with `part`. */
static inline void expect_bad_model(const char *json, const char *part)
{
	struct attn_error err = {0};
	struct algorithm *a;
	cJSON *model = cJSON_Parse(json);
	if (algorithm_parse(&a, model, &err) != ATTN_BAD_INPUT)
		fail_msg("not refused: %.200s", json);
	if (!strstr(err.message, part))
		fail_msg("'%s', expected '%s' in it", err.message, part);
	assert_null(a);
	cJSON_Delete(model);
}

/* The subtokens of a piece as "id:start-end ...", with '?' where they are unknown. */
static inline char *encode(const struct algorithm *a, const char *piece, size_t length)
{
	struct subtokens list = SUBTOKENS_INIT;
	struct buffer text = BUFFER_INIT;
	struct attn_error err = {0};
	if (algorithm_encode(a, piece, length, &list, &err) != ATTN_OK) {
		assert_int_equal(list.count, 0);
		buffer_printf(&text, "error: %s", err.message);
	}
	for (size_t i = 0; i < list.count; i++)
		buffer_printf(&text, "%s%zu:%zu-%zu%s", i ? " " : "", list.items[i].id, list.items[i].start,
			      list.items[i].end, list.items[i].unknown ? "?" : "");
	subtokens_release(&list);
	return buffer_detach(&text);
}

static inline void expect_encoded(const struct algorithm *a, const char *piece, const char *expected)
{
	char *found = encode(a, piece, strlen(piece));
	if (strcmp(found, expected) != 0)
		fail_msg("'%s' is %s, expected %s", piece, found, expected);
	free(found);
}

/* Numbers that look random (xorshift), from a seed that is not 0. */
static inline unsigned next_random(unsigned *seed, unsigned below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % below;
}

#endif
