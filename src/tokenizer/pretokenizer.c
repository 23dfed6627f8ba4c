#include "tokenizer/pretokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/fields.h"
#include "tokenizer/pretokenizer_internal.h"
#include "tokenizer/unicode.h"
#include "util/utf8.h"

enum {
	MAX_STEPS = 256,
	MAX_CHARACTERS = 1 << 20, /* of a fixed length */
};

/* GPT-2's encoder.py. */
#define BYTE_LEVEL_PATTERN                                                                                   \
	"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/* The reference has this one from another library, for which joiners are part of words. */
#define WORD_PATTERN "[\\w\\u200c\\u200d]+|[^\\w\\u200c\\u200d\\s]+"

void pretokenizer_release(struct pretokenizer_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		pattern_free(list->items[i].pattern);
	free(list->items);
	*list = (struct pretokenizer_list){0};
}

/* Add a step, which owns step.pattern whatever happens. */
static enum attn_status add(struct pretokenizer_list *list, struct pretokenizer_step step,
			    struct attn_error *err)
{
	struct pretokenizer_step *items = NULL;
	if (list->count < MAX_STEPS)
		items = reallocarray(list->items, list->count + 1, sizeof *items);
	if (!items) {
		pattern_free(step.pattern);
		if (list->count < MAX_STEPS)
			return attn_fail_memory(err);
		return attn_fail(err, ATTN_BAD_INPUT, "more than %d steps", MAX_STEPS);
	}
	list->items = items;
	items[list->count++] = step;
	return ATTN_OK;
}

static enum attn_status add_characters(struct pretokenizer_list *list, bool (*is_match)(uint32_t code),
				       enum split_behavior behavior, struct attn_error *err)
{
	struct pretokenizer_step step = {
	    .apply = pretokenize_split, .is_match = is_match, .behavior = behavior};
	return add(list, step, err);
}

static enum attn_status add_pattern(struct pretokenizer_list *list, struct pattern *pattern,
				    enum split_behavior behavior, bool invert, struct attn_error *err)
{
	struct pretokenizer_step step = {
	    .apply = pretokenize_split, .pattern = pattern, .behavior = behavior, .invert = invert};
	return add(list, step, err);
}

static enum attn_status parse_behavior(const cJSON *object, const char *otherwise,
				       enum split_behavior *behavior, struct attn_error *err)
{
	static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
					    "Contiguous"};
	const char *name;
	TRY(field_string(object, "behavior", otherwise, &name, err));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (name && strcmp(name, names[i]) == 0) {
			*behavior = (enum split_behavior)i;
			return ATTN_OK;
		}
	}
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "'behavior' is '%.100s', expected Removed, Isolated, MergedWithPrevious, MergedWithNext "
	    "or Contiguous",
	    name ? name : "");
}

static enum attn_status parse_bert(struct pretokenizer_list *list, const cJSON *object,
				   struct attn_error *err)
{
	(void)object;
	TRY(add_characters(list, unicode_is_space, SPLIT_REMOVED, err));
	return add_characters(list, unicode_is_punctuation, SPLIT_ISOLATED, err);
}

static enum attn_status parse_whitespace(struct pretokenizer_list *list, const cJSON *object,
					 struct attn_error *err)
{
	struct pattern *pattern;
	(void)object;
	TRY(pattern_regex(&pattern, WORD_PATTERN, err));
	return add_pattern(list, pattern, SPLIT_REMOVED, true, err);
}

static enum attn_status parse_whitespace_split(struct pretokenizer_list *list, const cJSON *object,
					       struct attn_error *err)
{
	(void)object;
	return add_characters(list, unicode_is_space, SPLIT_REMOVED, err);
}

static enum attn_status parse_punctuation(struct pretokenizer_list *list, const cJSON *object,
					  struct attn_error *err)
{
	enum split_behavior behavior;
	TRY(parse_behavior(object, "Isolated", &behavior, err));
	return add_characters(list, unicode_is_punctuation, behavior, err);
}

static enum attn_status parse_digits(struct pretokenizer_list *list, const cJSON *object,
				     struct attn_error *err)
{
	bool individual;
	TRY(field_bool(object, "individual_digits", false, &individual, err));
	return add_characters(list, unicode_is_numeric, individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS, err);
}

static enum attn_status parse_split(struct pretokenizer_list *list, const cJSON *object,
				    struct attn_error *err)
{
	enum split_behavior behavior;
	struct pattern *pattern;
	bool invert;
	TRY(parse_behavior(object, NULL, &behavior, err));
	TRY(field_bool(object, "invert", false, &invert, err));
	TRY(field_pattern(object, &pattern, err));
	return add_pattern(list, pattern, behavior, invert, err);
}

/* The one character of a key. */
static enum attn_status parse_character(const cJSON *object, const char *key, const char *otherwise,
					char character[5], struct attn_error *err)
{
	const char *text;
	TRY(field_string(object, key, otherwise, &text, err));
	size_t length = text ? strlen(text) : 0;
	if (length == 0 || utf8_step(text, length) != length)
		return attn_fail(err, ATTN_BAD_INPUT, "'%s' is '%.100s', expected one character", key,
				 text ? text : "");
	memcpy(character, text, length + 1);
	return ATTN_OK;
}

