/* Whole pieces: each is a token or unknown. */
#include <stdlib.h>

#include "tokenizer/algorithm_internal.h"
#include "tokenizer/fields.h"

struct wordlevel {
	struct algorithm base;
	struct unknown_token unknown;
};

static enum attn_status wordlevel_encode(const struct algorithm *a, const char *piece, size_t length,
					 struct subtokens *out, struct attn_error *err)
{
	const struct wordlevel *w = (const struct wordlevel *)a;
	uint32_t id;
	if (!vocabulary_find(&a->vocabulary, piece, length, &id)) {
		TRY(unknown_token_check(&w->unknown, err));
		id = w->unknown.id;
	}
	return subtokens_add(out, id, 0, length, false) ? ATTN_OK : attn_fail_memory(err);
}

static void wordlevel_release(struct algorithm *a)
{
	free(((struct wordlevel *)a)->unknown.text);
}

static enum attn_status read_model(struct wordlevel *w, const cJSON *model, struct attn_error *err)
{
	struct vocabulary *v = &w->base.vocabulary;
	const char *unknown;
	TRY(field_string(model, "unk_token", "<unk>", &unknown, err));
	TRY(vocabulary_parse(v, cJSON_GetObjectItemCaseSensitive(model, "vocab"), "vocab", err));
	return unknown_token_set(&w->unknown, v, unknown, err);
}

enum attn_status wordlevel_parse(struct algorithm **out, const cJSON *model, struct attn_error *err)
{
	static const struct algorithm_type type = {"WordLevel", wordlevel_encode, wordlevel_release};
	struct algorithm *a = algorithm_new(&type, sizeof(struct wordlevel));
	if (!a)
		return attn_fail_memory(err);
	return algorithm_finish(out, a, read_model((struct wordlevel *)a, model, err));
}
