#include "tokenizer/normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/fields.h"
#include "tokenizer/normalizer_internal.h"

enum {
	MAX_STEPS = 256,
};

void normalizer_release(struct normalizer_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		pattern_free(list->items[i].pattern);
		charsmap_free(list->items[i].map);
		sentencepiece_rules_free(list->items[i].rules);
		free(list->items[i].text);
	}
	free(list->items);
	*list = (struct normalizer_list){0};
}

struct normalizer_step *normalizer_add(struct normalizer_list *list, normalizer_function *apply,
				       struct attn_error *err)
{
	if (list->count == MAX_STEPS) {
		attn_fail(err, ATTN_BAD_INPUT, "more than %d steps", MAX_STEPS);
		return NULL;
	}
	struct normalizer_step *items = reallocarray(list->items, list->count + 1, sizeof *items);
	if (!items) {
		attn_fail_memory(err);
		return NULL;
	}
	list->items = items;
	items[list->count] = (struct normalizer_step){.apply = apply};
	return &items[list->count++];
}

static enum attn_status parse_bert(struct normalizer_list *list, const cJSON *object, struct attn_error *err)
{
	bool clean, chinese, accents, lowercase;
	TRY(field_bool(object, "clean_text", true, &clean, err));
	TRY(field_bool(object, "handle_chinese_chars", true, &chinese, err));
	TRY(field_bool(object, "lowercase", true, &lowercase, err));
	TRY(field_bool(object, "strip_accents", lowercase, &accents, err));
	bool added = (!clean || normalizer_add(list, normalize_clean, err)) &&
		     (!chinese || normalizer_add(list, normalize_chinese, err)) &&
		     (!accents || (normalizer_add(list, normalize_form, err) &&
				   normalizer_add(list, normalize_nonspacing, err))) &&
		     (!lowercase || normalizer_add(list, normalize_lowercase, err));
	return added ? ATTN_OK : err->status;
}

static enum attn_status parse_strip(struct normalizer_step *step, const cJSON *object, struct attn_error *err)
{
	TRY(field_bool(object, "strip_left", true, &step->left, err));
	return field_bool(object, "strip_right", true, &step->right, err);
}

static enum attn_status parse_text(struct normalizer_step *step, const cJSON *object, const char *key,
				   struct attn_error *err)
{
	const char *text;
	TRY(field_text(object, key, &text, err));
	step->text = strdup(text);
	return step->text ? ATTN_OK : attn_fail_memory(err);
}

static enum attn_status parse_replace(struct normalizer_step *step, const cJSON *object,
				      struct attn_error *err)
{
	TRY(field_pattern(object, &step->pattern, err));
	return parse_text(step, object, "content", err);
}

static enum attn_status parse_prepend(struct normalizer_step *step, const cJSON *object,
				      struct attn_error *err)
{
	return parse_text(step, object, "prepend", err);
}

static enum attn_status parse_form(struct normalizer_step *step, const cJSON *object, struct attn_error *err)
{
	const char *type;
	TRY(field_text(object, "type", &type, err));
	step->compatible = type[2] == 'K';
	step->compose = type[strlen(type) - 1] == 'C';
	return ATTN_OK;
}

static enum attn_status parse_map(struct normalizer_step *step, const cJSON *object, struct attn_error *err)
{
	const char *map;
	TRY(field_text(object, "precompiled_charsmap", &map, err));
	return charsmap_parse(&step->map, map, strlen(map), err);
}

static const struct {
	const char *type;
	normalizer_function *apply;
	enum attn_status (*parse)(struct normalizer_step *step, const cJSON *object, struct attn_error *err);
} types[] = {
    {"NFC", normalize_form, parse_form},           {"NFD", normalize_form, parse_form},
    {"NFKC", normalize_form, parse_form},          {"NFKD", normalize_form, parse_form},
    {"Lowercase", normalize_lowercase, NULL},      {"StripAccents", normalize_accents, NULL},
    {"Strip", normalize_strip, parse_strip},       {"Replace", normalize_replace, parse_replace},
    {"Prepend", normalize_prepend, parse_prepend}, {"Nmt", normalize_nmt, NULL},
    {"ByteLevel", normalize_bytes, NULL},          {"Precompiled", normalize_map, parse_map},
};

static enum attn_status parse_one(struct normalizer_list *list, const cJSON *object, const char *type,
				  struct attn_error *err)
{
	if (strcmp(type, "BertNormalizer") == 0)
		return parse_bert(list, object, err);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(type, types[i].type) != 0)
			continue;
		struct normalizer_step *step = normalizer_add(list, types[i].apply, err);
		if (!step)
			return err->status;
		return types[i].parse ? types[i].parse(step, object, err) : ATTN_OK;
	}
	return attn_fail(err, ATTN_BAD_INPUT, "this type is not supported");
}

enum attn_status normalizer_parse(struct normalizer_list *list, const cJSON *object, struct attn_error *err)
{
	const char *type;
	const cJSON *item;
	if (!object || cJSON_IsNull(object))
		return ATTN_OK;
	TRY(field_text(object, "type", &type, err));
	if (strcmp(type, "Sequence") == 0) {
		TRY(field_array(object, "normalizers", &item, err));
		for (; item; item = item->next)
			TRY(normalizer_parse(list, item, err));
		return ATTN_OK;
	}
	enum attn_status status = parse_one(list, object, type, err);
	if (status != ATTN_OK)
		attn_error_prefix(err, type);
	return status;
}

enum attn_status normalizer_apply(const struct normalizer_list *list, struct aligned *text, size_t origin,
				  struct attn_error *err)
{
	struct aligned next = {.most = text->most};
	enum attn_status status = ATTN_OK;
	for (size_t i = 0; status == ATTN_OK && i < list->count; i++) {
		aligned_clear(&next);
		status = list->items[i].apply(&list->items[i], text, origin, &next, err);
		if (status == ATTN_OK)
			status = aligned_check(&next, err);
		struct aligned swapped = *text;
		*text = next;
		next = swapped;
	}
	aligned_release(&next);
	return status;
}
