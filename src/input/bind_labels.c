/* What to call queries, keys and heads. */
#include <stdio.h>

#include "input/bind.h"
#include "input/given.h"
#include "input/settings.h"

static bool add_number(struct string_list *list, size_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%zu", number);
	return string_list_add(list, text);
}

/* Append all of `from`, or `count` numbers from `first` on when it is NULL. */
static bool add_labels(struct string_list *list, const struct text *from, size_t first, size_t count)
{
	bool ok = true;
	for (size_t i = 0; i < count && ok; i++)
		ok = from ? string_list_add(list, from->list.items[i]) : add_number(list, first + i);
	return ok;
}

static enum attn_status check_count(const struct text *text, size_t expected, const char *of,
				    struct attn_error *err)
{
	if (!text || text->list.count == expected)
		return ATTN_OK;
	return attn_fail(err, ATTN_BAD_INPUT, "'%s': '%s' has %zu strings, expected %zu (one for each %s)",
			 origin_name(text->origin), text->name, text->list.count, expected, of);
}

static bool add_keys(struct rows_info *info, const struct text *tokens, const struct key_counts *keys)
{
	struct string_list *list = &info->key_labels;
	bool with_past = tokens && tokens->list.count == keys->past + keys->own;
	bool ok = with_past ? add_labels(list, tokens, 0, keys->past + keys->own)
			    : add_labels(list, NULL, 0, keys->past) &&
				  add_labels(list, tokens, keys->past, keys->own);
	if (ok && keys->bias)
		ok = string_list_add(list, "<bias>");
	if (ok && keys->zero)
		ok = string_list_add(list, "<zero>");
	return ok;
}

enum attn_status bind_labels(struct rows_info *info, const struct bundle *b, const struct key_counts *keys,
			     struct attn_error *err)
{
	const struct text *tokens = use_text(b, ROLE_TOKENS), *source = use_text(b, ROLE_SOURCE_TOKENS);
	const struct text *names = use_text(b, ROLE_HEAD_NAMES);
	/* Of one query over a text, the tokens are those of the text. */
	if (tokens && !source && info->shape.queries == 1 && keys->own > 1 &&
	    tokens->list.count == keys->own) {
		source = tokens;
		tokens = NULL;
	}
	TRY(check_count(tokens, info->shape.queries, "query", err));
	if (source && source->list.count != keys->past + keys->own)
		TRY(check_count(source, keys->own, "key", err));
	TRY(check_count(names, info->shape.heads, "head", err));

	info->shape.cross |= source != NULL || keys->own != info->shape.queries;
	const struct text *key_tokens = source ? source : info->shape.cross ? NULL : tokens;
	info->has_tokens = tokens || source;
	if (!add_labels(&info->query_labels, tokens, 0, info->shape.queries) ||
	    !add_keys(info, key_tokens, keys) ||
	    (names && !add_labels(&info->head_names, names, 0, info->shape.heads)))
		return attn_fail_memory(err);

	info->layer_known = info->has_layers || given_setting(b, ROLE_LAYER) != NULL;
	return setting_count(b, ROLE_LAYER, 0, &info->first_layer, err);
}
