/* Tokenizers and the lines of what the reference library makes of texts.  Include after cmocka's
 * headers. */
#ifndef ATTN_TESTS_TOKENIZER_TEST_H
#define ATTN_TESTS_TOKENIZER_TEST_H

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/input.h"
#include "tokenizer/tokenizer.h"
#include "util/buffer.h"

#define SHARED "../shared/models/tokenizers"

/* cJSON ends a string at a NUL, so that the lines are read with this private character for it. */
#define NUL_STAND_IN "\xef\xa3\xbe"

/* A string's bytes with its NULs; the caller frees them. */
static inline char *bytes_of(const char *text, size_t *length)
{
	char *bytes = strdup(text);
	assert_non_null(bytes);
	*length = 0;
	for (const char *at = text; *at;) {
		if (strncmp(at, NUL_STAND_IN, 3) == 0) {
			bytes[(*length)++] = '\0';
			at += 3;
		} else {
			bytes[(*length)++] = *at++;
		}
	}
	return bytes;
}

static inline cJSON *parse_line(const char *line, size_t length)
{
	static const char nul[] = "\\u0000";
	struct buffer text = BUFFER_INIT;
	for (size_t i = 0; i < length;) {
		if (length - i >= 6 && memcmp(line + i, nul, 6) == 0) {
			buffer_add_string(&text, NUL_STAND_IN);
			i += 6;
		} else if (length - i >= 2 && line[i] == '\\') {
			buffer_add(&text, line + i, 2);
			i += 2;
		} else {
			buffer_add_char(&text, line[i++]);
		}
	}
	cJSON *root = cJSON_Parse(text.data);
	buffer_release(&text);
	return root;
}

static inline const cJSON *key_of(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Where a case differs from what was found, for people; NULL where it does not. */
static inline char *find_difference(const struct encoding *found, const cJSON *expected)
{
	static const char *const keys[] = {
	    "ids", "tokens", "offsets", "type_ids", "special_tokens_mask", "special_mask"};
	struct buffer text = BUFFER_INIT;
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		const cJSON *list = key_of(expected, keys[k]);
		const cJSON *item = list ? list->child : NULL;
		for (size_t i = 0; list && !text.length && (i < found->count || item); i++) {
			const struct token *t = &found->tokens[i];
			if (i >= found->count || !item) {
				buffer_printf(&text, "%zu tokens, expected %d", found->count,
					      cJSON_GetArraySize(list));
				break;
			}
			size_t length;
			char *string = bytes_of(cJSON_IsString(item) ? item->valuestring : "", &length);
			bool same = k == 0   ? t->id == (size_t)item->valuedouble
				    : k == 1 ? strcmp(t->text, string) == 0
				    : k == 2 ? t->start == (size_t)item->child->valuedouble &&
						   t->end == (size_t)item->child->next->valuedouble
				    : k == 3 ? t->type == (size_t)item->valuedouble
					     : t->special == (item->valuedouble != 0);
			if (!same) {
				char *wanted = cJSON_PrintUnformatted(item);
				buffer_printf(&text, "token %zu is %zu '%s' %zu-%zu type %d, expected %s %s",
					      i, t->id, t->text, t->start, t->end, t->type, keys[k], wanted);
				free(wanted);
			}
			free(string);
			item = item->next;
		}
	}
	return text.length ? buffer_detach(&text) : NULL;
}

struct tally {
	size_t cases, wrong;
};

static inline void check(const struct tokenizer *t, const char *name, const cJSON *line,
			 const cJSON *expected, bool specials, struct tally *tally)
{
	size_t length, pair_length = 0;
	const cJSON *second = key_of(line, "pair");
	char *text = bytes_of(key_of(line, "text")->valuestring, &length);
	char *pair = second ? bytes_of(second->valuestring, &pair_length) : NULL;
	struct encoding found;
	struct attn_error err = {0};
	enum attn_status status =
	    tokenizer_encode(t, text, length, pair, pair_length, specials, &found, &err);
	char *difference = status == ATTN_OK ? find_difference(&found, expected) : strdup(err.message);
	tally->cases++;
	if (difference) {
		tally->wrong++;
		printf("%s: '%s'%s: %s\n", name, text, pair ? " and a pair" : "", difference);
	}
	encoding_release(&found);
	free(difference);
	free(pair);
	free(text);
}

/* A line has what is expected with or without special tokens, in itself or, where the tokenizer's file
 * asks for truncation or padding, in "plain". */
static inline void check_line(const struct tokenizer *t, const char *name, const cJSON *line,
			      struct tally *tally)
{
	const cJSON *specials = key_of(line, "add_special_tokens"), *plain = key_of(line, "plain");
	const cJSON *without = key_of(line, "ids_plain");
	check(t, name, line, plain ? plain : line, !specials || cJSON_IsTrue(specials), tally);
	if (without) {
		cJSON *ids = cJSON_CreateObject();
		cJSON_AddItemToObject(ids, "ids", cJSON_Duplicate(without, true));
		check(t, name, line, ids, false, tally);
		cJSON_Delete(ids);
	}
}

static inline void check_file(const struct tokenizer *t, const char *path, struct tally *tally)
{
	struct file_bytes bytes;
	struct attn_error err = {0};
	if (file_bytes_open(&bytes, path, &err) != ATTN_OK)
		fail_msg("%s", err.message);
	const char *text = (const char *)bytes.data;
	for (size_t start = 0; start < bytes.length;) {
		const char *end = memchr(text + start, '\n', bytes.length - start);
		size_t length = end ? (size_t)(end - text) - start : bytes.length - start;
		cJSON *line = parse_line(text + start, length);
		if (!line)
			fail_msg("%s: not JSON at byte %zu", path, start);
		check_line(t, path, line, tally);
		cJSON_Delete(line);
		start += length + 1;
	}
	file_bytes_release(&bytes);
}

/* Every folder in `root` that has a tokenizer.json, with its cases. */
static inline void check_folders(const char *root, const char *cases, struct tally *tally)
{
	DIR *directory = opendir(root);
	if (!directory)
		return;
	for (struct dirent *entry; (entry = readdir(directory));) {
		char folder[300], file[400];
		struct tokenizer *t;
		struct attn_error err = {0};
		snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
		snprintf(file, sizeof file, "%s/tokenizer.json", folder);
		if (entry->d_name[0] == '.' || access(file, F_OK) != 0)
			continue;
		if (tokenizer_open(&t, folder, &err) != ATTN_OK)
			fail_msg("%s", err.message);
		snprintf(file, sizeof file, "%s/%s", folder, cases);
		check_file(t, file, tally);
		tokenizer_free(t);
	}
	closedir(directory);
}

static inline void check_tally(const struct tally *tally, const char *what)
{
	if (tally->cases == 0) {
		printf("skipped: no %s\n", what);
		skip();
	}
	if (tally->wrong)
		fail_msg("%zu of %zu cases of %s are wrong", tally->wrong, tally->cases, what);
}

#endif
