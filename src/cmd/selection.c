/* --head 0,3-5: lists of numbers and names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "tokens/token.h"
#include "util/memory.h"
#include "util/number.h"

struct range {
	size_t from, to; /* both included */
};

/* "3", "3-5", or a name of `names`. */
static bool parse_item(const char *item, const struct string_list *names, size_t first, struct range *range)
{
	for (size_t i = 0; names && i < names->count; i++) {
		if (strcmp(names->items[i], item) == 0) {
			*range = (struct range){first + i, first + i};
			return true;
		}
	}
	char number[24];
	size_t length = strcspn(item, "-");
	if (length >= sizeof number)
		return false;
	memcpy(number, item, length);
	number[length] = '\0';
	if (!parse_count(number, &range->from))
		return false;
	range->to = range->from;
	if (item[length] == '\0')
		return true;
	return parse_count(item + length + 1, &range->to) && range->to >= range->from;
}

static enum attn_status fail_name(const char *option, const char *name, const struct string_list *names,
				  struct attn_error *err)
{
	size_t near = token_nearest(name, names);
	if (near < names->count)
		return attn_fail(err, ATTN_USAGE,
				 "'%s' has '%s', but no head is named '%s', did you mean '%s'", option, name,
				 name, names->items[near]);
	return attn_fail(err, ATTN_USAGE, "'%s' has '%s', but no head is named '%s'", option, name, name);
}

static enum attn_status parse_list(const char *option, char *list, size_t first, size_t count,
				   const struct string_list *names, bool *chosen, struct attn_error *err)
{
	char *rest = list, *item;
	while ((item = strsep(&rest, ","))) {
		struct range range;
		bool number = *item && item[strspn(item, "0123456789-")] == '\0';
		bool parsed = parse_item(item, names, first, &range);
		if (!parsed && !number && names && names->count)
			return fail_name(option, item, names, err);
		if (!parsed)
			return attn_fail(err, ATTN_USAGE, "'%s' has '%s', expected a list such as 0,3-5%s",
					 option, item, names && names->count ? " or a name" : "");
		if (range.from < first || range.to >= first + count) {
			if (count == 1)
				return attn_fail(err, ATTN_USAGE, "'%s' has '%s', but there is only %zu",
						 option, item, first);
			return attn_fail(err, ATTN_USAGE, "'%s' has '%s', expected numbers from %zu to %zu",
					 option, item, first, first + count - 1);
		}
		for (size_t i = range.from; i <= range.to; i++)
			chosen[i - first] = true;
	}
	return ATTN_OK;
}

/* Turn "0,3-5" (or, for heads, names) into a bool array that the caller frees.
 * NULL list: *out is NULL, which selects all.  `first` is the number of item 0.
 * ATTN_USAGE for what is malformed or out of range. */
static enum attn_status selection_parse(const char *option, const char *list, size_t first, size_t count,
					const struct string_list *names, bool **out, struct attn_error *err)
{
	*out = NULL;
	if (!list)
		return ATTN_OK;
	char *copy = strdup(list);
	bool *chosen = array_alloc(count, sizeof *chosen);
	enum attn_status status = copy && chosen ? parse_list(option, copy, first, count, names, chosen, err)
						 : attn_fail_memory(err);
	free(copy);
	if (status == ATTN_OK)
		*out = chosen;
	else
		free(chosen);
	return status;
}

void selection_option(struct selection_options *s, int id, const char *value)
{
	if (id == OPTION_HEAD)
		s->heads = value;
	else if (id == OPTION_LAYER)
		s->layers = value;
	else
		s->batch = value;
}

enum attn_status selection_open(struct selection *s, const struct selection_options *options,
				const struct rows_info *info, struct attn_error *err)
{
	*s = (struct selection){0};
	TRY(selection_parse("--head", options->heads, 0, info->shape.heads, &info->head_names, &s->heads,
			    err));
	TRY(selection_parse("--layer", options->layers, info->first_layer, info->shape.layers, NULL,
			    &s->layers, err));
	return selection_parse("--batch", options->batch, 0, info->shape.batch, NULL, &s->batch, err);
}

void selection_release(struct selection *s)
{
	free(s->heads);
	free(s->layers);
	free(s->batch);
	free(s->queries);
	*s = (struct selection){0};
}

struct rows_selection selection_rows(const struct selection *s)
{
	return (struct rows_selection){
	    .batch = s->batch, .layers = s->layers, .heads = s->heads, .queries = s->queries};
}
