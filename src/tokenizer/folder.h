/* The older files of a tokenizer's folder, beside its vocabulary. */
#ifndef ATTN_TOKENIZER_FOLDER_H
#define ATTN_TOKENIZER_FOLDER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "tokenizer/algorithm.h"
#include "util/buffer.h"
#include "util/error.h"

struct folder {
	const char *path;
	/* Each NULL where there is no such file; owned. */
	cJSON *config; /* tokenizer_config.json */
	cJSON *roles;  /* special_tokens_map.json */
	cJSON *added;  /* added_tokens.json */
	cJSON *model;  /* config.json */
};

enum attn_status folder_read(struct folder *f, const char *path, struct attn_error *err);
void folder_release(struct folder *f);

/* Whether the configuration names the class NAMETokenizer or NAMETokenizerFast; where it names none,
 * whether the model is of a type. */
bool folder_is(const struct folder *f, const char *name, const char *model_type);

/* What has a role ("cls_token"), or `otherwise`. */
const char *folder_role(const struct folder *f, const char *role, const char *otherwise);

bool folder_setting(const struct folder *f, const char *name, bool otherwise);

/* A role, and what has it where no file says so and the vocabulary has that. */
struct folder_default {
	const char *role, *content;
};

/* Append "added_tokens": [...] as a tokenizer.json has it: those that the files list with their ids, in
 * the order of these, then those that have a role. */
enum attn_status folder_write_added(const struct folder *f, const struct algorithm *algorithm,
				    const struct folder_default *defaults, size_t count, struct buffer *out,
				    struct attn_error *err);

#endif