static enum attn_status parse_delimiter(struct pretokenizer_list *list, const cJSON *object,
					struct attn_error *err)
{
	char delimiter[5];
	struct pattern *pattern;
	TRY(parse_character(object, "delimiter", NULL, delimiter, err));
	TRY(pattern_literal(&pattern, delimiter, err));
	return add_pattern(list, pattern, SPLIT_REMOVED, false, err);
}

static enum attn_status parse_fixed(struct pretokenizer_list *list, const cJSON *object,
				    struct attn_error *err)
{
	struct pretokenizer_step step = {.apply = pretokenize_fixed};
	TRY(field_count(object, "length", 5, MAX_CHARACTERS, &step.length, err));
	if (step.length == 0)
		return attn_fail(err, ATTN_BAD_INPUT, "'length' is 0, expected at least 1");
	return add(list, step, err);
}

static enum attn_status parse_bytes(struct pretokenizer_list *list, const cJSON *object,
				    struct attn_error *err)
{
	struct pretokenizer_step prefix = {.apply = pretokenize_mark, .mark = " ", .scheme = PREPEND_ALWAYS};
	bool add_prefix, use_regex;
	TRY(field_bool(object, "add_prefix_space", true, &add_prefix, err));
	TRY(field_bool(object, "use_regex", true, &use_regex, err));
	if (add_prefix)
		TRY(add(list, prefix, err));
	if (use_regex) {
		struct pattern *pattern;
		TRY(pattern_regex(&pattern, BYTE_LEVEL_PATTERN, err));
		TRY(add_pattern(list, pattern, SPLIT_ISOLATED, false, err));
	}
	return add(list, (struct pretokenizer_step){.apply = pretokenize_bytes}, err);
}

/* Older files have "add_prefix_space" instead of "prepend_scheme". */
static enum attn_status parse_scheme(const cJSON *object, enum prepend_scheme *scheme, struct attn_error *err)
{
	static const char *const names[] = {"always", "first", "never"};
	const char *name;
	bool prefix;
	TRY(field_bool(object, "add_prefix_space", true, &prefix, err));
	TRY(field_string(object, "prepend_scheme", prefix ? "always" : "never", &name, err));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		*scheme = (enum prepend_scheme)i;
		if (strcmp(name, names[i]) == 0 && (prefix || *scheme == PREPEND_NEVER))
			return ATTN_OK;
	}
	return attn_fail(err, ATTN_BAD_INPUT, "'prepend_scheme' is '%.100s', expected %s", name,
			 prefix ? "always, first or never" : "never, as 'add_prefix_space' is false");
}

static enum attn_status parse_metaspace(struct pretokenizer_list *list, const cJSON *object,
					struct attn_error *err)
{
	struct pretokenizer_step step = {.apply = pretokenize_mark, .replace = true};
	struct pattern *pattern;
	bool split;
	TRY(parse_character(object, "replacement", "\xe2\x96\x81", step.mark, err));
	TRY(parse_scheme(object, &step.scheme, err));
	TRY(field_bool(object, "split", true, &split, err));
	TRY(add(list, step, err));
	if (!split)
		return ATTN_OK;
	TRY(pattern_literal(&pattern, step.mark, err));
	return add_pattern(list, pattern, SPLIT_WITH_NEXT, false, err);
}

static const struct {
	const char *type;
	enum attn_status (*parse)(struct pretokenizer_list *list, const cJSON *object,
				  struct attn_error *err);
} types[] = {
    {"BertPreTokenizer", parse_bert},
    {"Whitespace", parse_whitespace},
    {"WhitespaceSplit", parse_whitespace_split},
    {"Punctuation", parse_punctuation},
    {"Digits", parse_digits},
    {"Split", parse_split},
    {"CharDelimiterSplit", parse_delimiter},
    {"FixedLength", parse_fixed},
    {"ByteLevel", parse_bytes},
    {"Metaspace", parse_metaspace},
};

static enum attn_status parse_one(struct pretokenizer_list *list, const cJSON *object, const char *type,
				  struct attn_error *err)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].parse(list, object, err);
	return attn_fail(err, ATTN_BAD_INPUT, "this type is not supported");
}

enum attn_status pretokenizer_parse(struct pretokenizer_list *list, const cJSON *object,
				    struct attn_error *err)
{
	const char *type;
	const cJSON *item;
	if (!object || cJSON_IsNull(object))
		return ATTN_OK;
	TRY(field_text(object, "type", &type, err));
	if (strcmp(type, "Sequence") == 0) {
		TRY(field_array(object, "pretokenizers", &item, err));
		for (; item; item = item->next)
			TRY(pretokenizer_parse(list, item, err));
		return ATTN_OK;
	}
	enum attn_status status = parse_one(list, object, type, err);
	if (status != ATTN_OK)
		attn_error_prefix(err, type);
	return status;
}

enum attn_status pretokenizer_apply(const struct pretokenizer_list *list, struct pieces *pieces,
				    struct attn_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		TRY(list->items[i].apply(&list->items[i], pieces, err));
		TRY(pieces_check(pieces, err));
	}
	return ATTN_OK;
}
